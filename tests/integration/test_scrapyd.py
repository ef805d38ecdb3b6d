"""The project on a real scrapyd: deployed as an egg, scheduled, cancelled, scheduled again."""

from __future__ import annotations

import importlib.util
import zipfile

import pytest

from tests.support import judge
from tests.support.crawl import read_lines
from tests.support.scrapyd import Scrapyd, wait_for
from tests.support.server import LocalWeb
from tests.support.sites import DocsSite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("scrapyd", "scrapyd_client", "pkg_resources"))),
        reason="no scrapyd here: pip install -r requirements-dev.txt",
    ),
]

SITE = DocsSite()
AGENT = "from-the-egg/1.0"  # is in the egg alone: what the site hears tells which code ran
BOUNDS = {"deny": "/calendar/"}


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory):
    """A scrapyd that has this project."""
    folder = tmp_path_factory.mktemp("scrapyd")
    with Scrapyd(folder / "server") as server:
        server.deploy(folder / "project", USER_AGENT=AGENT)
        yield server


@pytest.fixture
def web():
    with LocalWeb("tests.support.sites:docs_site") as local:
        yield local


def pages(hits):
    return [hit for hit in hits if hit.path != "/robots.txt"]


def test_the_egg_holds_the_project_and_nothing_else(scrapyd):
    """The egg has every module of the crawler, no test, and names the settings."""
    [egg] = scrapyd.folder.joinpath("eggs", "crawler").glob("*.egg")
    with zipfile.ZipFile(egg) as archive:
        names = archive.namelist()
        entry = archive.read("EGG-INFO/entry_points.txt").decode()
    assert {name.split("/")[0] for name in names} == {"crawler", "EGG-INFO"}
    assert {"crawler/commands/crawl.py", "crawler/spiders/web.py"} <= set(names)
    assert "settings = crawler.settings" in entry


def test_the_spider_is_listed(scrapyd):
    """Scrapyd finds the spider web in the egg."""
    assert scrapyd.get("listspiders", project="crawler")["spiders"] == ["web"]


def test_a_cancelled_crawl_goes_on_with_the_next_job(scrapyd, web, tmp_path):
    """Cancelled midway and scheduled again with the same JOBDIR, the crawl has each page in one
    line, and has fetched each once.
    """
    settings = f"JOBDIR={tmp_path / 'job'}", "POLITENESS_DELAY=0.1"
    scrapyd.schedule("first", *settings, seeds=web.url(), **BOUNDS)
    wait_for("a dozen pages", lambda: len(pages(web.log())) >= 12)
    scrapyd.cancel("first")
    first = scrapyd.finish("first")
    before = read_lines(tmp_path / "job" / "pages.jsonl")
    scrapyd.schedule("second", *settings, seeds=web.url(), **BOUNDS)
    second = scrapyd.finish("second")
    after = read_lines(tmp_path / "job" / "pages.jsonl")

    assert "stopped by a signal" in first, first
    assert "nothing left to fetch" in second, second
    assert " ERROR: " not in first + second
    assert 0 < len(before) < len(after)
    assert after[: len(before)] == before
    assert len({line["url"] for line in after}) == len(after) == 1 + len(SITE.documents)
    assert set(judge.fetched(pages(web.log())).values()) == {1}
    assert {hit.user_agent for hit in web.log()} == {AGENT}
    judge.assert_polite(web.log(), 0.1)


def test_the_log_of_a_job_says_how_it_ended(scrapyd, web, tmp_path):
    """The summary is in the job's log file, and not among scrapyd's own errors."""
    scrapyd.schedule(
        "short", f"JOBDIR={tmp_path}", "POLITENESS_DELAY=0", seeds=web.url(), max_pages="2"
    )
    said = scrapyd.finish("short")
    assert "INFO: Summary:" in said
    assert "max_pages reached" in said
    assert str(tmp_path / "pages.jsonl") in said
    assert "max_pages reached" not in scrapyd.said()


def test_a_refused_job_says_why(scrapyd, tmp_path):
    """A mistyped argument ends the job at once, with the reason in its log file."""
    scrapyd.schedule("mistyped", f"JOBDIR={tmp_path / 'job'}", sedes="http://127.0.0.1:9/")
    assert "did you mean seeds?" in scrapyd.finish("mistyped")
    assert not list(tmp_path.iterdir())
    assert "exitstatus=2" in scrapyd.said()


def test_a_job_directory_in_use_is_refused(scrapyd, web, tmp_path):
    """Of two jobs with one JOBDIR the second ends at once and says why; the first goes on."""
    settings = f"JOBDIR={tmp_path}", "POLITENESS_DELAY=0.3"
    scrapyd.schedule("holder", *settings, seeds=web.url(), **BOUNDS)
    wait_for("a page", lambda: len(pages(web.log())) >= 1)
    scrapyd.schedule("intruder", *settings, seeds=web.url(), **BOUNDS)
    assert "is in use by process" in scrapyd.finish("intruder")
    seen = len(pages(web.log()))
    wait_for("another page", lambda: len(pages(web.log())) > seen)
    scrapyd.cancel("holder")
    assert "stopped by a signal" in scrapyd.finish("holder")


def test_without_a_jobdir_the_log_names_the_place(scrapyd, web):
    """A job without JOBDIR is warned that it shares a directory with others, and which one."""
    scrapyd.schedule("homeless", "POLITENESS_DELAY=0", seeds=web.url(), max_pages="1")
    said = scrapyd.finish("homeless")
    assert f"now in {scrapyd.folder / 'crawls' / 'web'}," in said
    assert len(read_lines(scrapyd.folder / "crawls" / "web" / "pages.jsonl")) == 1
