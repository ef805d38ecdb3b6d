"""One function a parser: given any bytes, it asserts what must hold of the answer.

The first lines of an input are what stands beside a body: its URL, a header. An exception that
is no promised one is a finding, and so is an assertion that fails.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.consequences import location_text
from crawler.dedupe import content_hash, make_fingerprinter
from crawler.dedupe.tokens import words
from crawler.errors import StoreError
from crawler.frontier import MemoryEngine
from crawler.frontier.engine import Batch, Table
from crawler.frontier.entry import Entry
from crawler.frontier.snapshot import read_counts, read_hosts
from crawler.parsing import (
    ContentTypes,
    Directives,
    Document,
    ParsedPage,
    ParsingOptions,
    SitemapOptions,
    find_encoding,
    looks_like_feed,
    looks_like_sitemap,
    parse_directives,
    parse_feed,
    parse_html,
    parse_refresh,
    parse_sitemap,
    read,
    real_type,
    split_content_type,
)
from crawler.parsing.charset import decode_body
from crawler.parsing.codings import CodingError, TooLargeError, decode_page
from crawler.parsing.dates import parse_date
from crawler.parsing.link_header import LONGEST, MOST_LINKS, parse_link_headers
from crawler.politeness import RobotsRules, parse_crawl_delay, parse_retry_after, product_token
from crawler.politeness.robots_txt import read_robots_txt
from crawler.store import surt
from crawler.store.catalog_rows import position, storable
from crawler.store.cdxj import Capture, index_line
from crawler.store.jsonl import to_json
from crawler.store.warc_reading import unpack_record
from crawler.urls import (
    LONGEST_HREF,
    Canonicalizer,
    Scope,
    UrlFilter,
    UrlOptions,
    address_allowed,
    fingerprint,
    host_key,
    host_of,
    is_ip_literal,
    origin,
)
from tests.support.normal_form import is_normal

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.parsing import Feed

URL = "http://a.test/dir/page.html?q"
NOW, DAY = 1_700_000_000.0, 86_400.0
_CANONICALIZER = Canonicalizer()
_THOROUGH = Canonicalizer(
    UrlOptions(
        https_upgrade=True,
        strip_www=True,
        collapse_slashes=True,
        drop_index=True,
        strip_trailing_slash=True,
    )
)
_TYPES = ContentTypes.named({})
_FILTER = UrlFilter([r"/a+b?"], [r"\d+$"])
_SCOPE = Scope([URL], "site")
_OPTIONS = ParsingOptions(max_links=50, max_text=2_000, max_headings=5)
_LISTS = SitemapOptions(max_entries=50)
_FINGERPRINTER = make_fingerprinter("fast")
_LIMIT = 65_536  # bytes that a packed body may unpack to here


def _split(data: bytes) -> tuple[str, bytes]:
    """Return the first line as text, and the rest."""
    line, _, rest = data.partition(b"\n")
    return line.decode("latin-1"), rest


def robots(data: bytes) -> None:
    """Rules: named line and verdict agree, patterns are final, every list is bounded."""
    path, body = _split(data)
    rules = RobotsRules.parse(body, "examplebot")
    for url in (f"http://a.test/{path}", f"https://{path}"):
        assert rules.decide(url).allowed is rules.explain(url).allowed
    assert len(rules) <= len(re.split(rb"[\r\n]", body))
    assert rules.crawl_delay is None or 0 <= rules.crawl_delay <= 1e9
    assert all(len(one) <= len(data) * 3 for one in rules.sitemaps)
    found = read_robots_txt(body, product_token(f"{path} examplebot/1"))
    kinds = {True: "Allow", False: "Disallow"}
    again = "\n".join(f"{kinds[rule.allow]}: {rule.pattern}" for rule in found.rules)
    second = read_robots_txt(f"User-agent: *\n{again}".encode(), "x")
    assert [rule.pattern for rule in second.rules] == [rule.pattern for rule in found.rules]


def url(data: bytes) -> None:
    """URLs: the answer is normal and final, and all that reads URLs takes it."""
    base, rest = _split(data)
    href = rest.decode("utf-8", "surrogateescape")
    for canonicalizer in (_CANONICALIZER, _THOROUGH):
        found = canonicalizer.resolve(base, href)
        if found is not None:
            _check_url(canonicalizer, found)
    surt(href)
    assert storable(storable(href)) == storable(href)
    if is_ip_literal(href):
        address_allowed(href)


def _check_url(canonicalizer: Canonicalizer, found: str) -> None:
    assert is_normal(found), found
    assert len(found) <= LONGEST_HREF
    assert canonicalizer.normalize(found) == found
    key = canonicalizer.key(found)
    assert canonicalizer.key(key) == key
    assert origin(found).endswith(host_key(found))
    assert len(fingerprint(host_key(found), key)) == 16
    host = host_of(found)
    assert not is_ip_literal(host) or host == host_of(canonicalizer.normalize(f"http://{host}/"))
    _FILTER.verdict(found)
    _SCOPE.contains(found)
    line = index_line(Capture(found, "2024-01-01T00:00:00Z", "text/html", 200, "-", "x", 0, 1))
    assert line.count(b"\n") == 1
    assert len(line.split(b" ", 2)[0]) <= 4 * len(found) + 10


def html(data: bytes) -> None:
    """Pages: no error, distinct http links, nothing beyond its bound, a line of JSON."""
    charset, body = _split(data)
    page = parse_html(
        body, url=URL, canonicalizer=_CANONICALIZER, header_charset=charset, options=_OPTIONS
    )
    _check_page(page)


def _check_page(page: ParsedPage) -> None:
    assert page.error is None, page.error
    found = [link.url for link in page.links]
    assert len(set(found)) == len(found) <= 50
    assert all(is_normal(link) for link in found)
    assert len(page.text) <= 2_000
    assert len(page.full_text) <= 2_000
    assert len(page.headings) <= 5
    assert b"\n" not in to_json([page.title, page.text, page.headings, page.lang])


def sitemap(data: bytes) -> None:
    """Sitemaps: a list within its bounds."""
    charset, body = _split(data)
    looks_like_sitemap("text/xml", URL, body)
    _check_list(
        parse_sitemap(
            body, url=URL, canonicalizer=_CANONICALIZER, options=_LISTS, header_charset=charset
        )
    )


def feed(data: bytes) -> None:
    """Feeds, of XML and JSON: a list within its bounds."""
    charset, body = _split(data)
    looks_like_feed("application/json", URL, body)
    found = parse_feed(
        body, url=URL, canonicalizer=_CANONICALIZER, options=_LISTS, header_charset=charset, now=NOW
    )
    _check_list(found)
    dates = [page.modified_at for page in found.pages]
    assert all(date is None or date <= NOW + DAY for date in dates)


def _check_list(found: Feed) -> None:
    assert len(found.pages) + len(found.sitemaps) <= 50
    assert all(is_normal(one.url) for one in [*found.pages, *found.sitemaps])
    error = found.error or ""
    assert not re.match(r"[A-Z]\w*(?:Error|Exception):", error), error  # caught at the edge
    assert len(error) <= 500


def headers(data: bytes) -> None:
    """Header values: each reader answers within its bounds."""
    text = data.decode("latin-1")
    media, charset = split_content_type(data)
    assert split_content_type(media.encode("latin-1"))[0] == media.lower()
    assert charset is None or charset
    links = parse_link_headers([text, text[::2]])
    assert len(links.hrefs) <= MOST_LINKS
    assert sum(map(len, links.hrefs)) <= LONGEST
    rest = parse_retry_after(data, NOW, DAY)
    assert rest is None or 0 <= rest <= DAY
    found = parse_directives([text], [text, text[::2]], "examplebot")
    assert isinstance(found, Directives)
    assert len(found.raw) <= 64
    _check_refresh(data, text)
    date = parse_date(text)
    assert date is None or 0 < date < 5e9
    delay = parse_crawl_delay(text)
    assert delay is None or delay >= 0


def _check_refresh(data: bytes, text: str) -> None:
    target = location_text(data)
    _CANONICALIZER.resolve(URL, target)
    assert len(target) <= 3 * len(data)
    refresh = parse_refresh(text)
    assert refresh is None or refresh[0] >= 0
    assert real_type(text, data)


def charset(data: bytes) -> None:
    """Encodings: any bytes are text, and the name is a label of itself."""
    label, body = _split(data)
    for header in (label, None):
        for prescan in (True, False):
            found = decode_body(body, header, mend_latin_1=prescan, prescan=prescan)
            known = find_encoding(found.name)
            assert known is not None
            assert known.name == found.name
            assert len(found.text) <= len(body) + 1
            "x".encode(found.codec)


def codings(data: bytes) -> None:
    """Content codings: a body within the limit, or one of the told errors."""
    header, body = _split(data)
    try:
        found = decode_page(body, header.encode("latin-1"), b"text/html", limit=_LIMIT)
    except (CodingError, TooLargeError):
        return
    assert len(found) <= max(_LIMIT, len(body))


def warc(data: bytes) -> None:
    """Archive records, bare and packed: a record within the limit, or the told error."""
    for packed in (data, zlib.compress(data, 1, wbits=31)):
        try:
            found = unpack_record(packed, "here", limit=_LIMIT)
        except StoreError:
            continue
        assert len(found.body) <= _LIMIT


def types(data: bytes) -> None:
    """Choosing what reads a document of any type, and reading it: the edge of all parsers."""
    header, body = _split(data)
    media, label = split_content_type(header.encode("latin-1"))
    document = Document(
        body=body,
        url=URL,
        resolver=_CANONICALIZER,
        media=media,
        charset=label,
        options=_OPTIONS,
        link_headers=[header],
    )
    chosen = _TYPES.choose(document)
    if chosen is None:
        return
    found = read(chosen.kind, document)
    if isinstance(found, ParsedPage):
        _check_page(found)
    else:
        assert all(is_normal(one.url) for one in [*found.pages, *found.sitemaps])


def texts(data: bytes) -> None:
    """What finds duplicates: the fast way to take a signature counts the words of the slow one."""
    text = data.decode("utf-8", "replace")
    assert len(content_hash(text)) == 16
    found = words(text)
    assert all(found)
    assert _FINGERPRINTER.fingerprint(text).tokens == len(found)


def rows(data: bytes) -> None:
    """Rows of our own stores, damaged: a value or the told error."""
    with suppress(StoreError):
        entry = Entry.decode(data)
        assert Entry.decode(entry.encode()) == entry
    engine, batch = MemoryEngine(), Batch()
    batch.put(Table.HOST, b"a.test", data)
    batch.put(Table.META, b"frontier", data)
    engine.write(batch)
    for read_back in (lambda: list(read_hosts(engine)), lambda: read_counts(engine)):
        with suppress(StoreError):
            read_back()
    with suppress(ValueError):
        position(data.decode("latin-1"))


TARGETS: dict[str, Callable[[bytes], None]] = {
    one.__name__: one
    for one in (
        robots,
        url,
        html,
        sitemap,
        feed,
        headers,
        charset,
        codings,
        warc,
        types,
        texts,
        rows,
    )
}
