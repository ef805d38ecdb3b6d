"""Text of strangers in logs and on terminals: one line stays one line, and moves no cursor.

URLs, titles, headers and errors hold what servers put there: line ends that forge a log line,
escape sequences that drive a terminal, marks that turn text around. Spec: ECMA-48 (control
functions), Unicode Standard Annex 9 (bidirectional text).
"""

from __future__ import annotations

import re

_GOES_ON = re.compile(r"\n(?=[^\s{])")


def printable(text: str) -> str:
    r"""Return ``text`` with each character that is not printed as it is escaped: ``\n``, ``\x1b``.

    Controls, all kinds of line ends, bidirectional and other invisible marks, halves of characters.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(char) for char in text)


def printable_lines(text: str) -> str:
    r"""Do the same for text of several lines: ``\n`` and tabs stay.

    No line but the first begins like a line of a log: it gets a blank in front unless it has one,
    or is a part of what Scrapy dumps.
    """
    lines = _GOES_ON.sub("\n  ", text).split("\n")
    return "\n".join("\t".join(map(printable, line.split("\t"))) for line in lines)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
