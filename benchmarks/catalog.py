"""CPU per row that the catalog is given, and per answer, and how both grow with the catalog.

Groups of 50 visits, each its own commit, as a crawl writes them. Domains follow a power law.
Three rows in ten are no stored page: redirects, missing pages, duplicates, PDFs. Answers of 100
pages are asked at the beginning, the middle and the end, of a reader as the API has it.
Every answer is compared with what was written.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.store.catalog import Catalog
from crawler.store.pages import PageQuery, PageRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GROUP = 50
PAGE = 100
REPEATS = 15
REVISITS = 20_000
DOMAINS = 20_000
STARTED = 1_796_119_200.0
MOST_CPU = 0.005  # s of an answer
KINDS = (  # of ten rows: outcome, status, media type
    *[("stored", 200, "text/html")] * 7,
    ("redirected", 301, "text/html"),
    ("failed_client", 404, "text/html"),
    ("duplicate_exact", 200, "text/html"),
)
PDF = ("skipped_type", 200, "application/pdf")  # of one in 97


@lru_cache(maxsize=DOMAINS)
def _domain(number: int) -> tuple[str, bytes]:
    name = f"example{number:05d}.org"
    return name, blake2b(name.encode(), digest_size=8).digest()


def row(number: int) -> PageRow:
    """Return the visit with a number: the later, the larger it is."""
    draw = (number * 2_654_435_761 & 0xFFFF_FFFF) / 2**32  # multiplicative hash: cheap, even
    domain, host = _domain(int(DOMAINS**draw) - 1)  # density 1/rank
    name = blake2b(number.to_bytes(8, "big"), digest_size=24).digest()
    outcome, status, media = PDF if number % 97 == 0 else KINDS[number * 7 % 10]
    url = f"http://www.{domain}/section{number % 97:02d}/article-{number:09d}.html"
    answered = status == 200
    return PageRow(
        url_hash=host + name[:8],
        url=url,
        host=f"www.{domain}",
        domain=domain,
        outcome=outcome,
        fetched_at=STARTED + number / 100,
        depth=number % 9,
        referrer=f"http://www.{domain}/section{number % 97:02d}/",
        redirect_to=f"{url}?moved" if status == 301 else None,
        status_code=status,
        content_type=media,
        charset="utf-8" if answered else None,
        title=f"Article {number} about one thing and another" if answered else None,
        language="en" if answered else None,
        canonical_url=url if answered else None,
        etag=f'"{name[:6].hex()}"',
        last_modified="Thu, 22 Sep 2022 12:36:46 GMT",
        body_bytes=20_000,
        content_hash=name + name[:8] if answered else None,
        text_hash=name[:16] if answered else None,
        simhash=int.from_bytes(name[:8], "big") if answered else None,
        text_offset=number * 5_000 if outcome == "stored" else None,
        text_length=5_000 if outcome == "stored" else None,
        warc_file="web-00000.warc.gz",
        warc_offset=number * 6_000,
        warc_length=6_000,
    )


def main() -> int:
    """Grow a catalog, print a row of figures at each size, then ask it."""
    options = _arguments()
    with tempfile.TemporaryDirectory() as folder:
        url = options.url or str(Path(folder) / "catalog.db")
        bench = Bench(url, Path(folder))
        print("pages        us CPU a row: median and mean    bytes a row")
        for size in sorted(
            {options.rows // 10, options.rows // 4, options.rows // 2, options.rows}
        ):
            print(bench.grow_to(size), flush=True)
        slow = bench.ask()
        print(bench.visit_again(), flush=True)
        bench.close()
    if slow:
        print(f"more than {1000 * MOST_CPU:g} ms: {', '.join(slow)}")
    return 1 if slow else 0


class Bench:
    """One catalog that grows, and what it costs."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.catalog = Catalog.open(url)
        if self.catalog.count():
            raise SystemExit(f"{url} has pages already; name an empty database")
        self.size = 0

    def grow_to(self, size: int) -> str:
        """Write until there are so many pages; return the figures of this stretch."""
        costs = []
        while self.size < size:
            rows = [row(number) for number in range(self.size, min(self.size + GROUP, size))]
            costs.append(_cpu(partial(self.catalog.write, rows)) / len(rows))
            self.size += len(rows)
        if self.catalog.count() != size:
            raise SystemExit(f"no figure: {self.catalog.count()} pages instead of {size}")
        disk = sum(file.stat().st_size for file in self.folder.iterdir()) / size
        return (
            f"{size:>9,} {1e6 * statistics.median(costs):>15.0f} "
            f"{1e6 * statistics.fmean(costs):>12.0f} {f'{disk:.0f}' if disk else '-':>25}"
        )

    def ask(self) -> list[str]:
        """Ask every question at three depths; return those that cost too much."""
        reader = Catalog.open(self.url, read_only=True)
        largest = row(0).domain
        questions = {
            "by time": PageQuery(),
            "newest first": PageQuery(newest_first=True),
            "by domain": PageQuery(domain=largest),
            "status 404": PageQuery(status=404),
            "status 404 of a domain": PageQuery(status=404, domain=largest),
            "outcome redirected": PageQuery(outcome="redirected"),
            "outcome stored of a domain": PageQuery(outcome="stored", domain=largest),
            "media type PDF": PageQuery(content_type="application/pdf"),
        }
        print(f"{'ms CPU an answer of 100':<28} beginning    middle       end")
        slow = []
        for name, query in questions.items():
            costs = [self._answer(reader, query, depth) for depth in (0, 0.5, 0.98)]
            print(f"{name:<28}" + "".join(f"{1000 * cost:>10.2f}" for cost in costs))
            slow += [name] if max(costs) > MOST_CPU else []
        costs = [
            self._domains(reader, after) for after in ("", "example00200.org", "example10000.org")
        ]
        print(f"{'domains':<28}" + "".join(f"{1000 * cost:>10.2f}" for cost in costs))
        reader.close()
        return slow + (["domains"] if max(costs) > MOST_CPU else [])

    def _answer(self, reader: Catalog, query: PageQuery, depth: float) -> float:
        """Return what an answer at a depth costs, after comparing it with what was written."""
        matching = self._matching(query, depth)
        first = next(matching)
        if query.newest_first:
            seek = replace(query, until=first.fetched_at + 0.005, limit=1)
        else:
            seek = replace(query, since=first.fetched_at, limit=1)
        found = reader.pages(seek)
        asked = replace(query, limit=PAGE, cursor=found.cursor)  # from behind that row
        expected = [page.url for page in islice(matching, PAGE)]
        urls = [page.url for page in (*found.rows, *reader.pages(asked).rows)]
        if urls != [first.url, *expected]:
            raise SystemExit(f"no figure: another answer to {query} than what was written")
        return statistics.median(_cpu(lambda: reader.pages(asked)) for _ in range(REPEATS))

    def _matching(self, query: PageQuery, depth: float) -> Iterator[PageRow]:
        start = int(self.size * depth)
        numbers = range(self.size - 1 - start, -1, -1) if query.newest_first else count(start)
        for number in numbers:
            if number >= self.size:
                return
            page = row(number)
            wanted = (
                (query.domain, page.domain),
                (query.status, page.status_code),
                (query.outcome, page.outcome),
                (query.content_type, page.content_type),
            )
            if all(value is None or value == has for value, has in wanted):
                yield page

    def _domains(self, reader: Catalog, after: str) -> float:
        found = reader.domains(after=after)
        names = [one.domain for one in found]
        if names != sorted(set(names)) or not names or names[0] <= after:
            raise SystemExit("no figure: domains are not in order")
        return statistics.median(_cpu(lambda: reader.domains(after=after)) for _ in range(REPEATS))

    def visit_again(self) -> str:
        """Write later visits of known pages; return what a row costs."""
        costs = []
        for group in range(0, min(REVISITS, self.size), GROUP):
            numbers = [(n * 7_919) % self.size for n in range(group, group + GROUP)]
            rows = [_later(row(number), self.size) for number in numbers]
            costs.append(_cpu(partial(self.catalog.write, rows)) / GROUP)
        if self.catalog.count() != self.size or len(self.catalog.history(row(0).url_hash)) != 2:
            raise SystemExit("no figure: later visits of known pages were not kept as such")
        return (
            f"visited again: {1e6 * statistics.median(costs):.0f} us CPU a row (median), "
            f"{1e6 * statistics.fmean(costs):.0f} (mean)"
        )

    def close(self) -> None:
        """Close the catalog."""
        self.catalog.close()


def _later(page: PageRow, number: int) -> PageRow:
    return replace(page, fetched_at=page.fetched_at + number / 100, content_hash=bytes(32))


def _cpu(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench catalog", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="pages at the end, from 20,000")
    parser.add_argument(
        "--url",
        help="an empty database; a SQLite file by default. Of a server's CPU nothing is seen",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
