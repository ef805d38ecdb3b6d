"""The web on which crawls are killed: its pages come out the same whatever the order.

A crawl that is disturbed fetches in another order than one that is not. So nothing here
depends on it: a copy is linked by its original alone, a redirect's target by the redirect alone,
and each verdict is the same in every run.
"""

from __future__ import annotations

from typing import Any

from tests.support.exchange import Answer, Request, in_turn, not_found, plain, redirect
from tests.support.prose import Prose, anchors, document, paragraphs
from tests.support.server import loopback

_SPECIALS = {  # page number: what it alone links
    1: ("/busy",),
    2: ("/copy",),
    3: ("/near", "/gone"),
    4: ("/old", "/private/secret"),
}


def chaos_site(**options: Any) -> ChaosSite:
    """Build a :class:`ChaosSite`."""
    return ChaosSite(**options)


class ChaosSite:
    """Hosts of ``pages`` pages, at ``/`` and ``/page/1`` and so on, three links a page.

    Beside them each host has ``/busy``, which answers 503 with Retry-After at first and is a
    page then; ``/copy``, the text of ``/page/2``; ``/near``, the text of ``/page/3`` but for a
    word; ``/old``, a redirect to ``/moved``, a page that nothing else names; ``/gone``, which is
    404; and ``/private/secret``, which robots.txt disallows.

    Args:
        hosts: How many hosts of ``loopback`` there are.
        pages: Numbered pages of each host, at least 5.
        retry_after_s: What ``/busy`` asks for.
        delay_s: Seconds from a request to its answer, so that some are in flight at any time.
    """

    def __init__(
        self, *, hosts: int = 100, pages: int = 20, retry_after_s: int = 2, delay_s: float = 0.02
    ) -> None:
        self._hosts = loopback(hosts)
        self._pages = pages
        self._retry_after_s = retry_after_s
        self._delay_s = delay_s

    def __call__(self, request: Request) -> Answer:
        """Serve one page."""
        answer = self._answer(request)
        answer.delay_s = self._delay_s
        return answer

    def stored(self) -> list[str]:
        """Return the paths on every host that are a line in the end."""
        return [_path(n) for n in range(self._pages)] + ["/busy", "/moved"]

    def _answer(self, request: Request) -> Answer:
        path = request.path
        if path == "/robots.txt":
            return plain("User-agent: *\nDisallow: /private/\n")
        if path == "/old":
            return redirect("/moved")
        if path == "/copy":
            return self._page(request.name, "/page/2", [])
        if path == "/near":
            return self._page(request.name, "/page/3", [], changed=True)
        if path == "/busy":
            asks = Answer(503, b"later", {"Retry-After": str(self._retry_after_s)})
            return in_turn(request, asks, self._page(request.name, path, []))
        number = self._number(path)
        if number < 0 and path != "/moved":
            return not_found()
        return self._page(request.name, path, self._links(request, number))

    def _number(self, path: str) -> int:
        """Return which page a path names; -1 for none."""
        text = "0" if path == "/" else path.removeprefix("/page/")
        return int(text) if text.isdigit() and int(text) < self._pages else -1

    def _links(self, request: Request, number: int) -> list[str]:
        if number < 0:
            return []
        near = [_path(n) for n in (2 * number + 1, 2 * number + 2) if n < self._pages]
        other = self._hosts[(self._hosts.index(request.name) + 1) % len(self._hosts)]
        away = f"{request.scheme}://{other}{request.port}{_path(number)}"
        return [*near, away, *_SPECIALS.get(number, ())]

    @staticmethod
    def _page(host: str, text_of: str, links: list[str], *, changed: bool = False) -> Answer:
        prose = Prose(f"chaos {host} {text_of}")
        title, text = prose.title(), paragraphs(prose, 5, 60)
        if changed:
            text = text.removesuffix("</p>") + " Amended.</p>"
        return Answer(body=document(title, text, links=anchors(links)))


def _path(number: int) -> str:
    return f"/page/{number}" if number else "/"
