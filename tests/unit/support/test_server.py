"""The local web does to a client exactly what its site says, and writes down when."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import socket
import ssl
import time

import pytest

from tests.support.exchange import Answer, Fault, Request, chunks, in_turn, plain
from tests.support.server import LocalWeb, load_site, loopback

PAGE = b"<p>" + b"some text " * 50


def ask(web, path="/", *, host=0, method="GET", **headers):
    """Send one request with Connection: close and return (status, headers, body)."""
    client = http.client.HTTPConnection(web.hosts[host], web.port, timeout=5)
    try:
        client.request(method, path, headers=headers)
        answer = client.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        client.close()


def talk(web, data=b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", *, timeout=5.0):
    """Send bytes and return all that comes back until the server closes."""
    with socket.create_connection((web.hosts[0], web.port), timeout=timeout) as client:
        client.sendall(data)
        found = b""
        while piece := client.recv(65_536):
            found += piece
        return found


def wait_for(web, count):
    """Wait until the log has ``count`` lines: it is written just after the last byte."""
    deadline = time.monotonic() + 5
    while len(web.log()) < count and time.monotonic() < deadline:
        time.sleep(0.001)
    return web.log()


@pytest.fixture
def serve(local_web):
    """Serve one answer to everything, from a thread."""
    return lambda answer, **more: local_web(lambda _request: answer, **more)


def test_plain_answer(serve):
    """Status, headers and body arrive as given, with a true length."""
    web = serve(Answer(418, PAGE, {"X-Own": "yes"}))
    status, headers, body = ask(web)
    assert (status, headers["X-Own"], body) == (418, "yes", PAGE)
    assert headers["Content-Length"] == str(len(PAGE))


def test_keep_alive_is_one_connection(serve):
    """Requests of one client share a connection number; another client has its own."""
    web = serve(Answer(body=PAGE))
    client = http.client.HTTPConnection(web.hosts[0], web.port, timeout=5)
    for path in ("/1", "/2"):
        client.request("GET", path)
        client.getresponse().read()
    client.close()
    ask(web, "/3")
    first, second, third = wait_for(web, 3)
    assert first.connection == second.connection != third.connection


def test_pipelined_requests_are_answered_in_order(local_web):
    """Two requests in one segment get two answers."""
    web = local_web(lambda request: plain(request.path, close=request.path == "/2"))
    both = b"".join(b"GET /%d HTTP/1.1\r\nHost: a.test\r\n\r\n" % n for n in (1, 2))
    found = talk(web, both)
    assert found.count(b"HTTP/1.1 200 OK") == 2
    assert found.index(b"/1") < found.index(b"/2")


def test_head_has_no_body(serve):
    """HEAD gets the headers of GET and nothing more."""
    found = talk(serve(Answer(body=PAGE, close=True)), b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
    assert b"Content-Length: %d\r\n" % len(PAGE) in found
    assert found.endswith(b"\r\n\r\n")


def test_post_body_is_not_a_request(local_web):
    """The body of a POST is skipped, also when it looks like a request."""
    web = local_web(lambda request: plain(request.method, close=True))
    body = b"GET /evil HTTP/1.1\r\n\r\n"
    found = talk(web, b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
    assert found.endswith(b"POST")
    assert [hit.path for hit in wait_for(web, 1)] == ["/"]


def test_http_1_0_closes(serve):
    """A client of HTTP/1.0 gets its answer and a closed connection."""
    assert talk(serve(Answer(body=PAGE)), b"GET / HTTP/1.0\r\n\r\n").endswith(PAGE)


def test_chunked(serve):
    """A chunked body arrives whole, and says no length."""
    _, headers, body = ask(serve(Answer(body=PAGE * 100, chunked=True)))
    assert body == PAGE * 100
    assert "Content-Length" not in headers


def test_chunks_frame_everything():
    """Chunks are framed as RFC 9112 §7.1 says, with the last chunk."""
    assert chunks(b"abcde", 3) == b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    assert chunks(b"") == b"0\r\n\r\n"


@pytest.mark.parametrize("asked", [True, False], ids=["asked", "not asked"])
def test_gzip_only_when_asked(serve, asked):
    """A body is packed only for a client that accepts it."""
    wish = {"Accept-Encoding": "gzip, br"} if asked else {}
    _, headers, body = ask(serve(Answer(body=PAGE, gzip=True)), **wish)
    assert headers.get("Content-Encoding") == ("gzip" if asked else None)
    assert (gzip.decompress(body) if asked else body) == PAGE


def test_repeated_headers(serve):
    """Pairs may repeat a header."""
    web = serve(Answer(body=b"x", headers=[("X-A", "1"), ("X-A", "2")], close=True))
    assert talk(web).count(b"X-A: ") == 2


def test_raw_bytes(serve):
    """Raw bytes are all that is sent; the log has the status in them."""
    web = serve(Answer(raw=b"HTTP/1.0 299 Odd\r\n\r\n<p>"))
    assert talk(web) == b"HTTP/1.0 299 Odd\r\n\r\n<p>"
    assert wait_for(web, 1)[0].status == 299


def test_wrong_length(serve):
    """A claimed length stands in the header, whatever is sent."""
    found = talk(serve(Answer(body=b"1234", length=99, close=True)))
    assert b"Content-Length: 99\r\n" in found
    assert found.endswith(b"\r\n\r\n1234")


@pytest.mark.parametrize(
    ("fault", "tail"),
    [
        pytest.param(Fault.CLOSE, b"", id="close"),
        pytest.param(Fault.TRUNCATE, b"1234", id="truncate"),
        pytest.param(Fault.HANG, b"", id="hang"),
        pytest.param(Fault.HANG_HEADERS, b"\r\n\r\n", id="hang after headers"),
        pytest.param(Fault.HANG_BODY, b"1234", id="hang in body"),
    ],
)
def test_faults_that_end(serve, fault, tail):
    """Each fault shows the client what it says, and closes; hanging ones after hang_s."""
    web = serve(Answer(body=b"12345678", fault=fault, hang_s=0.02))
    found = talk(web)
    assert found.endswith(tail)
    assert bool(found) == bool(tail)
    (hit,) = wait_for(web, 1)
    assert hit.ended == fault.value
    assert hit.status == (200 if tail else 0)
    assert hit.sent == len(found)
    if "hang" in fault.value:
        assert hit.t_end - hit.t_start >= 0.02


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.RESET_BODY], ids=lambda fault: fault.value)
def test_reset(serve, fault):
    """A reset is a reset, not an end."""
    web = serve(Answer(body=b"12345678", fault=fault))
    with pytest.raises(ConnectionResetError):
        talk(web)
    assert wait_for(web, 1)[0].ended == fault.value


@pytest.mark.parametrize(
    "fault", [Fault.HANG, Fault.HANG_HEADERS, Fault.HANG_BODY], ids=lambda fault: fault.value
)
def test_hang_lasts_until_the_client_leaves(serve, fault):
    """A hanging answer is in the log when the client has gone, and not before."""
    web = serve(Answer(body=PAGE, fault=fault))
    with socket.create_connection((web.hosts[0], web.port), timeout=5) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        time.sleep(0.02)
        assert web.log() == []
    (hit,) = wait_for(web, 1)
    assert hit.ended == fault.value


@pytest.mark.parametrize("fault", [Fault.ENDLESS, Fault.ENDLESS_HEADERS], ids=lambda f: f.value)
def test_endless(serve, fault):
    """An endless answer goes on for as long as it is read."""
    web = serve(Answer(body=PAGE, fault=fault))
    with socket.create_connection((web.hosts[0], web.port), timeout=5) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        size = 0
        while size < 8_000_000:
            piece = client.recv(1 << 20)
            assert piece
            size += len(piece)
    (hit,) = wait_for(web, 1)
    assert hit.ended == fault.value
    assert hit.sent >= 8_000_000


def test_drip(serve):
    """A dripping body comes whole, at its rate, and ends with its last byte."""
    web = serve(Answer(body=b"x" * 400, drip=4000))
    began = time.monotonic()
    assert ask(web)[2] == b"x" * 400
    assert time.monotonic() - began >= 0.045
    (hit,) = wait_for(web, 1)
    assert hit.t_end - hit.t_start >= 0.045


def test_delay(serve):
    """A delayed answer is silent for that long."""
    web = serve(Answer(body=PAGE, delay_s=0.05))
    ask(web)
    (hit,) = wait_for(web, 1)
    assert 0.05 <= hit.t_end - hit.t_start < 2


def test_big_body_ends_when_it_is_handed_over(serve):
    """A body larger than the system's buffers ends when the client has read most of it."""
    web = serve(Answer(body=b"x" * 30_000_000, close=True))
    with socket.create_connection((web.hosts[0], web.port), timeout=5) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        size = len(client.recv(10))
        time.sleep(0.02)
        assert web.log() == []
        while piece := client.recv(1 << 20):
            size += len(piece)
    (hit,) = wait_for(web, 1)
    assert (hit.sent, hit.ended) == (size, "done")


def test_client_that_leaves(serve):
    """A client that leaves before the answer is written down as such."""
    web = serve(Answer(body=PAGE, delay_s=5))
    with pytest.raises(TimeoutError):
        talk(web, timeout=0.02)
    assert [hit.ended for hit in wait_for(web, 1)] == ["left"]


def test_sequence_per_path(local_web):
    """Answers in turn are counted per host and path, and the last repeats."""
    bad, good = Answer(503), Answer(200)
    web = local_web(lambda request: in_turn(request, bad, good), hosts=2)
    assert [ask(web, "/a")[0] for _ in range(3)] == [503, 200, 200]
    assert ask(web, "/b")[0] == 503
    assert ask(web, "/a", host=1)[0] == 503


def test_site_that_raises_is_a_500(local_web, capfd):
    """A mistake in a site is seen by the client and on stderr."""
    web = local_web(lambda _request: 1 / 0)
    assert ask(web)[0] == 500
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_hit_fields(serve):
    """A line says who asked for what, and when, in wall-clock seconds."""
    web = serve(Answer(404, PAGE))
    before = time.time()
    ask(
        web, "/p?q=1", **{"Host": "Name.Test:9", "User-Agent": "me/1", "Cookie": "c=1", "X-No": "1"}
    )
    after = time.time()
    (hit,) = wait_for(web, 1)
    assert (hit.host, hit.path, hit.route, hit.status) == ("name.test:9", "/p?q=1", "/p", 404)
    assert (hit.user_agent, hit.headers["cookie"]) == ("me/1", "c=1")
    assert "x-no" not in hit.headers
    assert before - 0.01 <= hit.t_start <= hit.t_end <= after + 0.01


def test_request_knows_name_and_port():
    """Name and port are taken from the Host header."""
    assert (Request("a.test:81", "/").name, Request("a.test:81", "/").port) == ("a.test", ":81")
    assert (Request("a.test", "/").name, Request("a.test", "/").port) == ("a.test", "")


def test_many_hosts_share_a_port(local_web):
    """300 addresses listen on one port, and each sees its own requests."""
    web = local_web("tests.support.sites:table_site", {"hosts": {"*": {"/": "{host}"}}}, hosts=300)
    assert len(set(web.hosts)) == 300
    for host in (0, 249, 250, 299):
        assert ask(web, host=host)[2].decode() == web.hosts[host]
    assert {hit.host for hit in wait_for(web, 4)} == {
        f"{web.hosts[n]}:{web.port}" for n in (0, 249, 250, 299)
    }


def test_loopback_addresses_are_distinct_and_valid():
    """Many addresses stay distinct, inside 127.0.0.0/8, without .0 and .255 at the end."""
    many = loopback(70_000)
    assert len(set(many)) == 70_000
    assert all(one.startswith("127.") and 0 < int(one.split(".")[3]) < 255 for one in many)
    assert loopback(3, first=2)[0] == many[2]


def test_refuses_other_addresses():
    """A local web never listens outside 127.0.0.0/8."""
    with pytest.raises(ValueError, match=r"0\.0\.0\.0 is outside"):
        LocalWeb(lambda _request: Answer(), hosts=["0.0.0.0"]).start()


def test_subprocess(local_web):
    """A site from an import string is served by another process, with a CPU clock."""
    web = local_web("tests.support.sites:table_site", {"hosts": {"*": {"/": "hello"}}})
    assert ask(web)[2] == b"hello"
    assert web.cpu_s() > 0
    child = web._process
    web.close()
    assert child.returncode == 0


def test_subprocess_that_fails_says_so(capfd):
    """A site that cannot be built ends the start, and its trace is on stderr."""
    with pytest.raises(RuntimeError, match="did not start"):
        LocalWeb("tests.support.sites:no_such_site").start()
    assert "no_such_site" in capfd.readouterr().err


def test_same_port_again(serve):
    """A web can come back on its port, as a server does after an outage."""
    first = serve(Answer(body=b"1"))
    ask(first)
    first.close()
    with pytest.raises(ConnectionRefusedError):
        ask(first)
    assert ask(serve(Answer(body=b"2"), port=first.port))[2] == b"2"


def test_close_ends_what_is_open(serve):
    """Closing breaks connections at once, also a hanging one, and may be repeated."""
    web = serve(Answer(fault=Fault.HANG))
    with socket.create_connection((web.hosts[0], web.port), timeout=5) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
        time.sleep(0.01)
        began = time.monotonic()
        web.close()
        web.close()
        assert time.monotonic() - began < 2
        with contextlib.suppress(ConnectionResetError):
            assert client.recv(1) == b""


def test_tls(serve):
    """Https is served with a certificate that holds for address and names."""
    web = serve(Answer(body=PAGE), tls=True, names=["a.test"])
    context = ssl.create_default_context(cafile=str(web.ca_file))
    for name in (web.hosts[0], "localhost", "a.test"):
        with (
            socket.create_connection((web.hosts[0], web.port), timeout=5) as plain_socket,
            context.wrap_socket(plain_socket, server_hostname=name) as client,
        ):
            client.sendall(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")
    assert web.url().startswith("https://")


def test_load_site_needs_a_module_and_a_name():
    """A site's name without a colon is refused with the form that is wanted."""
    with pytest.raises(ValueError, match="module:factory"):
        load_site("tests.support.sites", {})
