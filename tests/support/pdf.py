"""Makes small PDF files, honest and hostile ones, without a library."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def pdf(
    pages: Sequence[str],
    *,
    title: str | None = None,
    lang: str | None = None,
    links: Iterable[str] = (),
    outline: Sequence[str] = (),
) -> bytes:
    """Return a PDF with a line of text for each line of ``pages``; links are on the first page."""
    objects: dict[int, bytes] = {}
    first = 10  # below are the catalog, the page tree, the font, the information, the outline
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(len(pages)))
    catalog = "<< /Type /Catalog /Pages 2 0 R"
    if lang is not None:
        catalog += f" /Lang ({lang})"
    if outline:
        catalog += " /Outlines 5 0 R"
    objects[1] = f"{catalog} >>".encode()
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects[4] = f"<< /Title ({title or ''}) >>".encode()
    annotations = "".join(
        f"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI ({uri}) >> >>"
        for uri in links
    )
    for number, text in enumerate(pages):
        notes = f" /Annots [{annotations}]" if annotations and not number else ""
        objects[first + 2 * number] = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {first + 2 * number + 1} 0 R"
            f"{notes} >>"
        ).encode()
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in text.splitlines())
        objects[first + 2 * number + 1] = stream(f"BT /F1 12 Tf 72 720 Td {lines}ET".encode())
    if outline:
        objects.update(_outline(outline, first + 2 * len(pages), page=first))
    return assemble(objects)


def _outline(titles: Sequence[str], first: int, *, page: int) -> dict[int, bytes]:
    last = first + len(titles) - 1
    found = {5: f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R >>".encode()}
    for number, title in enumerate(titles, first):
        after = f" /Next {number + 1} 0 R" if number < last else ""
        found[number] = (
            f"<< /Title ({title}) /Parent 5 0 R /Dest [{page} 0 R /Fit]{after} >>".encode()
        )
    return found


def stream(content: bytes, *, layers: int = 1) -> bytes:
    """Return a stream object, packed so many times."""
    for _ in range(layers):
        content = zlib.compress(content, 9)
    filters = " ".join(["/FlateDecode"] * layers)
    return b"<< /Length %d /Filter [%s] >>\nstream\n%s\nendstream" % (
        len(content),
        filters.encode(),
        content,
    )


def bomb(block: bytes, count: int, *, start: bytes = b"", layers: int = 1) -> bytes:
    """Return a stream object of ``start`` and so many times ``block``, made from one of them."""
    engine = zlib.compressobj(9)
    head = engine.compress(start) + engine.flush(zlib.Z_FULL_FLUSH)
    part = engine.compress(block) + engine.flush(zlib.Z_FULL_FLUSH)
    check = zlib.adler32(start)
    for _ in range(count):
        check = zlib.adler32(block, check)
    packed = head + part * count + b"\x03\x00" + check.to_bytes(4, "big")
    for _ in range(layers - 1):
        packed = zlib.compress(packed, 9)
    filters = b" ".join([b"/FlateDecode"] * layers)
    return b"<< /Length %d /Filter [%s] >>\nstream\n%s\nendstream" % (len(packed), filters, packed)


def assemble(objects: dict[int, bytes]) -> bytes:
    """Return a file of numbered objects; number 1 is the catalog, number 4 the information."""
    body = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
    offsets = {}
    for number, content in sorted(objects.items()):
        offsets[number] = len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    size = max(objects) + 1
    table = b"".join(
        b"%010d %05d %c \n"
        % (offsets.get(n, 0), 0 if n in offsets else 65535, b"n"[0] if n in offsets else b"f"[0])
        for n in range(size)
    )
    info = b" /Info 4 0 R" if 4 in objects else b""
    trailer = b"trailer\n<< /Size %d /Root 1 0 R%s >>\n" % (size, info)
    return body + b"xref\n0 %d\n%s%sstartxref\n%d\n%%%%EOF\n" % (size, table, trailer, len(body))


def _one_page(contents: bytes, extra: dict[int, bytes] | None = None, resources: str = "") -> bytes:
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R {resources} >>"
    return assemble(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
            3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            5: page.encode(),
            6: contents,
            **(extra or {}),
        }
    )


FONT = "/Resources << /Font << /F1 3 0 R >> /XObject << /X 7 0 R >> >>"


HOSTILE = (
    "bomb",
    "bomb in a bomb",
    "text bomb",
    "form in itself",
    "forms to the power of ten",
    "pages in themselves",
    "many pages",
    "deep nesting",
    "no objects",
    "a header alone",
    "cut",
)


def hostile(name: str) -> bytes:
    """Return a file that was made to take time, memory or a parser down: one of HOSTILE."""
    makers: dict[str, Callable[[], bytes]] = {
        "bomb": lambda: _one_page(bomb(b" " * 2**20, 1024)),
        "bomb in a bomb": lambda: _one_page(bomb(b" " * 2**20, 512, layers=3)),
        "text bomb": lambda: _one_page(
            bomb(b"(word ) Tj " * 4000, 4000, start=b"BT /F1 9 Tf "), resources=FONT
        ),
        "form in itself": lambda: _one_page(stream(b"/X Do"), {7: _form(7, b"/X Do " * 3)}, FONT),
        "forms to the power of ten": lambda: _one_page(stream(b"/X Do"), _fan(), FONT),
        "pages in themselves": lambda: _tree(b"2 0 R 2 0 R 2 0 R", 2_000_000_000),
        "many pages": lambda: _tree(b"5 0 R " * 200_000, 200_000),
        "deep nesting": lambda: _one_page(
            b"<< /Length 0 /Nest %s >>\nstream\n\nendstream" % (b"[" * 200_000 + b"]" * 200_000)
        ),
        "no objects": lambda: b"%PDF-1.7\n" + b"\x80" * 3000,
        "a header alone": lambda: b"%PDF-",
        "cut": lambda: pdf(["words " * 50] * 3)[:900],
    }
    assert makers.keys() == set(HOSTILE)
    return makers[name]()


def _form(inner: int, content: bytes) -> bytes:
    return (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /Font << /F1 3 0 R >> "
        b"/XObject << /X %d 0 R >> >> /Length %d >>\nstream\n%s\nendstream"
    ) % (inner, len(content), content)


def _fan() -> dict[int, bytes]:
    """Return forms of which each draws the next one ten times."""
    last = 24
    fan = {number: _form(number + 1, b"/X Do " * 10) for number in range(7, last)}
    return {**fan, last: _form(last, b"BT /F1 9 Tf (x) Tj ET")}


def _tree(kids: bytes, count: int) -> bytes:
    return assemble(
        {
            1: b"<< /Type /Catalog /Pages 2 0 R >>",
            2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
            5: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        }
    )
