"""Spiders with callbacks of their own, stopped and started again, and what is lost of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.integration.endings import site
from tests.support.run_case import Crawl, Report, run
from tests.support.server import LocalWeb

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

ODD = "tests.integration.odd_spiders:"


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, list[Report]]:
    """Two runs of each crawl, one after the other in one job directory."""
    with LocalWeb(site, hosts=1) as web:

        def run_of(name, directory: Path, arguments, **settings):
            return Crawl(
                ODD + name,
                {"base": web.url(""), **arguments},
                {"JOBDIR": str(directory), **settings},
            )

        def two(first, second, then=None, **settings):
            directory = tmp_path_factory.mktemp("job")
            name, arguments = first
            more = then if then is not None else arguments
            return [
                run_of(name, directory, arguments, **settings),
                run_of(second, directory, more),
            ]

        crawls = {
            "unnamed": two(
                ("Unnamed", {"paths": "/ok/unnamed-0,/ok/unnamed-1"}),
                "Unnamed",
                {"paths": "/ok/unnamed-2"},
                FRONTIER_MAX_FETCHES=1,
            ),
            "retried": two(("Unnamed", {"paths": "/500-once/unnamed"}), "Unnamed", {"paths": ""}),
            "unfiltered": two(("Unfiltered", {}), "Unfiltered"),
            "renamed": two(("OldName", {}), "NewName", FRONTIER_MAX_FETCHES=1),
        }
        reports = iter(run([crawl for pair in crawls.values() for crawl in pair]))
        return {name: [next(reports), next(reports)] for name in crawls}


@pytest.mark.parametrize("name", ["unnamed", "retried", "unfiltered", "renamed"])
def test_no_run_breaks_or_hangs(runs, name):
    """Whatever an earlier run has left, a crawl comes to its end with its books in order."""
    for report in runs[name]:
        assert report.reason in ("finished", "max_fetches")
        assert (report.leased, report.unsettled, report.imbalance) == (0, 0, 0)
        assert report.errors == []


def test_a_request_kept_in_memory_is_tried_again(runs):
    """A request that no store can keep has its retries like any other."""
    first, _ = runs["retried"]
    assert first.endings == {"/500-once/unnamed": ["again", "handled"]}


def test_a_request_kept_in_memory_is_dropped_by_the_next_run(runs):
    """It is lost, as was warned, and never taken for a request of the new run."""
    _, second = runs["unnamed"]
    assert second.endings == {"/ok/unnamed-1": ["dropped"], "/ok/unnamed-2": ["handled"]}
    assert second.items == {"/ok/unnamed-2": 1}


def test_an_unfiltered_request_is_made_in_every_run(runs):
    """What a spider asks for without the filter is known in no run (dont_filter)."""
    assert [report.endings for report in runs["unfiltered"]] == [{"/ok/page": ["handled"]}] * 2


def test_a_callback_that_is_gone_costs_its_requests_only(runs):
    """Requests of a spider that has lost their callback are dropped; the others are made."""
    _, second = runs["renamed"]
    assert second.endings == {
        "/ok/named-1": ["dropped"],
        "/ok/named-2": ["dropped"],
        "/ok/named-now": ["handled"],
    }
