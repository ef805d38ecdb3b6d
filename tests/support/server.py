"""A real HTTP/1.1 server for tests: many loopback addresses, one port, its own log.

It runs in a subprocess, so that its CPU and its interpreter lock stay out of the crawler's
way, or in a thread, where a test can hand over any callable. The log it keeps is the judge
of politeness (:mod:`tests.support.judge`): one JSON line per request, written when the
answer has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib
import json
import os
import selectors
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tests.support.connection import Connection, Web
from tests.support.exchange import Hit, Site
from tests.support.tls import Authority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

START_S = 20.0  # a start that takes longer has failed
_ROOT = Path(__file__).resolve().parents[2]


def loopback(count: int, first: int = 0) -> list[str]:
    """Return ``count`` addresses of 127.0.0.0/8: 127.1.0.1, 127.1.0.2 and so on."""
    numbers = range(first, first + count)
    return [f"127.{1 + n // 62_500}.{n // 250 % 250}.{1 + n % 250}" for n in numbers]


class LocalWeb:
    """A web on 127.0.0.0/8, from ``start`` (or ``with``) to ``close``.

    Args:
        site: ``"module:name"`` of a site class or factory, called with ``args`` in the
            server's process; or a ready site, which is served from a thread of this one.
        args: Keyword arguments for the factory; JSON values only.
        hosts: Addresses to listen on, or how many of :func:`loopback`. Any Host header
            is answered on each, so names may be mapped to any of them.
        port: A fixed port, to come back on the same one; 0 picks a free one.
        tls: Serve https with a certificate of a local authority for the addresses, for
            ``localhost`` and for ``names``; see :attr:`ca_file`.
        names: Host names the certificate also holds for.
    """

    def __init__(
        self,
        site: str | Site,
        args: Mapping[str, Any] | None = None,
        *,
        hosts: int | Sequence[str] = 1,
        port: int = 0,
        tls: bool = False,
        names: Sequence[str] = (),
    ) -> None:
        self.hosts = loopback(hosts) if isinstance(hosts, int) else list(hosts)
        self.port = port
        self.scheme = "https" if tls else "http"
        self._site = site
        self._args = dict(args or {})
        self._names = list(names)
        self._ends = contextlib.ExitStack()
        self._folder: Path | None = None
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def log_file(self) -> Path:
        """The request log; kept until the web is closed."""
        assert self._folder is not None, "the web is not started"
        return self._folder / "requests.jsonl"

    @property
    def ca_file(self) -> Path:
        """The authority to trust, PEM, when serving https."""
        return self.log_file.with_name("ca.pem")

    @property
    def urls(self) -> list[str]:
        """The home page of every host."""
        return [self.url(host=host) for host in range(len(self.hosts))]

    def url(self, path: str = "/", *, host: int | str = 0) -> str:
        """Return the URL of ``path`` on a host, given by its number or its name."""
        name = self.hosts[host] if isinstance(host, int) else host
        return f"{self.scheme}://{name}:{self.port}{path}"

    def log(self) -> list[Hit]:
        """Return the requests answered so far, in the order in which they ended."""
        lines = self.log_file.read_bytes().split(b"\n")[:-1]  # the last one may be half written
        return [Hit(**json.loads(line)) for line in lines]

    def cpu_s(self) -> float:
        """Return the CPU seconds, user and system, that the server's process has used."""
        assert self._process is not None, "only a subprocess has a CPU clock of its own"
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def start(self) -> Self:
        """Listen and serve; returns when the port is open."""
        folder = self._ends.enter_context(tempfile.TemporaryDirectory(prefix="local-web-"))
        self._folder = Path(folder)
        self.log_file.touch()
        if self.scheme == "https":
            authority = Authority()
            self.ca_file.write_bytes(authority.certificate)
            pair = authority.issue([*self.hosts, "localhost", *self._names])
            self._folder.joinpath("server.pem").write_bytes(pair)
        with self._closing_on_error():
            sockets = self._ends.enter_context(_listening(self.hosts, self.port))
            self.port = sockets[0].getsockname()[1]
            self._serve(sockets)
        return self

    def close(self) -> None:
        """Stop serving and remove the log; safe to call twice."""
        self._ends.close()

    @contextlib.contextmanager
    def _closing_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _serve(self, sockets: list[socket.socket]) -> None:
        assert self._folder is not None
        if isinstance(self._site, str):
            self._process = self._ends.enter_context(
                _subprocess(self._site, self._args, self._folder, sockets)
            )
            for one in sockets:
                one.close()  # the child holds them now
        else:
            site = functools.partial(self._site, **self._args) if self._args else self._site
            self._ends.enter_context(_thread(site, self._folder, sockets))


@contextlib.contextmanager
def _listening(hosts: Sequence[str], port: int) -> Iterator[list[socket.socket]]:
    """Bind every host to one port: the given one, or one that is free on all of them."""
    for attempt in range(20):
        with contextlib.ExitStack() as stack:
            try:
                sockets = _bind(stack, hosts, port)
            except OSError:
                if port or attempt == 19:
                    raise
                continue
            stack.pop_all()
        with contextlib.ExitStack() as stack:
            for one in sockets:
                stack.enter_context(one)
            yield sockets
        return


def _bind(stack: contextlib.ExitStack, hosts: Sequence[str], port: int) -> list[socket.socket]:
    sockets: list[socket.socket] = []
    for host in hosts:
        if not host.startswith("127."):
            raise ValueError(f"{host} is outside 127.0.0.0/8: a local web listens nowhere else")
        one = stack.enter_context(socket.socket())
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        one.bind((host, port or (sockets[0].getsockname()[1] if sockets else 0)))
        one.listen(512)
        sockets.append(one)
    return sockets


@contextlib.contextmanager
def _subprocess(
    site: str, args: dict[str, Any], folder: Path, sockets: list[socket.socket]
) -> Iterator[subprocess.Popen[str]]:
    """Serve from ``python -m tests.support.server``, which inherits the sockets.

    The child lives as long as its standard input is open, so it cannot outlive us.
    """
    config = folder / "config.json"
    numbers = [one.fileno() for one in sockets]
    config.write_text(json.dumps({"site": site, "args": args, "sockets": numbers}))
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.support.server", str(config)],
        cwd=_ROOT,
        pass_fds=numbers,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        _await_ready(child)
        yield child
    finally:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.close()
        try:
            child.wait(START_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()


def _await_ready(child: subprocess.Popen[str]) -> None:
    assert child.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        selector.select(START_S)
    if child.poll() is not None or child.stdout.readline() != "ready\n":
        raise RuntimeError("the local web did not start; its reason stands on stderr above")


@contextlib.contextmanager
def _thread(site: Site, folder: Path, sockets: list[socket.socket]) -> Iterator[None]:
    """Serve from a thread with an event loop of its own."""
    runner = asyncio.Runner()
    loop = runner.get_loop()
    stop = asyncio.Event()
    ready = threading.Event()
    failures: list[BaseException] = []

    def run() -> None:
        try:
            with runner:
                runner.run(serve(site, folder, sockets, stop, ready.set))
        except BaseException as failure:  # noqa: BLE001  (raised again in the test's thread)
            failures.append(failure)
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="local-web", daemon=True)
    thread.start()
    ready.wait(START_S)
    try:
        if not failures:
            yield
    finally:
        if not failures:
            loop.call_soon_threadsafe(stop.set)
        thread.join(START_S)
    if failures:
        raise RuntimeError("the local web failed in its thread") from failures[0]


async def serve(
    site: Site,
    folder: Path,
    sockets: Sequence[socket.socket],
    stop: asyncio.Event,
    ready: Callable[[], object],
) -> None:
    """Serve ``site`` on ``sockets`` until ``stop`` is set; calls ``ready`` when it is up."""
    loop = asyncio.get_running_loop()
    context = None
    pair = folder / "server.pem"
    if pair.exists():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair)
    with folder.joinpath("requests.jsonl").open("ab", buffering=0) as log:
        web = Web(site, log)
        make = functools.partial(Connection, web, "https" if context else "http")
        servers = [
            await loop.create_server(make, sock=one, ssl=context, backlog=512) for one in sockets
        ]
        ready()
        await stop.wait()
        for one in sockets:
            loop.remove_reader(one)
        for _ in range(3):  # asyncio trips over connections that are half made when it closes
            await asyncio.sleep(0)
        for server in servers:
            server.close()
        for connection in list(web.connections):
            connection.stop()
        await web.idle.wait()


def load_site(name: str, args: Mapping[str, Any]) -> Site:
    """Build a site from ``"module:factory"``.

    Raises:
        ValueError: The name is not of that form.
    """
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"site {name!r} is not of the form 'module:factory'")
    site: Site = getattr(importlib.import_module(module), attribute)(**args)
    return site


async def _main(config: Mapping[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    loop.add_reader(sys.stdin, stop.set)  # nothing is ever sent: readable means closed
    site = load_site(config["site"], config["args"])
    sockets = [socket.socket(fileno=number) for number in config["sockets"]]
    folder = Path(sys.argv[1]).parent
    await serve(site, folder, sockets, stop, lambda: print("ready", flush=True))


if __name__ == "__main__":
    asyncio.run(_main(json.loads(Path(sys.argv[1]).read_text())))
