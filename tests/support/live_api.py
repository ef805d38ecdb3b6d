"""The read API on a port of its own, in a thread, and a client that sends what it is told."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.api import Address, Library, create_app, listen
from crawler.api.server import make_server
from crawler.commands.api import undo_codings, url_hasher
from crawler.store import ArchiveReader
from crawler.store.catalog import Catalog
from crawler.urls import Canonicalizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from fastapi import FastAPI

    from crawler.store import ObjectStore


class Answer(NamedTuple):
    """What the server sent."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Client:
    """Asks one server; a connection each time."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def get(
        self, target: str, headers: Mapping[str, str] | None = None, method: str = "GET"
    ) -> Answer:
        """Send one request; ``target`` goes as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with closing(connection):
            connection.request(method, target, headers=dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read())


@contextlib.contextmanager
def open_library(directory: Path, store: ObjectStore | None = None) -> Iterator[Library]:
    """Give what the API reads of a job directory, as the command puts it together."""
    with closing(Catalog.open(str(directory / "catalog.sqlite"), read_only=True)) as catalog:
        yield Library(
            catalog=catalog,
            pages=directory / "pages.jsonl",
            archive=ArchiveReader(directory / "warc", store),
            url_hash=url_hasher(Canonicalizer()),
            decode=undo_codings,
        )


@contextlib.contextmanager
def serving(app: FastAPI, token: str = "") -> Iterator[Client]:
    """Serve an application until the end of the block."""
    with listen(Address("127.0.0.1", 0, token)) as listening:
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield Client(listening.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join(20)


@contextlib.contextmanager
def live_api(directory: Path, token: str = "", **options: Any) -> Iterator[Client]:
    """Serve a job directory until the end of the block; ``options`` are of ``create_app``."""
    with (
        open_library(directory) as library,
        serving(create_app(library, token=token, **options), token) as client,
    ):
        yield client
