"""The arguments of the spider ``web`` (``-a name=value``), read and checked before the start."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.config import Config
from crawler.errors import ConfigError
from crawler.seeds import read_seeds
from crawler.table import read_one
from crawler.urls import Canonicalizer, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.settings import BaseSettings

ARGUMENTS = {
    "seeds": "URL[,URL…] or @FILE (one URL a line): where the crawl begins; or else sitemaps",
    "sitemaps": "URL[,URL…] or @FILE: sitemaps or feeds, read first; their sites are in scope",
    "scope": "host | site | any: the seeds' hosts, their registrable domains (default), or all",
    "max_pages": "stop after so many stored pages, exactly (0 = no limit)",
    "max_fetches": "stop after so many fetched URLs, exactly (0 = no limit)",
    "max_depth": "links followed from a seed (0 = no limit)",
    "allow": "regular expression that a URL must match; several are separated by spaces",
    "deny": "regular expression that no URL may match; several are separated by spaces",
}
_AS_SETTINGS = {
    "max_pages": "FRONTIER_MAX_PAGES",
    "max_fetches": "FRONTIER_MAX_FETCHES",
    "max_depth": "FRONTIER_MAX_DEPTH",
}
_CMDLINE_PRIORITY = 45  # above -s NAME=value (40): the argument is the more particular wish


@dataclass(frozen=True, slots=True)
class WebArguments:
    """The arguments in their types."""

    seeds: list[str]
    sitemaps: list[str]
    scope: Scope
    allow: list[str]
    deny: list[str]
    limits: dict[str, str]

    @classmethod
    def read(cls, given: Mapping[str, object], settings: BaseSettings) -> WebArguments:
        """Check every argument; names that begin with ``_`` (scrapyd's ``_job``) are not ours.

        Raises:
            ConfigError: An argument is unknown, missing or unusable.
        """
        values = {name: str(value) for name, value in given.items() if not name.startswith("_")}
        for name, value in values.items():
            if name not in ARGUMENTS:
                near = difflib.get_close_matches(name, ARGUMENTS, n=1)
                hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(ARGUMENTS)}"
                raise ConfigError(f"unknown argument -a {name}={value}: {hint}")
        limits = {name: values[name] for name in _AS_SETTINGS if name in values}
        for name, value in limits.items():
            _check_limit(name, value)
        config = Config.read(settings)
        sitemaps, seeds = _starts(values, Canonicalizer(config.urls).normalize)
        allow, deny = values.get("allow", "").split(), values.get("deny", "").split()
        config.url_filter(allow, deny)
        scope = Scope([*sitemaps, *seeds], values.get("scope", "site"))  # type: ignore[arg-type]
        return cls(seeds, sitemaps, scope, allow, deny, limits)

    @property
    def starts(self) -> list[str]:
        """All that the crawl begins with, sitemaps first."""
        return list(dict.fromkeys([*self.sitemaps, *self.seeds]))

    def apply(self, settings: BaseSettings) -> None:
        """Turn the limits into the settings of the same meaning."""
        for name, value in self.limits.items():
            settings.set(_AS_SETTINGS[name], value, priority=_CMDLINE_PRIORITY)


def _starts(
    values: Mapping[str, str], normalize: Callable[[str], str | None]
) -> tuple[list[str], list[str]]:
    """Return sitemaps and seeds, of which at least one must be given."""
    sitemaps, seeds = values.get("sitemaps", ""), values.get("seeds", "")
    if not (sitemaps or seeds):
        raise ConfigError(
            "no seeds: say where to begin, -a seeds=https://example.com/ or seeds=@file, or name "
            "-a sitemaps="
        )
    if not sitemaps:
        return [], read_seeds(seeds, normalize)
    try:
        found = read_seeds(sitemaps, normalize)
    except ConfigError as error:
        raise ConfigError(f"-a sitemaps: {error}") from None
    return found, read_seeds(seeds, normalize) if seeds else []


def _check_limit(name: str, value: str) -> None:
    try:
        read_one(_AS_SETTINGS[name], value)
    except ConfigError as error:
        message = str(error).replace(_AS_SETTINGS[name], f"-a {name}")
        raise ConfigError(message) from None
