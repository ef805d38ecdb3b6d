"""Crawls the webs of many cases at once and tells what came of each."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.cases.judge import Asked, Evidence
from tests.cases.names import PRIVATE, Names, hosts_in, split_local
from tests.cases.table import Case, CrawlSetup, crawl_setups
from tests.support.crawl import options, start_crawl
from tests.support.server import LocalWeb

if TYPE_CHECKING:
    from pathlib import Path

AT_A_TIME = 3  # crawls; each mostly waits
_GRACE = 30.0  # seconds between Ctrl-C and the end
_PORTS = {"http": 80, "https": 443}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Surroundings:
    """What a crawler is given.

    Attributes:
        setup: Its settings, arguments and time.
        seeds: URLs on the local web.
        hosts: Host name -> address.
        network: The addresses that may be reached.
        folder: For its files.
    """

    setup: CrawlSetup
    seeds: Sequence[str]
    hosts: Mapping[str, str]
    network: str
    folder: Path


@dataclass
class Left:
    """What a crawler left behind.

    Attributes:
        lines: With a ``url`` each.
        outcomes: By URL; None when it keeps none.
        problems: What was wrong with the crawl as a whole.
    """

    lines: list[dict[str, Any]] = field(default_factory=list)
    outcomes: dict[str, str] | None = None
    problems: list[str] = field(default_factory=list)


Crawler = Callable[[Surroundings], Left]


@dataclass
class Crawled:
    """The evidence of all cases, by name, and the problems of the crawls, by crawl."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    problems: dict[str, list[str]] = field(default_factory=dict)


def crawl_all(cases: Sequence[Case], folder: Path, crawler: Crawler) -> Crawled:
    """Run all crawls that the cases need, some at a time."""
    groups: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        groups[case.crawl].append(case)
    setups = crawl_setups()
    crawled = Crawled()
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        tasks = {
            name: pool.submit(_crawl, setups[name], group, folder / name, crawler)
            for name, group in sorted(groups.items(), key=lambda one: -setups[one[0]].timeout)
        }
        for name, task in tasks.items():
            crawled.problems[name], evidence = task.result()
            crawled.evidence.update(evidence)
    return crawled


def _crawl(
    setup: CrawlSetup, cases: Sequence[Case], folder: Path, crawler: Crawler
) -> tuple[list[str], dict[str, Evidence]]:
    folder.mkdir(parents=True)
    with _webs(cases) as local:
        seeds = [
            local.names[number].local(seed)
            for number, case in enumerate(cases)
            for seed in case.given["seeds"]
        ]
        left = crawler(Surroundings(setup, seeds, local.hosts, f"{local.address}/32", folder))
        requests = local.requests()
        evidence = {
            case.name: _evidence(case, number, local.names[number], left, requests[number])
            for number, case in enumerate(cases)
        }
    return left.problems, evidence


@dataclass(frozen=True)
class _Local:
    address: str
    names: Sequence[Names]
    hosts: Mapping[str, str]
    webs: Sequence[LocalWeb]

    def requests(self) -> dict[int, list[Asked]]:
        """Return the requests for the hosts of each case, in order."""
        found: dict[int, list[Asked]] = {number: [] for number in range(len(self.names))}
        private = {names.private: number for number, names in enumerate(self.names)}
        for web in self.webs:
            for hit in web.log():
                name = hit.host.partition(":")[0]
                local = split_local(name)
                number = local[1] if local else private[name]
                url = self.names[number].told(f"{web.scheme}://{hit.host}{hit.path}")
                found[number].append(Asked(url, hit.t_start, hit.t_end, hit.status))
        for hits in found.values():
            hits.sort(key=lambda one: one.began_at)
        return found


@contextlib.contextmanager
def _webs(cases: Sequence[Case]) -> Iterator[_Local]:
    """Serve the webs of the cases, on the default ports where the system allows it."""
    block = f"127.{100 + os.getpid() % 150}.{next(_numbers) % 250}"
    address = f"{block}.1"
    texts = [json.dumps([case.given["web"], case.given["seeds"]]) for case in cases]
    webs = {str(number): case.given["web"] for number, case in enumerate(cases)}
    of_private = (number for number, text in enumerate(texts) if PRIVATE in text)
    private = {number: f"{block}.{last}" for last, number in enumerate(of_private, start=2)}
    with contextlib.ExitStack() as stack:
        ports = _free_ports(address)
        names = [Names(number, ports, private.get(number, "")) for number in range(len(cases))]
        hosts = {
            names[number].local(host): private[number]
            if host in case.given.get("private", ())
            else address
            for number, case in enumerate(cases)
            for host in hosts_in(texts[number])
        }
        site = {"webs": webs, "ports": ports, "private": {str(n): a for n, a in private.items()}}
        served = [
            stack.enter_context(
                LocalWeb(
                    "tests.cases.web:case_site",
                    site,
                    hosts=[address, *private.values()],
                    port=port,
                    tls=scheme == "https",
                    names=sorted(hosts),
                )
            )
            for scheme, port in ports.items()
        ]
        yield _Local(address, names, hosts, served)


def _free_ports(*addresses: str) -> dict[str, int]:
    """Return the default ports where they may be bound, else free ones."""
    ports = {}
    for scheme, port in _PORTS.items():
        for wanted in (port, 0):
            with contextlib.suppress(OSError):
                web = LocalWeb("tests.support.sites:table_site", {"hosts": {}}, hosts=addresses)
                web.port = wanted
                with web:
                    ports[scheme] = web.port
                break
    return ports


def _evidence(case: Case, number: int, names: Names, left: Left, requests: list[Asked]) -> Evidence:
    home = urlsplit(case.given["seeds"][0])
    evidence = Evidence(f"{home.scheme}://{home.netloc}", requests)
    for line in left.lines:
        if _number(line["url"]) == number:
            evidence.lines[names.told(line["url"])] = names.told(line)
    if left.outcomes is None:
        evidence.outcomes = None
    else:
        own = {url: end for url, end in left.outcomes.items() if _number(url) == number}
        evidence.outcomes = {names.told(url): end for url, end in own.items()}
    return evidence


def _number(url: str) -> int | None:
    local = split_local(urlsplit(url).hostname or "")
    return local[1] if local else None


def web_spider(given: Surroundings) -> Left:
    """Crawl with the spider of this project."""
    jobdir = given.folder / "job"
    settings = {
        **given.setup.settings,
        "SAFETY_ALLOWED_NETWORKS": given.network,
        "SAFETY_HOSTS": json.dumps(dict(given.hosts)),
    }
    arguments = [f"{name}={value}" for name, value in given.setup.arguments.items()]
    flags = [part for argument in arguments for part in ("-a", argument)]
    left = Left(outcomes={})
    with start_crawl(given.seeds, *flags, *options(**settings), jobdir=jobdir) as running:
        with contextlib.suppress(Exception):
            running.process.wait(given.setup.timeout)
        if running.process.poll() is None:
            left.problems.append(f"it did not end within {given.setup.timeout} s")
            running.interrupt()
        result = running.wait(_GRACE)
    try:
        result.check()
    except AssertionError as problem:
        left.problems.append(str(problem))
    left.lines = result.lines
    with contextlib.closing(sqlite3.connect(jobdir / "catalog.sqlite")) as catalog:
        left.outcomes = dict(catalog.execute("SELECT url, outcome FROM pages"))
    return left
