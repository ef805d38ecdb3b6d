"""What an operator meets: arguments explained, progress, a summary, whole lines after Ctrl-C."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from tests.support.crawl import ROOT, CrawlResult, crawl, options, start_crawl
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

FIELDS = {
    "url": str,
    "status": int,
    "fetched_at": str,
    "depth": int,
    "referrer": str | None,
    "content_type": str,
    "charset": str,
    "title": str | None,
    "lang": str | None,
    "headings": list,
    "text": str,
    "canonical": str | None,
    "robots": list,
    "etag": str | None,
    "last_modified": str | None,
    "bytes": int,
    "content_hash": str,
    "simhash": str,
    "outlinks": list,
}
"""The fields of a line in their order, as docs/output.md has them."""

RICH = """<!doctype html><html lang="de"><head><title>Ein&nbsp;Titel</title>
<link rel="canonical" href="/rich?ref=1"><meta name="robots" content="noarchive"></head>
<body><h1>Erste</h1><p>Gr&uuml;&szlig;e aus der Stadt, und noch ein paar W&ouml;rter mehr.</p>
<h2>Zweite</h2><a href="two.html#part">2</a><a href="/hidden" rel="nofollow">3</a></body></html>"""


class Rich(NamedTuple):
    result: CrawlResult
    web: LocalWeb
    began: datetime
    paths: set[str]


MILLISECOND = timedelta(milliseconds=1)  # what fetched_at is rounded to


def summary_of(result):
    """Return the rows of the summary by their name."""
    return dict(re.findall(r"^ *([a-z.]+)  (.+)$", result.stderr, re.MULTILINE))


def numbers(text):
    """Return the whole numbers in a text, thousands separated by commas."""
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", text)]


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """Crawl a page that has everything and one that has next to nothing; return the result."""
    pages = {
        "/robots.txt": {"status": 404},
        "/rich": {"body": RICH, "headers": {"ETag": '"v1"', "Last-Modified": "Mon, 01 Jan 2024"}},
        "/two.html": {"body": "<p>plain", "content_type": "text/html"},
    }
    site = {"hosts": {"*": pages}}
    began = datetime.now(UTC)
    with LocalWeb("tests.support.sites:table_site", site) as web:
        jobdir = tmp_path_factory.mktemp("rich") / "job"
        settings = options(POLITENESS_DELAY=0.5, LOGSTATS_INTERVAL=0.3, ROBOTSTXT_OBEY=True)
        result = crawl([web.url("/rich")], *settings, jobdir=jobdir).check()
        paths = {hit.path for hit in web.log()}
        return Rich(result, web, began, paths)


def test_a_line_has_every_field_in_order(rich):
    """The keys of each line are the documented ones in the documented order, of their types."""
    result = rich.result
    assert len(result.lines) == 2
    for line in result.lines:
        assert list(line) == list(FIELDS)
        for name, kind in FIELDS.items():
            assert isinstance(line[name], kind), name
            assert kind is not int or not isinstance(line[name], bool)
        assert all(
            isinstance(one, str)
            for name in ("headings", "robots", "outlinks")
            for one in line[name]
        )


def test_a_line_says_what_the_page_says(rich):
    """Title, language, headings, canonical, directives, validators and links are the page's."""
    result, web = rich.result, rich.web
    line = result.lines[0]
    assert line["url"] == web.url("/rich")
    assert (line["status"], line["depth"], line["referrer"]) == (200, 0, None)
    assert (line["content_type"], line["charset"]) == ("text/html", "utf-8")
    assert line["title"].split() == ["Ein", "Titel"]
    assert line["lang"] == "de"
    assert line["headings"] == ["Erste", "Zweite"]
    assert "Grüße aus der Stadt" in line["text"]
    assert line["canonical"] == web.url("/rich?ref=1")
    assert line["robots"] == ["noarchive"]
    assert (line["etag"], line["last_modified"]) == ('"v1"', "Mon, 01 Jan 2024")
    assert line["bytes"] == len(RICH.encode())
    assert re.fullmatch("[0-9a-f]{32}", line["content_hash"])
    assert re.fullmatch("[a-z0-9-]+:[0-9a-f]{16}", line["simhash"])
    assert line["outlinks"] == [web.url("/two.html"), web.url("/hidden")]
    assert result.lines[1]["referrer"] == line["url"]
    assert result.lines[1]["depth"] == 1


def test_a_nofollow_link_is_not_followed(rich):
    """What the page asks not to follow is in its outlinks and is not fetched."""
    assert rich.paths == {"/robots.txt", "/rich", "/two.html"}


def test_fetched_at_is_utc(rich):
    """The time is ISO 8601 in UTC, between begin and end of the crawl (RFC 3339)."""
    result = rich.result
    for line in result.lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["fetched_at"])
        at = datetime.fromisoformat(line["fetched_at"])
        assert rich.began - MILLISECOND <= at <= datetime.now(UTC)


def test_the_file_is_plain_json_lines(rich):
    """UTF-8 as it is, one object a line, nothing escaped that need not be."""
    data = (rich.result.jobdir / "pages.jsonl").read_bytes()
    assert data.count(b"\n") == 2
    assert "Grüße".encode() in data


def test_the_summary_says_what_was_done(rich):
    """At the end: pages, outcomes, hosts with the smallest pause, the file, what to run next."""
    result, web = rich.result, rich.web
    rows = summary_of(result)
    file = result.jobdir / "pages.jsonl"
    assert re.search(r" after 0:00:0\d$", rows["crawl"])
    assert numbers(rows["pages"]) == [2, 0]  # stored, duplicates
    assert rows["outcomes"] == "stored 2"
    assert rows["robots.txt"] == "404 1"
    assert f"at 127.1.0.1:{web.port} (delay 0.5 s)" in rows["hosts"]
    assert rows["files"] == f"{file} ({file.stat().st_size:,} bytes)"
    assert str(file) in rows["next"]


def test_a_setting_of_scrapys_without_a_say_is_told_once(rich):
    """Who sets it expects something of it: a warning names the setting that does it here."""
    told = [line for line in rich.result.stderr.splitlines() if "has no say" in line]
    assert len(told) == 1
    assert "ROBOTSTXT_OBEY=True" in told[0]
    assert "set ROBOTS_ENABLED" in told[0]


def test_the_next_command_works(rich):
    """What the summary proposes to run next can be run as it stands, and shows the first line."""
    shown = subprocess.run(
        summary_of(rich.result)["next"],
        shell=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert '"url": "http://127.1.0.1:' in shown.stdout


def test_progress_is_one_plain_line(rich):
    """Where stderr is no terminal progress is a log line, without control characters."""
    said = rich.result.stderr
    lines = [line for line in said.splitlines() if " in flight " in line]
    assert lines
    assert re.search(
        r"INFO: 0:00:\d\d  \d+ pages  \d+\.\d/s  \d+ queued  hosts \d+ ready", lines[0]
    )
    assert "\033" not in said
    assert "\r" not in said


def test_help_explains_the_arguments():
    """``scrapy crawl --help`` names every argument of the spider, and the two documents."""
    command = [sys.executable, "-m", "scrapy", "crawl", "--help"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in ("seeds", "scope", "max_pages", "max_fetches", "max_depth", "allow", "deny"):
        assert f"-a {name}=" in shown
    assert "docs/settings.md" in shown
    assert "docs/output.md" in shown


def script(name, *arguments, cwd=ROOT):
    """Run one of the scripts; return its exit code and what it says."""
    command = [ROOT / "scripts" / name, *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), ([], 2)])
def test_the_script_explains_itself(arguments, code, tmp_path):
    """``scripts/crawl`` says how it is used, wherever it is called, and wants a seed."""
    shown = script("crawl", *arguments, cwd=tmp_path)
    assert shown[0] == code
    assert "scripts/crawl SEED" in shown[1 if code == 0 else 2]


@pytest.mark.parametrize("name", ["test", "check", "bench"])
def test_every_script_explains_itself_at_once(name, tmp_path):
    """Help is there without an environment, before anything is installed."""
    scripts = shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    done = subprocess.run([scripts / name, "--help"], capture_output=True, text=True, check=True)
    assert done.stdout.strip()
    assert [path.name for path in tmp_path.iterdir()] == ["scripts"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.example", "--bogus"], "there is no option --bogus"),
        (["a.example", "-s"], "-s needs a value"),
        (["a.example", "--set"], "--set needs a value"),
        (["a.example", "-a", "seeds=b.example"], "seeds are given twice"),
        (["a.example", "@seeds.txt"], "a file of seeds, @file, goes without other seeds"),
    ],
)
def test_the_script_refuses_what_cannot_be_meant(arguments, said):
    """One line names what is wrong, before anything is installed."""
    code, _, told = script("crawl", *arguments)
    assert code == 2
    assert told.startswith(f"scripts/crawl: {said}")
    assert told.count("\n") == 1


def test_the_script_takes_paths_from_where_it_is_called(tmp_path):
    """Files of seeds and sitemaps, output and settings are those of the directory of the user."""
    if not (ROOT / ".venv" / "installed-requirements-dev").exists():
        pytest.skip("there is no .venv for the script to use: scripts/test makes it")
    listing = {"body": "http://{host}:{port}/listed", "content_type": "text/plain"}
    pages = {"/": "<p>home", "/listed": "<p>listed", "/map.txt": listing}
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": pages}}) as web:
        (tmp_path / "seeds.txt").write_text(f"{web.url('/')}\n")
        (tmp_path / "maps.txt").write_text(f"{web.url('/map.txt')}\n")
        for starts, jobdir in (("@seeds.txt",), "a"), (("-a", "sitemaps=@maps.txt"), "b"):
            where = ("--set", f"JOBDIR={jobdir}", "--logfile=crawl.log")
            code, _, said = script("crawl", *starts, *where, "--set=LOG_LEVEL=INFO", cwd=tmp_path)
            assert code == 0, said
        asked = {hit.path for hit in web.log()}
    assert {"/", "/map.txt", "/listed"} <= asked
    made = {path.name for path in tmp_path.iterdir()}
    assert made == {"seeds.txt", "maps.txt", "a", "b", "crawl.log"}
    assert (tmp_path / "a" / "pages.jsonl").stat().st_size


def test_ctrl_c_ends_gracefully(tmp_path):
    """After SIGINT the requests in flight are finished, their lines are whole and counted, and
    the summary says what is left.
    """
    site = {"hosts": 10, "pages_per_host": 100, "links": 10, "kb": 4, "delay_s": 0.2}
    with LocalWeb("tests.support.sites:uniform_site", site, hosts=10) as web:
        arguments = options(POLITENESS_DELAY=0.1)
        with start_crawl(web.urls, *arguments, jobdir=tmp_path / "job") as running:
            await_hits(web, 40)
            running.interrupt()
            result = running.wait(20).check()
        hits = web.log()
    answered = [hit for hit in hits if hit.path != "/robots.txt"]
    assert result.stats["finish_reason"] == "shutdown"
    assert len(result.lines) == len(answered)
    assert {hit.ended for hit in hits} == {"done"}
    assert "stopped by a signal" in result.stderr
    assert numbers(summary_of(result)["left"])[0] == result.stats["frontier/queued"] > 0


def await_hits(web, count):
    """Wait until the server has answered so many requests."""
    for _ in range(400):
        if len(web.log()) >= count:
            return
        time.sleep(0.05)
    raise AssertionError(f"no {count} requests within 20 s, only {len(web.log())}")
