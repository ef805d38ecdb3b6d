"""Pages made of archived answers, as a crawl makes them of answers that arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.parsing import Feed, finish, read
from crawler.received import USABLE, choose, page_of
from crawler.workers import Worker

if TYPE_CHECKING:
    from typing import Self

    from crawler.model import Page
    from crawler.reading.kept import Kept
    from crawler.received import Received


class PageMaker:
    """Parses answers, isolated types in a process of their own; a context manager that ends it."""

    def __init__(self, kept: Kept) -> None:
        self._config = kept.config
        self._resolver = kept.canonicalizer
        self._worker = Worker(kept.config.workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()

    def page(self, received: Received) -> Page | None:
        """Return the page that an answer is, None when it is none."""
        if received.status not in USABLE:
            return None
        chosen = choose(received, self._config, self._resolver)
        if chosen is None:
            return None
        (_, module, kind, media), document = chosen
        if kind.isolated:
            found = finish(self._worker.parse(module, document), document)
        else:
            found = read(kind, document)
        return None if isinstance(found, Feed) else page_of(received, media, found)
