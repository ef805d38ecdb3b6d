"""What a page says is text in the log, on the terminal and in the output, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.crawl import ROOT, crawl, options
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

FORGED = "2026-01-01 00:00:00 [crawler.job] ERROR: all is lost"
PAGES = {
    "/robots.txt": {"status": 404},
    "/": "<title>&#27;]0;owned&#7; &#8238;txt &#155;2J &#8232;</title>"
    f"<pre>text\n{FORGED}\nmore &#27;[2J</pre><a href='/x%0d%0a{FORGED}'>x</a>",
}


class Breaking:
    """A pipeline that fails, and says of which page."""

    def process_item(self, item):
        raise ValueError(f"{item.title}\n{item.text}")


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """A crawl of the page, with a pipeline behind the export that raises."""
    pipelines = {f"{__name__}.Breaking": 950, "crawler.pipelines.export.ExportPipeline": 900}
    settings = options(ITEM_PIPELINES=json.dumps(pipelines), POLITENESS_DELAY=0, LOG_LEVEL="DEBUG")
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": PAGES}}) as web:
        jobdir = tmp_path_factory.mktemp("hostile") / "job"
        return crawl([web.url()], "-a", "max_pages=1", *settings, jobdir=jobdir)


def assert_clean(text):
    """Fail when text would do more to a terminal than print, or has a line that is forged."""
    assert not [char for char in text if not (char.isprintable() or char in "\n\t")]
    assert not [line for line in text.split("\n") if line.startswith(FORGED[:22])]


def test_a_page_forges_no_line_of_the_log(result):
    """Its words are in the log, in a traceback, and look like none of the crawler's own."""
    assert "all is lost" in result.stderr
    assert "\\x1b]0;owned\\x07" in result.stderr
    assert_clean(result.stderr)


def test_a_line_of_the_output_may_be_printed(result):
    """``head -1 pages.jsonl`` drives no terminal, and the text is still what the page said."""
    raw = (result.jobdir / "pages.jsonl").read_text("utf-8")
    assert len(raw.splitlines()) == 1
    assert not set(raw[:-1]) & {chr(code) for code in [*range(32), *range(127, 160)]}
    assert "\x1b[2J" in result.lines[0]["text"]
    assert FORGED in result.lines[0]["text"]


def test_the_state_of_a_crawl_may_be_printed(result):
    """So does the command that shows URLs and hosts."""
    command = [sys.executable, "-m", "scrapy", "frontier", "check", "-s", f"JOBDIR={result.jobdir}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "%0D%0A2026-01-01" in done.stdout
    assert_clean(done.stdout)
