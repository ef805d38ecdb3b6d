"""The whole crawler as an operator runs it: a subprocess, its files and its last words."""

from __future__ import annotations

import ast
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parents[2]
_STAT = re.compile(r"^[ {]'(?P<name>[^']+)': (?P<value>.+?)[,}]$", re.MULTILINE)
_INLINE = 20  # more seeds than this go into a file, as an operator would do it


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True, slots=True)
class CrawlResult:
    """What a crawl left behind.

    Attributes:
        exit_code: Of the process; negative for the signal that killed it.
        stderr: Everything it said.
        lines: The objects of ``pages.jsonl`` in the order written.
        stats: Scrapy's final stats; values that are no literals are left out.
        jobdir: The job directory.
        elapsed_s: Seconds from start to end, the interpreter's start included.
        cpu_s: CPU seconds, user and system, of the process and its children.
    """

    exit_code: int
    stderr: str
    lines: list[dict[str, Any]]
    stats: dict[str, Any]
    jobdir: Path
    elapsed_s: float
    cpu_s: float

    @property
    def urls(self) -> list[str]:
        """The URL of every line."""
        return [line["url"] for line in self.lines]

    @property
    def outcomes(self) -> dict[str, int]:
        """How fetched URLs ended, by the name of the outcome; zeroes left out."""
        return self.counted("outcome/")

    @property
    def rejected(self) -> dict[str, int]:
        """Why discovered URLs were not fetched, by reason; zeroes left out."""
        return self.counted("rejected/")

    def counted(self, prefix: str) -> dict[str, int]:
        """Return the counts under a prefix of the stats, without it; zeroes left out."""
        named = self.stats.items()
        return {name.removeprefix(prefix): n for name, n in named if name.startswith(prefix) and n}

    def check(self) -> Self:
        """Fail unless the crawl ended well and no URL was lost or invented.

        Raises:
            AssertionError: With what the crawl said last.
        """
        said = self.stderr[-6000:]
        assert self.exit_code == 0, f"exit code {self.exit_code}:\n{said}"
        assert "Traceback" not in self.stderr, said
        assert not [line for line in self.stderr.splitlines() if "] ERROR: " in line], said
        states = sum(self.stats[f"frontier/{name}"] for name in ("queued", "leased", "waiting"))
        ended = sum(self.outcomes.values()) + sum(self.rejected.values())
        assert self.stats["frontier/discovered"] == states + ended, said
        assert len(self.lines) == self.outcomes.get("stored", 0), said
        return self


@dataclass(slots=True)
class Crawl:
    """A crawl under way; a context manager that leaves no process behind."""

    process: subprocess.Popen[bytes]
    jobdir: Path
    _log: Path
    _started_at: float = field(default_factory=time.monotonic)
    _cpu_before: float = field(default_factory=_children_cpu_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def said(self) -> str:
        """What it has said on stderr so far."""
        return self._log.read_text(errors="replace")

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End the process at once, if it has not ended."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def wait(self, timeout: float) -> CrawlResult:
        """Wait for the end and collect what is left behind.

        Raises:
            AssertionError: It did not end by itself within ``timeout`` seconds.
        """
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"still running after {timeout} s:\n{self.said[-6000:]}") from None
        said = self.said
        return CrawlResult(
            exit_code=self.process.returncode,
            stderr=said,
            lines=read_lines(self.jobdir / "pages.jsonl"),
            stats=read_stats(said),
            jobdir=self.jobdir,
            elapsed_s=time.monotonic() - self._started_at,
            cpu_s=_children_cpu_s() - self._cpu_before,
        )


def start_crawl(seeds: Sequence[str] | str, *args: str, jobdir: Path) -> Crawl:
    """Start ``scrapy crawl web`` from the repository's root.

    Args:
        seeds: URLs; or the text of the argument as it is.
        args: Further arguments, such as ``"-a", "max_pages=5"``.
        jobdir: The job directory; the log is kept beside it.
    """
    jobdir.parent.mkdir(parents=True, exist_ok=True)
    given = seeds if isinstance(seeds, str) else _argument(seeds, jobdir)
    command = [sys.executable, "-m", "scrapy", "crawl", "web", "-a", f"seeds={given}"]
    command += ["-s", f"JOBDIR={jobdir}", *args]
    number, name = tempfile.mkstemp(suffix=".log", prefix=f"{jobdir.name}-", dir=jobdir.parent)
    with os.fdopen(number, "wb") as log:
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    return Crawl(process, jobdir, Path(name))


def crawl(
    seeds: Sequence[str] | str, *args: str, jobdir: Path, timeout: float = 60.0
) -> CrawlResult:
    """Run ``scrapy crawl web`` to its end; see :func:`start_crawl`.

    Raises:
        AssertionError: It did not end by itself within ``timeout`` seconds.
    """
    with start_crawl(seeds, *args, jobdir=jobdir) as running:
        return running.wait(timeout)


def options(**settings: object) -> list[str]:
    """Return settings as arguments: ``options(DOWNLOAD_TIMEOUT=2)``."""
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Return the objects of a file of JSON lines; empty when there is none.

    Raises:
        AssertionError: A line is not whole.
    """
    if not file.exists():
        return []
    data = file.read_bytes()
    assert not data or data.endswith(b"\n"), f"{file} ends in half a line: {data[-200:]!r}"
    return [json.loads(line) for line in data.splitlines()]


def read_stats(said: str) -> dict[str, Any]:
    """Return the stats that a crawl dumped into its log; empty when it did not."""
    _, _, dump = said.rpartition("Dumping Scrapy stats:\n")
    stats: dict[str, Any] = {}
    for match in _STAT.finditer(dump):
        with contextlib.suppress(ValueError, SyntaxError):
            stats[match["name"]] = ast.literal_eval(match["value"])
    return stats


def _argument(seeds: Sequence[str], jobdir: Path) -> str:
    if len(seeds) <= _INLINE:
        return ",".join(seeds)
    file = jobdir.with_name(f"{jobdir.name}-seeds.txt")
    file.write_text("\n".join(seeds) + "\n")
    return f"@{file}"
