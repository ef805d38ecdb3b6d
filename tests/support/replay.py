"""A real replay tool (pywb) over the segments of an archive."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import urllib.request
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import quote

from tests.support.packages import cache_folder
from tests.support.s3 import free_port
from tests.support.scrapyd import wait_for

if TYPE_CHECKING:
    from pathlib import Path

_CONFIG = """\
collections:
  web:
    index_paths: {folder}/index.cdxj
    archive_paths: {archive}/
"""


class ReplayUnavailableError(Exception):
    """The tool is not installed; the message is the command that installs it."""


class Replayed(NamedTuple):
    """What the tool gives for a capture; the body without content codings."""

    status: int
    body: bytes


def pywb() -> Path:
    """Return the program.

    Raises:
        ReplayUnavailableError: It is not there.
    """
    found = sorted(cache_folder().glob("pywb-*/installed"))
    if not found:
        raise ReplayUnavailableError("pywb is not installed here; run scripts/services")
    return found[-1].with_name("bin") / "wayback"


class Replay:
    """A pywb process over an archive from ``with`` to its end; its own files are in ``folder``."""

    def __init__(self, archive: Path, folder: Path) -> None:
        self._program = pywb()
        self._folder = folder
        self._port = free_port()
        lines = [line for path in archive.glob("*.cdxj") for line in path.read_bytes().splitlines()]
        folder.joinpath("index.cdxj").write_bytes(
            b"".join(b"%s\n" % line for line in sorted(lines))
        )
        folder.joinpath("config.yaml").write_text(_CONFIG.format(folder=folder, archive=archive))

    def __enter__(self) -> Self:
        with self._folder.joinpath("log").open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, "-b", "127.0.0.1", "-p", str(self._port)],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            wait_for("pywb answers", self._answers)
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def get(self, timestamp: str, url: str) -> Replayed:
        """Replay the capture of a URL at a 14-digit time, as it was, without rewriting."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            path = quote(f"/web/{timestamp}id_/{url}", safe="/:?&=%")
            connection.request("GET", path, headers={"Accept-Encoding": "identity"})
            answer = connection.getresponse()
            assert not answer.getheader("Content-Encoding"), "the capture is still packed"
            return Replayed(answer.status, answer.read())
        finally:
            connection.close()

    def said(self) -> str:
        """Return what the tool logged."""
        return self._folder.joinpath("log").read_text(errors="replace")

    def _answers(self) -> bool:
        assert self._process.poll() is None, self.said()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/", timeout=5) as answer:
                answer.read()
        except OSError:
            return False
        return True
