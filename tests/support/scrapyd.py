"""A real scrapyd with directories of its own, and a copy of the project to deploy to it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
START_S = 30.0
_BUILT_OF = ("setup.py", "pyproject.toml", "requirements.txt")  # an egg, beside crawler/
_CONFIG = """\
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
"""
_TARGET = """\
[settings]
default = crawler.settings

[deploy]
url = {url}
project = crawler
"""


def wait_for(what: str, condition: Callable[[], object], timeout: float = START_S) -> None:
    """Look again and again until a condition holds.

    Raises:
        AssertionError: It did not within ``timeout`` seconds.
    """
    until = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < until, f"after {timeout:g} s still not: {what}"
        time.sleep(0.05)


class Scrapyd:
    """A scrapyd process from ``with`` to its end; all it writes lies below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}/"
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SCRAPY")
        }
        self._environment["HOME"] = str(folder)  # no settings of whoever runs the tests
        self._environment["PYTHONWARNINGS"] = "ignore"  # scrapyd imports pkg_resources

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True)
        port = self.url.rstrip("/").rpartition(":")[2]
        self.folder.joinpath("scrapyd.conf").write_text(_CONFIG.format(port=port))
        with self.folder.joinpath("scrapyd.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "scrapyd"],
                cwd=self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            wait_for("scrapyd answers", self._answers)
        except AssertionError as error:
            self.__exit__()
            raise AssertionError(f"{error}\n{self.said()}") from None
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(ProcessLookupError):  # jobs outlive a scrapyd that stops
            os.killpg(self._process.pid, signal.SIGKILL)

    def said(self) -> str:
        """Return what scrapyd itself logged."""
        return self.folder.joinpath("scrapyd.log").read_text(errors="replace")

    def get(self, service: str, **arguments: str) -> dict[str, Any]:
        """Ask a service, such as ``listjobs``."""
        return self._call(f"{service}.json?{urlencode(arguments)}", None)

    def post(self, service: str, *settings: str, **arguments: str) -> dict[str, Any]:
        """Tell a service something; settings are given as ``NAME=value``."""
        pairs = [*arguments.items(), *(("setting", setting) for setting in settings)]
        return self._call(f"{service}.json", urlencode(pairs).encode())

    def deploy(self, copy: Path, **settings: object) -> str:
        """Deploy a copy of this project, with settings of its own, by ``scrapyd-deploy``.

        Returns:
            What the command said.

        Raises:
            AssertionError: It failed.
        """
        copy.mkdir(parents=True)
        for name in _BUILT_OF:
            shutil.copy(ROOT / name, copy)
        shutil.copytree(
            ROOT / "crawler", copy / "crawler", ignore=shutil.ignore_patterns("__pycache__")
        )
        copy.joinpath("scrapy.cfg").write_text(_TARGET.format(url=self.url))
        with copy.joinpath("crawler", "settings.py").open("a") as file:
            file.writelines(f"{name} = {value!r}\n" for name, value in settings.items())
        done = subprocess.run(
            [sys.executable, "-m", "scrapyd_client.deploy"],
            cwd=copy,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def schedule(self, job: str, *settings: str, **arguments: str) -> None:
        """Schedule the spider ``web`` as a job of this name."""
        self.post("schedule", *settings, project="crawler", spider="web", jobid=job, **arguments)

    def cancel(self, job: str) -> None:
        """Cancel a job."""
        self.post("cancel", project="crawler", job=job)

    def finish(self, job: str) -> str:
        """Wait until a job has ended; return its log.

        Raises:
            AssertionError: It did not end.
        """
        wait_for(f"{job} is finished", lambda: job in self._finished())
        return self.log(job)

    def log(self, job: str) -> str:
        """Return the log file of a job."""
        return self.folder.joinpath("logs", "crawler", "web", f"{job}.log").read_text()

    def _finished(self) -> list[str]:
        return [job["id"] for job in self.get("listjobs", project="crawler")["finished"]]

    def _answers(self) -> bool:
        assert self._process.poll() is None, "scrapyd ended by itself"
        try:
            self.get("daemonstatus")
        except OSError:
            return False
        return True

    def _call(self, path: str, data: bytes | None) -> dict[str, Any]:
        with urllib.request.urlopen(self.url + path, data=data, timeout=30) as answer:
            told: dict[str, Any] = json.load(answer)
        assert told["status"] == "ok", told
        return told
