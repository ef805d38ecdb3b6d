"""Reads ``seeds=URL[,URL…]`` and ``seeds=@file``; a bad seed stops the crawl by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MAX_SEEDS_BYTES = 1 << 30
_SHOWN = 200


def read_seeds(spec: str, normalize: Callable[[str], str | None]) -> list[str]:
    """Return the normalised seed URLs in the order given, each once.

    Args:
        spec: URLs separated by commas or white space, or ``@`` and the path of a UTF-8
            file with one URL a line; blank lines and lines that begin with ``#`` are
            skipped. A host name without a scheme means ``https://``.
        normalize: URL → normalised URL, None when it is no http(s) URL.

    Raises:
        ConfigError: No seed at all, an unreadable file, or a seed that is no http(s) URL,
            named with its line when it comes from a file.
    """
    found: dict[str, None] = {}
    for text, where in _entries(spec):
        url = normalize(text if "://" in text or ":" in text.split("/")[0] else f"https://{text}")
        if url is None:
            raise ConfigError(
                f"seed {text[:_SHOWN]!r}{where} is no http or https URL; "
                "expected something like https://example.com/"
            )
        found[url] = None
    if not found:
        source = f"{spec} contains none" if spec.startswith("@") else "none given"
        raise ConfigError(f"no seeds: {source}; say -a seeds=https://example.com/ or seeds=@file")
    return list(found)


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
            if parts and piece and not _begins_url(piece) and word.find(piece) > 0:
                parts[-1] += f",{piece}"
            elif piece:
                parts.append(piece)
    return parts


def _begins_url(piece: str) -> bool:
    host = piece.split("/", maxsplit=1)[0].split(":", maxsplit=1)[0]
    return "://" in piece or "." in host or host == "localhost"


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
