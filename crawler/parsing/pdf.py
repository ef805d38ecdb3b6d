"""PDF: text, title, language, outline and link annotations, read by PDFium (pypdfium2).

PDFium is native code, so this type is isolated: it runs in a process of its own whose time and
memory are bounded, and what it makes of a hostile file is at worst the end of that process.

Spec: ISO 32000-2 §12.5.6.5 (link annotations), §12.6.4.8 (URI actions), §14.3.3 (information).
"""

from __future__ import annotations

import ctypes
import re
from itertools import islice
from typing import TYPE_CHECKING

from crawler.parsing.types import ContentType, Document, Extract

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypdfium2 import PdfDocument, PdfPage

MOST_PAGES = 5_000
"""Pages that are read."""

MOST_LINKS_PER_PAGE = 1_000
_LONGEST_URI = 8_192  # bytes
_OUTLINE_DEPTH = 3
_LONGEST_LANGUAGE = 64  # bytes
_NO_TEXT = re.compile(
    "[\0-\x08\x0b-\x1f\x7f\ufffe\uffff]"
)  # PDFium's hyphen at the end of a line, too


def parse_pdf(document: Document) -> Extract:
    """Read a PDF as far as the bounds of a page, MOST_PAGES and the time allow.

    A file that cannot be opened, because it is damaged or locked with a password, gives an error
    and no text. Of a file with a damaged page the others are read.
    """
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(document.body)
    except pypdfium2.PdfiumError as error:
        return Extract(error=f"PDF: {error}")
    outline = islice(pdf.get_toc(max_depth=_OUTLINE_DEPTH), document.options.max_headings)
    found = Extract(
        title=pdf.get_metadata_value("Title"),
        lang=_language(pdf),
        headings=[entry.get_title() for entry in outline],
    )
    texts: list[str] = []
    hrefs: dict[str, None] = {}
    for number in range(len(pdf)):
        if _is_enough(number, texts, document):
            found.truncated = True
            break
        try:
            page = pdf[number]
            texts.append(_text(page, document.options.max_text))
            hrefs.update(dict.fromkeys(_uris(pdf, page)))
        except pypdfium2.PdfiumError as error:
            found.error, found.truncated = f"PDF: page {number + 1}: {error}", True
    found.text = "\n\n".join(text for text in texts if text)
    found.hrefs = list(islice(hrefs, document.options.max_links))
    return found


def _is_enough(pages: int, texts: list[str], document: Document) -> bool:
    if pages >= MOST_PAGES or document.expired():
        return True
    return sum(map(len, texts)) > document.options.max_text


def _text(page: PdfPage, most: int) -> str:
    """Return the text of a page, of one that has more than ``most`` characters the beginning."""
    text_page = page.get_textpage()
    if text_page.count_chars() > most:
        text: str = text_page.get_text_range(0, most)
    else:
        text = text_page.get_text_bounded()
    return _NO_TEXT.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _uris(pdf: PdfDocument, page: PdfPage) -> Iterator[str]:
    """Yield where the link annotations of a page lead on the web."""
    from pypdfium2 import raw

    place, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(MOST_LINKS_PER_PAGE):
        if not raw.FPDFLink_Enumerate(page, ctypes.byref(place), ctypes.byref(link)):
            return
        action = raw.FPDFLink_GetAction(link)
        if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
            size = raw.FPDFAction_GetURIPath(pdf, action, None, 0)
            if 1 < size <= _LONGEST_URI:
                buffer = ctypes.create_string_buffer(size)
                raw.FPDFAction_GetURIPath(pdf, action, buffer, size)
                yield buffer.value.decode("utf-8", "replace").strip()


def _language(pdf: PdfDocument) -> str | None:
    """Return the language that the file declares. Spec: ISO 32000-2 §14.9.2."""
    from pypdfium2 import raw

    size = raw.FPDFCatalog_GetLanguage(pdf, None, 0)  # bytes of UTF-16, a NUL included
    if not 2 < size <= _LONGEST_LANGUAGE:  # noqa: PLR2004 -- more than the NUL
        return None
    buffer = (ctypes.c_ushort * (size // 2))()
    raw.FPDFCatalog_GetLanguage(pdf, buffer, size)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")


CONTENT_TYPE = ContentType(
    parse_pdf,
    media=("application/pdf", "application/x-pdf"),
    signatures=(b"%PDF-",),
    extensions=("pdf",),
    requires=("pypdfium2==5.15.2",),
    isolated=True,
)
