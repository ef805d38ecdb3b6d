"""The examples of docs/pages.md, run one by one against a finished crawl."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from crawler.reading import COLUMNS
from tests.support.crawl import ROOT, crawl, options, read_lines
from tests.support.server import LocalWeb
from tests.support.varied_site import varied_site

pytestmark = pytest.mark.e2e

TEXT = (ROOT / "docs/pages.md").read_text("utf-8")
BLOCK = re.search(r"<!-- tests/e2e/test_docs_pages.py .*?-->\n```\n(.*?)```", TEXT, re.DOTALL)
EXAMPLES = BLOCK[1].splitlines()


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A finished crawl, and how its site is called."""
    jobdir = tmp_path_factory.mktemp("docs") / "job"
    with LocalWeb(varied_site) as web:
        crawl([web.url()], *options(POLITENESS_DELAY=0), jobdir=jobdir).check()
        return jobdir, web.url()


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_does_what_it_says(job, example, tmp_path):
    """It ends well, and leaves the file that it names, or says something."""
    jobdir, site = job
    host = site.split("/")[2].partition(":")[0]
    line = example.replace("https://example.com/", site).replace("example.com", host)
    line, _, shown = line.partition(" > ")
    command = line.replace("scrapy", f"{sys.executable} -m scrapy", 1).split()
    file = tmp_path / (shown or (command[command.index("-o") + 1] if "-o" in command else "out"))
    command = [str(file) if part == file.name else part for part in command]
    done = subprocess.run(
        [*command, "-s", f"JOBDIR={jobdir}"], cwd=ROOT, capture_output=True, timeout=60, check=False
    )
    said = done.stderr.decode()
    assert done.returncode == (1 if "DEDUPE_NEAR_ENABLED" in example else 0), said
    assert done.stdout or file.exists() or "lines: " in said
    if file.name == "new.jsonl":
        assert file.read_bytes() == (jobdir / "pages.jsonl").read_bytes()
    if file.name == "without.jsonl":
        assert len(read_lines(file)) > len(read_lines(jobdir / "pages.jsonl"))


def test_every_field_of_an_export_is_described_in_its_order():
    """The table of fields has each of them, and no other."""
    section = TEXT.partition("## Fields of an export")[2].partition("| `--format`")[0]
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    named = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert named == [column.name for column in COLUMNS]
