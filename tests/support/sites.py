"""Sites for the local web: the documents site, robots.txt in every mood, a web written
down in a test; and, from modules of their own, the benchmark web and the faults.

Each is built by ``"tests.support.sites:NAME"`` with JSON arguments, in the server's process
or in the test's. Texts depend on the seed, the host name and the path alone, never on the
port, so a second run serves the same bytes except where a link names another host.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from tests.support.exchange import Answer, Fault, Request, in_turn, not_found, plain, redirect
from tests.support.faults_site import FaultsSite, faults_site
from tests.support.prose import Prose, anchors, document, paragraphs
from tests.support.trap_zoo import trap_zoo
from tests.support.uniform_site import UniformSite, uniform_site

__all__ = [
    "ROBOTS_RULES",
    "DocsSite",
    "FaultsSite",
    "RobotsSite",
    "TableSite",
    "UniformSite",
    "docs_site",
    "faults_site",
    "robots_site",
    "table_site",
    "trap_zoo",
    "uniform_site",
]


def docs_site(**options: Any) -> DocsSite:
    """Build a :class:`DocsSite`."""
    return DocsSite(**options)


class DocsSite:
    """A home page, 40 documents, and four things a crawler must not fall for.

    The documents are a tree, four links a node: home links documents 1 to 4, those link 5
    to 20, and those the rest, so all are within three clicks of home. Beside them home
    links ``/alias``, a document's bytes under another name; ``/old``, a redirect to a
    document; ``/private/secret``, which robots.txt disallows (as do some documents); and
    ``/calendar/2024/01``, whose every month has text of its own and links the next, for ever.

    Attributes:
        documents: Their paths.
        seed: Changes all texts.
    """

    fan_out = 4

    def __init__(
        self, *, documents: int = 40, seed: int = 0, delay_s: float = 0.0, robots: str | None = None
    ) -> None:
        self.documents = [f"/docs/{n:02}" for n in range(1, documents + 1)]
        self.alias_of = self.documents[min(6, documents - 1)]
        self.old_of = self.documents[min(10, documents - 1)]
        self.seed = seed
        self._delay_s = delay_s
        self._robots = "User-agent: *\nDisallow: /private/\n" if robots is None else robots

    def __call__(self, request: Request) -> Answer:
        """Serve one page."""
        path = "/" + request.path.partition("?")[0].strip("/")
        if path == "/robots.txt":
            return plain(self._robots, delay_s=self._delay_s)
        if path == "/old":
            answer = redirect(self.old_of)
            answer.delay_s = self._delay_s
            return answer
        body = self.page(request.name, self.alias_of if path == "/alias" else path)
        return Answer(body=body, delay_s=self._delay_s) if body else not_found()

    def page(self, host: str, path: str) -> bytes:
        """Return the page at ``path``; empty when there is none."""
        links = self.links(path)
        if not links and path not in self.documents:
            return b""
        prose = Prose(f"{self.seed} {host} {path}")
        return document(prose.title(), paragraphs(prose, 4, 50), links=anchors(links))

    def links(self, path: str) -> list[str]:
        """Return the paths that a page links, in order; empty for a page that is not there."""
        if path == "/":
            specials = ["/alias", "/old", "/private/secret", "/calendar/2024/01"]
            return self.documents[: self.fan_out] + specials
        if path.startswith("/private/"):
            return ["/"]
        if path.startswith("/calendar/"):
            return _next_month(path)
        if path not in self.documents:
            return []
        number = self.documents.index(path) + 1
        children = self.documents[number * self.fan_out : (number + 1) * self.fan_out]
        return [*children, "/", *(["/private/secret"] if number % 10 == 0 else [])]


def _next_month(path: str) -> list[str]:
    year, _, month = path.removeprefix("/calendar/").partition("/")
    if not (len(year) == 4 and year.isdigit() and month.isdigit() and 1 <= int(month) <= 12):
        return []
    index = int(year) * 12 + int(month)  # months since year 0, and one on
    return [f"/calendar/{index // 12:04}/{index % 12 + 1:02}"]


ROBOTS_RULES = "User-agent: *\nDisallow: /private/\n"


def robots_site(**options: Any) -> RobotsSite:
    """Build a :class:`RobotsSite`."""
    return RobotsSite(**options)


class RobotsSite:
    """A home page that links eight pages and one private one, and a robots.txt in a mood.

    Behaviours: ``ok`` ``404`` ``403`` ``410`` ``500`` ``503`` ``429`` (with
    ``retry_after``, if given), ``hang`` ``hang_body`` ``drip`` (two bytes a second)
    ``reset`` ``close`` ``redirect`` (to another path of the host) ``redirect_away`` (to
    the same path of ``other``) ``redirect_loop`` ``redirect_chain`` (5 hops)
    ``redirect_long`` (9 hops) ``html`` ``empty`` ``garbage`` ``huge`` ``endless``
    ``503_then_ok`` ``500_then_ok`` ``429_then_ok`` (each twice) ``crawl_delay``
    (``crawl_delay_s``) and ``disallow_all``.

    ``huge`` is 600 KiB: the rules come first, and behind the first 512,000 bytes, where
    RFC 9309 §2.5 allows a parser to stop, ``Disallow: /page/``.

    Args:
        behaviour: The mood of every host that ``behaviours`` does not name.
        behaviours: Mood per host name.
        other: Host name (with or without port) that ``redirect_away`` points to; the port
            asked for is added when it has none.
    """

    pages = tuple(f"/page/{n}" for n in range(1, 9))

    def __init__(
        self,
        *,
        behaviour: str = "ok",
        behaviours: Mapping[str, str] | None = None,
        retry_after: str | None = None,
        other: str = "127.0.0.1",
        crawl_delay_s: float = 1.0,
        seed: int = 0,
    ) -> None:
        self._behaviour = behaviour
        self._behaviours = dict(behaviours or {})
        self._retry_after = {} if retry_after is None else {"Retry-After": retry_after}
        self._other = other
        self._crawl_delay_s = crawl_delay_s
        self._seed = seed

    def __call__(self, request: Request) -> Answer:
        """Serve one page, or robots.txt as the host's mood wants it."""
        path = request.path.partition("?")[0]
        if path.startswith("/robots"):
            mood = self._behaviours.get(request.name, self._behaviour)
            return self._robots(request, mood)
        if path != "/" and path not in self.pages and not path.startswith("/private/"):
            return not_found()
        prose = Prose(f"{self._seed} {request.name} {path}")
        links = [*self.pages, "/private/1"] if path == "/" else ["/"]
        return Answer(body=document(prose.title(), paragraphs(prose, 3, 50), links=anchors(links)))

    def _robots(self, request: Request, mood: str) -> Answer:
        if mood.startswith("redirect"):
            return self._redirected(request, mood)
        if mood[:3].isdigit():
            # Rules under an error: a reader of the body who skips the status is found out.
            bad = plain("User-agent: *\nDisallow: /\n", int(mood[:3]), headers=self._retry_after)
            return in_turn(request, bad, bad, plain(ROBOTS_RULES)) if mood[3:] else bad
        if mood == "crawl_delay":
            return plain(f"{ROBOTS_RULES}Crawl-delay: {self._crawl_delay_s:g}\n")
        return _moods()[mood]

    def _redirected(self, request: Request, mood: str) -> Answer:
        if mood == "redirect_away":
            port = "" if ":" in self._other else request.port
            return redirect(f"{request.scheme}://{self._other}{port}/robots.txt")
        if mood == "redirect_loop":
            return redirect("/robots.txt")
        hops = _HOPS[mood]
        hop = int(request.path.removeprefix("/robots.txt").removeprefix("/hop/") or "0")
        return redirect(f"/robots.txt/hop/{hop + 1}") if hop < hops else plain(ROBOTS_RULES)


_HOPS = {"redirect": 1, "redirect_chain": 5, "redirect_long": 9}


@lru_cache(maxsize=1)
def _moods() -> dict[str, Answer]:
    rules = ROBOTS_RULES.encode()
    filler = b"# nothing to see on this line\n" * (614_400 // 30)
    noise = random.Random(7).randbytes(4096).replace(b"\n", b"\r")
    return {
        "ok": plain(ROBOTS_RULES),
        "empty": plain(""),
        "disallow_all": plain("User-agent: *\nDisallow: /\n"),
        "hang": Answer(fault=Fault.HANG),
        "hang_body": plain(ROBOTS_RULES, fault=Fault.HANG_BODY),
        "drip": plain(ROBOTS_RULES + "# drip\n" * 100, drip=2),
        "reset": Answer(fault=Fault.RESET),
        "close": Answer(fault=Fault.CLOSE),
        "html": Answer(body=b"<!doctype html><title>Home</title><p>Disallow: nothing at all</p>"),
        "garbage": Answer(body=b"\xef\xbb\xbf" + noise + b"\n\x00\n" + rules, content_type=""),
        "huge": Answer(body=rules + filler + b"Disallow: /page/\n", content_type="text/plain"),
        "endless": Answer(body=rules + filler, content_type="text/plain", fault=Fault.ENDLESS),
    }


def table_site(**options: Any) -> TableSite:
    """Build a :class:`TableSite`."""
    return TableSite(**options)


class TableSite:
    """A web written down in a test: ``{host name: {path: answer}}``.

    A host ``*`` stands for all others, a path ``/*`` for all that the host does not name;
    what nothing names is 404. An answer is a dict of the fields of
    :class:`~tests.support.exchange.Answer`, with ``body`` and ``raw`` as text (or
    ``body_b64``, ``raw_b64``) and ``fault`` by its value; a text, which is a body; or a list of
    those, given in turn, of which the last repeats. ``{port}`` in a header or a text body becomes
    the port asked for, ``{host}`` the host name.
    """

    def __init__(self, *, hosts: Mapping[str, Mapping[str, Any]]) -> None:
        self._hosts = hosts

    def __call__(self, request: Request) -> Answer:
        """Serve what the table says."""
        paths = self._hosts.get(request.name, self._hosts.get("*", {}))
        row = paths.get(request.path, paths.get("/*"))
        if row is None:
            return not_found()
        rows = row if isinstance(row, list) else [row]
        return _answer_of(rows[min(request.count, len(rows) - 1)], request)


def _answer_of(row: Any, request: Request) -> Answer:
    fields: dict[str, Any] = {"body": row} if isinstance(row, str) else dict(row)

    def fill(text: str) -> str:
        return text.replace("{host}", request.name).replace("{port}", request.port.lstrip(":"))

    for name in ("body", "raw"):
        if name in fields:
            fields[name] = fill(fields[name]).encode()
        if name + "_b64" in fields:
            fields[name] = base64.b64decode(fields.pop(name + "_b64"))
    if "headers" in fields:
        fields["headers"] = [(name, fill(value)) for name, value in _pairs(fields["headers"])]
    if fields.get("fault"):
        fields["fault"] = Fault(fields["fault"])
    return Answer(**fields)


def _pairs(headers: Mapping[str, str] | Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    return headers.items() if isinstance(headers, Mapping) else headers
