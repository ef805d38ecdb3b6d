"""Pages are discovered through sitemaps and feeds, too."""

import base64
import gzip
from pathlib import Path

import pytest

from tests.support import judge
from tests.support.crawl import crawl
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

INDEX = "<sitemapindex><sitemap><loc>/maps/a.xml.gz</loc></sitemap></sitemapindex>"
URLSET = (
    b"<?xml version='1.0'?><urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
    b"<url><loc>/listed/1</loc><lastmod>2026-01-01</lastmod></url>"
    b"<url><loc>/listed/2</loc></url><url><loc>/private/no</loc></url>"
    b"<url><loc>mailto:nobody@a.example</loc></url></urlset>"
)
FEED = (
    "<rss version='2.0'><channel><item><link>/news/1</link></item>"
    "<item><link>/news/2</link></item></channel></rss>"
)
HOME = (
    "<p>home page with some words of its own</p>"
    "<link rel=alternate type=application/rss+xml href=/feed>"
)


def _page(words: str) -> dict[str, str]:
    return {"body": f"<p>{words} that no other page of this little site has"}


SITE = {
    "/robots.txt": {
        "body": "User-agent: *\nDisallow: /private/\nSitemap: /index.xml\n",
        "content_type": "text/plain",
    },
    "/index.xml": {"body": INDEX, "content_type": "application/xml"},
    "/maps/a.xml.gz": {
        "body_b64": base64.b64encode(gzip.compress(URLSET)).decode(),
        "content_type": "application/x-gzip",
    },
    "/": {"body": HOME},
    "/feed": {"body": FEED, "content_type": "application/rss+xml"},
    "/listed/1": _page("apples and pears"),
    "/listed/2": _page("ships and sails"),
    "/news/1": _page("stars and moons"),
    "/news/2": _page("hills and dales"),
}
PAGES = {"/", "/listed/1", "/listed/2", "/news/1", "/news/2"}


def _crawl(tmp_path: Path, path: str, *more: str):
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": SITE}}) as web:
        speed = ("-s", "POLITENESS_DELAY=0.05")
        result = crawl(web.url(path), *speed, *more, jobdir=tmp_path / "job")
        result.check()
        judge.assert_polite(web.log(), 0.05)
        return result, {hit.path for hit in web.log()}


def test_a_sitemap_named_by_robots_and_a_feed_named_by_a_page_are_read(tmp_path: Path) -> None:
    """Index, packed sitemap and feed are fetched in turn; what they list is crawled."""
    result, asked = _crawl(tmp_path, "/")
    assert asked == PAGES | {"/robots.txt", "/index.xml", "/maps/a.xml.gz", "/feed"}
    assert len(result.lines) == len(PAGES)
    assert result.outcomes == {"stored": 5, "listed": 3}
    assert result.rejected == {"robots": 1}
    assert result.stats["parsing/listing_skipped"] == 1


def test_sitemaps_can_be_left_alone(tmp_path: Path) -> None:
    """SEEDS_SITEMAPS=false finds only what pages and feeds link."""
    _, asked = _crawl(tmp_path, "/", "-s", "SEEDS_SITEMAPS=false")
    assert asked == {"/", "/robots.txt", "/feed", "/news/1", "/news/2"}


def test_a_sitemap_may_be_the_seed(tmp_path: Path) -> None:
    """A seed that is a sitemap is read as one."""
    result, _ = _crawl(tmp_path, "/maps/a.xml.gz", "-s", "SEEDS_SITEMAPS=false")
    assert {line["url"].rpartition("/")[2] for line in result.lines} == {"1", "2"}
    assert {line["depth"] for line in result.lines} == {1}


def test_an_endless_chain_of_sitemaps_ends_and_lets_pages_go_first(tmp_path: Path) -> None:
    """Indexes that list one another are followed as far as redirects, and starve no page."""
    chain = {
        f"/chain/{n}": {
            "body": f"<sitemapindex><sitemap><loc>/chain/{n + 1}</loc></sitemap></sitemapindex>",
            "content_type": "application/xml",
        }
        for n in range(9)
    }
    rules = {"body": "Sitemap: /chain/0\n", "content_type": "text/plain"}
    home = {"body": "<p>home page</p><a href=/listed/1>apples</a>"}
    pages = {"/": home, "/listed/1": SITE["/listed/1"], "/robots.txt": rules}
    with LocalWeb("tests.support.sites:table_site", {"hosts": {"*": pages | chain}}) as web:
        speed = ("-s", "POLITENESS_DELAY=0.05")
        result = crawl(web.url("/"), *speed, jobdir=tmp_path / "job")
        result.check()
        asked = [hit.path for hit in web.log()]
    assert asked.index("/listed/1") < asked.index("/chain/1")
    assert {path for path in asked if "chain" in path} == {f"/chain/{n}" for n in range(6)}
    assert result.rejected == {"redirects": 1}
