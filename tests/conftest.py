"""What every test gets: no way out of the loopback network, and local webs on demand."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.postgres import PostgresServer, PostgresUnavailableError
from tests.support.s3 import KEYS, S3Server
from tests.support.server import LocalWeb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class OutsideLoopbackError(ConnectionRefusedError):
    """A test tried to reach another machine."""


def _is_here(host: object) -> bool:
    name = str(host).strip("[]").partition("%")[0]
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name in ("", "localhost") or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _check(one: socket.socket, address: Any) -> None:
    if one.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
        raise OutsideLoopbackError(f"tests stay on loopback, not {address[0]}:{address[1]}")


@pytest.fixture(autouse=True, scope="session")
def _only_loopback() -> Iterator[None]:
    """Refuse connections that leave the machine; names other than localhost do not resolve.

    It holds for this process and its threads. Crawls that run as subprocesses are only
    ever given loopback seeds.
    """
    real = {name: getattr(socket.socket, name) for name in ("connect", "connect_ex", "sendto")}
    resolve = socket.getaddrinfo

    def guarded(name: str) -> Callable[..., Any]:
        def call(self: socket.socket, *args: Any) -> Any:
            _check(self, args[-1])
            return real[name](self, *args)

        return call

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        text = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(text.partition("%")[0])
            return resolve(host, *args, **kwargs)
        if not _is_here(text):
            raise socket.gaierror(socket.EAI_NONAME, f"tests do not resolve {text!r}")
        return resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        for name in real:
            patch.setattr(socket.socket, name, guarded(name))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


@pytest.fixture
def local_web() -> Iterator[Callable[..., LocalWeb]]:
    """Start local webs, with the arguments of LocalWeb, and close them after the test."""
    with contextlib.ExitStack() as stack:

        def start(*args: Any, **kwargs: Any) -> LocalWeb:
            return stack.enter_context(LocalWeb(*args, **kwargs))

        yield start


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server; whoever stops it starts it again."""
    try:
        server = PostgresServer()
    except PostgresUnavailableError as error:
        pytest.skip(str(error))
    with server:
        yield server


@pytest.fixture(scope="session")
def _s3_process(tmp_path_factory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(_s3_process, monkeypatch) -> S3Server:
    """An S3 server with one empty bucket, and an environment that leads to it."""
    _s3_process.reset()
    _s3_process.make_bucket()
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", _s3_process.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")  # nothing of whoever runs the tests
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return _s3_process
