"""No test reaches another machine."""

from __future__ import annotations

import asyncio
import socket

import pytest

from tests.support.exchange import plain

OUTSIDE = ("192.0.2.1", 80)  # TEST-NET-1, RFC 5737: nobody's address


@pytest.mark.parametrize("method", ["connect", "connect_ex"])
def test_connections_outside_are_refused(method):
    """Connecting to another machine fails at once, before a packet leaves."""
    with socket.socket() as one, pytest.raises(ConnectionRefusedError, match="stay on loopback"):
        getattr(one, method)(OUTSIDE)


def test_datagrams_outside_are_refused():
    """So does sending a datagram."""
    with (
        socket.socket(type=socket.SOCK_DGRAM) as one,
        pytest.raises(ConnectionRefusedError, match="stay on loopback"),
    ):
        one.sendto(b"x", OUTSIDE)


def test_asyncio_is_guarded_too():
    """Event loops connect through the same sockets."""
    with pytest.raises(OSError, match="stay on loopback"):
        asyncio.run(asyncio.open_connection(*OUTSIDE))


@pytest.mark.parametrize("name", ["example.com", b"example.com", "a.test"])
def test_names_do_not_resolve(name):
    """Names of other machines are unknown."""
    with pytest.raises(socket.gaierror, match="do not resolve"):
        socket.getaddrinfo(name, 80)


@pytest.mark.parametrize("name", ["localhost", "127.9.8.7", "::1", b"127.0.0.1", None])
def test_loopback_resolves(name):
    """Loopback names and addresses are known."""
    assert socket.getaddrinfo(name, 80)


def test_local_webs_are_reached(local_web):
    """The loopback network is open."""
    web = local_web(lambda _request: plain("ok"))
    with socket.create_connection((web.hosts[0], web.port), timeout=5) as client:
        assert client.getpeername()[1] == web.port
