"""Shared by the politeness tests."""

from __future__ import annotations

import time

import pytest


@pytest.fixture
def cpu_seconds():
    """Return a function that gives the CPU seconds of a call."""

    def measure(call):
        start = time.process_time()
        call()
        return time.process_time() - start

    return measure
