"""Listening for requests, for as long as nobody presses Ctrl-C."""

from __future__ import annotations

import contextlib
import re
import socket
from typing import TYPE_CHECKING, NamedTuple

import uvicorn

from crawler.api.guard import is_loopback
from crawler.errors import ConfigError

if TYPE_CHECKING:
    from fastapi import FastAPI

_SHORTEST_TOKEN = 16  # characters
_VISIBLE = re.compile(r"[!-~]+").fullmatch
_BACKLOG = 512  # connections that wait to be accepted
_MOST_CONNECTIONS = 500  # further ones get 503
_LONGEST_HEAD = 128 << 10  # bytes of request line and headers
_LAST_ANSWERS = 5  # seconds for them at the end


class Address(NamedTuple):
    """Where to listen, and the token that requests have to carry; empty: none."""

    host: str
    port: int  # 0 takes a free one
    token: str = ""


def listen(address: Address) -> socket.socket:
    """Return a socket that listens.

    Raises:
        ConfigError: Other machines would be let in without a token, or with one that can be
            guessed; or the address cannot be used. Naming the setting and the remedy.
    """
    where = f"API_HOST={address.host!r}, API_PORT={address.port}"
    _check_token(address.token)
    try:
        family, _, _, _, place = socket.getaddrinfo(
            address.host.strip("[]"), address.port, type=socket.SOCK_STREAM
        )[0]
        if not address.token and not is_loopback(str(place[0])):
            raise ConfigError(
                f"{where}: other machines could read all that was crawled; "
                "expected 127.0.0.1, ::1 or localhost, or an API_TOKEN that requests must carry"
            )
        return socket.create_server(place[:2], family=family, backlog=_BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{where}: cannot listen there: {reason}; choose another with --host and --port"
        ) from error


def _check_token(token: str) -> None:
    if not token or (len(token) >= _SHORTEST_TOKEN and _VISIBLE(token)):
        return
    raise ConfigError(
        f"API_TOKEN has {len(token)} characters: expected at least {_SHORTEST_TOKEN} visible ASCII "
        "characters, such as python -c 'import secrets; print(secrets.token_urlsafe())' prints"
    )


def url_of(listening: socket.socket) -> str:
    """Return the URL under which a socket is reached."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: FastAPI) -> uvicorn.Server:
    """Return what serves an application; answers under way get some seconds at the end.

    HTTP/1.1 is read by h11, which bounds the head of a request.
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="on",
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_MOST_CONNECTIONS,
            h11_max_incomplete_event_size=_LONGEST_HEAD,
            timeout_graceful_shutdown=_LAST_ANSWERS,
        )
    )


def serve(app: FastAPI, listening: socket.socket) -> None:
    """Serve an application until SIGINT or SIGTERM."""
    with listening, contextlib.suppress(KeyboardInterrupt):
        make_server(app).run(sockets=[listening])
