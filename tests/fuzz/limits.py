"""What one input may cost, and the measuring of it."""

from __future__ import annotations

import gc
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_SECONDS = 1.0
"""CPU time: the machine may be busy with other things."""

MOST_BYTES = 256 * 2**20
"""Memory beyond what was in use before."""

_REPEATED = 65_536  # bytes up to which some inputs are repeated
_ONE_IN = 500


class TooExpensiveError(Exception):
    """An input took more time or memory than any may."""


def timed(target: Callable[[bytes], None], data: bytes) -> None:
    """Give an input to a target, and some inputs again, repeated: squares show in long ones.

    Raises:
        TooExpensiveError: It took more than MOST_SECONDS.
    """
    _timed(target, data)
    if data and len(data) < _REPEATED // 2 and zlib.crc32(data) % _ONE_IN == 0:
        head, newline, rest = data.partition(b"\n")
        _timed(target, head + newline + rest * (_REPEATED // max(1, len(rest))))


def _timed(target: Callable[[bytes], None], data: bytes) -> None:
    start = time.thread_time()
    target(data)
    seconds = time.thread_time() - start
    if seconds > MOST_SECONDS:
        raise TooExpensiveError(f"{seconds:.1f} s for {len(data)} bytes")


def peak_bytes(run: Callable[[], None]) -> int:
    """Return by how much a call raises this process's memory at most. Linux only."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak is from here on, proc(5)
    before = _resident("VmRSS")
    run()
    return _resident("VmHWM") - before


def _resident(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) * 1024
