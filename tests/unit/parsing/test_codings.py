"""Content codings are undone completely, or refused; never partly, never without bound."""

from __future__ import annotations

import gzip
import random
import tracemalloc
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.parsing.codings import (
    CodingError,
    CutShortError,
    TooLargeError,
    decode,
    decode_page,
    zstd,
)

TEXT = "".join(f"<p>Paragraph {n}, and its text.</p>" for n in range(300)).encode()
NOISE = bytes(random.Random(3).choices(b"abcdefghijklmnopqrstuvwxyz <>/\n", k=9000))
LIMIT = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    """Pack without the zlib frame, as some servers do."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def zstd_with_checksum(data: bytes) -> bytes:
    """Pack with the checksum that the format leaves optional."""
    return zstd.compress(data, options={int(zstd.CompressionParameter.checksum_flag): 1})


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd_with_checksum,
}
VARIANTS = [*PACKERS.items(), ("deflate", raw_deflate)]
IDS = [*PACKERS, "raw deflate"]


@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
def test_each_coding_is_undone(coding, pack):
    """The body comes out as it went in (RFC 9110 §8.4.1)."""
    assert decode(pack(TEXT), coding.encode(), limit=LIMIT) == TEXT


@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
def test_names_are_case_insensitive(coding, pack):
    """Content codings are compared without regard to case (RFC 9110 §8.4.1)."""
    assert decode(pack(TEXT), f" {coding.upper()} ".encode(), limit=LIMIT) == TEXT


@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
def test_an_empty_text_is_a_body(coding, pack):
    """A packed empty text is unpacked to nothing, without complaint."""
    assert decode(pack(b""), coding.encode(), limit=LIMIT) == b""


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
def test_a_body_cut_short_is_refused(coding, pack, share):
    """A partial page must not pass for a page: it would be stored, and its links lost."""
    packed = pack(TEXT)
    with pytest.raises(CutShortError):
        decode(packed[: max(5, int(len(packed) * share))], coding.encode(), limit=LIMIT)


@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
def test_what_could_be_undone_of_a_body_cut_short_is_handed_over(coding, pack):
    """It is the beginning of the text, and nearly all of it when only the end is missing."""
    packed = pack(NOISE)
    for size in range(5, len(packed), 97):
        with pytest.raises(CutShortError) as caught:
            decode(packed[:size], coding.encode(), limit=LIMIT)
        assert NOISE.startswith(caught.value.so_far)
    with pytest.raises(CutShortError) as caught:
        decode(packed[:-1], coding.encode(), limit=LIMIT)
    assert len(caught.value.so_far) > 0.9 * len(NOISE)


def test_members_before_the_cut_are_handed_over_too():
    """Several gzip members are one body."""
    packed = gzip.compress(b"one ") + gzip.compress(b"two ") + gzip.compress(NOISE)[:-9]
    with pytest.raises(CutShortError) as caught:
        decode(packed, b"gzip", limit=LIMIT)
    assert caught.value.so_far.startswith(b"one two " + NOISE[:100])


def test_a_half_that_is_still_packed_is_nothing():
    """Of two codings both must be undone for there to be text."""
    packed = zlib.compress(gzip.compress(NOISE))
    with pytest.raises(CutShortError) as caught:
        decode(packed[:-9], b"gzip, deflate", limit=LIMIT)
    assert caught.value.so_far == b""


@pytest.mark.parametrize(("coding", "pack"), PACKERS.items(), ids=PACKERS)
def test_a_corrupt_body_is_refused(coding, pack):
    """Bytes overwritten in the middle are found, if need be by the checksum."""
    packed = bytearray(pack(TEXT))
    middle = len(packed) // 2
    packed[middle : middle + 20] = b"\xff" * 20
    with pytest.raises(CodingError):
        decode(bytes(packed), coding.encode(), limit=LIMIT)


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "zstd"])
@pytest.mark.parametrize(
    "body", [TEXT, b"", b"<", b"\x00\x01"], ids=["html", "empty", "byte", "nul"]
)
def test_a_body_that_only_claims_its_coding_passes(coding, body):
    """Servers that name a coding and do not apply it are common; the page is there."""
    assert decode(body, coding.encode(), limit=LIMIT) == body


@pytest.mark.parametrize("coding", ["deflate", "br"])
@pytest.mark.parametrize(
    "body",
    [TEXT, b"\xef\xbb\xbf" + TEXT, b"Words, and ever more of them", "Wörter, viele".encode() * 9],
)
def test_codings_without_magic_pass_plain_text(coding, body):
    """What is packed never begins with a tag and text behind it, nor is it text throughout."""
    assert decode(body, coding.encode(), limit=LIMIT) == body


@pytest.mark.parametrize("coding", ["deflate", "br"])
@pytest.mark.parametrize("body", [b"words, words", b"\xfc" * 300, b"text with a \0 in it"])
def test_codings_without_magic_refuse_what_may_be_corrupt(coding, body):
    """Few bytes, bytes that are no UTF-8 and control characters prove no text."""
    with pytest.raises(CodingError):
        decode(body, coding.encode(), limit=LIMIT)


@pytest.mark.parametrize("coding", PACKERS)
def test_nothing_is_nothing_in_every_coding(coding):
    """An empty body has not been cut short."""
    assert decode(b"", coding.encode(), limit=LIMIT) == b""


NOTE = b"\x5a\x2a\x4d\x18\x04\0\0\0note"


@pytest.mark.parametrize("coding", ["zstd", "gzip"])
def test_frames_that_are_to_be_skipped_are_skipped(coding):
    """Tools put notes of their own before and between the frames (RFC 8878 §3.1.2)."""
    packed = NOTE + NOTE + zstd.compress(TEXT) + NOTE + zstd.compress(b"more") + NOTE[:-2]
    assert decode(packed, coding.encode(), limit=LIMIT) == TEXT + b"more"


@pytest.mark.parametrize("coding", ["deflate", "br", "gzip"])
def test_zstd_under_another_name_is_zstd(coding):
    """That format has a magic, too."""
    assert decode(zstd.compress(TEXT), coding.encode(), limit=LIMIT) == TEXT


@pytest.mark.parametrize("coding", ["deflate", "br", "zstd"])
def test_gzip_under_another_name_is_gzip(coding):
    """The magic of gzip tells more than the name: no other coding can begin so."""
    assert decode(gzip.compress(TEXT), coding.encode(), limit=LIMIT) == TEXT


@pytest.mark.parametrize("content_type", [b"text/html; charset=utf-8", b"Application/XHTML+XML"])
@pytest.mark.parametrize("codings", [b"", b"br", b"gzip, br"])
def test_a_page_is_unpacked_more_often_than_named(codings, content_type):
    """Gzip that nobody names is undone where the type says that no archive is meant."""
    body = gzip.compress(TEXT)
    for name in filter(None, codings.split(b", ")):
        body = PACKERS[name.decode()](body)
    assert decode_page(body, codings, content_type, limit=LIMIT) == TEXT


@pytest.mark.parametrize("content_type", [b"application/gzip", b"text/plain", b""])
def test_what_may_be_an_archive_stays_packed(content_type):
    """Under any other type a gzip file may be what was asked for."""
    body = gzip.compress(TEXT)
    assert decode_page(body, b"", content_type, limit=LIMIT) == body


@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
@pytest.mark.parametrize("seed", range(20))
def test_what_is_packed_is_never_taken_for_markup(coding, pack, seed):
    """Bodies of all kinds come out as they went in, short ones and tags alone as well."""
    draw = random.Random(seed)
    body = bytes(draw.choices(b"<>a/ \n=", k=draw.randrange(1, 60)))
    assert decode(pack(body), coding.encode(), limit=LIMIT) == body


@pytest.mark.parametrize("header", [b"", b" , ,", b"identity", b"x-own", b"aes128gcm"])
def test_unknown_codings_change_nothing(header):
    """What cannot be undone is handed on as it is."""
    assert decode(TEXT, header, limit=LIMIT) == TEXT


@pytest.mark.parametrize(
    ("header", "packers"),
    [
        ("gzip, br", ["gzip", "br"]),
        ("br,gzip", ["br", "gzip"]),
        ("gzip,gzip", ["gzip", "gzip"]),
        ("deflate, zstd, gzip", ["deflate", "zstd", "gzip"]),
        ("identity, gzip", ["gzip"]),
    ],
)
def test_chains_are_undone_last_one_first(header, packers):
    """Codings are listed in the order in which they were applied (RFC 9110 §8.4)."""
    body = TEXT
    for name in packers:
        body = PACKERS[name](body)
    assert decode(body, header.encode(), limit=LIMIT) == TEXT


def test_a_long_chain_is_refused():
    """More codings than any server has a reason for are not even begun."""
    with pytest.raises(CodingError, match="4 content codings"):
        decode(TEXT, b"gzip, gzip, gzip, gzip", limit=LIMIT)


def test_gzip_members_follow_each_other():
    """A gzip file is a series of members (RFC 1952 §2.2); garbage behind them is ignored."""
    packed = gzip.compress(TEXT) + gzip.compress(b"more")
    assert decode(packed, b"gzip", limit=LIMIT) == TEXT + b"more"
    assert decode(packed + b"garbage", b"gzip", limit=LIMIT) == TEXT + b"more"


def test_zstd_frames_follow_each_other():
    """Frames may be appended (RFC 8878 §3.1); garbage behind them is ignored."""
    packed = zstd.compress(TEXT) + zstd.compress(b"more")
    assert decode(packed, b"zstd", limit=LIMIT) == TEXT + b"more"
    assert decode(packed + b"garbage", b"zstd", limit=LIMIT) == TEXT + b"more"


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_countless_members_are_refused(coding):
    """A body of tiny members costs a copy of the rest for each; it ends, and not as a page."""
    with pytest.raises(CodingError, match="more than 100"):
        decode(PACKERS[coding](b"") * 50_000, coding.encode(), limit=LIMIT)


def test_the_second_member_counts_against_the_limit():
    """The limit holds for the body, not for each of its members."""
    packed = gzip.compress(bytes(600)) + gzip.compress(bytes(600))
    with pytest.raises(TooLargeError):
        decode(packed, b"gzip", limit=1000)


def test_a_wide_zstd_window_is_refused():
    """A decoder may not be made to allocate 128 MiB (RFC 9659 §3: at most 8 MiB)."""
    options = {
        int(zstd.CompressionParameter.window_log): 27,
        int(zstd.CompressionParameter.content_size_flag): 0,
    }
    packer = zstd.ZstdCompressor(options=options)
    packed = packer.compress(TEXT) + packer.flush()
    with pytest.raises(CodingError):
        decode(packed, b"zstd", limit=LIMIT)


@pytest.mark.parametrize(("coding", "pack"), VARIANTS, ids=IDS)
def test_the_limit_is_exact(coding, pack):
    """A body of the limit passes; one byte more does not; 0 means no limit."""
    packed = pack(TEXT)
    assert decode(packed, coding.encode(), limit=len(TEXT)) == TEXT
    assert decode(packed, coding.encode(), limit=0) == TEXT
    with pytest.raises(TooLargeError):
        decode(packed, coding.encode(), limit=len(TEXT) - 1)


BOMBS = {
    "gzip": gzip.compress(bytes(32 << 20), 1),
    "deflate": zlib.compress(bytes(32 << 20), 1),
    "br": brotli.compress(bytes(32 << 20), quality=1),
    "zstd": zstd.compress(bytes(32 << 20)),
    "gzip, gzip": gzip.compress(gzip.compress(bytes(32 << 20), 1)),
}


@pytest.mark.parametrize(("coding", "bomb"), BOMBS.items(), ids=BOMBS)
def test_a_bomb_costs_little_memory(coding, bomb):
    """32 MiB from a few KiB are refused after a few times the limit, not after all of it."""
    limit = 1 << 19
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError):
            decode(bomb, coding.encode(), limit=limit)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * limit + (3 << 20)


HEADERS = st.one_of(
    st.sampled_from([*PACKERS, "gzip, br", "br,zstd,deflate"]).map(str.encode),
    st.binary(max_size=40),
)


@given(body=st.binary(max_size=300), header=HEADERS, limit=st.integers(0, 500))
def test_garbage_never_raises_anything_else(body, header, limit):
    """Whatever the bytes and the header: a body within the limit, or one of two errors."""
    try:
        out = decode(body, header, limit=limit)
    except (CodingError, TooLargeError):
        return
    assert len(out) <= (limit or 1 << 40) or out == body  # bodies that pass untouched may be longer


@given(seed=st.integers(0, 2**32), coding=st.sampled_from(sorted(PACKERS)), flips=st.integers(1, 5))
def test_a_damaged_body_never_raises_anything_else(seed, coding, flips):
    """Bits flipped anywhere in a packed body end in a body or in one of two errors."""
    rng = random.Random(seed)
    packed = bytearray(PACKERS[coding](TEXT[:2000]))
    for _ in range(flips):
        packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
    try:
        out = decode(bytes(packed), coding.encode(), limit=4000)
    except (CodingError, TooLargeError):
        return
    assert len(out) <= 4000
