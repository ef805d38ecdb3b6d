"""Shadow roots that a page declares: templates whose content is shown.

A tree hides what a template holds. Browsers move it out of those with ``shadowrootmode``; here
their tags get another name, which hides nothing.

Spec: HTML §4.12.3 (the template element), §13.2.6.4.4 (its start tag in the parser).
"""

from __future__ import annotations

import re

_ATTRIBUTE = "shadowrootmode"
_ROOT = "shadow-root"
# Possessive, and to the end of the page where something is not closed: nothing is read twice.
_TEMPLATE = re.compile(
    r"""<(?:!--(?:-?>|.*?-->|.*)|(/?)template(?=[\s/>])((?:[^>"']++|"[^"]*+"?+|'[^']*+'?+)*+>?+))""",
    re.DOTALL | re.IGNORECASE,
)
_OPENS_ROOT = re.compile(r"""[\s/"']shadowrootmode\s*+=\s*+["']?(?:open|closed)\b""", re.IGNORECASE)


def with_shadow_roots(html: str) -> str:
    """Return a page with its declared shadow roots open; others as they are."""
    if _ATTRIBUTE not in html:
        return html
    opened: list[bool] = []

    def rename(tag: re.Match[str]) -> str:
        slash, rest = tag[1], tag[2]
        if rest is None:  # a comment
            return tag[0]
        if not slash:
            opened.append(_OPENS_ROOT.search(rest) is not None)
            return f"<{_ROOT}{rest}" if opened[-1] else tag[0]
        return f"</{_ROOT}>" if opened and opened.pop() else tag[0]

    return _TEMPLATE.sub(rename, html)
