"""Traps beside real pages on a real server: all real pages are found, little is wasted."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.support.crawl import ROOT, CrawlResult, crawl, options
from tests.support.server import LocalWeb
from tests.support.trap_zoo import TrapZoo

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KINDS = ("calendar", "counter", "facets", "session-query", "soft404", "growing", "append")
SMALL = {"articles": 200, "shelf": 100, "only": KINDS}


@dataclass(frozen=True)
class Run:
    zoo: TrapZoo
    result: CrawlResult
    fetched: list[str]
    jobdir: Path


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    zoo, jobdir = TrapZoo(**SMALL), tmp_path_factory.mktemp("traps") / "job"
    with LocalWeb("tests.support.sites:trap_zoo", SMALL) as web:
        port = f":{web.port}"
        addresses = {f"{kind}.{zoo.domain}": web.hosts[0] for kind in KINDS}
        settings = options(POLITENESS_DELAY=0, SAFETY_HOSTS=json.dumps(addresses))
        seeds = [url.replace(zoo.domain, zoo.domain + port) for url in zoo.seeds()]
        result = crawl(seeds, *settings, jobdir=jobdir, timeout=110).check()
        fetched = [
            f"http://{hit.host}{hit.path}".replace(port, "")
            for hit in web.log()
            if hit.path != "/robots.txt"
        ]
    return Run(zoo, result, fetched, jobdir)


def test_every_real_page_is_fetched(run):
    """All pages of seven sites are found, by the server's log, and none is asked for twice."""
    assert run.zoo.real() - set(run.fetched) == set()
    assert len(run.fetched) == len(set(run.fetched))


def test_little_is_wasted(run):
    """Each site has 301 pages, so a trap that takes 100 fetches takes a quarter; most take less."""
    wasted = set(run.fetched) - run.zoo.real()
    assert len(wasted) < 75 * len(KINDS)
    rejected = run.result.rejected
    assert rejected["trap_pattern"] > 100
    assert rejected["parameter"] > 100


def test_what_was_stopped_is_told(run):
    """The summary has a line, traps.json each rule, and explain the rule of a URL."""
    rules = json.loads((run.jobdir / "traps.json").read_text())
    counter = next(rule for rule in rules if rule["pattern"] == "/entry/#")
    assert counter["holds"]
    assert counter["reason"] == "trap_pattern"
    assert counter["since"] is not None
    assert "/entry/" in counter["example"]
    assert counter["rejected"] == counter["kept"] > 0
    assert "scripts with irrelevant parameters: " in run.result.stderr
    asked = subprocess.run(
        [
            sys.executable,
            "-m",
            "scrapy",
            "explain",
            counter["example"],
            "-s",
            f"JOBDIR={run.jobdir}",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "rejected/trap_pattern" in asked.stdout
    assert "It is not fetched now: trap_pattern, " in asked.stdout
    assert re.search(r"found +at depth \d+, by http://counter", asked.stdout)
    assert f"pattern /entry/# of {counter['where']} brings nothing new" in asked.stdout


def test_the_books_of_a_job_with_stops_balance(run):
    """``scrapy frontier check`` finds no fault."""
    checked = subprocess.run(
        [sys.executable, "-m", "scrapy", "frontier", "check", "-s", f"JOBDIR={run.jobdir}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
