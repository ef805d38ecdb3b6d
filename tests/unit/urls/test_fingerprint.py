"""The sixteen bytes that a URL is remembered by."""

from __future__ import annotations

from hashlib import blake2b

from crawler.urls import fingerprint, host_hash


def test_the_stored_format_does_not_change():
    """A store written yesterday is searched with the same bytes today."""
    assert fingerprint("a.test", "http://a.test/").hex() == "3171e5a8f21779948ae4f2676ce05297"


def test_the_parts_are_keyed_hashes_of_host_and_key():
    """Anyone can recompute a fingerprint from the documented constants (RFC 7693)."""
    whole = fingerprint("a.test", "http://a.test/x")
    assert whole[:8] == host_hash("a.test")
    assert whole[:8] == blake2b(b"a.test", digest_size=8, key=b"host-v1.").digest()
    assert whole[8:] == blake2b(b"http://a.test/x", digest_size=8, key=b"url-v1..").digest()


def test_urls_of_a_host_lie_together_and_apart():
    """One prefix for a host, another end for every key, and nothing shared by accident."""
    prints = {fingerprint("a.test", f"http://a.test/{number}") for number in range(1000)}
    assert len(prints) == 1000
    assert {one[:8] for one in prints} == {host_hash("a.test")}
    assert host_hash("a.test") != host_hash("a.test:8080")
    assert host_hash("x") != fingerprint("x", "x")[8:], (
        "host and URL hashes are different functions"
    )


def test_text_that_is_no_unicode_has_a_fingerprint_too():
    """A lone surrogate in a hand-written URL must not end a crawl."""
    assert len(fingerprint("\ud83d", "\ud83d")) == 16
