"""Pages for tests of the catalog: plain ones, and any that Hypothesis can think of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from crawler.store.pages import PageRow

AT = 1_796_119_200.125  # 2026-12-01T10:00:00.125Z


def page(key: int, at: float = AT, **changes: Any) -> PageRow:
    """Return a plain stored page whose hash is made from a number."""
    row = PageRow(
        url_hash=key.to_bytes(16, "big"),
        url=f"http://www.example.com/{key}",
        host="www.example.com",
        domain="example.com",
        outcome="stored",
        fetched_at=at,
        status_code=200,
        content_type="text/html",
        content_hash=bytes(32),
    )
    return replace(row, **changes)


_texts = st.one_of(
    st.text(max_size=20),
    st.text(st.sampled_from("a\0\ud800\udfff\U0001f600\n'\"\\%"), max_size=8),
    st.integers(1, 40_000).map(lambda length: "é" * length),
)
_counts = st.integers(0, 2**63 - 1)
_times = st.integers(0, 2**42).map(lambda n: n / 1000) | st.floats(0, 1e10)


def any_page(url_hash: bytes) -> st.SearchStrategy[PageRow]:
    """Return a strategy for pages with a hash, every field of them arbitrary."""
    optional = {
        name: st.none() | _texts
        for name in (
            "referrer", "redirect_to", "cause", "content_type", "charset", "title", "language",
            "canonical_url", "etag", "last_modified", "duplicate_of", "warc_file",
        )
    }  # fmt: skip
    numbers = {
        name: st.none() | _counts
        for name in (
            "status_code", "duplicate_distance", "text_offset", "text_length", "warc_offset",
            "warc_length",
        )
    }  # fmt: skip
    return st.builds(
        PageRow,
        url_hash=st.just(url_hash),
        url=_texts,
        host=_texts,
        domain=_texts,
        outcome=_texts,
        fetched_at=_times,
        next_visit_at=st.none() | _times,
        depth=_counts,
        redirects=_counts,
        body_bytes=_counts,
        robots=st.lists(_texts, max_size=3).map(tuple),
        content_hash=st.none() | st.binary(min_size=32, max_size=32),
        text_hash=st.none() | st.binary(min_size=16, max_size=16),
        simhash=st.none() | st.integers(0, 2**64 - 1),
        **optional,
        **numbers,
    )
