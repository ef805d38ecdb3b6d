"""Gives one target to libFuzzer, with the code of the crawler instrumented; ends the process."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["crawler", "protego", "w3lib"]):
    from tests.fuzz.targets import TARGETS

from tests.fuzz.limits import timed

if __name__ == "__main__":
    program, name, *options = sys.argv
    atheris.Setup([program, *options], lambda data: timed(TARGETS[name], data))
    atheris.Fuzz()
