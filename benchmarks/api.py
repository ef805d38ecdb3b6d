"""CPU of the read API per answer, and its memory while it sends a whole catalog as lines.

``scrapy api`` runs in a process of its own and is asked over one connection, one request after
the other; its CPU and memory are read from the system. Every answer is counted.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.catalog import row
from crawler.store.catalog import Catalog

ROWS = 100
REQUESTS = 300
MOST_CPU = 0.005  # s of an answer
_AT_ONCE = 500
_TICK = os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Fill a catalog, serve it, print a figure for each kind of request."""
    parser = argparse.ArgumentParser(prog="scripts/bench api", description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="pages in the catalog")
    rows = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as folder:
        catalog = Catalog.open(str(Path(folder) / "catalog.sqlite"))
        for first in range(0, rows, _AT_ONCE):
            catalog.write([row(n) for n in range(first, min(first + _AT_ONCE, rows))])
        catalog.close()
        command = [sys.executable, "-m", "scrapy", "api", "--jobdir", folder, "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                return _measure(process, rows)
            finally:
                process.terminate()


def _measure(process: subprocess.Popen[str], rows: int) -> int:
    assert process.stdout is not None
    said = process.stdout.readline()
    found = re.search(r":(\d+)/", said)
    assert found, said
    connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
    page = row(rows // 2)
    targets = {
        f"{ROWS} pages": (f"/api/v1/pages?limit={ROWS}", b'"fetched_at"', ROWS),
        f"{ROWS} pages of a domain": (
            f"/api/v1/pages?limit={ROWS}&domain=example00000.org&order=desc", b'"fetched_at"', ROWS,
        ),
        "one page": (f"/api/v1/pages/{page.url_hash.hex()}", b'"fetched_at"', 1),
        "healthz": ("/healthz", b"ok", 1),
    }  # fmt: skip
    slow = False
    for name, (target, mark, times) in targets.items():
        cost = _cost(process.pid, connection, target, mark, times)
        slow = slow or cost > MOST_CPU
        print(f"{name:<24} {1000 * cost:6.2f} ms CPU", flush=True)
    before, cpu = _peak(process.pid), _cpu(process.pid)
    body = _get(connection, "/api/v1/pages?format=ndjson")
    assert body.count(b"\n") == rows
    grown = (_peak(process.pid) - before) / 1024
    each = 1e6 * (_cpu(process.pid) - cpu) / rows
    print(f"{rows:,} pages as lines: {each:.1f} us CPU each, {len(body) >> 20} MiB sent, "
          f"memory of the server grew by {grown:.1f} MiB")  # fmt: skip
    return 1 if slow else 0


def _cost(
    pid: int, connection: http.client.HTTPConnection, target: str, mark: bytes, times: int
) -> float:
    """Return the server's CPU seconds of a request, once it is warm."""
    for _ in range(20):
        assert _get(connection, target).count(mark) == times
    before = _cpu(pid)
    for _ in range(REQUESTS):
        _get(connection, target)
    return (_cpu(pid) - before) / REQUESTS


def _get(connection: http.client.HTTPConnection, target: str) -> bytes:
    connection.request("GET", target)
    answer = connection.getresponse()
    assert answer.status == 200, target
    return answer.read()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def _peak(pid: int) -> int:
    """Return the most memory a process has had, KiB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1])


if __name__ == "__main__":
    sys.exit(main())
