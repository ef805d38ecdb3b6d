"""``scrapy api``: what a crawl has found, over HTTP, while it runs and afterwards."""

from __future__ import annotations

import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.config import Config
from crawler.directory import kept_catalog, shown_directory
from crawler.errors import CrawlerError, StoreError
from crawler.parsing.codings import CodingError, CutShortError, TooLargeError, decode
from crawler.printable import printable
from crawler.store import ArchiveReader, ObjectStore
from crawler.stores import ARCHIVE, PAGES
from crawler.urls import Canonicalizer, fingerprint, host_key

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from scrapy.settings import BaseSettings

_LARGEST = 64 << 20  # bytes of a body, unpacked


class Command(ScrapyCommand):
    """Serves a job directory until Ctrl-C; changes nothing in it. Exit code 2 when refused."""

    requires_project = True
    requires_crawler_process = False

    def short_desc(self) -> str:
        """Say what it is for."""
        return "Serve what a crawl has found over HTTP, read-only (JOBDIR)"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add where to listen and what to serve."""
        super().add_options(parser)
        parser.add_argument("--host", help="address to listen on (API_HOST, 127.0.0.1)")
        parser.add_argument("--port", help="port; 0 takes a free one (API_PORT, 8000)")
        parser.add_argument("--jobdir", metavar="DIR", help="job directory (JOBDIR, crawls/web)")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options as the settings that they stand for."""
        super().process_options(args, opts)
        assert self.settings is not None  # Scrapy sets it first
        for name, value in _given(opts).items():
            self.settings.set(name, value, priority="cmdline")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Serve, and say where."""
        if args:
            raise UsageError(f"unknown: {' '.join(args)}; expected options only")
        assert self.settings is not None  # Scrapy sets it before run
        try:
            _serve(self.settings)
        except CrawlerError as error:
            sys.stderr.write(f"api: error: {printable(str(error))}\n")
            self.exitcode = 2


def _given(opts: argparse.Namespace) -> dict[str, str]:
    options = {"API_HOST": opts.host, "API_PORT": opts.port, "JOBDIR": opts.jobdir}
    return {name: value for name, value in options.items() if value is not None}


def _serve(settings: BaseSettings) -> None:
    from crawler.api import Address, Library, create_app, listen, serve, url_of  # slow to import
    from crawler.store.catalog import Catalog

    config = Config.read(settings)
    address = Address(*config.api)
    directory = shown_directory(settings)
    place = kept_catalog(directory, config.store.catalog_url)
    with (
        listen(address) as listening,
        closing(Catalog.open(place, read_only=True)) as catalog,
    ):
        library = Library(
            catalog=catalog,
            pages=directory / PAGES,
            archive=_archive(directory, config),
            url_hash=url_hasher(Canonicalizer(config.urls)),
            decode=undo_codings,
        )
        url = url_of(listening)
        sys.stdout.write(f"Serving {directory} at {url}/api/v1/pages, described at {url}/docs\n")
        sys.stdout.flush()
        serve(create_app(library, token=address.token), listening)


def _archive(directory: Path, config: Config) -> ArchiveReader:
    """Return the archive: segments that are here, and those that were uploaded."""
    url, driver = config.objects.url, config.objects.driver
    store = ObjectStore.open(url, options=driver, read_only=True) if url else None
    return ArchiveReader(directory / ARCHIVE, store)


def url_hasher(canonicalizer: Canonicalizer) -> Callable[[str], bytes | None]:
    """Return what gives the catalog's identity of a URL as the crawl does; safe in threads."""
    turn = threading.Lock()  # a canonicalizer is not to be shared between threads

    def url_hash(url: str) -> bytes | None:
        with turn:
            sent = canonicalizer.normalize(url)
            return fingerprint(host_key(sent), canonicalizer.key(sent)) if sent else None

    return url_hash


def undo_codings(body: bytes, codings: bytes) -> bytes:
    """Return a body as the crawl has read it; of one that is cut short, what there is.

    Raises:
        StoreError: It is not what its Content-Encoding says, or is too large.
    """
    try:
        return decode(body, codings, limit=_LARGEST)
    except CutShortError as error:
        if error.so_far:
            return error.so_far
        raise StoreError(f"it does not decode as its Content-Encoding says: {error}") from error
    except CodingError as error:
        raise StoreError(f"it does not decode as its Content-Encoding says: {error}") from error
    except TooLargeError as error:
        raise StoreError(f"it has more than {_LARGEST:,} bytes, unpacked") from error
