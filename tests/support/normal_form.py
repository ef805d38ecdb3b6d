"""What a normalised URL looks like, said independently of the code that makes it."""

from __future__ import annotations

import re

is_normal = re.compile(
    r"https?://(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|\[[0-9a-f:]+\])(?::[0-9]+)?"
    r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-F]{2})*"
    r"(?:\?(?:[A-Za-z0-9._~!$&()*+,;=:@/?-]|%[0-9A-F]{2})+)?"
).fullmatch
"""Spec: RFC 3986 §3 and §6.2.2, without fragment and userinfo."""
