"""Encodings: which is chosen, and what the bytes become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing.charset import decode, decode_body
from crawler.parsing.labels import find_encoding

CORPUS = Path(__file__).parents[2] / "corpus" / "charset"
ROWS = json.loads((CORPUS / "rows.json").read_text(encoding="ascii"))


@pytest.mark.parametrize(
    ("header", "page", "bom", "encoding", "rule"),
    ROWS,
    ids=[f"{header}-{(page or '')[:24]}-{rule[:24]}" for header, page, _, _, rule in ROWS],
)
def test_the_encoding_of_the_standard_is_chosen(header, page, bom, encoding, rule):
    """Every row of the corpus must get the encoding that its rule names."""
    body = bytes.fromhex(bom or "") + (page or "").encode() + b"<p>plain</p>"
    assert decode(body, header)[1] == encoding, rule


@pytest.mark.parametrize(
    ("label", "raw", "text"),
    [
        ("gb2312", b"\xe9F\x86\xd0\x80", "\u9555\u55b0\u20ac"),
        ("iso-8859-1", b"\x93q\x94 \x80", "\u201cq\u201d \u20ac"),
        ("utf-16", "<p>a".encode("utf-16-le"), "<p>a"),
        ("shift_jis", "\u2460\u9ad9".encode("cp932"), "\u2460\u9ad9"),
        ("euc-kr", "\ub620".encode("cp949"), "\ub620"),
        ("koi8-r", "\u043f\u0440\u0438".encode("koi8-r"), "\u043f\u0440\u0438"),
        ("hz-gb-2312", b"~{<:Ky~}<script>", "\ufffd"),
        ("hz-gb-2312", b"", ""),
    ],
)
def test_bytes_decode_by_the_standards_decoder(label, raw, text):
    """Bytes must become what a browser's decoder makes of them (Encoding §4.2)."""
    assert decode(raw, label)[0] == text


def test_a_bom_is_taken_off_once():
    """A second U+FEFF is a character like others (Encoding §6)."""
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfx", None) == ("\ufeffx", "utf-8")


def test_errors_are_replaced_and_do_not_change_the_encoding():
    """Broken bytes of a declared encoding must become U+FFFD, and nothing else."""
    text, name = decode(b'<meta charset="utf-8">ok \xff\xfe \xc3<a>', None)
    assert (text[-7:], name) == ("\ufffd\ufffd \ufffd<a>", "utf-8")


def test_house_rule_latin_1_label_on_valid_utf_8_is_utf_8():
    """A Latin-1 label on bytes that are UTF-8 is a server's default, unless switched off."""
    body = "<p>caf\u00e9".encode()
    assert decode(body, "iso-8859-1") == ("<p>caf\u00e9", "utf-8")
    assert decode(b"<meta charset=latin1>" + body, None)[1] == "utf-8"
    assert decode_body(body, "iso-8859-1", mend_latin_1=False).name == "windows-1252"


def test_latin_1_label_holds_for_latin_1_bytes_and_for_ascii():
    """The mend must not touch pages that are what they say."""
    assert decode("<p>caf\u00e9".encode("cp1252"), "latin1") == ("<p>caf\u00e9", "windows-1252")
    assert decode(b"<p>cafe", "latin1")[1] == "windows-1252"
    assert decode("<p>caf\u00e9".encode(), "windows-1251")[1] == "windows-1251"


@pytest.mark.parametrize("label", ["latin1", None])
def test_a_character_cut_in_two_at_the_end_is_still_utf_8(label):
    """A body cut at the size limit must keep its encoding."""
    text, name = decode("<p>caf\u00e9 \u20ac".encode()[:-1], label)
    assert (text, name) == ("<p>caf\u00e9 \ufffd", "utf-8")


RUSSIAN = "Привет, это простой текст на русском языке. "
JAPANESE = "これは日本語のテキストです。とても簡単です。"
SAMPLES = [
    ("cp1252", "Le café est très bon, déjà vu à Noël. ", "windows-1252"),
    ("cp1252", "Said “hello” and it’s fine — really. ", "windows-1252"),  # noqa: RUF001
    ("cp1252", "A plain text with one café in it and nothing more. ", "windows-1252"),
    ("cp1252", "Müller & Sons meet El Niño. ", "windows-1252"),
    ("iso8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy. ", "iso-8859-2"),
    ("cp1254", "Bu Türkçe basit bir metindir, şimdi güneş doğdu, ığdır. ", "windows-1254"),  # noqa: RUF001
    ("cp1253", "Αυτό είναι ένα απλό κείμενο στα ελληνικά. ", "iso-8859-7"),
    ("cp1255", "זהו טקסט פשוט בעברית לבדיקה. ", "windows-1255"),
    ("cp1256", "هذا نص بسيط باللغة العربية للاختبار. ", "windows-1256"),
    ("cp1250", "Zażółć gęślą jaźń, źdźbło trawy i łąka. ", "windows-1250"),
    ("cp1251", RUSSIAN, "windows-1251"),
    ("koi8-r", RUSSIAN, "koi8-r"),
    ("cp932", JAPANESE, "shift_jis"),
    ("euc_jp", JAPANESE, "euc-jp"),
    ("gb18030", "这是一个简单的中文文本，用于测试编码检测。", "gb18030"),  # noqa: RUF001
    ("big5hkscs", "這是一個簡單的中文文本，用於測試編碼檢測。", "big5"),  # noqa: RUF001
    ("cp949", "이것은 간단한 한국어 텍스트입니다. 테스트용입니다. ", "euc-kr"),
]


@pytest.mark.parametrize(
    ("codec", "text", "name"), SAMPLES, ids=[f"{s[0]}-{i}" for i, s in enumerate(SAMPLES)]
)
def test_unlabelled_bytes_are_guessed(codec, text, name):
    """Common legacy encodings must be told apart without a label, also behind a long ASCII head."""
    body = b"<html>" + b"<p>plain</p>" * 2_000 + (text * 20).encode(codec)
    decoded, found = decode(body, None)
    assert found == name
    assert text in decoded


def test_a_few_broken_bytes_leave_an_unlabelled_page_utf_8():
    """One wrong byte among much UTF-8 must not turn the page into another encoding."""
    body = "\u043f\u0440\u0438\u0432\u0435\u0442 ".encode() * 20 + b"\xff"
    assert decode(body, None)[1] == "utf-8"


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=40)))
def test_nothing_raises_and_the_name_is_a_label_of_itself(body, header):
    """Any bytes under any label must decode, and the answer must name a real encoding."""
    text, name = decode(body, header)
    assert text.encode("utf-8", "strict") is not None
    assert find_encoding(name).name == name


@pytest.mark.parametrize(
    "unit", [b"<!--", b"<meta ", b"<meta charset=", b"\xff\x00", b"<meta x='", b"charset\xc3"]
)
def test_hostile_bytes_decode_in_linear_time(unit):
    """Five megabytes of anything must not stall (bounded scans; measured about 20 ms)."""
    body = unit * (5_000_000 // len(unit))
    text, _ = decode(body, None)
    assert len(text) >= len(body) // 4
