"""``scrapy explain``: for any URL, what it is, what was decided and by which rule."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time

import pytest

from crawler.clock import SystemClock
from crawler.config import Config
from crawler.errors import ConfigError, StoreError
from crawler.explanation import explain
from tests.support.crawl import ROOT, crawl, options, start_crawl
from tests.support.exchange import Answer, Request, not_found, plain, redirect
from tests.support.server import LocalWeb
from tests.support.shell import project_settings

pytestmark = pytest.mark.e2e

_TEXT = "".join(f"<p>Sentence number {n} of a page that is explained.</p>" for n in range(40))
_LINKS = ("/copy", "/moved", "/gone", "/broken", "/private/a", "/deep", "/shot.png", "/deny/x")
_HOME = "".join(f'<a href="{path}">x</a>' for path in (*_LINKS, "http://elsewhere.example/"))
_SETTINGS = {"POLITENESS_DELAY": 0, "FRONTIER_MAX_URL_LENGTH": 200, "BACKOFF_RETRY_BASE": 0.1}


def _site(request: Request) -> Answer:
    pages = {
        "/": f"<title>Home</title>{_HOME}{_TEXT}",
        "/copy": f"<title>Copy</title>{_TEXT}{_TEXT}",
        "/first": f"<title>First</title>{_TEXT}{_TEXT}",
        "/new": "<p>Here it is now.</p>",
        "/deep": f'<p>deep</p><a href="/deeper">x</a><a href="/{"l" * 300}">x</a>',
    }
    if request.path == "/robots.txt":
        return plain("User-agent: *\nDisallow: /nothing\nDisallow: /private/\n")
    if request.path == "/moved":
        return redirect("/new")
    if request.path == "/broken":
        return Answer(500)
    if request.path == "/busy":
        return Answer(503, headers={"Retry-After": "3000"})
    body = pages.get(request.path)
    return Answer(body=body.encode()) if body is not None else not_found()


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """A crawl that ends with one URL waiting; its job directory and the site's address."""
    jobdir = tmp_path_factory.mktemp("explain") / "job"
    with LocalWeb(_site, hosts=2) as web:
        base = web.url("")
        busy = web.url("/busy", host=1)
        arguments = ["-a", "max_depth=1", "-a", "deny=/deny/"]
        more = options(FRONTIER_MAX_WAIT=2, **_SETTINGS)
        crawl([base + "/first", base + "/", busy], *arguments, *more, jobdir=jobdir).check()
    return jobdir, base, busy


def _explain(jobdir, url, **changes):
    config = Config.read(project_settings(**{**_SETTINGS, **changes}))
    return explain(jobdir, url, config, now=SystemClock().now(), rng=random.Random(1))


@pytest.mark.parametrize(
    ("path", "state", "said"),
    [
        ("/", "outcome/stored", "how it ended"),
        ("/copy", "outcome/duplicate_exact", "how it ended"),
        ("/moved", "outcome/redirected", "how it ended"),
        ("/gone", "outcome/gone", "how it ended"),
        (
            "/private/a",
            "rejected/robots",
            "It is never fetched: robots, line 3 (Disallow: /private/) forbids it",
        ),
        (
            "/deeper",
            "rejected/depth",
            "more than 1 link from a seed. It will be when a shorter way",
        ),
        ("/" + "l" * 300, "rejected/url_length", "characters"),
        ("/shot.png", "rejected/extension", "FRONTIER_SKIP_EXTENSIONS"),
        ("/deny/x", "rejected/denied", "patterns /deny/"),
        ("/never-linked", "unknown", "It would be fetched"),
        ("/private/never", "unknown", "would be rejected: robots, line 3"),
        ("/deny/never", "unknown", "would be rejected: denied"),
    ],
)
def test_every_url_has_its_state_and_its_rule(crawled, path, state, said):
    """The state has the name of the stats; the sentence names the rule and the figure."""
    jobdir, base, _ = crawled
    found = _explain(jobdir, base + path)
    assert found.state == state
    assert said in found.verdict


def test_a_url_that_waits_says_until_when(crawled):
    """A host that asked for a rest is told with the time of its end."""
    jobdir, _, busy = crawled
    found = _explain(jobdir, busy)
    assert found.state == "waiting"
    assert found.verdict.startswith("It is tried again, not before 20")
    assert "blocked until 20" in dict(found.facts)["host"]


def test_a_page_tells_its_way_and_where_it_is_kept(crawled):
    """Duplicate of what, found by whom, where bytes and line are."""
    jobdir, base, _ = crawled
    copy = dict(_explain(jobdir, base + "/copy").facts)
    home = dict(_explain(jobdir, base + "/").facts)
    assert copy["duplicate of"] == base + "/first"
    assert copy["way"] == base + "/"
    assert copy["found"] == f"at depth 1, by {base}/"
    assert "line" not in copy
    assert home["line"].startswith("pages.jsonl at ")
    assert home["archived"].startswith("web-00000.warc.gz at ")
    assert "pages used" in home["host"]
    assert dict(_explain(jobdir, base + "/moved").facts)["redirects to"] == base + "/new"
    assert dict(_explain(jobdir, base + "/new").facts)["way"] == f"{base}/moved ← {base}/"


def test_what_failed_says_how_often_it_was_tried(crawled):
    """One try and BACKOFF_RETRIES further ones, and what the last one brought."""
    jobdir, base, _ = crawled
    found = _explain(jobdir, base + "/broken")
    assert found.state == "outcome/failed_server"
    assert dict(found.facts)["cause"] == "status 500; the last of 3 tries"


def test_how_a_rejected_url_was_found_is_not_kept(crawled):
    """It says so: a fact that is not there might be one that was forgotten."""
    jobdir, base, _ = crawled
    assert dict(_explain(jobdir, base + "/private/a").facts)["found"] == "not kept of rejected URLs"


def test_a_host_that_does_not_exist_is_told_as_such(tmp_path):
    """The reason in words, and that it was a seed; the summary has it, too."""
    seed = "http://no-such-host.invalid/"
    settings = options(
        ROBOTS_RETRY=0.1, BACKOFF_BASE=0.1, BACKOFF_RETRY_BASE=0.1, POLITENESS_DELAY=0
    )
    result = crawl([seed], *settings, jobdir=tmp_path / "job").check()
    assert "failure  nothing was fetched: unreachable 1 (no such host)" in result.stderr
    assert f"next  scrapy explain {seed} -s JOBDIR={tmp_path}/job" in result.stderr
    found = _explain(tmp_path / "job", seed)
    assert "its host does not exist" in found.verdict
    assert dict(found.facts)["found"] == "a seed"


def test_what_is_of_the_settings_is_told_as_such(crawled):
    """The crawl ran with a delay of 0; the delay that this command knows is its own."""
    jobdir, base, _ = crawled
    told = dict(_explain(jobdir, base + "/", POLITENESS_DELAY=7).facts)["host"]
    assert "; by the settings of this command: delay 7 s, " in told


def test_facts_have_values_for_programs(crawled):
    """What is told in words is there as numbers, names and times in UTC, too."""
    jobdir, base, busy = crawled
    details = _explain(jobdir, base + "/copy").as_dict()["details"]
    assert details["found"] == {"depth": 1, "referrer": f"{base}/", "redirects": 0}
    assert details["duplicate of"] == {"url": f"{base}/first", "bits": 0}
    assert (details["visited"]["status"], details["visited"]["visits"]) == (200, 1)
    assert details["way"] == {"urls": [f"{base}/"]}
    rules = _explain(jobdir, base + "/private/a").details["robots.txt"]
    assert (rules["allowed"], rules["line"], rules["rule"]) == (False, 3, "Disallow: /private/")
    waiting = _explain(jobdir, busy).details
    assert waiting["queue"]["due_at"] == waiting["host"]["blocked_until"]
    assert waiting["tries"] == {"failed": 0, "throttled": 1}


def test_other_hosts_are_out_of_scope(crawled):
    """Scope is told with the seeds that it lies around."""
    jobdir, base, _ = crawled
    found = _explain(jobdir, "http://elsewhere.example/")
    host = base.removeprefix("http://")
    assert f"scope, it is outside the sites of {host}, " in found.verdict


def test_the_spelling_is_explained(crawled):
    """What was left out, and by which switch; how a URL is compared."""
    jobdir, base, _ = crawled
    found = _explain(jobdir, f"{base}/a/../?b=2&utm_source=x&a=1")
    assert found.url == f"{base}/?b=2&a=1"
    assert found.key == f"{base}/?a=1&b=2"
    facts = [text for name, text in found.facts if name in ("normal form", "left out", "compared")]
    assert len(facts) == 3
    assert "RFC 3986" in facts[0]
    assert facts[1].startswith("URLS_DROP_TRACKING: ")
    assert facts[2].startswith("URLS_SORT_PARAMETERS: ")


def test_a_running_crawl_can_be_asked(tmp_path):
    """The store is read beside the process that writes it; a queued URL says what is ahead."""
    with LocalWeb(_site) as web:
        base, jobdir = web.url(""), tmp_path / "job"
        slow = options(POLITENESS_DELAY=3, FRONTIER_COMMIT_INTERVAL=0.1)
        with start_crawl([base + "/"], *slow, jobdir=jobdir) as running:
            limit = time.monotonic() + 20
            while (
                not (jobdir / "pages.jsonl").exists() or not (jobdir / "pages.jsonl").stat().st_size
            ):
                assert time.monotonic() < limit
                time.sleep(0.05)
            time.sleep(0.5)
            found = _explain(jobdir, base + "/gone")
            assert running.process.poll() is None
    assert found.state == "queued"
    assert "2 URLs of its origin go first" in found.verdict
    assert dict(found.facts)["found"] == f"at depth 1, by {base}/"


def test_what_cannot_be_explained_is_refused(tmp_path):
    """No URL, and no crawl: one line with the remedy."""
    with pytest.raises(ConfigError, match="no http or https URL"):
        _explain(tmp_path, "mailto:x@y")
    with pytest.raises(StoreError, match="holds no crawl"):
        _explain(tmp_path, "http://a.example/")


def test_the_command(crawled):
    """It prints text or JSON; page content cannot drive the terminal."""
    jobdir, base, _ = crawled
    command = [sys.executable, "-m", "scrapy", "explain", "-s", f"JOBDIR={jobdir}"]
    text = subprocess.run(
        [*command, base + "/copy"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert "outcome/duplicate_exact" in text
    found = subprocess.run(
        [*command, base + "/copy", "--json"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(found)["state"] == "outcome/duplicate_exact"
    none = subprocess.run([*command, "x:y"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (none.returncode, none.stdout) == (2, "")
    assert none.stderr.startswith("explain: error: 'x:y' is no http")
