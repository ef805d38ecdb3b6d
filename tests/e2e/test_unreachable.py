"""Hosts that cannot be reached end a crawl; they neither hang it nor keep each other alive."""

from pathlib import Path

import pytest

from tests.support.crawl import crawl, options
from tests.support.server import LocalWeb

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_a_name_without_an_address_is_rejected_after_a_few_tries(tmp_path: Path) -> None:
    """A host whose name never resolves does not leave its URLs queued for ever."""
    fast = options(ROBOTS_RETRY=0.2, POLITENESS_DELAY=0.1)
    result = crawl("http://nowhere.invalid/", *fast, jobdir=tmp_path)
    result.check()
    assert result.rejected == {"unreachable": 1}
    assert result.counted("robots/") == {"dns": 3}


def test_hosts_without_robots_do_not_keep_each_other_alive(tmp_path: Path) -> None:
    """Many hosts asking for their robots.txt in turn end the crawl as soon as one alone would."""
    site = {"behaviour": "500"}
    with LocalWeb("tests.support.sites:robots_site", site, hosts=12) as web:
        waits = options(FRONTIER_MAX_WAIT=4, ROBOTS_RETRY=0.5, POLITENESS_DELAY=0.2)
        result = crawl(web.urls, *waits, jobdir=tmp_path)
        asked = {hit.path for hit in web.log()}
    assert asked == {"/robots.txt"}
    assert result.stats["finish_reason"] == "waiting"
    assert result.elapsed_s < 12
