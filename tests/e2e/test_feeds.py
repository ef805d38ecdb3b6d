"""Scrapy's own feeds beside pages.jsonl."""

import csv
import json
from pathlib import Path

import pytest

from tests.support.crawl import crawl
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e


def test_feeds_have_the_fields_of_the_export(tmp_path: Path) -> None:
    """-o writes, as JSON lines and as CSV, the very records of pages.jsonl."""
    lines, table = tmp_path / "out.jsonl", tmp_path / "out.csv"
    with LocalWeb("tests.support.sites:docs_site") as web:
        result = crawl(
            web.url("/"),
            *("-o", str(lines), "-o", str(table)),
            *("-a", "max_pages=5", "-s", "POLITENESS_DELAY=0"),
            jobdir=tmp_path / "job",
        )
    assert result.exit_code == 0
    assert [json.loads(line) for line in lines.read_text().splitlines()] == result.lines
    with table.open(newline="") as file:
        assert [row["url"] for row in csv.DictReader(file)] == [r["url"] for r in result.lines]
