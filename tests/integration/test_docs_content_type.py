"""The worked example of docs/content-types.md against a real crawl: a new type in one file."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.crawl import ROOT, crawl, options
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

_BLOCK = re.compile(r"<!-- tests/\S+ runs this block -->\n```python\n(.*?)```", re.DOTALL)

CALENDAR = (
    "BEGIN:VCALENDAR\r\nX-WR-CALNAME:Harbour\r\nBEGIN:VEVENT\r\nDTSTART:20260101\r\n"
    "SUMMARY;LANGUAGE=en:Ships\\, boats and\r\n  sails\r\nURL:/ships\r\nEND:VEVENT\r\n"
    "END:VCALENDAR\r\n"
)
SITE = {
    "/": "<p>home of a little harbour</p><a href=/all.ics>dates</a> <a href=/download>dates</a>",
    "/all.ics": {"body": CALENDAR, "content_type": "text/calendar; charset=utf-8"},
    "/download": {
        "body": CALENDAR.replace("sails", "rowers").replace("/ships", "/rowers"),
        "content_type": "application/octet-stream",
    },
    "/ships": "<p>ships that sail on the seven seas</p>",
    "/rowers": "<p>rowers who need no wind at all</p>",
}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("type")
    blocks = _BLOCK.findall((ROOT / "docs/content-types.md").read_text("utf-8"))
    assert len(blocks) == 1
    (folder / "calendars.py").write_text(blocks[0], "utf-8")
    types = json.dumps({"calendar": "calendars"})
    with (
        LocalWeb("tests.support.sites:table_site", {"hosts": {"*": SITE}}) as web,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("PYTHONPATH", str(folder))
        return crawl(
            web.url(), *options(POLITENESS_DELAY=0, PARSING_TYPES=types), jobdir=folder / "job"
        ).check()


def test_documents_of_the_new_type_are_pages(result):
    """By their declared type, and by how they begin where that says nothing."""
    calendars = {line["url"].rpartition("/")[2]: line for line in result.lines}
    assert calendars["all.ics"]["text"] == "Ships, boats and sails"
    assert calendars["download"]["text"] == "Ships, boats and rowers"
    for name in ("all.ics", "download"):
        assert calendars[name]["content_type"] == "text/calendar"
        assert calendars[name]["title"] == "Harbour"


def test_their_links_are_followed(result):
    """Pages that only the calendars name are found."""
    assert {"ships", "rowers"} <= {url.rpartition("/")[2] for url in result.urls}
    assert result.outcomes == {"stored": 5}


def test_the_pipeline_of_the_type_runs(result):
    """It came with the module, and saw the pages of its type that were stored."""
    lines = (result.jobdir / "calendars.txt").read_text("utf-8").splitlines()
    assert sorted(line.rpartition("/")[2] for line in lines) == ["all.ics", "download"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def parse(:", "PARSING_TYPES: mine='mine' is no module with a CONTENT_TYPE: SyntaxError"),
        (
            "import crawler.parsing as p\nCONTENT_TYPE = p.ContentType(id,pipelines={'mine.P': 9})",
            "PARSING_TYPES: the pipeline 'mine.P' of a content type cannot be imported",
        ),
    ],
    ids=["syntax", "pipeline"],
)
def test_a_module_that_cannot_be_used_is_refused_in_one_line(tmp_path, monkeypatch, source, said):
    """The exit code is that of a refusal, and no traceback hides what is wrong."""
    (tmp_path / "mine.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    mine = options(PARSING_TYPES=json.dumps({"mine": "mine"}))
    refused = crawl("http://127.0.0.1:9/", *mine, jobdir=tmp_path / "job")
    assert refused.exit_code == 2
    assert said in refused.stderr.splitlines()[-1]
    assert "Traceback" not in refused.stderr
