"""What a person may write for a registrable domain, in a filter of pages."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls import read_domain


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("example.com", "example.com"),
        ("EXAMPLE.com.", "example.com"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("co.uk", "co.uk"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("::1", "[::1]"),
        ("[2001:DB8::1]", "[2001:db8::1]"),
    ],
)
def test_a_domain_is_brought_to_the_form_of_the_catalog(text, domain):
    """Case, root dot and script do not matter; an address stays whole."""
    assert read_domain(text) == domain


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("127.0.0.1:8767", ", without a port: 127.0.0.1"),
        ("www.example.com:80", ", without a port: example.com"),
        ("[::1]:80", ", without a port: [::1]"),
        ("www.example.co.uk", ", and no host below it: example.co.uk"),
        ("http://example.com", ", without scheme and path: example.com"),
        ("http://www.example.com:81/a", ", without scheme and path: example.com"),
        ("example.com/a", ", without scheme and path: example.com"),
        ("user@example.com", ", without scheme and path: example.com"),
        ("a?b", ", without scheme and path: a"),
        ("", ", such as example.com"),
        ("a b", ", such as example.com"),
        ("\0", ", such as example.com"),
        ("ftp://example.com/", ", such as example.com"),
    ],
)
def test_what_is_no_domain_is_refused(text, remedy):
    """Neither a host, a port nor a URL is one; the domain that is meant is named."""
    with pytest.raises(ValueError, match="expected a registrable domain") as error:
        read_domain(text)
    assert str(error.value).endswith(f"expected a registrable domain{remedy}")


@given(st.text())
def test_any_text_is_a_domain_or_refused(text):
    """What is accepted is accepted again, as it is."""
    with contextlib.suppress(ValueError):
        domain = read_domain(text)
        assert read_domain(domain) == domain
