"""What the endpoints accept, and how it is read: times, domains, media types, hashes, names."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Path, Query, Request
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, WithJsonSchema

from crawler.api.problems import RequestError, shown
from crawler.model import Outcome
from crawler.store.pages import PageQuery
from crawler.urls import read_domain

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_ROWS = 1000
_USUAL_ROWS = 100
_LAST_SECOND = 253_402_300_799.0  # of the year 9999
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?", re.ASCII).fullmatch
_LOST_PLUS = re.compile(r"(T[^ ]*) (\d\d:?\d\d)", re.ASCII).fullmatch
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]{1,127}/[\w!#$&^.+-]{1,127}", re.ASCII).fullmatch
_HASH = re.compile(r"[0-9a-fA-F]{32}", re.ASCII).fullmatch
_TIME = "ISO 8601, such as 2026-11-30T12:00:00Z, without offset in UTC; or seconds since 1970"


def read_time(text: object) -> object:
    """Return seconds since the epoch for ISO 8601 (without offset: UTC) or a number of seconds.

    A space where an offset begins is taken for the plus sign that it was before somebody
    forgot to write ``%2B``.

    Raises:
        ValueError: It is neither, or lies outside the years 1970 to 9999.
    """
    if not isinstance(text, str):
        return text
    at = float(text) if _NUMBER(text) else _read_iso(text)
    if not 0 <= at <= _LAST_SECOND:
        raise ValueError(f"expected a time from 1970 to 9999: {_TIME}")
    return at


def _read_iso(text: str) -> float:
    date, mark, rest = text.partition("T")
    lost = _LOST_PLUS(mark + rest)
    try:
        moment = datetime.fromisoformat(f"{date}{lost[1]}+{lost[2]}" if lost else text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ValueError(f"expected {_TIME}") from None


def read_media_type(text: str) -> str:
    """Return a media type in lower case.

    Raises:
        ValueError: It is none, or has parameters.
    """
    if not _MEDIA_TYPE(text):
        raise ValueError("expected a media type without parameters, such as text/html")
    return text.lower()


def read_hash(text: str) -> str:
    """Return a hash in lower case.

    Raises:
        ValueError: It is none.
    """
    if not _HASH(text):
        raise ValueError("expected 32 hexadecimal digits, as in `url_hash`")
    return text.lower()


def _no_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("expected text without the character NUL")
    return text


_SHORT = Field(max_length=255)  # before a validator changes the text
Time = Annotated[
    float,
    BeforeValidator(read_time),
    WithJsonSchema({"type": "string", "maxLength": 64, "examples": ["2026-11-30T12:00:00Z"]}),
]
Text = AfterValidator(_no_nul)
UrlHash = Annotated[
    str,
    AfterValidator(read_hash),
    Path(
        description="Identity of a URL: 32 hexadecimal digits, as in `url_hash`.",
        examples=["e7b75ee3214850fbcb2e341d50666e04"],
        json_schema_extra={"pattern": "^[0-9a-fA-F]{32}$"},
    ),
]
Limit = Annotated[int, Query(ge=1, le=_MOST_ROWS, description="Most entries of the answer.")]
Before = Annotated[
    Time | None, Query(description=f"Only visits before this time: {_TIME}. See `before` there.")
]
Url = Annotated[
    str,
    Text,
    Query(
        max_length=8192,
        description="A URL in any spelling; it is normalised as the crawl does it.",
        examples=["https://example.com/"],
    ),
]
After = Annotated[str, Text, Query(max_length=255, description="Only domains behind this name.")]


class PageFilter(BaseModel):
    """Which pages are listed, in which order and form. All conditions hold at once."""

    domain: Annotated[str, _SHORT, AfterValidator(read_domain)] | None = Field(
        None, description="Registrable domain, such as example.com; an IP address is its own."
    )
    since: Time | None = Field(None, description=f"Fetched at or after: {_TIME}.")
    until: Time | None = Field(None, description=f"Fetched before: {_TIME}.")
    status: int | None = Field(None, ge=100, le=999, description="HTTP status.")
    type: Annotated[str, _SHORT, AfterValidator(read_media_type)] | None = Field(
        None, description="Media type, such as text/html."
    )
    outcome: Outcome | None = Field(None, description="How the URL ended.")
    limit: int | None = Field(
        None,
        ge=1,
        le=_MOST_ROWS,
        description=f"Most pages of the answer; {_USUAL_ROWS}, and with ndjson all, unless given.",
    )
    cursor: Annotated[str, Text] | None = Field(
        None, max_length=1024, description="`cursor` of the answer before, with the same filter."
    )
    order: Literal["asc", "desc"] = Field(
        "asc", description="By `fetched_at`: oldest (asc) or newest (desc) first."
    )
    format: Literal["json", "ndjson"] | None = Field(
        None,
        description="`json`: one document; `ndjson`: a line for each page that matches. "
        "Unless given, the header Accept decides.",
    )

    def query(self) -> PageQuery:
        """Return the question to the catalog, for its first answer."""
        return PageQuery(
            domain=self.domain,
            since=self.since,
            until=self.until,
            status=self.status,
            content_type=self.type,
            outcome=self.outcome.value if self.outcome else None,
            limit=self.limit or _USUAL_ROWS,
            cursor=self.cursor,
            newest_first=self.order == "desc",
        )

    def wants_lines(self, accept: str) -> bool:
        """Tell whether the answer is to be JSON lines, by ``format`` or the Accept header."""
        if self.format:
            return self.format == "ndjson"
        ranges = [one.partition(";")[0].strip().lower() for one in accept.split(",")]
        return "application/x-ndjson" in ranges and "application/json" not in ranges


def refuse_strange_names(request: Request, known: Mapping[str, frozenset[str]]) -> None:
    """Refuse query parameters that the endpoint does not have, or that are there twice.

    Args:
        request: Whose query is looked at.
        known: Path of an endpoint → names of its query parameters.

    Raises:
        RequestError: Naming the parameter, and those there are.
    """
    if not request.scope["query_string"]:
        return
    names = known[request.scope["route"].path]
    for name, times in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in names:
            expected = ", ".join(sorted(names)) or "none"
            raise RequestError(
                422, name[:100], f"unknown parameter {shown(name)}; there are: {expected}"
            )
        if times > 1:
            raise RequestError(422, name, f"{name} is given {times} times; expected once")


def query_names(openapi: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the names of the query parameters of each path of an API's description."""
    return {
        path: frozenset(
            one["name"] for one in methods["get"].get("parameters", ()) if one["in"] == "query"
        )
        for path, methods in openapi["paths"].items()
    }
