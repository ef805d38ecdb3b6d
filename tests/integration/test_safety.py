"""What a page, a server or a name server cannot make the crawler do, with all of its shell."""

from __future__ import annotations

import json

import pytest
from scrapy.settings import default_settings

from crawler import settings as project
from tests.support.exchange import Answer
from tests.support.run_case import Crawl, Report, run
from tests.support.server import LocalWeb, loopback
from tests.support.shell import make_crawler

pytestmark = pytest.mark.slow

ODD = "tests.integration.odd_spiders:"
OWN, INSIDE = loopback(2, first=40)
TEMPTED = loopback(2, first=42)
OFF = ("file:///etc/hostname", "data:x", "s3://bucket/key", "ftp://127.0.0.1/x")


def site(request):
    """Answer every path with a page; one of them has a link to a name with two faces."""
    if request.path == "/robots.txt":
        return Answer(404)
    if request.path == "/jar":
        return Answer(302, headers={"Set-Cookie": "a=b; Path=/", "Location": "/tempting"})
    if request.path == "/secret":
        return Answer(401, headers={"WWW-Authenticate": "Basic realm=x", "Set-Cookie": "c=d"})
    if request.path == "/tempting":
        other = f"http://user:word@{TEMPTED[1]}{request.port}"
        links = f"<a href=/secret>1</a> <a href={other}/page>2</a> <a href={other}/secret>3</a>"
        return Answer(body=links.encode(), headers={"Set-Cookie": "e=f"})
    link = f'<a href="http://two-faced.test{request.port}/x">x</a>'
    return Answer(body=f"<p>text {link if request.path == '/go' else ''}".encode())


@pytest.fixture(scope="module")
def webs():
    """Two webs on one port: one that a crawl may reach, and one that it may not."""
    with (
        LocalWeb(site, hosts=[OWN, *TEMPTED]) as own,
        LocalWeb(site, hosts=[INSIDE], port=own.port) as other,
    ):
        yield own, other


@pytest.fixture(scope="module")
def crawls(webs) -> dict[str, Report]:
    """All crawls of this module."""
    own, _ = webs
    aside = [
        *OFF,
        "http://10.255.255.1/x",
        "http://[::ffff:10.255.255.1]/x",
        f"http://{INSIDE}:{own.port}/literal",
        f"http://inside.test:{own.port}/name",
        f"http://{OWN}:{own.port}/fine",
    ]
    parts = Crawl(
        ODD + "Parts",
        {"seeds": own.url("/page"), "parts": ",".join(aside)},
        {"SAFETY_ALLOWED_NETWORKS": [], "SAFETY_HOSTS": json.dumps({"inside.test": INSIDE})},
    )

    def rebinding(*answers):
        arguments = {"seeds": own.url("/go"), "answers": ",".join(answers), "scope": "any"}
        return Crawl(ODD + "Rebinding", arguments, {"SAFETY_ALLOWED_NETWORKS": [OWN]})

    all_crawls = {
        "parts": parts,
        "honest": rebinding(OWN),
        "the second time": rebinding(OWN, INSIDE),
        "the third time": rebinding(OWN, OWN, INSIDE),
        "at once": rebinding(INSIDE),
        "tempted": Crawl(
            ODD + "InMemory",
            {"seeds": f"http://who:ever@{TEMPTED[0]}:{own.port}/jar", "scope": "any"},
        ),
    }
    return dict(zip(all_crawls, run(list(all_crawls.values())), strict=True))


def test_nothing_leaves_but_http(crawls):
    """Downloads of other components, whose URLs may come out of a page, are refused by scheme."""
    [answers] = crawls["parts"].notes
    assert len(answers) == 9
    assert all("not an http or https URL" in answer for answer in answers[: len(OFF)]), answers


def test_no_handler_reads_files_or_speaks_ftp():
    """Scrapy's own handlers of other schemes are off, all of them."""
    made = make_crawler().settings.getwithbase("DOWNLOAD_HANDLERS")
    assert {scheme for scheme, handler in made.items() if handler} == {"http", "https"}
    assert default_settings.DOWNLOAD_HANDLERS_BASE.keys() <= project.DOWNLOAD_HANDLERS.keys()


def test_a_download_aside_is_guarded_like_a_page(webs, crawls):
    """Neither an address nor a name of one is contacted for a component, not even for rules."""
    _, other = webs
    [answers] = crawls["parts"].notes
    assert all("IgnoreRequest" in str(one) for one in answers[len(OFF) : -1]), answers
    assert answers[-1] == 200
    assert not [hit for hit in other.log() if hit.path in ("/literal", "/name")]


def test_nothing_is_sent_that_another_answer_or_a_link_brought(webs, crawls):
    """No cookie, no credentials (not even a seed's), no referrer: to no host, its own included."""
    own, _ = webs
    assert crawls["tempted"].endings["/secret"] == ["refused", "refused"]
    hits = [hit for hit in own.log() if hit.host.rpartition(":")[0] in TEMPTED]
    assert len(hits) == 7
    asked = {"accept", "accept-language", "accept-encoding"}
    assert [hit.path for hit in hits if set(hit.headers) - asked] == []
    assert [hit.path for hit in hits if "@" in hit.path or "word" in hit.path] == []


@pytest.mark.parametrize("name", ["the second time", "the third time", "at once"])
def test_the_connection_goes_to_the_address_that_was_judged(webs, crawls, name):
    """A name server that answers otherwise the next time leads nowhere (DNS rebinding)."""
    _, other = webs
    crawl = crawls[name]
    assert INSIDE in crawl.notes
    assert other.log() == []
    assert (crawl.imbalance, crawl.reason) == (0, "finished")
    assert crawl.rejected == {"address": 1} or crawl.endings["/x"] == ["stored"]


def test_a_name_of_an_allowed_address_is_crawled(crawls):
    """The test above refuses for the address, and for nothing else."""
    assert crawls["honest"].endings["/x"] == ["stored"]
