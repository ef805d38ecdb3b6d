"""The components of the cases as stock Scrapy has them, or None where it has none."""

from __future__ import annotations

import html
import warnings
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

from scrapy import Request
from scrapy.http import Headers, HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.responsetypes import responsetypes
from scrapy.robotstxt import ProtegoRobotParser
from scrapy.utils.gz import gunzip, gzip_magic_number
from scrapy.utils.request import fingerprint
from scrapy.utils.response import get_meta_refresh
from scrapy.utils.sitemap import Sitemap, sitemap_urls_from_robots
from w3lib.encoding import http_content_type_encoding, resolve_encoding
from w3lib.url import canonicalize_url

from crawler.parsing.labels import encoding_of_codec
from tests.cases.bodies import body_of
from tests.cases.components import AGENT, PAGE, SITE, Answers, Component, part_or_whole

if TYPE_CHECKING:
    from collections.abc import Mapping


def _robots(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Answers:
    body = body_of(given)
    parser, agent = ProtegoRobotParser(body, None), given.get("agent", AGENT)

    def allowed(path: str) -> bool:
        return bool(parser.allowed(path if "://" in path else SITE + path, agent))

    return {
        "allowed": [path for path in expected.get("allowed", ()) if allowed(path)],
        "denied": [path for path in expected.get("denied", ()) if not allowed(path)],
        "delay": parser.crawl_delay(agent),
        "sitemaps": list(sitemap_urls_from_robots(body.decode("utf-8", "replace"))),
    }


def _response(given: Mapping[str, Any]) -> HtmlResponse:
    charset = given.get("charset_of_header")
    content_type = "text/html" + (f"; charset={charset}" if charset else "")
    headers = {"Content-Type": content_type}
    return HtmlResponse(given.get("url", PAGE), body=body_of(given), headers=headers)


def _html(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Answers:
    response = _response(given)
    links = [urldefrag(link.url).url for link in LinkExtractor().extract_links(response)]
    text = "".join(response.css("body ::text").getall())
    return {
        "links": links,
        "followed": links,
        "has": [url for url in expected.get("has", ()) if url in links],
        "has_not": [url for url in expected.get("has_not", ()) if url not in links],
        "title": response.css("title::text").get(),
        "text": part_or_whole(expected.get("text", ""), text),
        "refresh": get_meta_refresh(response)[1],
        "charset": response.encoding,
        "canonical": None,
        "noindex": False,
        "nofollow": False,
    }


def _sitemap(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    body = body_of(given)
    if gzip_magic_number(Response(given.get("url", SITE), body=body)):
        body = gunzip(body)
    found = Sitemap(body)
    urls = [entry["loc"] for entry in found if "loc" in entry]
    index = found.type == "sitemapindex"
    return {"pages": [] if index else urls, "sitemaps": urls if index else []}


def _directives(_: Mapping[str, Any], __: Mapping[str, Any]) -> Answers:
    return {"noindex": False, "nofollow": False, "noarchive": False}


def _url(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    """Resolve as the link extractor does, and normalise as the duplicate filter does."""
    url = urljoin(given.get("base", PAGE), given["href"].strip())
    if not url.startswith(("http://", "https://", "HTTP://")):
        return {"is": None}
    sent = Request(url, encoding=given.get("charset", "utf-8")).url
    return {"is": canonicalize_url(sent)}


def _same_url(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    return {"is": len({fingerprint(Request(url)) for url in given["urls"]}) == 1}


def _pages_among(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    extractor = LinkExtractor()

    def is_link(href: str) -> bool:
        page = HtmlResponse(PAGE, body=f"<a href='{html.escape(href)}'>x</a>".encode())
        return bool(extractor.extract_links(page))

    return {"is": [href for href in given["hrefs"] if is_link(href)]}


def _label(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    codec = resolve_encoding(given["value"])
    known = encoding_of_codec(codec)
    return {"is": known.name if known else codec}


def _refresh(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    value = html.escape(given["value"], quote=True)
    page = f'<meta http-equiv="refresh" content="{value}">'.encode()
    return {"is": get_meta_refresh(HtmlResponse(PAGE, body=page))[1]}


def _crawl_delay(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    file = f"User-agent: *\nCrawl-delay: {given['value']}\nDisallow: /x\n".encode()
    return {"is": ProtegoRobotParser(file, None).crawl_delay(AGENT)}


def _type(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    value = (Headers({"Content-Type": given["values"]}).get("Content-Type") or b"").decode()
    charset = http_content_type_encoding(value) or ""
    return {"is": [value.partition(";")[0].strip().lower(), charset]}


def _parsed_as_html(given: Mapping[str, Any], _: Mapping[str, Any]) -> Answers:
    headers = Headers({"Content-Type": given.get("type", "")})
    kind = responsetypes.from_args(headers=headers, url=PAGE, body=body_of(given))
    return {"is": issubclass(kind, HtmlResponse)}


def _has_none(_: Mapping[str, Any], __: Mapping[str, Any]) -> Answers:
    return {"is": None}


STOCK: Mapping[str, Component] = {
    "robots": _robots,
    "html": _html,
    "sitemap": _sitemap,
    "directives": _directives,
    "url": _url,
    "same-url": _same_url,
    "pages-among": _pages_among,
    "retry-after": _has_none,
    "crawl-delay": _crawl_delay,
    "label": _label,
    "refresh": _refresh,
    "date": _has_none,
    "type": _type,
    "parsed-as-html": _parsed_as_html,
    "texts": _has_none,
}
"""By the name that the tables use."""

warnings.simplefilter("ignore")  # of wrapped parsers, about what the cases contain
