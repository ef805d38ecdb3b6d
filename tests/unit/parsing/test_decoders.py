"""What becomes of bytes that Python's codecs do not know."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing.decoders import decode_with


@pytest.mark.parametrize(
    ("codec", "raw", "text"),
    [
        ("euc_jp", b"a\xad\xa1b", "a\u2460b"),
        ("euc_jp", b"\xad\xea\xf9\xa1", "\u3231\u7e8a"),
        ("euc_jp", b"\xa4\xa2\x8f\xb0\xa1", "\u3042\u4e02"),
        ("euc_jp", b"\xa9\xa1'>", "\ufffd\ufffd'>"),
        ("euc_jp", b"\xad'>", "\ufffd'>"),
        ("euc_jp", b"\xad", "\ufffd"),
        ("iso2022_jp_ext", b'\x1b$B-!$"\x1b(Bz', "\u2460\u3042z"),
        ("iso2022_jp_ext", b"\x1b(I1\x1b(B", "\uff71"),
        ("cp1252", b"\x80\x81\x9d", "\u20ac\x81\x9d"),
        ("cp1253", b"\xaa\x81", "\ufffd\x81"),
        ("cp874", b"\x80\x81\xdb", "\u20ac\x81\ufffd"),
        ("gb18030", b"\x80", "\u20ac"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
    ],
)
def test_bytes_become_what_a_browser_makes_of_them(codec, raw, text):
    """The tables of the web have more than those of Python (Encoding §9, §12, §14.5)."""
    assert decode_with(raw, codec) == text


@given(st.binary(max_size=60), st.sampled_from(["euc_jp", "iso2022_jp_ext", "cp1257", "cp874"]))
def test_any_bytes_decode(raw, codec):
    """Nothing raises, and the answer is text that can be written."""
    assert decode_with(raw, codec).encode() is not None
