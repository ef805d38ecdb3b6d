"""Each downloader middleware alone: what it makes of a request or an answer. No network."""

from __future__ import annotations

import gzip

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http import Headers, HtmlResponse, Response

from crawler.consequences import STOPPED, location_text
from crawler.frontier.snapshot import read_hosts
from crawler.job import Job
from crawler.middlewares.backoff import BackoffMiddleware
from crawler.middlewares.decompression import DecompressionMiddleware
from crawler.middlewares.redirect import RedirectMiddleware
from crawler.middlewares.robots import RobotsMiddleware
from crawler.model import Allow, Discovery, HostKey, Origin, Outcome
from crawler.politeness import RobotsAnswer
from crawler.urls import Canonicalizer
from crawler.visits import Visit
from tests.support.shell import begin, begin_rules, make_crawler

URL = "http://127.0.0.1/page"
ORIGIN = Origin("http://127.0.0.1")
BODY = b"<title>ok</title><p>text</p>" * 50


@pytest.fixture
def crawler():
    """A crawler that was never started."""
    return make_crawler()


@pytest.fixture
def job(crawler) -> Job:
    """Its job, in memory."""
    return Job.of(crawler)


# --- robots ---------------------------------------------------------------------------


def _learn(job, rules: bytes) -> None:
    job.robots.record(ORIGIN, RobotsAnswer(200, body=rules), job.now())


def test_robots_lets_a_leased_url_pass(crawler, job):
    """The frontier has asked for the URL it handed out; it is not asked again."""
    _, request = begin(job, URL)
    assert RobotsMiddleware.from_crawler(crawler).process_request(request) is None


def test_robots_lets_robots_txt_pass(crawler, job):
    """robots.txt itself is never subject to its rules (RFC 9309 §2.2.2)."""
    _learn(job, b"User-agent: *\nDisallow: /")
    _, request = begin_rules(job, ORIGIN)
    assert RobotsMiddleware.from_crawler(crawler).process_request(request) is None


@pytest.mark.parametrize("leased", [True, False], ids=["changed by a middleware", "no visit"])
@pytest.mark.parametrize(
    ("rules", "path", "passes"),
    [
        (b"User-agent: *\nDisallow: /private/", "/public/", True),
        (b"User-agent: *\nDisallow: /private/", "/private/", False),
        (None, "/public/", False),
    ],
    ids=["allowed", "forbidden", "unknown rules"],
)
def test_robots_has_the_last_look(crawler, job, leased, rules, path, passes):
    """A URL that the frontier did not hand out goes only where known rules allow it."""
    if rules is not None:
        _learn(job, rules)
    request = begin(job, URL)[1] if leased else Request(URL)
    request = request.replace(url=f"{ORIGIN}{path}")
    middleware = RobotsMiddleware.from_crawler(crawler)
    if passes:
        assert middleware.process_request(request) is None
        return
    with pytest.raises(IgnoreRequest):
        middleware.process_request(request)
    assert crawler.stats.get_value("robots/refused_late") == 1


# --- backoff --------------------------------------------------------------------------


def _answer(status: int, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(URL, status=status, headers=named)


@pytest.mark.parametrize("status", [200, 204, 206, 301, 304])
def test_backoff_passes_usable_answers(crawler, job, status):
    """2xx and 3xx go on, and neither the URL nor the host is judged by them."""
    visit, request = begin(job, URL)
    response = _answer(status)
    assert BackoffMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert (visit.outcome, visit.retry_at) == (None, None)
    assert visit.lease.host.blocked_until == 0


@pytest.mark.parametrize(
    ("status", "outcome"),
    [(404, Outcome.GONE), (410, Outcome.GONE), (401, Outcome.REFUSED), (451, Outcome.REFUSED)],
)
def test_backoff_ends_what_is_final(crawler, job, status, outcome):
    """Other 4xx pass on to the callback, with their outcome decided."""
    visit, request = begin(job, URL)
    response = _answer(status)
    assert BackoffMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert (visit.outcome, visit.retry_at) == (outcome, None)


@pytest.mark.parametrize("status", [500, 502, 429, 503, 408, 999])
def test_backoff_sends_a_url_back(crawler, job, status):
    """A bad answer that may pass brings the request back to the frontier, for later."""
    visit, request = begin(job, URL)
    again = BackoffMiddleware.from_crawler(crawler).process_response(request, _answer(status))
    assert isinstance(again, Request)
    assert (again.url, again.meta) == (request.url, request.meta)
    assert visit.retry_at > job.now()
    assert crawler.stats.get_value("backoff/retries") == 1


def test_backoff_gives_up_in_the_end():
    """After BACKOFF_RETRIES further tries the answer goes on, with its outcome."""
    crawler = make_crawler(BACKOFF_RETRIES=0)
    visit, request = begin(Job.of(crawler), URL)
    response = _answer(500)
    assert BackoffMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert visit.outcome is Outcome.FAILED_SERVER


@pytest.mark.parametrize("status", [429, 503, 301, 403, 500])
def test_backoff_honours_retry_after(crawler, job, status):
    """Retry-After makes the host rest, whichever status carries it (RFC 9110 §10.2.3)."""
    visit, request = begin(job, URL)
    before = job.now()
    BackoffMiddleware.from_crawler(crawler).process_response(
        request, _answer(status, Retry_After="120")
    )
    assert before + 120 <= visit.lease.host.blocked_until <= job.now() + 150


@pytest.mark.parametrize("status", [200, 204])
def test_backoff_ignores_retry_after_on_success(crawler, job, status):
    """A page that came is no reason to rest."""
    visit, request = begin(job, URL)
    BackoffMiddleware.from_crawler(crawler).process_response(
        request, _answer(status, Retry_After="120")
    )
    assert visit.lease.host.blocked_until == 0


@pytest.mark.parametrize("value", ["", "soon", "-1", "1e9", "\u0661", "9" * 5000])
def test_backoff_survives_any_retry_after(crawler, job, value):
    """An unreadable or absurd Retry-After neither raises nor blocks the host for ever."""
    visit, request = begin(job, URL)
    BackoffMiddleware.from_crawler(crawler).process_response(
        request, _answer(503, Retry_After=value)
    )
    assert visit.lease.host.blocked_until <= job.now() + 86_400 * 1.01


def test_backoff_leaves_robots_txt_to_its_machine(crawler, job):
    """A 503 for robots.txt blocks the host, and the answer itself goes on."""
    visit, request = begin_rules(job, ORIGIN)
    response = _answer(503, Retry_After="60")
    assert BackoffMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert visit.retry_at is None
    assert visit.lease.host.blocked_until >= job.now() + 59


def test_backoff_judges_downloads_without_a_visit(crawler, job):
    """A 429 to a media download makes its host rest, and the download keeps its answer."""
    visit, _ = begin(job, URL)
    response = _answer(429, Retry_After="60")
    stranger = Request("http://127.0.0.1/image.png")
    assert BackoffMiddleware.from_crawler(crawler).process_response(stranger, response) is response
    assert visit.lease.host.blocked_until >= job.now() + 59
    assert (visit.outcome, visit.retry_at) == (None, None)


class _CertificateError(Exception):
    """Looks like what TLS libraries raise."""


_CertificateError.__module__ = "OpenSSL.SSL"

TROUBLES = [
    (CannotResolveHostError("x"), "dns", True),
    (DownloadTimeoutError("x"), "timeout", True),
    (DownloadConnectionRefusedError("x"), "network", True),
    (DownloadFailedError("x"), "network", True),
    (ResponseDataLossError("x"), "network", True),
    (_CertificateError("x"), "tls", True),
    (DownloadFailedError("certificate verify failed"), "tls", True),
    (DownloadCancelledError("x"), "size", False),
    (TypeError("a fault of the handler"), "network", True),
]


@pytest.mark.parametrize(
    ("exception", "trouble", "again"),
    TROUBLES,
    ids=[type(row[0]).__name__ for row in TROUBLES],
)
def test_backoff_names_the_trouble(crawler, job, exception, trouble, again):
    """Every failure of a transfer is counted by its kind, and tried again unless it is final."""
    visit, request = begin(job, URL)
    job.frontier.transfer_ended(visit.lease, job.now())
    result = BackoffMiddleware.from_crawler(crawler).process_exception(request, exception)
    assert isinstance(result, Request) is again
    assert (visit.retry_at is not None) is again
    assert crawler.stats.get_value(f"fetch/{trouble}") == 1
    assert visit.outcome is (None if again else Outcome.FAILED_SIZE)


def test_backoff_keeps_out_of_the_faults_of_others(crawler, job):
    """What another middleware raises before anything was sent is no trouble of the host."""
    visit, request = begin(job, URL)
    middleware = BackoffMiddleware.from_crawler(crawler)
    assert middleware.process_exception(request, ValueError("a fault")) is None
    assert middleware.process_exception(request, IgnoreRequest()) is None
    assert middleware.process_exception(Request(URL), DownloadFailedError("x")) is None
    assert (visit.outcome, visit.retry_at, visit.lease.host.failures) == (None, None, 0)


# --- redirect -------------------------------------------------------------------------

TARGETS = [
    ("/other", "http://127.0.0.1/other"),
    ("other", "http://127.0.0.1/other"),
    ("?page=2", "http://127.0.0.1/page?page=2"),
    ("//localhost/x", "http://localhost/x"),
    ("https://127.0.0.1/page", "https://127.0.0.1/page"),
    (" /spaces \t", "http://127.0.0.1/spaces"),
    ("/ä".encode(), "http://127.0.0.1/%C3%A4"),
    (b"/\xe4", "http://127.0.0.1/%E4"),
    ("/a#fragment", "http://127.0.0.1/a"),
]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize(("location", "target"), TARGETS, ids=[t for _, t in TARGETS])
def test_redirect_returns_its_target(crawler, job, status, location, target):
    """A usable Location becomes a request for the frontier (RFC 9110 §15.4, §10.2.2)."""
    _, request = begin(job, URL)
    response = Response(URL, status=status, headers={"Location": location})
    result = RedirectMiddleware.from_crawler(crawler).process_response(request, response)
    assert isinstance(result, Request)
    assert result.url == target
    assert result.meta == request.meta  # the token stays: the target continues the visit


@pytest.mark.parametrize(
    "location",
    [None, "", "http://[", "file:///etc/passwd", "javascript:1", "ftp://a/", URL, "#top"],
)
def test_redirect_to_nowhere_is_refused(crawler, job, location):
    """Without a usable target, or to itself, the answer goes on as a refusal."""
    visit, request = begin(job, URL)
    headers = {} if location is None else {"Location": location}
    response = Response(URL, status=302, headers=headers)
    assert RedirectMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert visit.outcome is Outcome.REFUSED


@pytest.mark.parametrize("noise", ["?PHPSESSID=0123456789abcdef", ";jsessionid=1", "?utm_source=a"])
def test_redirect_to_noise_is_followed_and_not_followed_in_circles(crawler, job, noise):
    """A server that insists on a session id gets it; back without it leads to a known URL."""
    _, request = begin(job, URL)
    middleware = RedirectMiddleware.from_crawler(crawler)
    response = Response(URL, status=302, headers={"Location": URL + noise})
    there = middleware.process_response(request, response)
    assert there.url == URL + noise
    for location in (URL + noise, "#top"):
        response = Response(there.url, status=302, headers={"Location": location})
        assert middleware.process_response(there, response) is response
    response = Response(there.url, status=302, headers={"Location": URL})
    assert middleware.process_response(there, response).url == URL


@pytest.mark.parametrize("status", [200, 201, 300, 304, 404])
def test_redirect_ignores_other_statuses(crawler, job, status):
    """A Location means a redirect with five statuses only."""
    visit, request = begin(job, URL)
    response = Response(URL, status=status, headers={"Location": "/other"})
    assert RedirectMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert visit.outcome is None


def test_redirect_leaves_robots_txt_alone(crawler, job):
    """Redirects of robots.txt belong to its machine (RFC 9309 §2.3.1.2)."""
    visit, request = begin_rules(job, ORIGIN)
    response = Response(request.url, status=301, headers={"Location": "/elsewhere"})
    assert RedirectMiddleware.from_crawler(crawler).process_response(request, response) is response
    assert visit.outcome is None


def test_redirect_can_be_switched_off_per_request(crawler, job):
    """Scrapy's dont_redirect is kept for spiders that use it."""
    _, request = begin(job, URL)
    request.meta["dont_redirect"] = True
    response = Response(URL, status=301, headers={"Location": "/other"})
    assert RedirectMiddleware.from_crawler(crawler).process_response(request, response) is response


def test_redirect_of_a_post_asks_with_get(crawler, job):
    """The target of a form's answer is fetched, the form is not sent again."""
    _, request = begin(job, URL)
    request = request.replace(method="POST", body=b"a=1")
    response = Response(URL, status=302, headers={"Location": "/other"})
    result = RedirectMiddleware.from_crawler(crawler).process_response(request, response)
    assert (result.method, result.body) == ("GET", b"")


def test_redirects_of_a_download_end(crawler, job):
    """Outside the frontier, too, a chain has at most FRONTIER_MAX_REDIRECTS hops."""
    middleware = RedirectMiddleware.from_crawler(crawler)
    request = Request(URL)
    for hop in range(job.config.frontier.max_redirects):
        response = Response(request.url, status=302, headers={"Location": f"/hop-{hop}"})
        request = middleware.process_response(request, response)
        assert isinstance(request, Request)
    with pytest.raises(IgnoreRequest):
        middleware.process_response(
            request, Response(request.url, status=302, headers={"Location": "/one-more"})
        )


@pytest.mark.parametrize(
    ("value", "text"),
    [(b"/a", "/a"), ("/ä".encode(), "/ä"), (b"/\xe4?\xff", "/%E4?%FF"), (b"", "")],
)
def test_location_text_keeps_every_byte(value, text):
    """UTF-8 is read as such; bytes that are none are percent-encoded one by one."""
    assert location_text(value) == text


# --- decompression ----------------------------------------------------------------------


def _packed(body: bytes, *codings: str, status: int = 200) -> Response:
    headers = Headers({"Content-Type": "text/html; charset=utf-8"})
    for coding in codings:
        headers.appendlist("Content-Encoding", coding)
    return Response(URL, status=status, headers=headers, body=body)


def test_decompression_offers_what_it_can_undo(crawler):
    """Requests ask for four codings, unless their spider asks for others."""
    middleware = DecompressionMiddleware.from_crawler(crawler)
    request, own = Request(URL), Request(URL, headers={"Accept-Encoding": "identity"})
    middleware.process_request(request)
    middleware.process_request(own)
    assert request.headers["Accept-Encoding"] == b"gzip, deflate, br, zstd"
    assert own.headers["Accept-Encoding"] == b"identity"


@pytest.mark.parametrize(
    ("body", "codings"),
    [
        (gzip.compress(BODY), ["gzip"]),
        (brotli.compress(gzip.compress(BODY)), ["gzip, br"]),
        (brotli.compress(gzip.compress(BODY)), ["gzip", "br"]),
        (BODY, ["gzip"]),
    ],
    ids=["one", "chain", "chain in two headers", "only claimed"],
)
def test_decompression_hands_on_the_page(crawler, job, body, codings):
    """The callback gets the plain body, with a class that has text, and no Content-Encoding."""
    _, request = begin(job, URL)
    result = DecompressionMiddleware.from_crawler(crawler).process_response(
        request, _packed(body, *codings)
    )
    assert result.body == BODY
    assert "Content-Encoding" not in result.headers
    assert isinstance(result, HtmlResponse)
    assert result.css("title::text").get() == "ok"


@pytest.mark.parametrize("body", [b"", BODY], ids=["no body", "no coding"])
def test_decompression_leaves_plain_answers_alone(crawler, job, body):
    """Without a coding, or without a body (204, HEAD), the very response goes on."""
    _, request = begin(job, URL)
    response = _packed(body, *([] if body else ["gzip"]))
    middleware = DecompressionMiddleware.from_crawler(crawler)
    assert middleware.process_response(request, response) is response


SPOILED = [
    ("truncated", gzip.compress(BODY)[:-20], Outcome.FAILED_CONTENT),
    ("corrupt", b"\x1f\x8b\x08\x00" + BODY, Outcome.FAILED_CONTENT),
    ("bomb", gzip.compress(bytes(4 << 20)), Outcome.FAILED_SIZE),
]


@pytest.mark.parametrize(("name", "body", "outcome"), SPOILED, ids=[row[0] for row in SPOILED])
def test_decompression_refuses_what_it_cannot_undo(name, body, outcome):
    """A spoiled body ends in an outcome of its own and reaches no callback."""
    crawler = make_crawler(DOWNLOAD_MAXSIZE=1 << 20)
    visit, request = begin(Job.of(crawler), URL)
    with pytest.raises(IgnoreRequest):
        DecompressionMiddleware.from_crawler(crawler).process_response(
            request, _packed(body, "gzip")
        )
    assert (visit.outcome, visit.retry_at) == (outcome, None)


RULES = b"User-agent: *\nDisallow: /x\n" + b"# more\n" * 300_000


@pytest.mark.parametrize(
    ("body", "codings", "flags"),
    [
        (gzip.compress(RULES), ["gzip"], []),
        (brotli.compress(RULES, quality=1), ["br"], []),
        (gzip.compress(RULES)[:-9], ["gzip"], [STOPPED]),
        (gzip.compress(RULES[:9000]), [], []),
    ],
    ids=["too large", "too large in br", "stopped", "not named"],
)
def test_of_a_robots_txt_the_beginning_is_enough(body, codings, flags):
    """What unpacks beyond the limit, or was not waited for, has its first rules (RFC 9309 §2.5)."""
    crawler = make_crawler(DOWNLOAD_MAXSIZE=1 << 20)
    _, request = begin_rules(Job.of(crawler), ORIGIN)
    response = _packed(body, *codings).replace(flags=flags)
    result = DecompressionMiddleware.from_crawler(crawler).process_response(request, response)
    assert RULES.startswith(result.body)
    assert len(result.body) >= 9000


def test_a_robots_txt_that_breaks_off_is_none():
    """Half a file that we did not stop ourselves may lack the rule that matters."""
    crawler = make_crawler()
    _, request = begin_rules(Job.of(crawler), ORIGIN)
    with pytest.raises(IgnoreRequest):
        DecompressionMiddleware.from_crawler(crawler).process_response(
            request, _packed(gzip.compress(RULES)[:-9], "gzip")
        )


@pytest.mark.parametrize("codings", [[], ["gzip"]], ids=["not named", "named once"])
def test_a_page_that_is_packed_more_often_than_named_is_unpacked(crawler, job, codings):
    """Behind a proxy pages are packed twice; the type says that no archive is meant."""
    body = gzip.compress(gzip.compress(BODY)) if codings else gzip.compress(BODY)
    _, request = begin(job, URL)
    middleware = DecompressionMiddleware.from_crawler(crawler)
    assert middleware.process_response(request, _packed(body, *codings)).body == BODY


def test_an_archive_stays_packed(crawler, job):
    """Gzip under a type of its own is what was asked for."""
    _, request = begin(job, URL)
    response = _packed(gzip.compress(BODY))
    response.headers["Content-Type"] = "application/gzip"
    middleware = DecompressionMiddleware.from_crawler(crawler)
    assert middleware.process_response(request, response) is response


def test_a_status_outweighs_a_spoiled_body(crawler, job):
    """A 404 whose error page does not unpack is gone, and not failed."""
    visit, request = begin(job, URL)
    response = _packed(SPOILED[0][1], "gzip", status=404)
    BackoffMiddleware.from_crawler(crawler).process_response(request, response)
    with pytest.raises(IgnoreRequest):
        DecompressionMiddleware.from_crawler(crawler).process_response(request, response)
    assert visit.outcome is Outcome.GONE


# --- hosts ----------------------------------------------------------------------------


def test_backoff_finds_the_host_of_a_url_as_written(crawler, job):
    """A download of another component may spell its URL in any way; its host rests all the same."""
    middleware = BackoffMiddleware.from_crawler(crawler)
    middleware.process_response(
        Request("HTTP://User:Pass@LOCALHOST:80?q"), _answer(429, Retry_After="60")
    )
    assert job.frontier.host(HostKey("localhost")).clock > job.now() + 59
    assert list(job.frontier.hosts) == ["localhost"]


def test_backoff_reaches_a_host_that_came_to_memory_anew(crawler, job):
    """An answer judged after a commit counts for the host as it is in memory now (C3)."""
    visit, request = begin_rules(job, ORIGIN)
    job.frontier.transfer_ended(visit.lease, job.now())
    assert job.commits.commit(job.now())  # nothing left to do at the host: it leaves memory
    job.frontier.add(Discovery([URL]), job.now())
    answer = _answer(429, Retry_After="60")
    BackoffMiddleware.from_crawler(crawler).process_response(request, answer)
    assert job.commits.commit(job.now())
    host = job.frontier.host(HostKey("127.0.0.1"))
    assert host.clock > job.now() + 59
    assert job.frontier.wake_at(job.now()) == host.clock
    [kept] = read_hosts(job.frontier._engine)
    assert [len(queue) for queue in kept.queues] == [1]


@pytest.mark.parametrize("first", ["http", "https"])
def test_the_longer_crawl_delay_of_a_host_counts(job, first):
    """Both origins of a host have rules: those without a delay do not undo the other's."""
    second = {"http": "https", "https": "http"}[first]
    for scheme, answer in (
        (first, Response(URL, body=b"User-agent: *\nCrawl-delay: 7\n")),
        (second, Response(URL, status=404)),
    ):
        origin = Origin(f"{scheme}://two.test")
        job.frontier.fetch_rules(origin, f"{origin}/robots.txt", job.now() - 60)
        lease = job.frontier.next(job.now(), lambda url, origin: Allow())
        job.frontier.transfer_ended(lease, job.now() - 60)
        job.rules_answered(Visit(lease), answer)
    assert job.frontier.host_delay(job.frontier.host(HostKey("two.test"))) == 7


# --- seeds ----------------------------------------------------------------------------


def test_a_long_list_of_seeds_is_added_in_parts(crawler):
    """Seeds go to the store part by part: neither memory nor the event loop has all of them."""
    crawler.spider.seed_urls = [f"http://h{n % 900}.test/{n}" for n in range(12_000)]
    job = Job.of(crawler)
    steps = 0
    for _ in job.add_seeds():
        steps += 1
        assert len(job.frontier._batch) == 0
        assert job.frontier.counts.queued == steps * 5000
    assert steps == 2
    assert job.frontier.counts.queued == 12_000


@given(st.binary(max_size=60))
def test_any_location_is_text_that_can_be_resolved(value):
    """No header raises, and none becomes more than an escape a byte."""
    text = location_text(value)
    assert len(text) <= 3 * len(value)
    Canonicalizer().resolve("http://a.test/", text)
