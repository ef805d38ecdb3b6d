"""URLs that are alike have one pattern, and patterns are few."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.traps.patterns import Rule, is_token, shape_of

PATTERNS = [
    # path, pattern, parent
    ("/", "/", ""),
    ("/docs/", "/docs/", "/*/"),
    ("/docs/intro.html", "/docs/*.html", "/*/*.html"),
    ("/docs/guide/intro", "/docs/guide/*", "/*/*/*"),
    ("/a/b/c/d/e.html", "/a/b/c/*/*.html", "/*/*/*/*/*.html"),
    ("/item/123", "/item/#", "/*/#"),
    ("/item/7", "/item/#", "/*/#"),
    ("/calendar/2031/04", "/calendar/#/#", "/*/#/#"),
    ("/calendar/2031-04-05", "/calendar/#-#-#", "/*/#-#-#"),
    ("/news/article-17.html", "/news/article-#.html", "/*/article-#.html"),
    ("/news/17-a-fine-day.html", "/news/*#.html", "/*/*#.html"),
    ("/v1.2/docs/a.html", "/v#.#/docs/*.html", "/#/*/*.html"),
    ("/s/8f3a61c0b2d94e17/cart", "/s/~/*", "/*/~/*"),
    ("/u/123e4567-e89b-12d3-a456-426614174000", "/u/~", "/*/~"),
    ("/x/(S(lit3py55t21z5v55vlm25s55))/a.aspx", "/x/~/*.aspx", "/*/~/*.aspx"),
    ("/shop?size=m&color=red", "/shop?color&size", "/shop?*"),
    ("/shop?color=blue&size=xl", "/shop?color&size", "/shop?*"),
    ("/show.php?id=5", "/show.php?id", "/*.php?*"),
    ("/docs/intro.html?visit=4", "/docs/*.html?visit", "/*/*.html?*"),
    ("/list?a=1&amp;b=2", "/list?a&b", "/list?*"),
    ("/9/9/9/9/9/9/9", "/#/#/#/#/#/#/#", ""),
]


@pytest.mark.parametrize(("path", "pattern", "parent"), PATTERNS, ids=[row[0] for row in PATTERNS])
def test_a_url_has_the_pattern_of_its_like(path, pattern, parent):
    """Numbers, session ids and names of documents are not told apart; a parent knows no names."""
    shape = shape_of(f"http://a.example{path}")
    assert (shape.pattern, shape.parent) == (pattern, parent)
    assert shape.rule is Rule.PATTERN
    assert not shape.endless


@pytest.mark.parametrize(
    ("path", "rule", "endless"),
    [
        ("/a/b/a/b/", Rule.PATTERN, False),
        ("/a/b/a/b/a/", Rule.REPEAT, False),
        ("/a/b/a/b/a/b/a/b/a/b/", Rule.REPEAT, True),
        ("/x/x/x/x", Rule.REPEAT, False),
        ("/x/x/x/x/x", Rule.REPEAT, True),
        ("/1/1/1/1/1/1", Rule.PATTERN, False),
        ("/list?a=1&amp;amp;b=2", Rule.GROWTH, True),
        ("/go?to=%252525", Rule.GROWTH, True),
        ("/go?to=%25", Rule.PATTERN, False),
    ],
)
def test_what_grows_is_known_by_its_spelling(path, rule, endless):
    """A folder three times is a repetition, five times an endless one; numbers may repeat."""
    shape = shape_of(f"http://a.example{path}")
    assert (shape.rule, shape.endless) == (rule, endless)


@pytest.mark.parametrize(
    ("segment", "is_one"),
    [
        ("8f3a61c0b2d94e17", True),
        ("a1b2c3d4e5f6a7b8c9d0", True),
        ("internationalisation", False),
        ("20240501123456789012", True),
        ("article-2024-05-01", False),
        ("0123456789", False),
        ("deadbeefdeadbeef", False),
    ],
)
def test_what_looks_like_a_session_id(segment, is_one):
    """Long, and of letters and digits mixed or hexadecimal with a digit."""
    assert is_token(segment) is is_one


@given(st.text(st.sampled_from("ab1/?&=;.-~%(SA)"), max_size=300))
def test_any_path_has_a_bounded_pattern(text):
    """Nothing raises, and no pattern is longer than its segments and names may be."""
    shape = shape_of(f"http://a.example/{text}")
    assert 0 < len(shape.pattern) < 1200
    assert len(shape.parent) < 1200
    assert shape == shape_of(f"http://a.example/{text}")
