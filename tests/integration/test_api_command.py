"""``scrapy api`` as an operator runs it: it says where it is, and stops when told to."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from crawler.commands.api import undo_codings
from crawler.errors import StoreError
from tests.support.archived import SEED, Archived, example_site
from tests.support.crawl import ROOT, options
from tests.support.live_api import Client, live_api

pytestmark = pytest.mark.slow

_SAID = re.compile(
    r"Serving (?P<directory>.+) at http://127\.0\.0\.1:(?P<port>\d+)/api/v1/pages, "
    r"described at http://127\.0\.0\.1:(?P=port)/docs\n"
)


@pytest.fixture
def archived(tmp_path):
    with Archived(tmp_path / "job") as archived:
        example_site(archived)
        yield archived


def command(*args: str) -> list[str]:
    return [sys.executable, "-W", "ignore", "-m", "scrapy", "api", *args]


def refused(*args: str) -> str:
    """Return the one line that a command says when it does not start."""
    done = subprocess.run(
        command(*args), cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@contextmanager
def running(*args: str):
    """Start the command; give its process and the line that it says."""
    process = subprocess.Popen(
        command(*args), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            yield process, _SAID.fullmatch(process.stdout.readline())
        finally:
            process.kill()


def test_it_serves_while_a_crawl_writes_and_stops_at_ctrl_c(archived):
    """One line says where; pages of a running crawl are there at once; Ctrl-C ends it well."""
    with running("--jobdir", str(archived.directory), "--port", "0") as (process, said):
        assert said["directory"] == str(archived.directory)
        client = Client(int(said["port"]))
        assert len(client.get("/api/v1/pages").json["pages"]) == 9
        archived.page(f"{SEED}late", b"late")
        assert client.get(f"/api/v1/pages/lookup?url={SEED}late").status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


def test_settings_say_where_and_for_whom(archived):
    """JOBDIR, API_PORT, API_TOKEN and the rules of URLs are those of the project."""
    token = "a-token-of-some-length"
    settings = options(JOBDIR=archived.directory, API_PORT=0, API_TOKEN=token)
    with running(*settings) as (_, said):
        client = Client(int(said["port"]))
        assert client.get("/healthz").status == 401
        assert client.get("/healthz", {"Authorization": f"Bearer {token}"}).status == 200


def test_a_crawl_that_is_not_there_is_refused(tmp_path):
    """The message says that there is no crawl, and where; nothing is made."""
    said = refused("--jobdir", str(tmp_path / "none"), "--port", "0")
    assert f"JOBDIR '{tmp_path / 'none'}' is no directory" in said
    assert f"{tmp_path} holds no crawl" in refused("--jobdir", str(tmp_path), "--port", "0")
    assert not [*tmp_path.iterdir()]


def test_an_open_door_is_refused(archived):
    """Listening to other machines without a token is no accident that can happen."""
    said = refused("--jobdir", str(archived.directory), "--host", "0.0.0.0", "--port", "0")
    assert said.startswith("api: error: API_HOST='0.0.0.0'")
    assert "API_TOKEN" in said


@pytest.mark.parametrize("port", ["x", "-1", "65536"])
def test_a_port_that_is_none_is_refused(archived, port):
    """The message says what is expected."""
    said = refused("--jobdir", str(archived.directory), f"--port={port}")
    assert f"API_PORT='{port}': expected whole number (port) at least 0, at most 65535" in said


def test_codings_are_undone_as_the_crawl_does_it():
    """A body that is no gzip is as it is; one that is corrupt is no body."""
    assert undo_codings(b"plain", b"gzip") == b"plain"
    with pytest.raises(StoreError, match="does not decode as its Content-Encoding says"):
        undo_codings(b"\x1f\x8b\x08\0" + b"\xff" * 50, b"gzip")


def test_the_examples_of_the_documentation_work(tmp_path):
    """Every curl command of docs/api.md gives what it promises, on a crawl of example.com."""
    with Archived(tmp_path) as archived:
        example_site(archived)
    text = (ROOT / "docs" / "api.md").read_text("utf-8")
    commands = re.findall(r"^curl (.+)$", text, re.MULTILINE)
    assert len(commands) >= 8
    with live_api(tmp_path) as client:
        for line in commands:
            *flags, url = [w for w in shlex.split(line) if w not in ("-s", "-O", "-H")]
            headers = dict(flag.split(": ", 1) for flag in flags)
            answer = client.get(url.removeprefix("http://127.0.0.1:8000"), headers)
            assert answer.status == 200, (line, answer.text)
            assert answer.body.strip() not in (b"", b'{"pages":[],"cursor":null}'), line
