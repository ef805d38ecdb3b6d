"""Parsing apart: whatever a document does to its process, the answer comes in bounded time."""

from __future__ import annotations

import asyncio
import os
import random
import time
from pathlib import Path

import pytest

from crawler.parsing import Document, ParsingOptions
from crawler.parsing.worker import NoResolver
from crawler.workers import KILLED, Worker, WorkerOptions, Workers
from tests.support.pdf import HOSTILE, hostile, pdf

TYPE = """
import os, sys, time
from crawler.parsing.types import ContentType, Document, Extract

def parse(document):
    what = document.body.decode()
    if what == "hang":
        while True: pass
    if what == "slow":
        while not document.expired(): pass
        return Extract(text="so far", truncated=True)
    if what == "die":
        os._exit(7)
    if what == "abort":
        os.abort()
    if what == "memory":
        return Extract(text=" " * 2**30)
    if what == "write":
        with open("written", "w") as file:
            file.write("x")
    if what == "print":
        print("to be read as an answer" * 99)
        os.write(1, b"and so" * 99)
    if what == "raise":
        raise ValueError("no")
    if what == "environment":
        return Extract(text=" ".join(os.environ))
    if what == "nothing":
        return None
    if what == "odd":
        return Extract(text=7)
    return Extract(text=f"{document.url} {document.media} {document.charset} "
                        f"{document.options.max_text} {os.getpid()}", hrefs=["/x"])

CONTENT_TYPE = ContentType(parse, media=("x/y",), isolated=True)
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A content type that does what its document says."""
    (tmp_path / "moody_type.py").write_text(TYPE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    return "moody_type"


@pytest.fixture
def worker():
    worker = Worker(WorkerOptions(timeout=2.0, memory=512 * 2**20))
    yield worker
    worker.close()


def document(body, **more):
    body = body if isinstance(body, bytes) else body.encode()
    return Document(body=body, url="http://a.test/", resolver=NoResolver(), media="x/y", **more)


def test_a_document_and_its_answer_are_the_same_on_both_sides(worker, module):
    """URL, type, charset and bounds arrive; the extract comes back."""
    asked = document("say", charset="koi8-r", options=ParsingOptions(max_text=77))
    found = worker.parse(module, asked)
    assert found.text.startswith("http://a.test/ x/y koi8-r 77 ")
    assert (found.hrefs, found.error) == (["/x"], None)


def test_a_process_serves_many_documents(worker, module):
    """Starting one for each would cost a tenth of a second a document."""
    first, second = (worker.parse(module, document("say")).text for _ in range(2))
    assert first == second
    assert not first.endswith(f" {os.getpid()}")


@pytest.mark.parametrize("what", ["die", "abort", "memory", "write", "raise", "nothing", "odd"])
def test_a_failure_is_the_error_of_its_document(worker, module, what):
    """The process may end, raise or overstep: the next document is read all the same."""
    found = worker.parse(module, document(what))
    assert found.error
    assert found.text == ""
    assert worker.parse(module, document("say")).error is None
    assert not Path("written").exists() or not Path("written").stat().st_size


@pytest.mark.slow
def test_a_document_that_takes_for_ever_is_given_up(module):
    """After the time its process is ended, and another one reads what comes next."""
    worker = Worker(WorkerOptions(timeout=1.0))
    start = time.monotonic()
    found = worker.parse(module, document("hang"))
    assert found.error == f"{KILLED} after 1 s"
    assert 0.9 < time.monotonic() - start < 3
    assert worker.parse(module, document("say")).error is None
    worker.close()


@pytest.mark.slow
def test_a_parser_that_asks_for_the_time_keeps_what_it_has(module):
    """It is told before its process is ended."""
    worker = Worker(WorkerOptions(timeout=1.0))
    found = worker.parse(module, document("slow"))
    assert (found.text, found.truncated, found.error) == ("so far", True, None)
    worker.close()


def test_what_libraries_print_is_no_answer(worker, module):
    """Standard output belongs to nobody while a document is parsed."""
    assert worker.parse(module, document("print")).hrefs == ["/x"]


def test_secrets_of_the_environment_stay_here(worker, module, monkeypatch):
    """What reads hostile files sees no variable that it does not need."""
    monkeypatch.setenv("PASSWORD_OF_A_DATABASE", "x")
    names = worker.parse(module, document("environment")).text.split()
    assert "PYTHONPATH" in names
    assert "PASSWORD_OF_A_DATABASE" not in names


def test_a_module_that_is_not_there_is_an_error(worker):
    """It was there at the start of the crawl, or the crawl would not have begun."""
    assert "no_such_type" in worker.parse("no_such_type", document("say")).error


def test_many_documents_are_read_by_few_processes(module):
    """Documents wait for a free process; the event loop goes on meanwhile."""

    async def run():
        workers = Workers(WorkerOptions(processes=2))
        try:
            return await asyncio.gather(*(workers.parse(module, document("say")) for _ in range(9)))
        finally:
            workers.close()

    found = asyncio.run(run())
    assert [one.error for one in found] == [None] * 9
    assert len({one.text for one in found}) <= 2


def test_the_event_loop_goes_on(module):
    """While a document takes its time, others of the loop have their turns."""

    async def run():
        workers = Workers(WorkerOptions(processes=1, timeout=0.6))
        task = asyncio.ensure_future(workers.parse(module, document("hang")))
        turns = 0
        while not task.done():
            await asyncio.sleep(0.01)
            turns += 1
        workers.close()
        return turns, task.result()

    turns, found = asyncio.run(run())
    assert turns > 20
    assert found.error == f"{KILLED} after 0.6 s"


def test_closing_ends_what_is_under_way(module):
    """No process outlives its crawl, whatever it works on."""

    async def run():
        workers = Workers(WorkerOptions(processes=1, timeout=60.0))
        task = asyncio.ensure_future(workers.parse(module, document("hang")))
        await asyncio.sleep(0.3)
        workers.close()
        return await asyncio.wait_for(task, 5)

    assert asyncio.run(run()).error.startswith(KILLED)


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pdf_ends_in_bounded_time(name):
    """Bombs, loops and nesting end in an answer, and the next file is read."""
    pytest.importorskip("pypdfium2", reason="the content type pdf: pip install pypdfium2==5.15.2")
    worker = Worker(WorkerOptions(timeout=3.0, memory=256 * 2**20))
    asked = document(hostile(name))
    start = time.monotonic()
    try:
        found = worker.parse("crawler.parsing.pdf", asked)
        assert time.monotonic() - start < 5
        assert found.error is not None or len(found.text) <= ParsingOptions().max_text * 2
        assert worker.parse("crawler.parsing.pdf", document(pdf(["good"]))).text == "good"
    finally:
        worker.close()


@pytest.mark.slow
def test_any_damage_to_a_pdf_ends_in_an_answer():
    """Bytes changed, cut and repeated: the worker says what it read or what was wrong, in time."""
    pytest.importorskip("pypdfium2", reason="the content type pdf: pip install pypdfium2==5.15.2")
    rng, whole = random.Random(9), pdf(["one two", "three"], title="T", links=["http://a.test/x"])
    worker = Worker(WorkerOptions(timeout=3.0, memory=256 * 2**20))
    try:
        for _ in range(150):
            data = bytearray(whole)
            for _ in range(rng.randrange(1, 20)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            at, size = rng.randrange(len(data)), rng.randrange(200)
            data[at:at] = data[at : at + size] * rng.randrange(3)
            found = worker.parse(
                "crawler.parsing.pdf", document(bytes(data[: rng.randrange(1, 9999)]))
            )
            assert not (found.error or "").startswith(KILLED), bytes(data)
            assert len(found.text) <= ParsingOptions().max_text
    finally:
        worker.close()
