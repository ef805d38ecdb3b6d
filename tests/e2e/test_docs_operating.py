"""The examples of docs/operating.md, run one by one against a finished crawl."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest

from tests.support.crawl import ROOT, crawl, options
from tests.support.server import LocalWeb
from tests.support.varied_site import varied_site

pytestmark = pytest.mark.e2e

TEXT = (ROOT / "docs/operating.md").read_text("utf-8")
BLOCK = re.search(r"<!-- tests/e2e/test_docs_operating.py .*?-->\n```\n(.*?)```", TEXT, re.DOTALL)
EXAMPLES = BLOCK[1].splitlines()


@pytest.fixture(scope="module")
def site():
    """A site, a finished crawl of it, and what the crawl has said."""
    with LocalWeb(varied_site) as web:
        yield web.url()


@pytest.fixture(scope="module")
def crawled(site, tmp_path_factory):
    jobdir = tmp_path_factory.mktemp("operating") / "job"
    return crawl([site], *options(POLITENESS_DELAY=0), jobdir=jobdir).check()


def run(example, site, crawled):
    """Run an example with the local site in place of example.com."""
    line = example.replace("https://example.com/", site)
    command = [sys.executable, "-m", *shlex.split(line), "-s", f"JOBDIR={crawled.jobdir}"]
    command += [] if "fetch" in line or "frontier" in line else options(POLITENESS_DELAY=0)
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_does_what_it_says(site, crawled, example):
    """It ends well and prints something."""
    done = run(example, site, crawled)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) > 3


def test_the_fields_of_json_are_described(site, crawled):
    """Every fact that has fields has its row with their names, in their order."""
    told = {}
    for row in re.findall(r"^\| `([^|]+)` \| .* \| (.*) \|$", TEXT, re.MULTILINE):
        told[row[0]] = re.findall(r"`([^`]+)`", row[1])
    details = json.loads(run(EXAMPLES[1], site, crawled).stdout)["details"]
    assert {"visited", "found", "archived", "line", "way", "alike", "host"} <= details.keys()
    assert {name: list(fields) for name, fields in details.items()} == {
        name: told[name] for name in details
    }
