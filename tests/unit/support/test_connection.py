"""When a connection's time stamps are taken, on a clock that the test holds."""

from __future__ import annotations

import asyncio
import io
import json

import pytest

from tests.support.connection import MAX_HEAD_BYTES, Connection, Web
from tests.support.exchange import Answer, Fault

HEAD = b"GET /p HTTP/1.1\r\nHost: a.test\r\n\r\n"


class Wire(asyncio.Transport):
    """Takes what is written; holds ``kept`` bytes back, as a full socket does."""

    def __init__(self, web):
        super().__init__()
        self.web = web
        self.written = b""
        self.kept = 0
        self.ended = ""

    def set_write_buffer_limits(self, high=None, low=None):
        self.high = high

    def get_write_buffer_size(self):
        return self.kept

    def write(self, data):
        self.web.at += 0.25  # a write takes time, and what follows it comes later
        self.written += data

    def close(self):
        self.ended = "closed"

    def abort(self):
        self.ended = "aborted"


class HeldWeb(Web):
    """A web whose clock moves when the test says so."""

    at = 100.0

    def now(self):
        return self.at


@pytest.fixture
def made():
    """A connection, its wire, its web, and a way to read the log."""
    return _made


def _made(answer):
    log = io.BytesIO()
    web = HeldWeb(lambda _request: answer, log)
    connection, wire = Connection(web, "http"), Wire(web)
    connection.connection_made(wire)
    return connection, wire, web, lambda: [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_request_starts_with_its_first_byte(made):
    """Later pieces of the head do not move the start."""
    connection, _, web, log = made(Answer())
    connection.data_received(HEAD[:9])
    web.at = 103.0
    connection.data_received(HEAD[9:])
    assert log()[0]["t_start"] == 100.0


def test_an_answer_ends_before_its_last_write(made):
    """The end is read before the write, so it is never later than the client's."""
    connection, _, _, log = made(Answer(body=b"x"))
    connection.data_received(HEAD)
    assert log()[0]["t_end"] == 100.0


def test_an_answer_that_does_not_fit_ends_when_it_is_taken(made):
    """With bytes left in the buffer the answer is open, and ends when they are gone."""
    connection, wire, web, log = made(Answer(body=b"x"))
    wire.kept = 1
    connection.data_received(HEAD)
    connection.pause_writing()
    assert log() == []
    web.at = 107.0
    connection.resume_writing()
    assert log()[0]["t_end"] == 107.0
    assert wire.high == 0


def test_a_second_request_has_a_start_of_its_own(made):
    """The next request on a connection starts with its own first byte."""
    connection, _, web, log = made(Answer())
    connection.data_received(HEAD)
    web.at = 111.0
    connection.data_received(HEAD)
    assert [line["t_start"] for line in log()] == [100.0, 111.0]


def test_a_lost_connection_ends_its_request(made):
    """A client that leaves ends the request there, and what it was is kept."""
    connection, wire, web, log = made(Answer(body=b"x"))
    wire.kept = 1
    connection.data_received(HEAD)
    web.at = 120.0
    connection.connection_lost(None)
    assert (log()[0]["ended"], log()[0]["t_end"]) == ("left", 120.0)
    assert web.idle.is_set()


def test_an_endless_head_is_cut(made):
    """A head without end breaks the connection."""
    connection, wire, _, log = made(Answer())
    connection.data_received(b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES)
    assert wire.ended == "aborted"
    assert log() == []


def test_close_is_obeyed(made):
    """The connection closes when the client or the answer says so, and else stays."""
    for answer, head, ended in [
        (Answer(), HEAD, ""),
        (Answer(close=True), HEAD, "closed"),
        (Answer(), HEAD.replace(b"Host", b"Connection: close\r\nHost"), "closed"),
        (Answer(), HEAD.replace(b"1.1", b"1.0"), "closed"),
    ]:
        connection, wire, *_ = made(answer)
        connection.data_received(head)
        assert wire.ended == ended
        assert (b"Connection: close" in wire.written) == bool(ended)


def test_a_delayed_answer_ends_before_its_last_write(made):
    """The rule holds on the slow path too."""

    async def run():
        connection, wire, _, log = made(Answer(body=b"x", delay_s=0.001))
        connection.data_received(HEAD)
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
        assert wire.written.endswith(b"x")
        return log()[0]

    line = asyncio.run(run())
    assert (line["t_start"], line["t_end"], line["ended"]) == (100.0, 100.0, "done")


def test_a_request_that_hangs_has_no_status(made):
    """Nothing was sent, so the log has status 0 and no bytes."""

    async def run():
        connection, _, web, log = made(Answer(fault=Fault.HANG))
        connection.data_received(HEAD)
        await asyncio.sleep(0.001)
        web.at = 130.0
        connection.connection_lost(None)
        await asyncio.sleep(0)
        return log()[0]

    line = asyncio.run(run())
    assert (line["status"], line["sent"], line["t_end"]) == (0, 0, 130.0)
