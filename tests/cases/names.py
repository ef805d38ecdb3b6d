"""Host names: ``a.test`` of a case is a name of its own on the local web, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PRIVATE = "PRIVATE"
"""Stands in a case's texts for an address that the crawl may not reach, though a server listens."""

_HOST = re.compile(
    r"(?P<before>(?:(?P<scheme>https?):)?//(?:[^/@\s\"'<>]*@)?)?"
    r"(?<![\w.-])(?P<name>[\w-]+(?:\.[\w-]+)*)\.test(?![\w-])(?P<dot>\.(?=[/:?#]))?(?P<port>:\d*)?",
    re.ASCII | re.IGNORECASE,
)
_LOCAL = re.compile(r"(?P<name>.+)-c(?P<number>\d+)\.test\.?")
_DEFAULT = {"http": 80, "https": 443}


class Names:
    """The names of one case.

    Args:
        number: Of the case within its crawl.
        ports: Scheme -> port of the local web.
        private: The address that :data:`PRIVATE` stands for; empty for none.
    """

    def __init__(self, number: int, ports: Mapping[str, int], private: str) -> None:
        self._suffix = f"-c{number}.test"
        self._ports = {
            scheme: "" if port == _DEFAULT[scheme] else f":{port}" for scheme, port in ports.items()
        }
        self.private = private
        ours = "|".join(filter(None, self._ports.values())) or "(?!)"
        address = re.escape(private) or "(?!)"
        self._told = re.compile(
            rf"(?:{re.escape(self._suffix)}(?P<dot>\.(?=:))?|(?P<private>{address}))(?:{ours})?(?!\d)",
            re.IGNORECASE,
        )

    def local(self, text: str) -> str:
        """Return a text of the case with the names and ports of the local web."""
        text = text.replace(f"http://{PRIVATE}", f"http://{self.private}{self._ports['http']}")
        text = text.replace(PRIVATE, self.private)
        return _HOST.sub(self._local_host, text)

    def told(self, value: Any) -> Any:
        """Return what came of the crawl in the case's own names; lists and mappings too."""
        if isinstance(value, str):
            return self._told.sub(
                lambda m: PRIVATE if m["private"] else f".test{m['dot'] or ''}", value
            )
        if isinstance(value, list):
            return [self.told(one) for one in value]
        if isinstance(value, dict):
            return {key: self.told(one) for key, one in value.items()}
        return value

    def _local_host(self, match: re.Match[str]) -> str:
        port = match["port"] or ""
        if match["before"] and port in ("", ":"):
            port = self._ports[(match["scheme"] or "http").lower()] or port
        return f"{match['before'] or ''}{match['name']}{self._suffix}{match['dot'] or ''}{port}"


def hosts_in(text: str) -> set[str]:
    """Return the host names that a text of a case mentions."""
    return {f"{match['name']}.test".lower() for match in _HOST.finditer(text)}


def split_local(name: str) -> tuple[str, int] | None:
    """Return (name in the case, number of the case) of a local name; None for any other."""
    match = _LOCAL.fullmatch(name.lower())
    return (f"{match['name']}.test", int(match["number"])) if match else None
