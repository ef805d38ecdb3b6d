"""Who may ask, and what browsers may do with the answers.

A crawler's catalog and the pages in it are nobody's business but the operator's, and a crawled
page may be made to attack whoever looks at it.

* With a token, every request has to carry it. Without one only this machine is listened to, and
  then the Host header must be a name of this machine too: else a web page could reach the API
  through a name of its own that it lets resolve to 127.0.0.1 (DNS rebinding).
* A client that takes nothing for a minute is left, so that answers do not pile up.
* Every answer forbids browsers to guess its type, to run anything in it, and to hand it to the
  pages of other sites.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
from typing import TYPE_CHECKING

import anyio
from starlette.requests import ClientDisconnect

from crawler.api.problems import error_response, shown

if TYPE_CHECKING:
    from fastapi import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

INERT = "sandbox; default-src 'none'"
"""Content-Security-Policy of all that comes from a crawl."""

_SAFE = (
    (b"content-security-policy", INERT.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
)
_PORT = re.compile(r":\d*$", re.ASCII)


def is_loopback(name: str) -> bool:
    """Tell whether a host name or address, an IPv6 address with or without brackets, is here."""
    name = name.lower().removesuffix(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets requests through that may be, and adds to each answer what makes it safe.

    Args:
        app: What answers.
        token: That requests have to carry; empty: requests to this machine only.
        patience: Seconds for which a client may take nothing.
    """

    def __init__(self, app: ASGIApp, token: str, patience: float) -> None:
        self._app = app
        self._token = token.encode()
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = _with_safe(message["headers"])
            with anyio.fail_after(self._patience):
                await send(message)

        answer = self._refusal(scope["headers"]) or self._app
        try:
            await answer(scope, receive, send_safely)
        except (TimeoutError, ClientDisconnect):
            logger.info("A client took nothing for %g s and was left", self._patience)

    def _refusal(self, headers: list[tuple[bytes, bytes]]) -> Response | None:
        if not self._token:
            hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
            if len(hosts) == 1 and is_loopback(_PORT.sub("", hosts[0])):
                return None
            message = (
                f"{', '.join(map(shown, hosts)) or 'none'}: expected localhost or a loopback "
                "address, because the server has no API_TOKEN"
            )
            return error_response(400, "Host", message)
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) == 1 and self._is_right(given[0]):
            return None
        message = "expected 'Authorization: Bearer TOKEN' with the server's API_TOKEN"
        return error_response(401, "Authorization", message, {"WWW-Authenticate": "Bearer"})

    def _is_right(self, value: bytes) -> bool:
        scheme, _, token = value.partition(b" ")
        return hmac.compare_digest(token.strip(), self._token) and scheme.lower() == b"bearer"


def _with_safe(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    there = {name.lower() for name, _ in headers}
    return [*headers, *(pair for pair in _SAFE if pair[0] not in there)]
