"""What is kept of a visit beside its line: the bytes as they came, and the row of its URL."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.consequences import INTERRUPTED
from crawler.errors import StoreError
from crawler.model import Outcome
from crawler.parsing import split_content_type
from crawler.received import header_text
from crawler.store import Exchange, PageRow, Revisited, payload_digest
from crawler.urls import host_key, host_of, site_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.model import Page
    from crawler.outbox import Outbox
    from crawler.store import Location, Record, WarcWriter
    from crawler.visits import Answer, Visit

_MOST_RECENT = 10_000
"""Records that are remembered, for pages that repeat them: about 500 bytes each."""


class _Original(NamedTuple):
    """An earlier record, and the digest of what it holds."""

    digest: str
    record: Revisited


class Recorder:
    """Writes a visit's exchange to the archive and its row to the catalog's outbox.

    Everything here happens at the moment in which a visit is settled, so that archive, row,
    line and outcome are part of one commit.

    Args:
        archive: None keeps no bytes.
        outbox: None keeps no rows.
        find: Page URL → its row in the catalog; None where there is none.
        read: Row → its record in the archive.
        other_types: Whether bytes are kept for which there is no parser.
    """

    def __init__(
        self,
        *,
        archive: WarcWriter | None,
        outbox: Outbox | None,
        find: Callable[[str], PageRow | None],
        read: Callable[[PageRow], Record],
        other_types: bool,
    ) -> None:
        self._archive = archive
        self._outbox = outbox
        self._find = find
        self._read = read
        self._other_types = other_types
        self._recent: OrderedDict[str, _Original] = OrderedDict()

    def page(self, visit: Visit, outcome: Outcome, now: float) -> None:
        """Record how a URL ended.

        Args:
            visit: All that is known of it; its line, if it has one, is appended.
            outcome: How it ended.
            now: Crawl time.
        """
        if visit.lease.entry is None:
            return
        location = self._keep(visit, outcome)
        if self._outbox is not None:
            self._outbox.add(_row(visit, outcome, location, now))

    def rules(self, visit: Visit) -> None:
        """Keep an answer to a request for robots.txt."""
        if self._archive is not None and visit.answer is not None:
            self._archive.response(exchange_of(visit.lease.url, visit.answer))

    def _keep(self, visit: Visit, outcome: Outcome) -> Location | None:
        answer, archive = visit.answer, self._archive
        if archive is None or answer is None or answer.request.method != "GET":
            return None
        if outcome is Outcome.SKIPPED_TYPE and not self._other_types:
            return None
        exchange = exchange_of(visit.lease.url, answer)
        original = self._original(visit.page, exchange)
        location = archive.response(exchange, revisit_of=original)
        if original is None:
            self._remember(exchange, location)
        fields = _metadata(visit, outcome)
        archive.metadata(exchange.url, exchange.started_at, fields, about=location.record_id)
        return location

    def _remember(self, exchange: Exchange, location: Location) -> None:
        record = Revisited(exchange.url, exchange.started_at, location.record_id)
        self._recent[exchange.url] = _Original(location.digest, record)
        if len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)

    def _original(self, page: Page | None, exchange: Exchange) -> Revisited | None:
        """Return the record of the page that this one repeats, if it has the very same bytes."""
        copy = page.duplicate if page is not None else None
        if copy is None or copy.kind is not Outcome.DUPLICATE_EXACT:
            return None
        found = self._recent.get(copy.of) or self._stored(copy.of)
        if found is None or found.digest != payload_digest(exchange.body):
            return None
        return found.record

    def _stored(self, url: str) -> _Original | None:
        """Read the record of a page from the archive; None when it cannot be had."""
        try:
            row = self._find(url)
            if row is None or row.warc_file is None:
                return None
            fields = self._read(row).fields
        except StoreError:
            return None
        digest = fields.get("warc-payload-digest", "").removeprefix("sha1:")
        return _Original(digest, Revisited(row.url, row.fetched_at, fields.get("warc-record-id")))


def exchange_of(url: str, answer: Answer) -> Exchange:
    """Return a request and its answer as the archive wants them.

    The names of headers come in their usual capitals, and headers of one name together: the
    HTTP client knows no more. It adds ``Host`` behind all others.
    """
    request, response = answer.request, answer.response
    headers = [(name, value) for name, values in request.headers.items() for value in values]
    host, path = _host_and_path(url)
    if b"Host" not in request.headers:
        headers.append((b"Host", host))
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), path)]
    lines += [b"%s: %s" % header for header in headers]
    return Exchange(
        url=url,
        started_at=answer.at,
        status=response.status,
        headers=[(name, value) for name, values in response.headers.items() for value in values],
        body=response.body,
        version=response.protocol or "HTTP/1.1",
        request=b"\r\n".join(lines) + b"\r\n\r\n" + request.body,
        content_encoded=b"Content-Encoding" in response.headers,
        ip=str(response.ip_address) if response.ip_address is not None else None,
        interrupted=INTERRUPTED in response.flags,
    )


def _host_and_path(url: str) -> tuple[bytes, bytes]:
    rest = url.partition("//")[2].encode()
    host, slash, path = rest.partition(b"/")
    return host, slash + path or b"/"


def _metadata(visit: Visit, outcome: Outcome) -> list[tuple[str, str]]:
    entry, page = visit.lease.entry, visit.page
    assert entry is not None
    fields = [("outcome", outcome.value), ("depth", str(entry.depth))]
    if entry.referrer:
        fields.append(("via", entry.referrer))
    if page is not None and page.duplicate is not None:
        fields.append(("duplicateOf", page.duplicate.of))
    return fields


def _row(visit: Visit, outcome: Outcome, location: Location | None, now: float) -> PageRow:
    entry, page, line = visit.lease.entry, visit.page, visit.line
    assert entry is not None
    answered = _of_answer(visit.answer) if visit.answer is not None else {"fetched_at": now}
    parsed = _of_page(page) if page is not None else {}
    return PageRow(
        url_hash=entry.fingerprint,
        url=entry.url,
        host=host_key(entry.url),
        domain=site_of(host_of(entry.url)),
        outcome=outcome.value,
        depth=entry.depth,
        referrer=entry.referrer,
        redirects=entry.redirects,
        redirect_to=_target(visit, outcome),
        cause=_cause(visit, outcome),
        text_offset=line.offset if line is not None else None,
        text_length=len(line.data) if line is not None else None,
        warc_file=location.file if location is not None else None,
        warc_offset=location.offset if location is not None else None,
        warc_length=location.length if location is not None else None,
        **{**answered, **parsed},
    )


def _cause(visit: Visit, outcome: Outcome) -> str | None:
    """Say what went wrong, and how often it was tried when more than once."""
    tries = visit.tries + visit.throttles
    if tries < 2 or not (outcome is Outcome.REFUSED or outcome.value.startswith("failed")):  # noqa: PLR2004
        return visit.cause
    status = f"status {visit.answer.response.status}" if visit.answer is not None else "no answer"
    return f"{visit.cause or status}; the last of {tries} tries"


def _target(visit: Visit, outcome: Outcome) -> str | None:
    """Return where a URL redirects."""
    if outcome is not Outcome.REDIRECTED or not visit.found:
        return None
    return visit.found[-1].urls[0]


def _of_answer(answer: Answer) -> dict[str, Any]:
    header = answer.response.headers.getlist
    media, _ = split_content_type(b",".join(header("Content-Type")))
    return {
        "fetched_at": answer.at,
        "status_code": answer.response.status,
        "content_type": media or None,
        "etag": header_text(header("ETag")),
        "last_modified": header_text(header("Last-Modified")),
        "body_bytes": len(answer.body),
        "content_hash": sha256(answer.body).digest() if answer.body else None,
    }


def _of_page(page: Page) -> dict[str, Any]:
    """Return what parsing and the duplicate stages made of an answer."""
    copy, signature = page.duplicate, page.signature
    return {
        "content_type": page.content_type,
        "charset": page.charset,
        "title": page.title,
        "language": page.lang,
        "canonical_url": page.canonical,
        "robots": tuple(page.robots),
        "text_hash": bytes.fromhex(page.content_hash) if page.content_hash else None,
        "simhash": signature.value if signature is not None else None,
        "duplicate_of": copy.of if copy is not None else None,
        "duplicate_distance": copy.distance if copy is not None else None,
    }
