"""Which parser a body belongs to, by its declared type and, where that says nothing, its start.

Spec: MIME Sniffing §5 and §7.1 (what an HTML page begins with).
"""

from __future__ import annotations

HTML = "text/html"
_HTML_TYPES = frozenset({HTML, "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_SAYS_NOTHING = frozenset(
    {"", "application/octet-stream", "unknown/unknown", "application/unknown", "*/*"}
)
_SNIFFED = 512
_HTML_STARTS = tuple(
    b"<" + name
    for name in (
        b"!doctype html", b"html", b"head", b"script", b"iframe", b"h1", b"div", b"font",
        b"table", b"a", b"style", b"title", b"b", b"body", b"br", b"p", b"!--",
    )
)  # fmt: skip


def split_content_type(value: bytes | None) -> tuple[str, str | None]:
    """Return (media type in lower case, charset parameter or None) of a Content-Type header.

    Spec: RFC 9110 §8.3.1. Garbage gives an empty type; nothing raises.
    """
    text = (value or b"")[:1000].decode("latin-1")
    media, *parameters = text.split(";")
    charset = None
    for parameter in parameters:
        name, _, content = parameter.partition("=")
        if name.strip().lower() == "charset" and charset is None:
            charset = content.strip().strip("\"'").strip() or None
    media = media.strip().lower()
    return (media if media.count("/") == 1 or media == "" else ""), charset


def is_html(media: str, body: bytes) -> bool:
    """Whether a body is to be parsed as HTML: declared so, or undeclared and looking so."""
    if media in _HTML_TYPES:
        return True
    if media not in _SAYS_NOTHING:
        return False
    start = body[:_SNIFFED].lstrip(b"\xef\xbb\xbf \t\r\n\x0c").lower()
    return start.startswith(_HTML_STARTS)
