"""Reads ``seeds=URL[,URL…]`` and ``seeds=@file``; a bad seed stops the crawl by its name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_SEEDS_BYTES = 1 << 30
_SHOWN = 200
_WITHOUT_SCHEME = re.compile(
    r"(?P<host>\[[\da-f.]*:[\da-f:.]*]|[^\s/?#:@\\\[\]]+)(?::\d{1,5})?(?:[/?#].*)?",
    re.DOTALL | re.IGNORECASE,
)


def read_seeds(spec: str, normalize: Callable[[str], str | None]) -> list[str]:
    """Return the normalised seed URLs in the order given, each once.

    Args:
        spec: URLs separated by commas or white space, or ``@`` and the path of a UTF-8
            file with one URL a line; blank lines and lines that begin with ``#`` are
            skipped. Without a scheme, a host (a name with a dot, localhost, or an
            address), with or without port and path, means ``http://``.
        normalize: URL → normalised URL, None when it is no http(s) URL.

    Raises:
        ConfigError: No seed at all, an unreadable file, or a seed that is no http(s) URL,
            named with its line when it comes from a file.
    """
    found: dict[str, None] = {}
    for text, where in _entries(spec):
        url = normalize(f"http://{text}" if _names_host(text) else text)
        if url is None:
            raise ConfigError(
                f"seed {text[:_SHOWN]!r}{where} is no http or https URL; {_remedy(text)}"
                f"{'' if where or len(spec.split()) == 1 else _SEPARATED}"
            )
        found[url] = None
    if not found:
        raise ConfigError(
            f"no seeds: {spec[:_SHOWN]!r} has none; expected URLs such as https://example.com/, or "
            "@file with one a line"
        )
    return list(found)


_SEPARATED = " (white space separates seeds; in a URL it is written %20)"


def _names_host(text: str) -> bool:
    """Tell whether a text without a scheme begins with a host that can be meant for one."""
    match = _WITHOUT_SCHEME.fullmatch(text)
    return match is not None and (
        "." in match["host"] or match["host"][0] == "[" or match["host"].lower() == "localhost"
    )


def _remedy(text: str) -> str:
    match = _WITHOUT_SCHEME.fullmatch(text)
    if match is not None and match["host"].isalnum():
        return f"a name without a dot needs its scheme: http://{match['host'][:_SHOWN]}/"
    return "expected something like https://example.com/"


def _entries(spec: str) -> Iterator[tuple[str, str]]:
    """Yield each seed as written, and where it stands for an error message."""
    if not spec.startswith("@"):
        for text in _split(spec):
            yield text, ""
        return
    path = Path(spec[1:]).expanduser()
    for number, line in enumerate(_lines(path), start=1):
        text = line.strip()
        if text and not text.startswith("#"):
            yield text, f" (line {number} of {path})"


def _split(spec: str) -> list[str]:
    """Split at white space, and at commas that begin a new URL: a comma may be part of one."""
    parts: list[str] = []
    for word in spec.split():
        for piece in word.split(","):
            begins = "://" in piece or _names_host(piece)
            if parts and piece and not begins and word.find(piece) > 0:
                parts[-1] += f",{piece}"
            elif piece:
                parts.append(piece)
    return parts


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MAX_SEEDS_BYTES:
            raise ConfigError(f"seeds file {path} is larger than {MAX_SEEDS_BYTES} bytes")
        return path.read_text(encoding="utf-8-sig", errors="strict").splitlines()
    except OSError as error:
        raise ConfigError(f"seeds file {path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"seeds file {path} is not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from error
