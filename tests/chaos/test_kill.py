"""The short run of ``scripts/bench chaos``: one crawl, killed at random moments."""

from __future__ import annotations

import random

import pytest

from tests.support.kills import ChaosCrawl

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

KILLS = 12
SEED = 20


def test_a_crawl_killed_again_and_again_ends_as_if_it_had_not_been(tmp_path):
    """Lines and outcomes equal those of the undisturbed crawl; nothing committed is fetched
    again or lost; no host is asked early, also across the restarts.
    """
    print(f"seed {SEED}")
    chaos = ChaosCrawl(tmp_path, hosts=30, pages=10, delay=0.3, retry_after_s=1)
    expected, requests = chaos.undisturbed()
    verdict = chaos.killed(KILLS, expected, requests, random.Random(SEED))
    assert len(expected.lines) == 30 * (10 + 2)
    assert verdict.violations == []
    assert len(verdict.kills) == KILLS
    assert any(kill.again for kill in verdict.kills), "no kill hit a request: nothing was tried"
