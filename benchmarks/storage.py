"""CPU per page of what a crawl keeps beside its lines: the archive and the catalog.

Pages of about 20 KB of HTML, plain and packed, go through the recorder as in a crawl, in groups
of 50 a commit, on the embedded stores. The same is done without the recorder; the difference
is what storage costs. Checked at the end: each page has its row, and its record has its bytes.
"""

from __future__ import annotations

import argparse
import gzip
import random
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from scrapy import Request
from scrapy.http import HtmlResponse

from crawler.commit import GroupCommit
from crawler.frontier import Frontier, FrontierOptions, RocksEngine
from crawler.model import Allow, Discovery, Outcome, Page
from crawler.recording import Recorder
from crawler.store import StoreOptions
from crawler.store.catalog import Catalog
from crawler.stores import Stores
from crawler.urls import fingerprint, host_key
from crawler.visits import Answer, Visit

_GROUP = 50
_ALLOW = Allow()
_HEADERS = {"Content-Type": "text/html; charset=utf-8", "Server": "bench", "ETag": '"abc"'}


class Bench:
    """A frontier and its commits, with or without a recorder."""

    def __init__(self, directory: Path, *, recording: bool) -> None:
        directory.mkdir()
        self._engine = RocksEngine(directory / "frontier")
        options = FrontierOptions(delay=0.0, host_budget=0)
        self._frontier = Frontier(
            self._engine, options, admit=lambda _: None, key=lambda url: url, now=0.0
        )
        self._commits = GroupCommit(
            self._engine, self._frontier, interval=1e9, pages=_GROUP, now=0.0
        )
        self._now = 0.0
        self._recorder = self._make_recorder(directory) if recording else None

    def _make_recorder(self, directory: Path) -> Recorder:
        stores = Stores(directory, StoreOptions())
        return Recorder(
            archive=stores.archive(self._commits, random.Random(1), "bench"),
            outbox=stores.outbox(self._engine, self._frontier, self._commits),
            find=lambda url: stores.find(fingerprint(host_key(url), url)),
            read=stores.read,
            other_types=True,
        )

    def group(self, pages: list[tuple[str, bytes, bytes]]) -> float:
        """Settle pages and commit them; return CPU seconds, without making the answers."""
        self._frontier.add(Discovery([url for url, _, _ in pages]), self._now)
        visits = []
        for _ in pages:
            self._now += 0.01
            lease = self._frontier.next(self._now, lambda *_: _ALLOW)
            assert lease is not None
            self._frontier.transfer_ended(lease, self._now)
            visits.append(Visit(lease))
        bodies = {url: (body, sent) for url, body, sent in pages}
        for visit in visits:
            _answer(visit, *bodies[visit.lease.url], self._now)
        start = time.process_time()
        for visit in visits:
            if self._recorder is not None:
                self._recorder.page(visit, Outcome.STORED, self._now)
            self._frontier.done(visit.lease, Outcome.STORED, self._now)
            self._commits.page_settled(self._now)
        return time.process_time() - start

    def close(self) -> None:
        """Commit and close everything."""
        self._commits.close(self._now)


def main() -> int:
    """Print CPU per page for plain and for packed bodies."""
    options = _arguments()
    print(f"{options.pages:,} pages, {_GROUP} a commit; median of groups, ms CPU per page")
    for packed in (False, True):
        with tempfile.TemporaryDirectory(prefix="storage-") as folder:
            print(_measure(Path(folder), options.pages, packed=packed), flush=True)
    return 0


def _measure(folder: Path, count: int, *, packed: bool) -> str:
    rng = random.Random(7)
    benches = Bench(folder / "with", recording=True), Bench(folder / "without", recording=False)
    costs: tuple[list[float], list[float]] = ([], [])
    last: list[tuple[str, bytes, bytes]] = []
    for first in range(0, count, _GROUP):
        last = [_page(rng, number, packed=packed) for number in range(first, first + _GROUP)]
        for bench, cost in zip(benches, costs, strict=True):
            cost.append(bench.group(last) / _GROUP)
    for bench in benches:
        bench.close()
    _check(folder / "with", count, last)
    whole, bare = (1000 * statistics.median(cost) for cost in costs)
    sent = statistics.mean(len(sent) for _, _, sent in last)
    kind = f"{'packed' if packed else 'plain':>7} bodies of {sent:,.0f} bytes"
    return f"{kind}: {whole - bare:.3f} ({whole:.3f} with storage, {bare:.3f} without)"


def _page(rng: random.Random, number: int, *, packed: bool) -> tuple[str, bytes, bytes]:
    words = " ".join(f"w{rng.randrange(3000)}" for _ in range(3300))
    body = f"<html><title>Page {number}</title><p>{words}</p></html>".encode()
    url = f"http://host{number % 997}.example.org/section/article-{number}.html"
    return url, body, gzip.compress(body, 6, mtime=0) if packed else body


def _answer(visit: Visit, body: bytes, sent: bytes, now: float) -> None:
    url = visit.lease.url
    headers = {**_HEADERS, **({"Content-Encoding": "gzip"} if sent is not body else {})}
    request = Request(url, headers={"User-Agent": "bench/1", "Accept-Encoding": "gzip"})
    response = HtmlResponse(url, headers=headers, body=sent, request=request, protocol="HTTP/1.1")
    visit.answer = Answer(request, response, now, body)
    visit.page = Page(
        url=url, status=200, fetched_at=now, depth=1, referrer=None, content_type="text/html",
        charset="utf-8", title=body[13:30].decode(), lang="en", headings=[], text="",
        canonical=None, robots=[], etag='"abc"', last_modified=None, bytes=len(body),
        content_hash="00" * 16,
    )  # fmt: skip


def _check(directory: Path, count: int, last: list[tuple[str, bytes, bytes]]) -> None:
    """Raise SystemExit unless all pages are there, and the last ones with their bytes."""
    with closing(Catalog.open(str(directory / "catalog.sqlite"), read_only=True)) as catalog:
        stores = Stores(directory, StoreOptions())
        rows = [catalog.page(fingerprint(host_key(url), url)) for url, _, _ in last]
        bodies = [stores.read(row).body for row in rows if row is not None]
        if catalog.count() != count or bodies != [sent for _, _, sent in last]:
            raise SystemExit(f"no figure: {catalog.count()} of {count} pages are there")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench storage", description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
