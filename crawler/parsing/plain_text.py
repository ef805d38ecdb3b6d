"""Plain text, and the light markups that are read as they are written (Markdown and its kin).

The title is the first line, if it reads like one. Addresses in the text are no links: a log or
a licence mentions thousands that nobody meant to be followed.
"""

from __future__ import annotations

import re

from crawler.parsing.charset import decode_body
from crawler.parsing.types import ContentType, Document, Extract

_LONGEST_TITLE = 120  # characters; a longer first line is a paragraph
_SEARCHED = 4_096  # characters in which the first line is looked for
_MARKUP = re.compile(r"#{1,6}[ \t]+|[=*#~^\"'`+-]{3,}$")
_WORD = re.compile(r"\w")


def parse_text(document: Document) -> Extract:
    """Return the text of a document in its charset.

    Spec: RFC 2046 §4.1.3 (text/plain), RFC 7763 (text/markdown); Encoding §4.2 (labels), §6 (BOM).
    """
    options = document.options
    body = document.body[: options.max_bytes]
    decoded = decode_body(body, document.charset, mend_latin_1=options.mend_latin_1, prescan=False)
    text = decoded.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "").strip()
    return Extract(
        text=text,
        title=_title(text),
        charset=decoded.name,
        truncated=len(document.body) > options.max_bytes,
    )


def _title(text: str) -> str | None:
    for line in text[:_SEARCHED].splitlines():
        line = _MARKUP.sub("", line.strip()).strip()  # noqa: PLW2901 -- the line without its marks
        if _WORD.search(line):
            return line if len(line) <= _LONGEST_TITLE else None
    return None


CONTENT_TYPE = ContentType(
    parse_text,
    media=(
        "text/plain",
        "text/markdown",
        "text/x-markdown",
        "text/x-rst",
        "text/prs.fallenstein.rst",
    ),
    extensions=("txt", "text", "md", "markdown", "rst"),
)
