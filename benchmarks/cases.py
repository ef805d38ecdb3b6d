"""All cases of what goes wrong between crawlers and sites: how many does each crawler pass?

The same cases, the same local web and the same judge (``tests/cases``) for the spider of this
project and for stock Scrapy: a CrawlSpider with its link extractor and its defaults, which
obeys robots.txt and has the delay, the time-out and the size limit of the case's crawl.
Expectations about the outcome of a URL are not put to stock Scrapy, which keeps none.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.stock_parts import STOCK
from tests.cases import components, judge
from tests.cases.components import OURS, Component
from tests.cases.crawls import Crawler, Left, Surroundings, crawl_all, web_spider
from tests.cases.table import Case, all_cases
from tests.support.crawl import options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "cases.md"
_GRACE = 30


def stock_spider(given: Surroundings) -> Left:
    """Crawl with stock Scrapy."""
    ours = given.setup.settings
    seeds, out = given.folder / "seeds.txt", given.folder / "items.jsonl"
    seeds.write_text("\n".join(given.seeds) + "\n")
    settings = {
        "ROBOTSTXT_OBEY": True,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "DOWNLOAD_DELAY": ours["POLITENESS_DELAY"],
        "DOWNLOAD_TIMEOUT": ours["DOWNLOAD_TIMEOUT"],
        "DOWNLOAD_MAXSIZE": ours["DOWNLOAD_MAXSIZE"],
        "USER_AGENT": ours["USER_AGENT"],
        "CLOSESPIDER_TIMEOUT": int(given.setup.timeout),
        "TWISTED_DNS_RESOLVER": "benchmarks.stock_spider.FixedNames",
        "CASES_HOSTS": json.dumps(dict(given.hosts)),
        "LOG_FILE": str(given.folder / "log.txt"),
    }
    spider = str(ROOT / "benchmarks/stock_spider.py")
    command = [sys.executable, "-m", "scrapy", "runspider", spider, "-O", str(out)]
    scope = given.setup.arguments["scope"]
    command += ["-a", f"seeds={seeds}", "-a", f"scope={scope}", *options(**settings)]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    try:
        subprocess.run(
            command,
            cwd=given.folder,
            env=environment,
            timeout=given.setup.timeout + _GRACE,
            capture_output=True,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as problem:
        return Left(_items(out), None, [str(problem)])
    return Left(_items(out), None)


def _items(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_bytes().split(b"\n") if line.endswith(b"}")]


def failures(
    cases: Sequence[Case], parts: Mapping[str, Component], crawler: Crawler
) -> dict[str, list[str]]:
    """Return what each case that is not passed has to say."""
    found = {case.name: _component(case, parts) for case in cases if case.component}
    crawled = [case for case in cases if not case.component]
    with tempfile.TemporaryDirectory(prefix="cases-") as folder:
        result = crawl_all(crawled, Path(folder), crawler)
    for case in crawled:
        found[case.name] = judge.complaints(result.evidence[case.name], case.expected)
    for crawl, problems in result.problems.items():
        for problem in problems:
            print(f"the crawl {crawl}: {problem[-500:]}", file=sys.stderr)
    return {name: complaints for name, complaints in found.items() if complaints}


def _component(case: Case, parts: Mapping[str, Component]) -> list[str]:
    try:
        answers = parts[case.component](case.given, case.expected)
        return components.complaints(answers, case.expected)
    except Exception as error:  # noqa: BLE001 -- whatever a wrapped part raises is its failure
        return [repr(error)[:300]]


def report(cases: Sequence[Case], ours: Mapping[str, object], stock: Mapping[str, object]) -> str:
    """Return the table by kind."""
    totals = Counter(case.kind for case in cases)
    ours_failed, stock_failed = (
        Counter(name.partition("/")[0] for name in failed) for failed in (ours, stock)
    )
    lines = ["| kind | cases | this crawler | stock Scrapy |", "|---|--:|--:|--:|"]
    lines += [
        f"| {kind} | {n} | {n - ours_failed[kind]} | {n - stock_failed[kind]} |"
        for kind, n in sorted(totals.items())
    ]
    n = len(cases)
    lines.append(f"| **all** | **{n}** | **{n - len(ours)}** | **{n - len(stock)}** |")
    return "\n".join(lines) + "\n"


def differences(cases: Sequence[Case]) -> str:
    """Return the table of cases that this crawler answers otherwise on purpose."""
    lines = ["| case | what it does | because |", "|---|---|---|"]
    lines += [
        f"| `{case.name}` ({case.by}) | {case.must} | {case.house} |"
        for case in cases
        if case.house
    ]
    return "\n".join(lines) + "\n"


def write(heading: str, table: str) -> None:
    """Put a table under its heading of the document, in place of the one that is there."""
    before, found, rest = PAGE.read_text().partition(f"## {heading}\n\n")
    if not found:
        raise SystemExit(f"{PAGE} has no heading {heading!r} to write the table under")
    kept = rest.splitlines(keepends=True)
    while kept and kept[0].startswith("|"):
        del kept[0]
    PAGE.write_text(before + found + table + "".join(kept))


def main() -> int:
    """Run both and print the table."""
    parser = argparse.ArgumentParser(prog="scripts/bench cases", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into docs/cases.md")
    parser.add_argument("--kind", help="only cases of this kind")
    parser.add_argument("--verbose", action="store_true", help="say why cases are not passed")
    arguments = parser.parse_args()
    cases = [case for case in all_cases() if arguments.kind in (None, case.kind)]
    results = []
    for name, parts, crawler in (
        ("this crawler", OURS, web_spider),
        ("stock Scrapy", STOCK, stock_spider),
    ):
        started = time.monotonic()
        results.append(failures(cases, parts, crawler))
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
        if arguments.verbose:
            for case, complaints in results[-1].items():
                print(f"{name} {case}: {'; '.join(complaints)[:300]}", file=sys.stderr)
    text = report(cases, *results)
    print(text)
    if arguments.write:
        write("By kind", text)
        write("Deliberate differences", differences(cases))
    return 0


if __name__ == "__main__":
    sys.exit(main())
