"""The local server's side of the cases: from the table's words to answers.

A web is a table ``URL -> answer``. An answer is a text, which is an HTML page; a list, given in
turn, of which the last repeats; or a table of the fields that ``README.md`` describes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.cases.bodies import FIELDS as BODY_FIELDS
from tests.cases.bodies import body_of
from tests.cases.generators import GENERATORS
from tests.cases.names import Names, split_local
from tests.support.exchange import Answer, Fault, Request, not_found

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = ("status", "drip", "delay_s", "chunked", "length", "close", "hang_s")
_KNOWN = (
    BODY_FIELDS
    | {*_PLAIN, "fault", "gen", "raw", "to", "type", "headers"}
    | {"if_cookie", "then", "else"}
)


def case_site(**options: Any) -> CaseSite:
    """Build a :class:`CaseSite`."""
    return CaseSite(**options)


class CaseSite:
    """All webs of one crawl.

    Args:
        webs: Number of the case -> its web.
        ports: Scheme -> port.
        private: Number of the case -> the address that its crawl may not reach.
    """

    def __init__(
        self,
        *,
        webs: Mapping[str, Mapping[str, Any]],
        ports: Mapping[str, int],
        private: Mapping[str, str],
    ) -> None:
        self._webs = {int(number): web for number, web in webs.items()}
        self._names = {
            number: Names(number, ports, private.get(str(number), "")) for number in self._webs
        }
        self._bodies: dict[int, bytes] = {}  # made before anybody waits for them
        for number, web in self._webs.items():
            self._make_bodies(list(web.values()), self._names[number])

    def __call__(self, request: Request) -> Answer:
        """Serve what the case's table says, and 404 where it says nothing."""
        local = split_local(request.name)
        if local is None:
            return Answer(body=b"<p>A page that nobody may ask for.</p>")
        name, number = local
        web, origin = self._webs[number], f"{request.scheme}://{name}"
        row = web.get(origin + request.path)
        if row is None and request.path != "/robots.txt":
            row = web.get(f"{origin}/*", web.get(f"{request.scheme}://*.test/*"))
        if row is None:
            return not_found()
        return self._answer(row, request, name, self._names[number])

    def _answer(self, row: Any, request: Request, name: str, names: Names) -> Answer:
        if isinstance(row, list):
            row = row[min(request.count, len(row) - 1)]
        if isinstance(row, str):
            return Answer(body=names.local(row).encode())
        if "if_cookie" in row:
            has_cookie = row["if_cookie"] in request.headers.get("cookie", "")
            return self._answer(row["then" if has_cookie else "else"], request, name, names)
        if "raw" in row:
            return Answer(raw=self._bodies[id(row)], drip=row.get("drip", 0.0))
        answer = _head(row, names)
        if "gen" in row:
            answer.body = names.local(GENERATORS[row["gen"]](name, request)).encode()
        else:
            answer.body = self._bodies[id(row)]
        return answer

    def _make_bodies(self, rows: list[Any], names: Names) -> None:
        for row in rows:
            if isinstance(row, list):
                self._make_bodies(row, names)
            elif isinstance(row, dict):
                self._make_bodies([row.get("then"), row.get("else")], names)
                _check(row)
                self._bodies[id(row)] = _raw(row, names) or body_of(row, names.local)


def _check(row: Mapping[str, Any]) -> None:
    if unknown := row.keys() - _KNOWN:
        raise ValueError(f"an answer has no fields {sorted(unknown)}: {row!r:.200}")


def _raw(row: Mapping[str, Any], names: Names) -> bytes:
    raw = row.get("raw", "")
    text = raw if isinstance(raw, str) else "".join(part * times for part, times in raw)
    return names.local(text).encode("latin-1")


def _head(row: Mapping[str, Any], names: Names) -> Answer:
    """Return the answer without its body."""
    answer = Answer(headers=_headers(row, names), content_type=_type(row))
    answer.status = 302 if "to" in row else 200
    for field in _PLAIN:
        if field in row:
            setattr(answer, field, row[field])
    if "fault" in row:
        answer.fault = Fault(row["fault"])
    return answer


def _headers(fields: Mapping[str, Any], names: Names) -> list[tuple[str, str]]:
    given = fields.get("headers", {})
    pairs = list(given.items()) if isinstance(given, dict) else [(one, two) for one, two in given]
    if "to" in fields:
        pairs.append(("Location", fields["to"]))
    return [(name, names.local(value)) for name, value in pairs]


def _type(fields: Mapping[str, Any]) -> str:
    usual = "text/plain; charset=utf-8" if "text" in fields else "text/html; charset=utf-8"
    return str(fields.get("type", usual))
