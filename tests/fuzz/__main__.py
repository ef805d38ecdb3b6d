"""Runs targets one after the other under atheris: see ``scripts/fuzz --help``."""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.limits import MOST_BYTES, TooExpensiveError, timed
from tests.fuzz.seeds import FOUND, WORDS, found, seeds
from tests.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_HANG_S = 20  # what does not come back by itself
_LONGEST = 4096  # bytes of an input
_MOST_KEPT = 24_576  # bytes of the inputs that are kept of one run
_DONE = re.compile(r"Done (\d+) runs in (\d+) second")
_PEAK = re.compile(r"peak_rss_mb: *(\d+)")
_REASON = re.compile(r"=== Uncaught.*?(?=\n==|\Z)|==\d+== ERROR.*", re.DOTALL)


def main(arguments: list[str]) -> int:
    """Fuzz what the command line names; return the number of targets with a finding."""
    options = _parser().parse_args(arguments)
    wanted = options.target or list(TARGETS)
    print(f"{'target':<10}{'runs':>12}{'seconds':>9}{'peak MB':>9}  result")
    return sum(not _run(name, options) for name in wanted)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("scripts/fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=", ".join(TARGETS), choices=[[], *TARGETS])
    parser.add_argument("--runs", type=int, default=100_000, help="inputs of each target")
    parser.add_argument("--seconds", type=int, default=600, help="at most, of each target")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers; 0 = any")
    parser.add_argument("--keep", action="store_true", help="keep new inputs in tests/corpus/fuzz")
    return parser


def _run(name: str, options: argparse.Namespace) -> bool:
    """Fuzz one target in a process of its own, say what came of it; True without a finding."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        begin, new, crashes = (Path(folder, part) for part in ("begin", "new", "crashes"))
        for one in (begin, new, crashes):
            one.mkdir()
        _write(begin, seeds(name))
        words = Path(folder, "words")
        words.write_text("".join(map(_quoted, WORDS[name].split(" "))))
        command = [
            *(sys.executable, "-m", "tests.fuzz.guided", name, f"-runs={options.runs}"),
            *(f"-max_total_time={options.seconds}", f"-seed={options.seed}", f"-dict={words}"),
            *(f"-timeout={_HANG_S}", f"-rss_limit_mb={_limit_mb()}", f"-max_len={_LONGEST}"),
            *(f"-artifact_prefix={crashes}/", "-print_final_stats=1", str(new), str(begin)),
        ]
        if found(name):
            command.append(str(FOUND / name))
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        return _tell(name, done, new, sorted(crashes.iterdir()), keep=options.keep)


def _tell(
    name: str,
    done: subprocess.CompletedProcess[str],
    new: Path,
    crashes: list[Path],
    *,
    keep: bool,
) -> bool:
    runs, peak = _DONE.search(done.stdout), _PEAK.search(done.stdout)
    figures = f"{int(runs[1]):>12,}{runs[2]:>9}" if runs else f"{'-':>12}{'-':>9}"
    result = "no finding" if done.returncode == 0 else f"exit code {done.returncode}"
    print(f"{name:<10}{figures}{peak[1] if peak else '-':>9}  {result}", flush=True)
    for crash in crashes:
        path = _keep(name, _smallest(name, crash.read_bytes()), "crash")
        reason = _REASON.search(done.stdout)
        print(f"  {path}: {reason[0] if reason else done.stdout}")
    if keep:
        _keep_new(name, [one.read_bytes() for one in new.iterdir()])
    return done.returncode == 0


def _write(folder: Path, inputs: Iterable[bytes]) -> None:
    for data in inputs:
        folder.joinpath(hashlib.sha1(data).hexdigest()).write_bytes(data)


def _quoted(word: str) -> str:
    """Return a word as a line of libFuzzer's dictionary."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word.encode()) + '"\n'


def _limit_mb() -> int:
    """Return what a process may have: what it begins with, and MOST_BYTES."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (pages * os.sysconf("SC_PAGE_SIZE") + MOST_BYTES) // 2**20


def _smallest(name: str, data: bytes) -> bytes:
    """Take away what a failure does not need; crashes of the process stay as they are."""
    failure = _failure(name, data)
    if failure is None:
        return data
    size = len(data) // 2
    while size:
        place = 0
        while place < len(data):
            shorter = data[:place] + data[place + size :]
            if _failure(name, shorter) == failure:
                data = shorter
            else:
                place += size
        size //= 2
    return data


def _failure(name: str, data: bytes) -> tuple[str, int | None] | None:
    """Return what an input raises, and where; None if nothing."""
    try:
        timed(TARGETS[name], data)
    except TooExpensiveError:
        return "time", None
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is a finding
        return type(error).__name__, traceback.extract_tb(error.__traceback__)[-1].lineno
    return None


def _keep(name: str, data: bytes, kind: str) -> Path:
    folder = FOUND / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}-{hashlib.sha1(data).hexdigest()[:12]}"
    path.write_bytes(data)
    return path


def _keep_new(name: str, inputs: list[bytes]) -> None:
    """Keep, of what a run has found, the shortest inputs that reach further lines."""
    reached: set[tuple[str, int, int]] = set()
    for data in [*seeds(name), *(path.read_bytes() for path in found(name))]:
        reached |= _reached(TARGETS[name], data)
    room = _MOST_KEPT
    for data in sorted(inputs, key=len):
        further = _reached(TARGETS[name], data) - reached
        if further and len(data) <= room:
            reached |= further
            room -= len(data)
            _keep(name, data, "path")


def _reached(target: Callable[[bytes], None], data: bytes) -> set[tuple[str, int, int]]:
    """Return the steps from line to line that an input takes in the crawler."""
    steps: set[tuple[str, int, int]] = set()

    def trace(frame, event, _):
        if "/crawler/" not in frame.f_code.co_filename:
            return None
        before = frame.f_lineno

        def step(frame, event, _):
            nonlocal before
            if event == "line":
                steps.add((frame.f_code.co_filename, before, frame.f_lineno))
                before = frame.f_lineno
            return step

        return step

    sys.settrace(trace)
    try:
        target(data)
    except Exception:  # noqa: BLE001 -- told elsewhere
        pass
    finally:
        sys.settrace(None)
    return steps


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
