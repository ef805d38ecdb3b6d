"""What is wrong with a request, in one form: ``{"error": {"parameter": ..., "message": ...}}``."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException as RoutingError

from crawler.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

logger = logging.getLogger(__name__)

_SHOWN = 100  # characters of a value that are repeated in a message


class Fault(BaseModel):
    """Which input cannot be used, and why."""

    model_config = ConfigDict(extra="forbid")

    parameter: str | None = Field(description="Name of the input; null when it is none.")
    message: str = Field(description="The value, what is wrong with it, what is expected.")


class ErrorDocument(BaseModel):
    """The one form of an error."""

    model_config = ConfigDict(extra="forbid")

    error: Fault


class RequestError(Exception):
    """Ends a request with an error.

    Args:
        status: HTTP status.
        parameter: Name of the input that is wrong; None when it is none.
        message: What is wrong, and what would be right.
    """

    def __init__(self, status: int, parameter: str | None, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter


def shown(value: object) -> str:
    """Return a value for a message: quoted, and cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


def error_response(
    status: int, parameter: str | None, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error in its one form."""
    content = orjson.dumps({"error": {"parameter": parameter, "message": message}})
    return Response(content, status, headers, "application/json")


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the part of an endpoint's documentation that says which errors it gives."""
    return {
        status: {"model": ErrorDocument, "description": _MEANINGS[status]} for status in statuses
    }


def handle_problems(app: FastAPI) -> None:
    """Answer every error of an application in the one form."""
    app.add_exception_handler(RequestError, _problem)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(RoutingError, _unrouted)
    app.add_exception_handler(StoreError, _unavailable)
    app.add_exception_handler(Exception, _broken)


_MEANINGS = {
    400: "The request is none for this server.",
    401: "The token is missing or wrong.",
    404: "There is no such thing; the message says why.",
    422: "A parameter cannot be used; the message says what is expected.",
    503: "The store cannot be read now, or too much is under way.",
}


async def _problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)  # registered for no other
    return error_response(error.status, error.parameter, str(error))


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # registered for no other
    first = error.errors()[0]
    name = _name_of(first["loc"])
    reason = str(first["msg"]).removeprefix("Value error, ")
    reason = reason[:1].lower() + reason[1:]
    if first["type"] == "missing":
        return error_response(422, name, f"{name} is missing: it has to be given")
    return error_response(422, name, f"{name}={shown(first.get('input'))}: {reason}")


def _name_of(place: Sequence[str | int]) -> str:
    return str(place[1] if len(place) > 1 else place[0])


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException | RoutingError)  # registered for no other
    if error.status_code == 405:  # noqa: PLR2004 -- Method Not Allowed
        message = f"{shown(request.method)}: expected GET, nothing can be changed here"
        return error_response(405, "method", message, error.headers)
    message = f"no such resource {shown(request.url.path)}; /docs lists those there are"
    return error_response(error.status_code, "path", message, error.headers)


async def _unavailable(_request: Request, error: Exception) -> Response:
    logger.warning("The store cannot be read: %s", error)
    return error_response(503, None, "the store cannot be read now; the server's log says why")


async def _broken(_request: Request, error: Exception) -> Response:
    """Answer what must not happen; the server logs the traceback."""
    message = f"the request broke the server ({type(error).__name__}); its log says how"
    return error_response(500, None, message)
