"""CPU of the trap rules: per link, per new URL and per page, on honest sites and on traps.

The rules alone, over a store in memory: no frontier, network or parsing. A page brings 50 links, 10
of them new; its text has 200 words. Checked at the end: nothing honest was rejected, and
each trap was.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.model import Discovery, Outcome, Reason
from crawler.traps import Observation, TrapOptions, Traps
from tests.support.prose import Prose

if TYPE_CHECKING:
    from collections.abc import Callable

LINKS, NEW = 50, 10
GROUP = 200


@dataclass
class Rows:
    """A store in memory."""

    rows: dict[bytes, bytes] = field(default_factory=dict)

    def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        return self.rows.get(key)

    def scan(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """Return rows by prefix; only what was let go is scanned for, which is not here."""
        return [row for row in self.rows.items() if row[0].startswith(prefix)]

    def put(self, key: bytes, value: bytes) -> None:
        """Set a row."""
        self.rows[key] = value

    def delete(self, key: bytes) -> None:
        """Remove a row."""
        self.rows.pop(key, None)


def names(n: int) -> str:
    """Return a page of 5,000 hosts, with a name and a number."""
    return f"http://www.host{n % 5000}.org/section-{n % 7}/article-{n}.html"


def words(n: int) -> str:
    """Return a page of 20 hosts, without a number."""
    letters = "".join(chr(97 + n // 26**k % 26) for k in range(5))
    return f"http://www.host{n % 20}.org/docs/{'abcdefg'[n % 7]}/{letters}.html"


def queries(n: int) -> str:
    """Return a page of 20 scripts with three parameters."""
    return f"http://www.host{n % 20}.org/show.php?id={n}&lang=en&view={n % 3}"


def calendar(n: int) -> str:
    """Return a day of 20 endless calendars."""
    return f"http://www.host{n % 20}.org/calendar/{2000 + n // 365}/{n % 12}/{n % 28}"


def measure(url: Callable[[int], str], pages: int, *, hollow: bool) -> tuple[float, float, int]:
    """Return µs per new URL and µs per page, medians over groups, and how many were rejected."""
    traps, made, rejected = Traps(TrapOptions(), Rows()), 0, 0
    per_url, per_page = [], []
    for start in range(0, pages, GROUP):
        spent_urls = spent_page = 0.0
        for number in range(start, start + GROUP):
            text = "No events on this day." if hollow else Prose(number).paragraph(200)
            fresh = [url(made + k) for k in range(NEW)]
            made += NEW
            begun = time.process_time()
            traps.begin(Observation(url(number), Outcome.STORED, text, None, url(0)))
            told = time.process_time()
            for link in fresh:
                rejected += isinstance(
                    traps.admit(link, Discovery((link,), 2, url(number))), Reason
                )
            judged = time.process_time()
            traps.end(1.0)
            spent_page += told - begun + time.process_time() - judged
            spent_urls += judged - told
        per_url.append(1e6 * spent_urls / (GROUP * NEW))
        per_page.append(1e6 * spent_page / GROUP)
    return statistics.median(per_url), statistics.median(per_page), rejected


def main() -> int:
    """Print a row for each kind of site."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=10_000)
    pages = parser.parse_args().pages
    print("site       us/new URL  us/link (1 in 5 new)  us/page  rejected")
    for url, hollow in ((names, False), (words, False), (queries, False), (calendar, True)):
        per_url, per_page, rejected = measure(url, pages, hollow=hollow)
        print(
            f"{url.__name__:<10} {per_url:>10.2f} {per_url * NEW / LINKS:>21.2f} {per_page:>8.1f} "
            f"{rejected:>9,}"
        )
        if bool(rejected) is not hollow:
            print(f"{url.__name__}: rejected {rejected:,} URLs, which is wrong")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
