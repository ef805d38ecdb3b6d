"""The endpoints."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio.to_thread
import orjson
from fastapi import APIRouter, Depends, FastAPI, Header, Query, Request, Response, Security
from fastapi.responses import HTMLResponse, PlainTextResponse, StreamingResponse
from fastapi.security import HTTPBearer

from crawler.api import documents
from crawler.api.bodies import LARGEST, Bodies
from crawler.api.guard import Guard
from crawler.api.library import Absent, Library
from crawler.api.manual import POLICY, manual
from crawler.api.parameters import (
    After,
    Before,
    Limit,
    PageFilter,
    Url,
    UrlHash,
    query_names,
    refuse_strange_names,
)
from crawler.api.problems import RequestError, documented, handle_problems
from crawler.api.streams import ROWS_AT_ONCE, BodyResponse, Flow, page_lines

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from crawler.store.pages import Found, PageQuery, PageReader, PageRow

_THREADS = 8  # that read at a time; more would only wait for each other
_IN_FLIGHT = 4 * LARGEST  # bytes of bodies on their way to clients
_PATIENCE = 60.0
_JSON = "application/json"
_LINES = "application/x-ndjson"
_ABOUT = "What a crawl has found: pages, their history, text and original bytes. Read-only."

_NO_PAGE: dict[int | str, dict[str, Any]] = documented(404)
_LISTS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": documents.PageList,
        "content": {_LINES: {"schema": {"type": "string"}}},
        "description": "A document; or a line for each page, with the fields of `PageEntry`.",
    }
}
_BYTES: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
        "description": "The body, as an attachment of the type that the site gave it.",
    }
}
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "UTF-8."}
}

_api = APIRouter(prefix="/api/v1")
_around = APIRouter()


def create_app(
    library: Library,
    *,
    token: str = "",
    patience: float = _PATIENCE,
    in_flight: int = _IN_FLIGHT,
) -> FastAPI:
    """Return the application.

    Args:
        library: What it reads.
        token: That every request has to carry; empty: requests to this machine only.
        patience: Seconds after which a client that takes nothing is left.
        in_flight: Most bytes of bodies on their way to clients; one alone always goes.
    """
    checks = [Depends(_names)]
    if token:  # the guard refuses; this tells the description
        checks.append(Security(HTTPBearer(auto_error=False)))
    app = FastAPI(
        title="Crawl",
        description=_ABOUT,
        version="1",
        docs_url=None,  # they load scripts from another site; /docs is ours
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        dependencies=checks,
        responses=documented(401 if token else 400, 422, 503),
    )
    app.include_router(_api)
    app.include_router(_around)
    app.state.library = library
    app.state.bodies = Bodies(library)
    app.state.flow = Flow(in_flight)
    app.state.names = query_names(app.openapi())
    app.state.manual = manual(app.openapi())
    handle_problems(app)
    app.add_middleware(Guard, token=token, patience=patience)
    return app


@asynccontextmanager
async def _lifespan(_app: FastAPI) -> AsyncIterator[None]:
    anyio.to_thread.current_default_thread_limiter().total_tokens = _THREADS
    yield


async def _names(request: Request) -> None:
    refuse_strange_names(request, request.app.state.names)


async def _library(request: Request) -> Library:
    library: Library = request.app.state.library
    return library


Reading = Annotated[Library, Depends(_library)]


@_api.get("/pages", responses=_LISTS)
def list_pages(
    library: Reading,
    wanted: Annotated[PageFilter, Query()],
    accept: Annotated[str, Header(include_in_schema=False)] = "",
) -> Response:
    """List the fetched URLs that match, in order of their last visit.

    With `Accept: application/x-ndjson`, or `format=ndjson`, all of them are sent, a JSON object
    a line; the answer ends early, without its last chunk, should the catalog fail meanwhile.
    """
    query = wanted.query()
    if not wanted.wants_lines(accept):
        found = _found(library.catalog, query)
        return _json(documents.page_list(found.rows, found.cursor), {"Vary": "Accept"})
    query = replace(query, limit=min(wanted.limit or ROWS_AT_ONCE, ROWS_AT_ONCE))
    first = _found(library.catalog, query)
    lines = page_lines(library.catalog, query, first, wanted.limit)
    return StreamingResponse(lines, headers={"Vary": "Accept"}, media_type=_LINES)


@_api.get("/pages/lookup", response_model=documents.PageDocument, responses=_NO_PAGE)
def look_up(library: Reading, url: Url) -> Response:
    """Return the page with a URL, in whichever spelling."""
    mark = library.url_hash(url)
    if mark is None:
        raise RequestError(422, "url", f"url={url[:100]!r}: expected an absolute http or https URL")
    row = library.catalog.page(mark)
    if row is None:
        raise RequestError(404, "url", f"{url[:500]} was never fetched (url_hash {mark.hex()})")
    return _page(library, row)


@_api.get("/pages/{url_hash}", response_model=documents.PageDocument, responses=_NO_PAGE)
def show_page(library: Reading, url_hash: UrlHash) -> Response:
    """Return all that is known of a URL but its text."""
    return _page(library, _row(library, url_hash))


@_api.get("/pages/{url_hash}/raw", responses=_BYTES | _NO_PAGE, response_class=Response)
def show_raw(
    request: Request,
    library: Reading,
    url_hash: UrlHash,
    form: Annotated[
        Literal["decoded", "received"],
        Query(
            alias="as",
            description="`decoded`: what a client of the site sees, content codings undone; "
            "`received`: the bytes as they came, coding in `X-Archived-Content-Encoding`.",
        ),
    ] = "decoded",
) -> Response:
    """Return the body that the site sent, byte for byte; of a copy, that of the original."""
    row = _row(library, url_hash)
    bodies: Bodies = request.app.state.bodies
    body = bodies.find(row, decoded=form == "decoded")
    if isinstance(body, Absent):
        raise RequestError(404, "url_hash", f"no body of {row.url[:500]}: {body.why}")
    flow: Flow = request.app.state.flow
    if not flow.take(len(body.content)):
        raise RequestError(503, None, "too many bodies are under way; try again in a second")
    headers = {
        "Content-Type": body.content_type,
        "Content-Disposition": f'attachment; filename="{row.url_hash.hex()}.bin"',
    }
    if body.coding:
        headers["X-Archived-Content-Encoding"] = body.coding
    return BodyResponse(body.content, headers, flow)


@_api.get("/pages/{url_hash}/text", responses=_TEXT | _NO_PAGE, response_class=Response)
def show_text(library: Reading, url_hash: UrlHash) -> Response:
    """Return the main text of a page; of an exact duplicate, that of the page it repeats."""
    row = _row(library, url_hash)
    line = library.line(row)
    if isinstance(line, Absent):
        raise RequestError(404, "url_hash", f"no text of {row.url[:500]}: {line.why}")
    return PlainTextResponse(str(line.get("text") or ""))


@_api.get("/pages/{url_hash}/history", response_model=documents.History, responses=_NO_PAGE)
def show_history(
    library: Reading, url_hash: UrlHash, limit: Limit = 100, before: Before = None
) -> Response:
    """Return the visits of a URL, newest first."""
    row = _row(library, url_hash)
    visits = library.catalog.history(row.url_hash, limit=limit + 1, before=before)
    return _json(documents.history(row.url_hash.hex(), visits, limit))


@_api.get("/domains", response_model=documents.DomainList)
def list_domains(library: Reading, limit: Limit = 100, after: After = "") -> Response:
    """List registrable domains in the order of their names."""
    rows = library.catalog.domains(limit=limit + 1, after=after.lower())
    return _json(documents.domain_list(rows, limit))


@_around.get("/healthz", response_model=documents.Health)
def health(library: Reading) -> Response:
    """Tell whether the catalog can be read."""
    library.catalog.page(bytes(16))
    return _json({"status": "ok"})


@_around.get("/", include_in_schema=False)
@_around.get("/docs", include_in_schema=False)
async def docs(request: Request) -> Response:
    """Show the page for people."""
    return HTMLResponse(request.app.state.manual, headers={"Content-Security-Policy": POLICY})


def _json(document: dict[str, Any], headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(document), headers=headers, media_type=_JSON)


def _row(library: Library, url_hash: str) -> PageRow:
    row = library.catalog.page(bytes.fromhex(url_hash))
    if row is None:
        raise RequestError(404, "url_hash", f"no URL with url_hash {url_hash} was fetched")
    return row


def _page(library: Library, row: PageRow) -> Response:
    line = library.line(row)
    known = {} if isinstance(line, Absent) else line
    return _json(
        documents.page_entry(row)
        | {
            "redirect_chain": library.redirect_chain(row),
            "headings": known.get("headings"),
            "outlinks": known.get("outlinks"),
            "truncated": known.get("truncated", False) if known else None,
        }
    )


def _found(catalog: PageReader, query: PageQuery) -> Found:
    try:
        return catalog.pages(query)
    except ValueError:
        message = f"cursor={(query.cursor or '')[:100]!r}: expected `cursor` of an answer"
        raise RequestError(422, "cursor", message) from None
