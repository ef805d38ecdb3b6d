"""Gives one target to libFuzzer, with the code of the crawler instrumented; ends the process.

Modules that compute with arrays are left out: watching comparisons of arrays leaves about a
kilobyte behind each time, until the process is taken for one that has used up its memory.
"""

from __future__ import annotations

import sys

import atheris

from tests.fuzz.limits import timed

_WATCHED = ["crawler", "protego", "w3lib"]
_ARRAYS = ["crawler.dedupe.tokens", "crawler.dedupe.simhash"]

with atheris.instrument_imports(include=_WATCHED, exclude=_ARRAYS):
    from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    program, name, *options = sys.argv
    atheris.Setup([program, *options], lambda data: timed(TARGETS[name], data))
    atheris.Fuzz()
