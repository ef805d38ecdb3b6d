"""Scrapy's own commands work in this project, and those that look at a page leave crawls alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from crawler.commands.frontier import _text
from crawler.frontier.counts import Counts
from crawler.inspection import Inspection
from crawler.model import Outcome, Reason
from tests.support.crawl import ROOT, crawl, options, read_lines
from tests.support.server import LocalWeb, loopback
from tests.support.sites import DocsSite

pytestmark = pytest.mark.slow

SITE = DocsSite()


@pytest.fixture(scope="module")
def web():
    with LocalWeb("tests.support.sites:docs_site") as local:
        yield local


@pytest.fixture
def scrapy(tmp_path):
    """Run a command from a directory of its own; what it leaves there can be looked at."""
    place = tmp_path / "place"
    place.mkdir()

    def run(*command, **changes):
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "crawler.settings"}
        environment.update(PYTHONPATH=str(ROOT), HOME=str(tmp_path), PYTHONWARNINGS="ignore")
        environment.update(changes)
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", *command],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert not list(place.iterdir()), "it left something behind"
        return done

    return run


def clean(done):
    """Return what a command printed, once nothing went wrong."""
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert " ERROR: " not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        (["list"], "web\n"),
        (["check"], ""),
        (["settings", "--get", "SCHEDULER"], "crawler.scheduler.FrontierScheduler\n"),
        (["settings", "--getint", "CONCURRENT_REQUESTS"], "128\n"),
        (["shell", "-c", "settings['BOT_NAME']"], "crawler\n"),
    ],
    ids=["list", "check", "settings", "settings of a type", "shell without a URL"],
)
def test_a_command_that_fetches_nothing(scrapy, command, printed):
    """It prints what it prints in any project."""
    done = scrapy(*command)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


def test_the_shell_gets_a_page(scrapy, web):
    """The shell has the answer, although its engine starts before there is a spider."""
    assert clean(scrapy("shell", web.url(), "-c", "response.status")) == "200\n"


def test_fetch_prints_the_page(scrapy, web):
    """The body is printed as it came."""
    printed = clean(scrapy("fetch", web.url("/docs/03")))
    assert printed.encode().strip() == SITE.page(web.hosts[0], "/docs/03").strip()


def test_fetch_follows_redirects_and_knows_who_it_is(scrapy, web):
    """A redirect is followed; the site is told the name that a crawl would tell it."""
    printed = clean(scrapy("fetch", "--headers", "-s", "USER_AGENT=seen/1.0", web.url("/old")))
    assert "> User-Agent: seen/1.0" in printed
    assert [hit.path for hit in web.log() if hit.user_agent == "seen/1.0"][-1] == SITE.old_of


@pytest.fixture
def inner():
    """A site on an address that no person names, and another one that leads there."""
    hosts = loopback(2, first=60)
    pages = {
        "/to-inner": {"status": 302, "headers": {"Location": f"http://{hosts[1]}:{{port}}/inner"}},
        "/to-name": {"status": 302, "headers": {"Location": "http://localhost.:{port}/inner"}},
        "/to-own": {"status": 302, "headers": {"Location": "/inner"}},
        "/inner": "inside",
    }
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": pages}}, hosts=hosts) as web:
        yield web


@pytest.mark.parametrize("path", ["/to-inner", "/to-name"])
def test_what_nobody_named_is_guarded(scrapy, inner, path):
    """A person may look at a private page; a redirect from there to another private host, by
    address or by name, is not followed, and its robots.txt not asked for.
    """
    done = scrapy("fetch", inner.url(path))
    assert "inside" not in done.stdout
    assert {hit.host for hit in inner.log()} == {f"{inner.hosts[0]}:{inner.port}"}
    allowed = options(SAFETY_ALLOWED_NETWORKS="127.0.0.0/8")
    if path == "/to-inner":
        assert "inside" in clean(scrapy("fetch", *allowed, inner.url("/to-inner", host=0)))


def test_a_redirect_on_the_host_that_was_named_is_followed(scrapy, inner):
    """The guard is about other hosts."""
    assert "inside" in clean(scrapy("fetch", inner.url("/to-own")))


def test_one_page_commands_obey_robots_txt(scrapy, web):
    """A page that robots.txt disallows is not asked for; with ROBOTS_ENABLED off it is."""
    refused = scrapy("fetch", web.url("/private/secret"))
    assert clean(refused) == ""
    [line] = [line for line in refused.stderr.splitlines() if " WARNING: " in line]
    assert f"robots.txt forbids {web.url('/private/secret')} to crawler, line " in line
    assert "(Disallow: /private" in line
    assert line.endswith("start with -s ROBOTS_ENABLED=false")
    assert "/private/secret" not in {hit.path for hit in web.log()}
    assert "</html>" in clean(
        scrapy("fetch", "-s", "ROBOTS_ENABLED=false", web.url("/private/secret"))
    )


@pytest.mark.parametrize(
    "command", [["fetch"], ["shell", "-c", "response.status"], ["parse"]], ids=lambda c: c[0]
)
def test_one_page_commands_say_nothing_of_themselves(scrapy, web, command):
    """What they need of settings and middlewares is no reason for a warning, redirects included.

    But for one of Scrapy's own: its command parse returns what its engine warns of.
    """
    done = scrapy(*command, web.url("/old"), PYTHONWARNINGS="")
    clean(done)
    warnings = [
        line for line in done.stderr.splitlines() if "Warning: " in line or "WARNING" in line
    ]
    assert [line for line in warnings if "returned a Deferred" not in line] == []


def test_one_page_commands_keep_the_delay(scrapy, web):
    """From the start of robots.txt to that of the page is the delay, as Scrapy measures it."""
    clean(scrapy("fetch", "-s", "USER_AGENT=slow/1.0", *options(POLITENESS_DELAY=2), web.url()))
    rules, page = [hit for hit in web.log() if hit.user_agent == "slow/1.0"]
    assert page.t_start - rules.t_start >= 2 - 0.1


@pytest.mark.parametrize("more", [[], ["--spider", "web"]], ids=["no spider named", "web"])
def test_parse_shows_the_line_of_a_page(scrapy, web, more):
    """Without further arguments it is the spider web that parses, with the URL as its seed."""
    printed = clean(scrapy("parse", "--nocolour", *more, web.url("/docs/01")))
    assert f"'url': '{web.url('/docs/01')}'" in printed
    assert f"'{web.url('/docs/05')}'" in printed.partition("'outlinks'")[2]
    assert "'content_hash': None" in printed


def test_parse_runs_the_pipelines(scrapy, web):
    """With --pipelines the page has what the pipelines add; nothing is written."""
    printed = clean(scrapy("parse", "--nocolour", "--pipelines", web.url("/docs/01")))
    assert "'simhash': 'words3-poly-1:" in printed


def test_one_page_commands_leave_a_crawl_alone(scrapy, web, tmp_path):
    """With the job directory of a crawl in the settings they neither change nor continue it."""
    job = tmp_path / "job"
    stopped = crawl([web.url()], "-a", "max_pages=2", *options(POLITENESS_DELAY=0), jobdir=job)
    stopped.check()
    before = {path.name: path.stat().st_mtime_ns for path in job.rglob("*")}
    asked = len(web.log())
    for command in (["fetch"], ["parse"], ["shell", "-c", "response.status"]):
        clean(scrapy(*command, "-s", f"JOBDIR={job}", web.url("/docs/01")))
    assert {path.name: path.stat().st_mtime_ns for path in job.rglob("*")} == before
    assert read_lines(job / "pages.jsonl") == stopped.lines
    assert [hit.path for hit in web.log()[asked:]] == ["/robots.txt", "/docs/01"] * 3


def test_an_unusable_setting_is_refused(scrapy):
    """The one-page commands check settings as a crawl does."""
    done = scrapy("fetch", "-s", "POLITENESS_DELAI=1", "http://127.0.0.1:9/")
    assert done.returncode == 2
    assert "did you mean POLITENESS_DELAY?" in done.stderr


def test_the_state_of_a_crawl_is_shown(scrapy, web, tmp_path):
    """The project's own command is found beside Scrapy's; as JSON, and as columns."""
    crawl([web.url()], "-a", "max_pages=1", "-a", "deny=/docs", jobdir=tmp_path / "job").check()
    where = ("-s", f"JOBDIR={tmp_path / 'job'}")
    told = json.loads(clean(scrapy("frontier", "--json", *where)))
    assert told["directory"] == str(tmp_path / "job")
    lines = clean(scrapy("frontier", *where)).splitlines()
    assert f"{told['discovered']} URLs discovered on 1 host, " in lines[0]
    states = [line for line in lines if re.fullmatch(r"  (rejected: )?\w+ +[\d,]+", line)]
    assert len(states) == len(told["done"]) + len(told["rejected"]) > 1
    assert len({*map(len, states)}) == 1, "the numbers are no column"


def test_the_state_of_a_crawl_has_no_rows_of_nothing():
    """A reason that no URL is rejected for any more is not told, and one is one host."""
    counts = Counts(discovered=1, done=Counter({Outcome.STORED: 1, Outcome.GONE: 0}))
    counts.rejected[Reason.TRAP_PATTERN] = 0
    text = _text(Inspection(Path("job"), counts, hosts=1), check=False)
    assert text.splitlines()[0] == "job: 1 URL discovered on 1 host, 0 bytes on disk"
    assert "stored" in text
    assert "gone" not in text
    assert "trap_pattern" not in text
