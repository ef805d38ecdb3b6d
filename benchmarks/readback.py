"""Does a crawl of real documents come back as the server sent it, and what do readers cost it?

A documentation package of Debian is served from this machine and crawled whole. Then every
page is read back over the API and compared with the file it was served from; the archive is
parsed again, and the lines compared; and a part of the crawl is run with and without readers.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.support.crawl import CrawlResult, crawl, options, start_crawl
from tests.support.packages import Folder, debian_docs
from tests.support.s3 import free_port
from tests.support.server import LocalWeb

if TYPE_CHECKING:
    from collections.abc import Iterator

_SETTINGS = options(POLITENESS_DELAY=0, FRONTIER_HOST_BUDGET=0)


def main() -> int:
    """Print one line a question; exit code 1 when an answer is wrong."""
    given = _arguments()
    root = debian_docs(given.package)
    with tempfile.TemporaryDirectory(prefix="readback-") as folder:
        jobdir = Path(folder) / "job"
        with LocalWeb("tests.support.packages:static_site", {"root": str(root)}) as web:
            result = crawl([web.url()], *_SETTINGS, jobdir=jobdir, timeout=1800).check()
            print(f"{given.package}: {result.outcomes} in {result.elapsed_s:.0f} s", flush=True)
            faults = _read_back(jobdir, Folder(root), web)
            faults += _reprocess(jobdir)
            _with_readers(Path(folder), web, given)
    return 1 if faults else 0


def _read_back(jobdir: Path, folder: Folder, web: LocalWeb) -> int:
    """Compare every page with the file it was served from; return how many differ."""
    base, compared, differing = web.url("/").rstrip("/"), 0, 0
    start = time.monotonic()
    with _api(jobdir) as port:
        client = _Client(port)
        for page in client.pages():
            if page["warc_file"] is None or page["status_code"] != 200:
                continue
            found = folder.look_up(page["url"].removeprefix(base))
            sent = found.file.read_bytes() if found.file else found.body
            status, body = client.get(f"/api/v1/pages/{page['url_hash']}/raw")
            compared += 1
            if status != 200 or body != sent:
                differing += 1
                print(f"DIFFERS: {page['url']}: {status}, {len(body)} of {len(sent)} bytes")
    seconds = time.monotonic() - start
    print(f"read back over the API: {compared:,} pages, {differing} differ, in {seconds:.0f} s")
    return differing + (compared == 0)


def _reprocess(jobdir: Path) -> int:
    command = [sys.executable, "-m", "scrapy", "pages", "reprocess", "--check"]
    command += ["-s", f"JOBDIR={jobdir}", *_SETTINGS]
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()[-1:]
    print(f"reprocess: exit code {done.returncode}, {time.monotonic() - start:.0f} s: {said}")
    return done.returncode


def _with_readers(folder: Path, web: LocalWeb, given: argparse.Namespace) -> None:
    """Crawl a part of the site without and with readers, in turn; print both times."""
    times: dict[bool, list[float]] = {False: [], True: []}
    answers: list[int] = []
    for number in range(2 * given.rounds):
        reading = bool(number % 2)
        jobdir = folder / f"part-{number}"
        settings = [*_SETTINGS, "-a", f"max_pages={given.part}"]
        with start_crawl([web.url()], *settings, jobdir=jobdir) as running:
            _await(jobdir / "catalog.sqlite")
            with _readers(jobdir, given.readers if reading else 0) as got:
                result: CrawlResult = running.wait(900)
            answers += got
        times[reading].append(result.check().stats["elapsed_time_seconds"])
    alone, together = (statistics.median(times[reading]) for reading in (False, True))
    wrong = sum(1 for status in answers if status != 200)
    print(
        f"{given.part:,} pages: {alone:.1f} s alone, {together:.1f} s with {given.readers} readers "
        f"({together / alone:.2f}); {len(answers):,} answers, {wrong} of them no 200"
    )


@contextlib.contextmanager
def _readers(jobdir: Path, count: int) -> Iterator[list[int]]:
    """Have so many clients ask once a second each; yields the statuses they get."""
    over, answers = threading.Event(), list[int]()
    if not count:
        yield answers
        return

    def read(port: int, number: int) -> None:
        client, turn = _Client(port), 0
        over.wait(number / count)
        while not over.wait(1.0):
            turn += 1
            query = urlencode({"limit": 20, "order": ("asc", "desc")[turn % 2]})
            answers.append(client.get(f"/api/v1/pages?{query}")[0])

    with _api(jobdir) as api:
        threads = [threading.Thread(target=read, args=(api, n)) for n in range(count)]
        for thread in threads:
            thread.start()
        try:
            yield answers
        finally:
            over.set()
            for thread in threads:
                thread.join()


@contextlib.contextmanager
def _api(jobdir: Path) -> Iterator[int]:
    """Serve a job directory with the command; yields the port."""
    port = free_port()
    command = [sys.executable, "-m", "scrapy", "api", "--jobdir", str(jobdir), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await_answer(port)
        yield port
    finally:
        process.terminate()
        process.wait(30)


def _await_answer(port: int) -> None:
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        with contextlib.suppress(OSError):
            if _Client(port).get("/healthz")[0] == HTTPStatus.OK:
                return
        time.sleep(0.1)
    raise SystemExit("no figure: the API does not answer")


def _await(path: Path) -> None:
    limit = time.monotonic() + 30
    while not path.exists() and time.monotonic() < limit:
        time.sleep(0.05)


class _Client:
    """One connection to the API."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def get(self, target: str) -> tuple[int, bytes]:
        """Return status and body."""
        self._connection.request("GET", target)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def pages(self) -> Iterator[dict[str, Any]]:
        """Yield every page, by the cursor."""
        query: dict[str, Any] = {"limit": 1000}
        while True:
            found = json.loads(self.get(f"/api/v1/pages?{urlencode(query)}")[1])
            yield from found["pages"]
            if found["cursor"] is None:
                return
            query["cursor"] = found["cursor"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench readback", description=__doc__)
    parser.add_argument("--package", default="openjdk-17-doc", help="of Debian's documentation")
    parser.add_argument("--readers", type=int, default=50, help="each asks once a second")
    parser.add_argument("--part", type=int, default=2000, help="pages of the crawls with readers")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
