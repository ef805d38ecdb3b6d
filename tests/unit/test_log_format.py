"""A log says what happened, whatever strangers have written into the words."""

from __future__ import annotations

import logging

import pytest

from crawler.extensions.log_format import PrintableRecord, guard_logs

LAYOUT = "%(levelname)s: %(message)s"
FORGED = "2026-01-01 00:00:00 [crawler] ERROR: all is lost"


def _format(message, *args, error=None):
    info = None if error is None else (type(error), error, error.__traceback__)
    record = PrintableRecord("x", logging.INFO, __file__, 1, message, args, info)
    return logging.Formatter(LAYOUT).format(record)


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (("http://a.test/",), "INFO: saw http://a.test/"),
        ((f"x\n{FORGED}",), f"INFO: saw x\n  {FORGED}"),
        ((f"x\r{FORGED}",), f"INFO: saw x\\r{FORGED}"),
        (("\x1b]0;t\x07\u202e",), "INFO: saw \\x1b]0;t\\x07\\u202e"),
        ((ValueError("a\u2028b\ud800"),), "INFO: saw a\\u2028b\\ud800"),
    ],
    ids=["honest", "line feed", "carriage return", "terminal", "an error"],
)
def test_a_message_cannot_forge_a_line(args, text):
    """What goes on begins with blanks; what is no print is shown as an escape."""
    assert _format("saw %s", *args) == text


def test_a_traceback_cannot_forge_a_line():
    """The text of an exception is as foreign as the page that it is about."""
    try:
        int("no number")
    except ValueError as error:
        error.args = (f"no \x1b[2J\n{FORGED}",)
        text = _format("failed", error=error)
    head, *rest = text.split("\n")
    assert head == "INFO: failed"
    assert rest[0] == "  Traceback (most recent call last):"
    assert rest[-2:] == ["  ValueError: no \\x1b[2J", f"  {FORGED}"]


def test_a_dump_of_stats_can_still_be_read():
    """Lines of a dictionary keep their place."""
    assert _format("Dumping:\n%(s)s", {"s": "{'a': 1,\n 'b': 2}"}) == (
        "INFO: Dumping:\n{'a': 1,\n 'b': 2}"
    )


def test_records_are_guarded_for_every_handler(monkeypatch):
    """Whoever logs and whoever writes; a factory that somebody else has set is left alone."""
    monkeypatch.setattr(logging, "_logRecordFactory", logging.LogRecord)
    guard_logs()
    record = logging.getLogger("x").makeRecord("x", logging.INFO, "", 1, "%s", ("\x1b",), None)
    assert record.getMessage() == "\\x1b"
    other = type("Other", (logging.LogRecord,), {})
    logging.setLogRecordFactory(other)
    guard_logs()
    assert logging.getLogRecordFactory() is other
