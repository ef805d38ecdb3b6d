"""``scrapy crawl`` refuses what it cannot use: exit code 2, one line that says what and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SEED = "seeds=http://127.0.0.1:9/"

RUNNER = """
import contextlib, io, json, sys
from scrapy.cmdline import execute
sys.argv[0] = "scrapy"
for arguments in json.load(sys.stdin):
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        try:
            execute(["scrapy", "crawl", *arguments])
            code = 0
        except SystemExit as end:
            code = end.code
    print(json.dumps([code, err.getvalue()]))
"""
"""Runs several command lines in one process: each is refused before a reactor would run."""


class Refusal(NamedTuple):
    """A command line, with {tmp} for a folder, and what its one line must contain."""

    arguments: list[str]
    message: list[str]


def web(*arguments: str) -> list[str]:
    """Return the words of a crawl: -a for arguments, -s for settings."""
    words = ["web", "-s", "JOBDIR={tmp}/job", "-s", "LOG_LEVEL=WARNING"]
    for argument in arguments:
        words += ["-s" if argument.split("=")[0].isupper() else "-a", argument]
    return words


REFUSALS = {
    "no seeds": Refusal(web(), ["no seeds", "-a seeds=https://example.com/"]),
    "empty seeds": Refusal(web("seeds=, ,"), ["no seeds"]),
    "a seed that is a word": Refusal(web("seeds=foo"), ["'foo'", "http://foo/"]),
    "unknown option": Refusal([*web(SEED), "--bogus"], ["there is no option --bogus", "crawl -h"]),
    "bad seed": Refusal(
        web("seeds=http://127.0.0.1:9/,ftp://a.example/x"), ["'ftp://a.example/x'"]
    ),
    "bad seed in a file": Refusal(
        web("seeds=@{tmp}/bad.txt"), ["'http://[broken/'", "line 4 of {tmp}/bad.txt"]
    ),
    "empty file": Refusal(web("seeds=@{tmp}/empty.txt"), ["no seeds", "{tmp}/empty.txt"]),
    "missing file": Refusal(web("seeds=@{tmp}/none.txt"), ["{tmp}/none.txt", "No such file"]),
    "file is a folder": Refusal(web("seeds=@{tmp}"), ["seeds file {tmp}", "directory"]),
    "file is not text": Refusal(web("seeds=@{tmp}/latin.txt"), ["{tmp}/latin.txt", "UTF-8"]),
    "unknown setting": Refusal(
        web(SEED, "FRONTIER_MAX_PGES=3"), ["FRONTIER_MAX_PGES", "FRONTIER_MAX_PAGES?"]
    ),
    "setting of a wrong type": Refusal(
        web(SEED, "POLITENESS_DELAY=fast"), ["POLITENESS_DELAY='fast'", "expected number"]
    ),
    "setting out of range": Refusal(
        web(SEED, "POLITENESS_DELAY=-1"), ["POLITENESS_DELAY='-1'", "at least 0"]
    ),
    "setting of Scrapy's of a wrong type": Refusal(
        web(SEED, "CONCURRENT_REQUESTS=abc"), ["CONCURRENT_REQUESTS='abc'", "at least 1"]
    ),
    "setting of Scrapy's out of range": Refusal(
        web(SEED, "DOWNLOAD_TIMEOUT=-5"), ["DOWNLOAD_TIMEOUT='-5'", "at least 0.1"]
    ),
    "user agent without a name": Refusal(web(SEED, "USER_AGENT="), ["USER_AGENT=''"]),
    "bad network": Refusal(
        web(SEED, "SAFETY_ALLOWED_NETWORKS=10.0.0.0/99"), ["SAFETY_ALLOWED_NETWORKS", "10.0.0.0/99"]
    ),
    "unknown argument": Refusal(web(SEED, "max_page=3"), ["max_page=3", "did you mean max_pages?"]),
    "negative max_pages": Refusal(web(SEED, "max_pages=-1"), ["-a max_pages='-1'", "at least 0"]),
    "max_pages in words": Refusal(web(SEED, "max_pages=ten"), ["-a max_pages='ten'"]),
    "bad scope": Refusal(web(SEED, "scope=planet"), ["'planet'", "host, site, any"]),
    "bad allow": Refusal(web(SEED, "allow=("), ["'('", "regular expression"]),
    "bad deny": Refusal(web(SEED, "deny=a [z"), ["'[z'", "regular expression"]),
    "a file in the way of JOBDIR": Refusal(
        web(SEED, "JOBDIR={tmp}/empty.txt"), ["{tmp}/empty.txt", "-s JOBDIR=PATH"]
    ),
    "a file on the way to JOBDIR": Refusal(
        web(SEED, "JOBDIR={tmp}/empty.txt/job"), ["{tmp}/empty.txt/job", "-s JOBDIR=PATH"]
    ),
    "unknown spider": Refusal(["wbe"], ["'wbe'", "known: web"]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Seed files, and a file where a folder should be."""
    folder = tmp_path_factory.mktemp("refusals")
    folder.joinpath("bad.txt").write_text("# seeds\nhttp://127.0.0.1:9/\n\nhttp://[broken/\n")
    folder.joinpath("empty.txt").write_text("# nothing yet\n")
    folder.joinpath("latin.txt").write_bytes(b"http://a.example/\xe4\n")
    return folder


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "SCRAPY_SETTINGS_MODULE": "crawler.settings"}


@pytest.fixture(scope="module")
def refused(folder) -> dict[str, tuple[int, str]]:
    """Exit code and standard error of every command line."""
    lines = [
        [word.replace("{tmp}", str(folder)) for word in case.arguments]
        for case in REFUSALS.values()
    ]
    child = subprocess.run(
        [sys.executable, "-c", RUNNER],
        cwd=ROOT,
        env=_environment(),
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [tuple(json.loads(line)) for line in child.stdout.splitlines()]
    return dict(zip(REFUSALS, answers, strict=True))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals_name_input_rule_and_remedy(refused, folder, name):
    """Exit code 2, no traceback, and one line with the input as it was given."""
    code, text = refused[name]
    assert code == 2
    assert "Traceback" not in text
    [line] = [line for line in text.splitlines() if line.startswith("scrapy: error: ")]
    for part in REFUSALS[name].message:
        assert part.replace("{tmp}", str(folder)) in line


def test_a_refused_crawl_leaves_nothing_behind(refused, folder):
    """Whatever was refused before the job directory, no file and no folder was made for it."""
    assert not folder.joinpath("job").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["bad.txt", "empty.txt", "latin.txt"]


def test_the_command_itself_ends_with_code_2(folder):
    """The same through the installed command, run as an operator does."""
    child = subprocess.run(
        [sys.executable, "-m", "scrapy", "crawl", "web", "-s", f"JOBDIR={folder}/job"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert child.returncode == 2
    assert ": error: no seeds: " in child.stderr.splitlines()[-1]
