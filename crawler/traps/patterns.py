"""What URLs have in common: the pattern under which what came of them is counted.

Digits become ``#``, session-like segments ``~``, the name of a document ``*``, and a query is
its parameter names::

    /calendar/2031/04             /calendar/#/#
    /docs/guide/intro.html        /docs/guide/*.html
    /news/article-17.html         /news/article-#.html
    /s/8f3a61c0b2d94e17/cart      /s/~/*
    /shop?size=m&color=red        /shop?color&size

A pattern has a *parent*, in which names of folders and of parameters are not told apart
either, so that a trap that invents them (``/qwe/1``, ``/asd/2``) has one, too.
"""

from __future__ import annotations

import re
from collections import Counter
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(
    r"(?=\D*\d)(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z]{20,}"
    r"|(?=\D*\d)[0-9A-Fa-f]{16,}"
    r"|(?=\D*\d)[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
    r"|(?:\([A-Z]\([0-9A-Za-z]{12,}\)\))+|\([A-Z]\([0-9A-Za-z]{12,}\)(?:[A-Z]\([0-9A-Za-z]+\))*\)"
).fullmatch
_SHORTEST_TOKEN = 16
_NAMED_NUMBER = re.compile(r"[A-Za-z]{1,16}[-_.]?#(?:[-_.:]#)*").fullmatch
_SCRIPT = re.compile(r"[A-Za-z]{1,16}(?:\.(?:php\d?|aspx?|jspx?|cgi|pl|py|do|cfm))?").fullmatch
_AMP = re.compile(r"(?:amp;)+")
_NAMED_FOLDERS = 3  # further ones are not told apart
_MOST_SEGMENTS = 8
_LONGEST_SEGMENT = 40
_LONGEST_EXTENSION = 5
_MOST_NAMES = 12
_REPEATS = 3  # of one segment in a path, from which on it is taken for a repeating one
_ENDLESS_REPEATS = 5


class Rule(Enum):
    """What kind of trap a URL belongs to, if it is one."""

    PATTERN = "pattern"
    REPEAT = "repeat"
    GROWTH = "growth"
    HOSTS = "hosts"


class Shape(NamedTuple):
    """The pattern of a URL, and what follows from it alone."""

    pattern: str
    parent: str  # "" where there is none
    path: str  # of the pattern, without the names of parameters
    script: str = ""  # whose parameters are judged together: a script, or all like documents
    variable: bool = False  # numbers, tokens or parameters: there may be any number of them
    parameters: bool = False  # of which some may change nothing,
    combined: bool = False  # two or more
    token: bool = False  # a session id, most likely
    rule: Rule = Rule.PATTERN
    endless: bool = False  # grows with every step: nothing that is there alone is worth it


@lru_cache(maxsize=4096)
def shape_of(url: str) -> Shape:
    """Return the shape of a normalised URL. Cost: about 3 µs, linear in its length."""
    path, mark, query = url[url.find("/", 8) :].partition("?")
    segments = path.split("/")[1:]
    last = segments.pop()
    if len(segments) >= _REPEATS - 1:
        repeats = _repeats([*segments, last])
        if repeats >= _REPEATS:
            return _repeating(min(repeats, _ENDLESS_REPEATS))
    folders = [_folder(segment) for segment in segments[:_MOST_SEGMENTS]]
    more = "/…" if len(segments) > _MOST_SEGMENTS else ""
    named = folders[:_NAMED_FOLDERS] + list(map(_unnamed, folders[_NAMED_FOLDERS:]))
    is_script = mark and _SCRIPT(last)
    document = last if is_script else _document(last)
    own = "/".join(["", *named]) + more + "/" + document
    general = "/".join(["", *map(_unnamed, folders)]) + more + "/" + _document(last)
    if "amp;amp;" in query or "%2525" in url:
        name = f"(growing) {own}"
        return Shape(name, "", own, variable=True, rule=Rule.GROWTH, endless=True)
    pattern, parent = own, general
    if mark:  # of one parameter: any such script; of more: the script with any of them
        pattern = f"{own}?{_names(query)}"
        parent = f"{own if '&' in query else general}?*"
    token = "~" in own
    return Shape(
        pattern,
        parent if parent != pattern else "",
        own,
        own if is_script else general,
        variable=bool(mark) or token or "#" in own,
        parameters=bool(mark),
        combined="&" in query,
        token=token,
    )


def _repeating(level: int) -> Shape:
    endless = level >= _ENDLESS_REPEATS
    name = f"(repeats a folder {level} times{' or more' if endless else ''})"
    return Shape(name, "", name, variable=True, rule=Rule.REPEAT, endless=endless)


def _repeats(segments: list[str]) -> int:
    """Return how often the most frequent segment occurs that is no number."""
    if len(set(segments)) > len(segments) - _REPEATS + 1:
        return 1
    words = Counter(one for one in segments if not one.isdigit())  # also empty ones: /a/////
    return max(words.values(), default=0)


def is_token(segment: str) -> bool:
    """Tell whether a segment looks like a session id: long, of letters and digits mixed."""
    return len(segment) >= _SHORTEST_TOKEN and _TOKEN(segment) is not None


def _folder(segment: str) -> str:
    """Return a segment with its numbers masked."""
    if segment.isalpha():
        return segment[:_LONGEST_SEGMENT]
    if segment.isdigit():
        return "#"
    if is_token(segment):
        return "~"
    return _DIGITS.sub("#", segment)[:_LONGEST_SEGMENT]


def _unnamed(folder: str) -> str:
    return folder if folder in {"", "~"} else "#" if "#" in folder else "*"


def _document(segment: str) -> str:
    """Return what kind of name the last segment is; its words are not told apart."""
    if not segment:
        return ""
    name, dot, extension = segment.rpartition(".")
    if not name or len(extension) > _LONGEST_EXTENSION or not extension.isalpha():
        name, dot, extension = segment, "", ""
    masked = _folder(name)
    if masked.isalpha() or "#" not in masked:
        masked = "~" if masked == "~" else "*"
    elif any(map(str.isalpha, masked)) and not _NAMED_NUMBER(masked):
        masked = "*#"
    return masked + dot + extension.lower()


def _names(query: str) -> str:
    names = {_AMP.sub("", piece.partition("=")[0])[:_LONGEST_SEGMENT] for piece in query.split("&")}
    shown = sorted(names)[:_MOST_NAMES]
    return "&".join(shown) + ("&…" if len(names) > _MOST_NAMES else "")
