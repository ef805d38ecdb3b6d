"""Who may ask: this machine, or whoever has the token."""

from __future__ import annotations

import socket

import pytest

from crawler.api.guard import is_loopback
from crawler.api.server import Address, listen, url_of
from crawler.errors import ConfigError

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "here"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("localhost.example.com", False),
        ("127.0.0.1.example.com", False),
        ("127.1", False),
    ],
)
def test_names_of_this_machine(name, here):
    """Addresses of the loopback network and localhost, and nothing that looks like it."""
    assert is_loopback(name) is here


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.11.12.13"])
def test_other_machines_need_a_token(host):
    """Nobody opens a crawl to the network by accident."""
    with pytest.raises(ConfigError, match=r"API_HOST=.*other machines could read.*API_TOKEN"):
        listen(Address(host, 0))


@pytest.mark.parametrize("token", ["short", "with spaces in the token", "ünïcödé-is-no-header-"])
def test_a_token_can_be_sent_and_not_be_guessed(token):
    """The message says what to take instead, and does not repeat the token."""
    with pytest.raises(ConfigError, match=r"API_TOKEN has \d+ characters.*secrets") as raised:
        listen(Address("127.0.0.1", 0, token))
    assert token not in str(raised.value)


def test_with_a_token_every_address_may_be_used():
    """The operator has said who may ask."""
    with listen(Address("0.0.0.0", 0, TOKEN)) as listening:
        assert listening.getsockname()[0] == "0.0.0.0"


def test_an_address_in_use_is_named():
    """The message names the address and the remedy."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"API_PORT={port}: cannot listen.*--port"):
            listen(Address("127.0.0.1", port))


@pytest.mark.parametrize("host", ["no.such.host.invalid", "a" * 300, "\0", "a..b"])
def test_what_is_no_address_is_refused(host):
    """Whatever the setting is, the answer is a message."""
    with pytest.raises(ConfigError, match="cannot listen there"):
        listen(Address(host, 0))


@pytest.mark.parametrize(
    ("host", "url"), [("127.0.0.1", "http://127.0.0.1:"), ("::1", "http://[::1]:")]
)
def test_the_url_is_said_as_it_is_used(host, url):
    """An IPv6 address stands in brackets."""
    with listen(Address(host, 0)) as listening:
        assert url_of(listening) == f"{url}{listening.getsockname()[1]}"
