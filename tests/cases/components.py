"""The public functions that cases of components are judged at.

Each takes the case's input and what is expected, and returns an answer for every expectation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from crawler.dedupe import DedupeOptions, content_hash, make_fingerprinter, threshold
from crawler.parsing import (
    find_encoding,
    parse_directives,
    parse_html,
    parse_refresh,
    parse_sitemap,
    real_type,
    split_content_type,
)
from crawler.parsing.dates import parse_date
from crawler.parsing.media import HTML_TYPES
from crawler.politeness import RobotsRules, parse_retry_after, product_token
from crawler.urls import FILE_EXTENSIONS, Canonicalizer, UrlFilter, UrlOptions
from tests.cases.bodies import body_of

Answers = dict[str, Any]
Component = Callable[[Mapping[str, Any], Mapping[str, Any]], Answers]

AGENT = "examplebot"
SITE = "http://a.test"
PAGE = "http://a.test/dir/page.html"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp()
CAP = 86_400.0

_ONE = frozenset({"is", "either"})
_SEVERAL = {
    "robots": frozenset({"allowed", "denied", "delay", "sitemaps"}),
    "html": frozenset(
        {"links", "followed", "has", "has_not", "title", "text", "refresh", "charset", "canonical",
         "noindex", "nofollow"}
    ),
    "sitemap": frozenset({"pages", "sitemaps"}),
    "directives": frozenset({"noindex", "nofollow", "noarchive"}),
}  # fmt: skip


def expected_of(component: str) -> frozenset[str]:
    """Return the fields of a component's case that are no input."""
    return _SEVERAL.get(component, _ONE)


def complaints(answers: Answers, expected: Mapping[str, Any]) -> list[str]:
    """Return what is answered otherwise than expected.

    The text ``none`` stands for None, which the tables cannot say.
    """
    if "either" in expected:
        found = "none" if answers["is"] is None else answers["is"]
        return [] if found in expected["either"] else [f"it is {found!r:.300}"]
    found = {name: "none" if answers[name] is None else answers[name] for name in expected}
    return [
        f"{name} is {found[name]!r:.300}, not {wanted!r:.300}"
        for name, wanted in expected.items()
        if found[name] != wanted
    ]


def _robots(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Answers:
    rules = RobotsRules.parse(body_of(given), product_token(given.get("agent", AGENT)))

    def allowed(path: str) -> bool:
        return rules.decide(path if "://" in path else SITE + path).allowed

    return {
        "allowed": [path for path in expected.get("allowed", ()) if allowed(path)],
        "denied": [path for path in expected.get("denied", ()) if not allowed(path)],
        "delay": rules.crawl_delay,
        "sitemaps": list(rules.sitemaps),
    }


def _html(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Answers:
    page = parse_html(
        body_of(given),
        url=given.get("url", PAGE),
        canonicalizer=Canonicalizer(UrlOptions()),
        header_charset=given.get("charset_of_header"),
        robots_headers=given.get("robots_headers", ()),
        token=AGENT,
    )
    links = [link.url for link in page.links]
    return {
        "links": links,
        "followed": [link.url for link in page.links if not link.nofollow],
        "has": [url for url in expected.get("has", ()) if url in links],
        "has_not": [url for url in expected.get("has_not", ()) if url not in links],
        "title": page.title,
        "text": part_or_whole(expected.get("text", ""), page.full_text),
        "refresh": page.refresh,
        "charset": page.charset,
        "canonical": page.canonical,
        "noindex": page.robots.noindex,
        "nofollow": page.robots.nofollow,
    }


def part_or_whole(part: str, text: str) -> str:
    """Return the part of a text that is looked for, or all of it where the part is not there."""
    return part if part in text else text


def _sitemap(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    found = parse_sitemap(
        body_of(given),
        url=given.get("url", "http://a.test/sitemap.xml"),
        canonicalizer=Canonicalizer(UrlOptions()),
        header_charset=given.get("charset_of_header"),
        now=NOW,
    )
    return {
        "pages": [one.url for one in found.pages],
        "sitemaps": [one.url for one in found.sitemaps],
    }


def _directives(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    found = parse_directives(given.get("metas", ()), given.get("headers", ()), AGENT)
    return {
        "noindex": found.noindex or found.expired(NOW),
        "nofollow": found.nofollow,
        "noarchive": found.noarchive,
    }


def _url(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    """Resolve and normalise; an answer that normalises to another one is none."""
    urls = Canonicalizer(UrlOptions())
    url = urls.resolve(given.get("base", PAGE), given["href"], given.get("charset", "utf-8"))
    again = urls.normalize(url) if url is not None else None
    return {"is": url if url == again else [url, again]}


def _same_url(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    urls = Canonicalizer(UrlOptions())
    keys = {urls.key(url) for url in map(urls.normalize, given["urls"]) if url is not None}
    return {"is": len(keys) == 1}


def _pages_among(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    """Return the links that lead to what may be a page."""
    urls, verdict = Canonicalizer(UrlOptions()), UrlFilter(extensions=FILE_EXTENSIONS).verdict
    resolved = {href: urls.resolve(PAGE, href) for href in given["hrefs"]}
    return {"is": [href for href, url in resolved.items() if url and verdict(url) is None]}


def _retry_after(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    return {"is": parse_retry_after(given["value"], NOW, CAP)}


def _crawl_delay(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    file = f"User-agent: *\nCrawl-delay: {given['value']}\nDisallow: /x\n".encode()
    return {"is": RobotsRules.parse(file, AGENT).crawl_delay}


def _label(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    encoding = find_encoding(given["value"])
    return {"is": encoding.name if encoding else None}


def _refresh(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    found = parse_refresh(given["value"])
    return {"is": Canonicalizer(UrlOptions()).resolve(PAGE, found[1]) if found else None}


def _date(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    at = parse_date(given["value"])
    if at is None:
        return {"is": None}
    return {"is": datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")}


def _type(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    """Return the media type and charset of the headers of one name."""
    media, charset = split_content_type(",".join(given["values"]).encode("latin-1"))
    return {"is": [media, charset or ""]}


def _parsed_as_html(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    media, charset = split_content_type(given.get("type", "").encode())
    return {"is": real_type(media, body_of(given), charset) in HTML_TYPES}


def _texts(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    """Compare two texts: ``same``, ``near`` or ``different``."""
    one, two = (body_of(part).decode() for part in given["texts"])
    if content_hash(one) == content_hash(two):
        return {"is": "same"}
    options = DedupeOptions()
    prints = make_fingerprinter(options.algorithm)
    first, second = prints.fingerprint(one), prints.fingerprint(two)
    limit = threshold(first.tokens, second.tokens, same_site=True, options=options)
    distance = (first.value ^ second.value).bit_count()
    return {"is": "near" if distance <= limit else "different"}


OURS: Mapping[str, Component] = {
    "robots": _robots,
    "html": _html,
    "sitemap": _sitemap,
    "directives": _directives,
    "url": _url,
    "same-url": _same_url,
    "pages-among": _pages_among,
    "retry-after": _retry_after,
    "crawl-delay": _crawl_delay,
    "label": _label,
    "refresh": _refresh,
    "date": _date,
    "type": _type,
    "parsed-as-html": _parsed_as_html,
    "texts": _texts,
}
"""By the name that the tables use."""
