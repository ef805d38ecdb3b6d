"""Reads the entries of an XML list, a sitemap's or a feed's, in one pass and without a tree.

Expat reads it, with handlers, so memory does not follow the document. It is given the root
element and what follows only: no document type, hence no entity and nothing external. What
publishers often get wrong (a bare ``&``, control characters) is mended before; at any other error
the reader goes on with the next entry, and an address that was cut is never taken for a whole one.

Names are compared without their case and by prefix: a child belongs to the vocabulary of its
entry if it has the entry's prefix. Namespace names are often wrong, or not declared at all.
"""

from __future__ import annotations

import re
from html.entities import html5
from typing import TYPE_CHECKING, NoReturn
from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

from crawler.parsing.charset import decode_body
from crawler.parsing.listing import DAMAGED, LONGEST_HREF, Collector, Entry, Target

if TYPE_CHECKING:
    from collections.abc import Callable

DEEPEST = 200
"""Open elements; lists need five."""
ELEMENTS_PER_ENTRY = 40
"""How many elements are read, as a multiple of the entries that may be taken."""
MOST_NAMES = 1_000
"""Different names of elements, and of attributes: the XML parser keeps each of them."""
_MOST_RESUMES = 100
_MOST_LINKS = 20  # alternates of one entry
_MOST_MENDS = 500_000
CHUNK = 65_536
_LONGEST_TOKEN = 2**20  # bytes of one tag or comment
_BOUND = "more elements than are read"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r"))
_JUNK = re.compile(rb"(?:\s|\xef\xbb\xbf|\xef\xbf\xbe)*+")  # byte order marks, of either order
_PROLOG = re.compile(
    rb"(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*+(?:\[.*?\]\s*+)?>)*+", re.DOTALL | re.IGNORECASE
)
_ROOT = re.compile(rb"<(?:[\w.-]+:)?+([\w.-]+)(?=[\s/>])")
_REFERENCE = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)"
    rb"|&(?!(?:amp|lt|gt|quot|apos);)(?:(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z]\w{0,30});)?",
    re.DOTALL,
)
_ALTERNATE = frozenset({"", "alternate", "http://www.iana.org/assignments/relation/alternate"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
DATES = ("updated", "modified", "pubdate", "published", "date", "issued", "created")


def to_utf_8(body: bytes, header_charset: str | None) -> bytes:
    """Return the text of an XML, JSON or text body in UTF-8, from its first visible character.

    Control characters are dropped. Spec: RFC 7303 §3, XML 1.0 §4.3.3 and appendix F.
    """
    if body[:2] in (b"<\0", b"\0<"):  # UTF-16 without a byte order mark
        body = body.decode("utf-16-le" if body[1:2] == b"\0" else "utf-16-be", "replace").encode()
    elif not body.isascii() or b"\x1b" in body or body[:1] == b"+":
        body = decode_body(body, header_charset).text.encode("utf-8", "replace")
    data = body.translate(None, _CONTROLS)
    junk = _JUNK.match(data)
    return data[junk.end() :] if junk and junk.end() else data


def find_root(data: bytes) -> tuple[bytes, int]:
    """Return the root element's local name in lower case, b"" if there is none, and its place."""
    prolog = _PROLOG.match(data)
    start = prolog.end() if prolog else 0
    root = _ROOT.match(data, start)
    return (root[1].lower() if root else b""), start


class _BoundError(Exception):
    """Raised by a handler: nothing more is read."""


class _ShapeError(Exception):
    """Raised by a handler: nothing up to the next entry is read."""


class XmlReader:
    """Reads the entries of one XML document.

    Invariants: only text whose end tag was seen is used; time is linear in the document, and
    memory does not follow it.
    """

    __slots__ = (
        "_attributes", "_base_depth", "_bases", "_collector", "_depth", "_elements", "_entries",
        "_entry", "_field", "_fields", "_finish", "_most_elements", "_names", "_next_entry",
        "_parser", "_parts", "_room",
    )  # fmt: skip

    def __init__(
        self,
        collector: Collector,
        entries: tuple[str, ...],
        fields: frozenset[str],
        finish: Callable[[Entry, Collector], bool],
    ) -> None:
        self._collector, self._entries = collector, entries
        self._fields, self._finish = fields, finish
        self._next_entry = re.compile(
            rb"<(?:[\w.-]+:)?+(?:%s)(?=[\s/>])" % "|".join(entries).encode(), re.IGNORECASE
        )
        self._names: dict[str, tuple[str, str, bool]] = {}
        self._attributes: set[str] = set()
        self._elements = 0
        self._most_elements = collector.max_entries * ELEMENTS_PER_ENTRY + MOST_NAMES
        self._reset()

    def _reset(self) -> None:
        self._parser: XMLParserType = ParserCreate("utf-8")
        self._depth = 0
        self._bases = [(0, self._collector.url)]
        self._base_depth = 0
        self._entry: Entry | None = None
        self._field: str | None = None
        self._parts: list[str] = []
        self._room = 0

    def read(self, data: bytes, start: int) -> None:
        """Read UTF-8 from the root element on, and go on after errors."""
        listing = self._collector.listing
        data = _REFERENCE.sub(_mend, data, count=_MOST_MENDS) if b"&" in data else data
        root, place = b"", start
        for _ in range(_MOST_RESUMES):
            try:
                stopped = self._parse(data, place, root)
                self._end_entry()
            except _BoundError as bound:
                listing.truncated = True
                if bound.args:
                    listing.fail(bound.args[0])
                return
            following = self._next_entry.search(data, stopped) if stopped is not None else None
            if following is None:
                return
            root, place = self._root(data, start), following.start()
        listing.skipped += sum(1 for _ in self._next_entry.finditer(data, place))
        listing.truncated = True

    def _root(self, data: bytes, start: int) -> bytes:
        root = _ROOT.match(data, start)
        return root[0] + b">" if root else b"<list>"

    def _parse(self, data: bytes, start: int, root: bytes) -> int | None:
        """Parse from ``start``, inside ``root``; return where an error is, None at the end."""
        self._reset()
        parser = self._parser
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        try:
            parser.Parse(root, False)
            for place in range(start, len(data), CHUNK):
                parser.Parse(data[place : place + CHUNK], False)
                read = place + CHUNK - start + len(root)
                if read - parser.CurrentByteIndex > _LONGEST_TOKEN:
                    raise _ShapeError(f"a tag of more than {_LONGEST_TOKEN} bytes")  # noqa: TRY301
            parser.Parse(b"", True)
        except (ExpatError, _ShapeError) as error:
            self._collector.listing.fail(str(error))
            self._field = None
            return max(start + parser.CurrentByteIndex - len(root), start) + 1
        return None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth = depth = self._depth + 1
        self._elements += 1
        if depth > DEEPEST or self._elements > self._most_elements:
            self._refuse()
        if attributes:
            self._note(attributes)
        prefix, local, matters = self._names.get(name) or self._learn(name)
        if self._field is not None:
            self._parts.append(DAMAGED)  # an address with elements inside
        if not matters:
            return
        entry = self._entry
        if entry is None or name == entry.element:
            if local in self._entries:
                self._start_entry(name, prefix, local, attributes)
        elif depth == entry.depth + 1:
            self._start_field(entry, prefix, local, attributes)

    def _refuse(self) -> NoReturn:
        if self._depth > DEEPEST:
            raise _ShapeError(f"more than {DEEPEST} open elements")
        raise _BoundError(_BOUND)

    def _start_entry(self, name: str, prefix: str, local: str, attributes: dict[str, str]) -> None:
        self._end_entry()  # its end tag was forgotten
        base = self._bases[-1][1]
        self._entry = entry = Entry(name, prefix, local, depth=self._depth, base=base)
        if attributes:
            entry.keep("about", attributes.get("rdf:about", ""), base)

    def _start_field(
        self, entry: Entry, prefix: str, local: str, attributes: dict[str, str]
    ) -> None:
        if local == "link" and "href" in attributes:
            self._keep_link(entry, attributes)
        elif local == "content":
            entry.keep("content", attributes.get("src", ""), self._bases[-1][1])
        elif local == "guid" and attributes.get("isPermaLink", "").lower() == "false":
            return
        elif local in self._fields and (prefix == entry.prefix or local in DATES):
            self._field = local
            self._parts = []
            self._room = LONGEST_HREF
            self._parser.CharacterDataHandler = self._text

    def _keep_link(self, entry: Entry, attributes: dict[str, str]) -> None:
        """Keep a link to the entry's page. Spec: RFC 4287 §4.2.7 (rel, type)."""
        if (
            attributes.get("rel", "").strip().lower() in _ALTERNATE
            and len(entry.links) < _MOST_LINKS
        ):
            html = attributes.get("type", "text/html").lower() in _HTML_TYPES
            entry.links += ((html, Target(attributes["href"], self._bases[-1][1])),)

    def _text(self, text: str) -> None:
        if self._room >= 0:
            self._room -= len(text)
            self._parts.append(text if self._room >= 0 else DAMAGED)

    def _end(self, name: str) -> None:  # noqa: ARG002 -- the parser checks the names
        depth = self._depth
        entry = self._entry
        if entry is not None:
            if self._field is not None:
                if depth == entry.depth + 1:
                    self._end_field(entry, self._field)
            elif depth == entry.depth:
                self._end_entry()
        if depth == self._base_depth:
            self._bases.pop()
            self._base_depth = self._bases[-1][0]
        self._depth = depth - 1

    def _end_field(self, entry: Entry, field: str) -> None:
        self._parser.CharacterDataHandler = None
        entry.keep(field, "".join(self._parts), self._bases[-1][1])
        self._field = None

    def _end_entry(self) -> None:
        entry, self._entry = self._entry, None
        self._field = None
        if entry is not None and not self._finish(entry, self._collector):
            raise _BoundError

    def _learn(self, name: str) -> tuple[str, str, bool]:
        """Split the name of an element once. Spec: Namespaces in XML 1.0 §4.

        Returns:
            Prefix, local name in lower case, and whether it means anything here.
        """
        if len(self._names) >= MOST_NAMES:
            raise _BoundError(_BOUND)
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        known = (prefix, local, local in self._entries or local in self._fields)
        self._names[name] = known
        return known

    def _note(self, attributes: dict[str, str]) -> None:
        """Bound the names of attributes, and enter a new base. Spec: XML Base §3, §4."""
        self._attributes.update(attributes)
        if len(self._attributes) > MOST_NAMES:
            raise _BoundError(_BOUND)
        if "xml:base" in attributes:
            base = self._collector.resolve(self._bases[-1][1], attributes["xml:base"].strip())
            if base is not None:
                self._bases.append((self._depth, base))
                self._base_depth = self._depth


def _mend(match: re.Match[bytes]) -> bytes:
    """Mend a reference that is none in XML; CDATA and comments stay as they are."""
    name = match[1]
    if match[0][:1] != b"&":
        return match[0]
    if name is None:
        return b"&amp;"
    if name[:1] == b"#":
        return _character(int(b"0" + name[1:], 16 if name[1:2] in b"xX" else 10))
    text = html5.get(name.decode("utf-8", "replace") + ";", DAMAGED)
    return text.encode().replace(b"&", b"&amp;").replace(b"<", b"&lt;")


def _character(code: int) -> bytes:
    """Return a numeric reference, or a sign of damage if XML has no such character."""
    is_character = code in (9, 10, 13) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE  # noqa: PLR2004
    if is_character or 0x10000 <= code < 0x110000:  # noqa: PLR2004 -- XML 1.0 §2.2
        return b"&#%d;" % code
    return DAMAGED.encode()
