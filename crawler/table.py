"""The one table of settings: names, types, defaults, units, ranges, meanings.

Unknown names under our prefixes, values of the wrong type and values out of range stop the
crawl at its start with the name, the value and what was expected. ``docs/settings.md`` is
generated from the table (``scripts/check`` fails when they differ).
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.errors import ConfigError
from crawler.urls import FILE_EXTENSIONS, TRACKING_PARAMETERS

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class JsonObject(dict[str, Any]):
    """A mapping whose values may be any JSON, such as the options of a driver."""


Value = bool | int | float | str | list[str] | dict[str, str] | JsonObject


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    name: str
    default: Value
    meaning: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False  # a message must not repeat the value

    @property
    def kind(self) -> str:
        """The type in words, as the documentation names it."""
        return _KINDS[type(self.default)]

    def read(self, raw: object) -> Any:
        """Return the value in its type.

        Raises:
            ConfigError: It cannot be read, or is out of range.
        """
        try:
            value = _READERS[type(self.default)](raw)
        except (ValueError, TypeError):
            raise self._refusal(raw) from None
        if not self._in_range(value):
            raise self._refusal(raw)
        return value

    def expected(self) -> str:
        """Say in words what a value must be."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        limits = [f"at least {self.low:g}"] if self.low is not None else []
        limits += [f"at most {self.high:g}"] if self.high is not None else []
        unit = f" ({self.unit})" if self.unit else ""
        return " ".join([self.kind + unit, *([", ".join(limits)] if limits else [])])

    def _refusal(self, raw: object) -> ConfigError:
        shown = "…" if self.secret else repr(raw)
        return ConfigError(f"{self.name}={shown}: expected {self.expected()}")

    def _in_range(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(value, int | float) and not isinstance(value, bool):
            low = self.low is None or value >= self.low
            return low and (self.high is None or value <= self.high) and value == value  # noqa: PLR0124
        return True


def _read_bool(raw: object) -> bool:
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if isinstance(raw, bool):
        return raw
    try:
        return words[str(raw).strip().lower()]
    except KeyError:
        raise ValueError from None


def _read_int(raw: object) -> int:
    if isinstance(raw, bool | float):
        raise TypeError
    return int(str(raw))


def _read_float(raw: object) -> float:
    if isinstance(raw, bool):
        raise TypeError
    return float(str(raw))


def _read_str(raw: object) -> str:
    if not isinstance(raw, str):
        raise TypeError
    return raw


def _read_list(raw: object) -> list[str]:
    if isinstance(raw, str):
        return [part.strip() for part in raw.split(",") if part.strip()]
    if isinstance(raw, Iterable):
        return [_read_str(part) for part in raw]
    raise TypeError


def _read_dict(raw: object) -> dict[str, str]:
    if isinstance(raw, str):
        raw = json.loads(raw) if raw.strip() else {}
    if not isinstance(raw, dict):
        raise TypeError
    return {_read_str(key): _read_str(value) for key, value in raw.items()}


def _read_json_object(raw: object) -> JsonObject:
    if isinstance(raw, str):
        raw = json.loads(raw) if raw.strip() else {}
    if not isinstance(raw, dict):
        raise TypeError
    return JsonObject({_read_str(key): value for key, value in raw.items()})


_READERS: dict[type, Callable[[object], Any]] = {
    bool: _read_bool,
    int: _read_int,
    float: _read_float,
    str: _read_str,
    list: _read_list,
    dict: _read_dict,
    JsonObject: _read_json_object,
}
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    list: "list (comma-separated on the command line)",
    dict: "mapping (JSON on the command line)",
    JsonObject: "JSON object",
}

PREFIXES = (
    "SEEDS_",
    "FRONTIER_",
    "POLITENESS_",
    "ROBOTS_",
    "BACKOFF_",
    "URLS_",
    "PARSING_",
    "DEDUPE_",
    "STORE_",
    "SAFETY_",
    "API_",
    "TRAPS_",
)

_DAY = 86_400

TABLE: tuple[Setting, ...] = (
    # --- frontier: how far, how much ---
    Setting("FRONTIER_HOST_BUDGET", 10_000, "Pages fetched per host; 0 = no limit.", "pages", 0),
    Setting("FRONTIER_MAX_DEPTH", 0, "Links followed from a seed; 0 = no limit.", "links", 0),
    Setting(
        "FRONTIER_MAX_PAGES", 0, "Stored pages of the crawl, never exceeded; 0 = no limit.",
        "pages", 0,
    ),
    Setting(
        "FRONTIER_MAX_FETCHES", 0, "Fetched URLs of the crawl, never exceeded; 0 = no limit.",
        "URLs", 0,
    ),
    Setting(
        "FRONTIER_MAX_REDIRECTS", 5, "Hops of one redirect chain; a longer one is rejected.",
        "hops", 0, 20,
    ),
    Setting(
        "FRONTIER_MAX_COPIES", 2,
        "Duplicates in a row whose links are still followed, so that a site reached through a "
        "copy is found and a trap of copies ends.", "pages", 0, 200,
    ),
    Setting(
        "FRONTIER_MAX_URL_LENGTH", 2048, "A longer URL is rejected; 0 = no limit.",
        "characters", 0,
    ),
    Setting(
        "FRONTIER_MAX_PATH_SEGMENTS", 32, "A URL with more is rejected; 0 = no limit.",
        "segments", 0,
    ),
    Setting(
        "FRONTIER_MAX_QUERY_PARAMETERS", 24, "A URL with more is rejected; 0 = no limit.",
        "parameters", 0,
    ),
    Setting(
        "FRONTIER_SKIP_EXTENSIONS", list(FILE_EXTENSIONS),
        "Links to paths that end so are not followed, because no page is there; seeds are. Unless "
        "set, files of the types in PARSING_TYPES are followed.",
    ),
    Setting(
        "FRONTIER_AGING", 10.0,
        "Waiting that outweighs one link of depth, so that no host starves.", "s", 0.001,
    ),
    Setting(
        "FRONTIER_BUFFER",
        100_000,
        "Queued URLs held in memory over all hosts; the rest is in the store.",
        "URLs",
        1,
    ),
    Setting(
        "FRONTIER_SEEN",
        "exact",
        "What decides that a URL is known: the store, or a Bloom filter in bounded memory that "
        "takes a few new URLs for known.",
        choices=("exact", "approximate"),
    ),
    Setting(
        "FRONTIER_SEEN_CAPACITY",
        1_000_000,
        "Approximate: URLs in the first layer; further layers double.",
        "URLs",
        1000,
    ),
    Setting(
        "FRONTIER_SEEN_ERROR",
        0.001,
        "Approximate: most of the new URLs that are lost, over all layers.",
        "share",
        1e-9,
        0.1,
    ),
    Setting(
        "FRONTIER_MAX_WAIT", 120.0,
        "Longest time without a page while every host with URLs rests; then the crawl ends as "
        "`waiting` with its queue kept.", "s", 0,
    ),
    Setting(
        "FRONTIER_COMMIT_INTERVAL", 1.0, "Results become durable at least this often.",
        "s", 0.01, 3600,
    ),
    Setting(
        "FRONTIER_COMMIT_PAGES", 200, "Results become durable after so many pages.",
        "pages", 1, 100_000,
    ),
    Setting(
        "FRONTIER_SYNC", "interval",
        "When results are synced to disk: `interval`, with the group commits; `commit`, after "
        "every page, which costs a disk sync each.",
        choices=("interval", "commit"),
    ),
    # --- seeds: where from ---
    Setting(
        "SEEDS_SITEMAPS", True, "Fetch the sitemaps that a robots.txt names, and their pages."
    ),
    # --- politeness: how fast ---
    Setting(
        "POLITENESS_DELAY", 1.0,
        "From the end of a transfer to the next request to the same host.", "s", 0, _DAY,
    ),
    Setting(
        "POLITENESS_CRAWL_DELAY_CAP", 60.0,
        "A longer Crawl-delay of a site counts as this.", "s", 0, _DAY,
    ),
    Setting("ROBOTS_ENABLED", True, "Obey robots.txt. Switch off on your own servers only."),
    Setting(
        "ROBOTS_MAX_AGE", float(_DAY), "A copy of robots.txt is fetched anew after this.",
        "s", 1, _DAY,
    ),
    Setting(
        "ROBOTS_RETRY", 5.0,
        "First wait before an unreachable robots.txt is asked for again; it doubles.",
        "s", 0.1, 3600,
    ),
    Setting(
        "ROBOTS_LONG_OUTAGE", 30.0 * _DAY,
        "robots.txt unreachable for so long: see ROBOTS_LONG_OUTAGE_POLICY.", "s", 0,
    ),
    Setting(
        "ROBOTS_LONG_OUTAGE_POLICY", "disallow",
        "What then holds for a host without a known robots.txt (RFC 9309 §2.3.1.4).",
        choices=("allow", "disallow"),
    ),
    Setting(
        "BACKOFF_BASE", 1.0,
        "First rest of a host after 429 or 503 without Retry-After, and at least twice its "
        "delay; it doubles.", "s", 0.01, _DAY,
    ),
    Setting(
        "BACKOFF_CAP", 3600.0, "Longest rest of our own making.", "s", 0.01, _DAY,
    ),
    Setting(
        "BACKOFF_RETRY_AFTER_CAP", float(_DAY), "A longer Retry-After counts as this.",
        "s", 1, 7 * _DAY,
    ),
    Setting(
        "BACKOFF_CPU_BURST", 0.1,
        "What answers of a host may cost at once beyond its fair share of the core, before it "
        "rests for up to a minute. The share is one part in as many as answer; the first 20 ms of "
        "an answer are free, an ordinary page takes 2.", "CPU s", 0, _DAY,
    ),
    Setting(
        "BACKOFF_RETRIES", 2, "Further tries after a server or network failure.", "tries", 0, 100,
    ),
    Setting(
        "BACKOFF_THROTTLES", 12, "Tries of a URL that end in 429 or 503 before it is given up.",
        "tries", 0, 1000,
    ),
    Setting(
        "BACKOFF_RETRY_BASE", 2.0, "First wait before a failed URL is tried again; it doubles.",
        "s", 0.01, _DAY,
    ),
    # --- urls: what is one URL ---
    Setting("URLS_DROP_TRACKING", True, "Leave out parameters that only track visitors."),
    Setting(
        "URLS_TRACKING_PARAMETERS", list(TRACKING_PARAMETERS),
        "Their names; a trailing * matches any ending.",
    ),
    Setting("URLS_DROP_SESSION_IDS", True, "Leave out session ids in paths and queries."),
    Setting("URLS_SORT_PARAMETERS", True, "URLs that differ in parameter order only are one."),
    Setting("URLS_COLLAPSE_SLASHES", False, "`//` in a path is compared as `/`."),
    Setting("URLS_DROP_INDEX", False, "`/index.html` and its like are compared as `/`."),
    Setting("URLS_STRIP_TRAILING_SLASH", False, "`/a/` is compared as `/a`."),
    # --- parsing ---
    Setting(
        "PARSING_MAX_BYTES", 16 * 2**20, "Of a page; what follows is not parsed.", "bytes", 1024,
    ),
    Setting("PARSING_MAX_LINKS", 10_000, "Of a page; further ones are ignored.", "links", 0),
    Setting(
        "PARSING_MAX_TEXT", 1_000_000, "Of a page's text; what follows is cut.", "characters", 0,
    ),
    Setting("PARSING_FOLLOW_FRAMES", True, "Links of frame and iframe are followed, too."),
    Setting(
        "PARSING_TYPES", {},
        "Content types that are read beside html, sitemap, feed and text: {name: module}, such as "
        '{"pdf": "crawler.parsing.pdf"}. An empty module switches one off. See content-types.md.',
    ),
    Setting(
        "PARSING_TIMEOUT", 10.0,
        "For a document that is parsed in a process of its own (PDF); then the process is ended.",
        "s", 0.1, 600,
    ),
    Setting(
        "PARSING_MEMORY", 512 * 2**20, "Of such a process; one that needs more is ended.",
        "bytes", 128 * 2**20,
    ),
    Setting("PARSING_WORKERS", 2, "Such processes, at most.", "processes", 1, 64),
    # --- dedupe ---
    Setting("DEDUPE_EXACT_ENABLED", True, "Drop pages with the text of another page."),
    Setting("DEDUPE_NEAR_ENABLED", True, "Drop pages with nearly the text of another page."),
    Setting(
        "DEDUPE_ALGORITHM", "fast",
        "Fingerprints: `fast`, or `reference` (the simhash package) and `numpy`, which agree.",
        choices=("fast", "numpy", "reference"),
    ),
    Setting("DEDUPE_CROSS_SITE", True, "Look for near duplicates on other sites, too."),
    # --- store: what is kept beside pages.jsonl ---
    Setting(
        "STORE_WARC_ENABLED", True,
        "Keep every answer as it was received, in WARC files under JOBDIR/warc.",
    ),
    Setting(
        "STORE_WARC_SEGMENT", 2**30, "Size at which a WARC file is full and the next one begins.",
        "bytes", 2**16,
    ),
    Setting(
        "STORE_OTHER_TYPES", True,
        "Keep the bytes of types for which there is no parser, such as images, too.",
    ),
    Setting(
        "STORE_CATALOG_ENABLED", True, "Keep a row of every fetched URL, and of every visit.",
    ),
    Setting(
        "STORE_CATALOG", "",
        "Database of those rows, such as postgresql+psycopg://user@host/name; empty: "
        "JOBDIR/catalog.sqlite.",
    ),
    Setting(
        "STORE_OBJECTS", "",
        "Where finished files are uploaded: any URL that fsspec can write to, such as "
        "`s3://bucket/prefix`; empty = nowhere.",
    ),
    Setting(
        "STORE_OBJECTS_OPTIONS", JsonObject(),
        "Options of its driver, such as `endpoint_url`; credentials are better left to the "
        "environment.", secret=True,
    ),
    Setting(
        "STORE_KEEP_LOCAL", True,
        "Keep a file in the job directory when its upload is verified and recorded.",
    ),
    # --- traps: what is not worth fetching (docs/traps.md) ---
    Setting(
        "TRAPS_ENABLED", True,
        "Stop URLs whose like brought nothing new, and learn which parameters change nothing. "
        "Switched off, what was stopped before goes on.",
    ),
    Setting(
        "TRAPS_PATIENCE", 24,
        "Fetches in a row that bring nothing new until their pattern is stopped.",
        "fetches", 4, 100_000,
    ),
    Setting(
        "TRAPS_PROBES", 16,
        "Of the URLs of a stopped pattern the one with this number is fetched to see if the stop "
        "is right; then, while it is, one at each doubling.", "URLs", 1, 100_000,
    ),
    Setting(
        "TRAPS_EVIDENCE", 8,
        "Duplicates that differ in a parameter, until it is taken for irrelevant.",
        "pages", 2, 100_000,
    ),
    Setting(
        "TRAPS_KEPT", 10_000,
        "URLs kept of a stopped pattern, to be fetched if it turns out to bring something.",
        "URLs", 0,
    ),
    Setting(
        "TRAPS_SUB_DOMAINS", 16,
        "Sub-domains of one site without anything new that are tried, and four more for each "
        "that brought something.", "hosts", 1,
    ),
    # --- safety ---
    Setting(
        "SAFETY_ALLOWED_NETWORKS", [],
        "Networks (CIDR) that may be reached although they are private or local; the hosts of "
        "the seeds may, unless they have public addresses, too.",
    ),
    Setting(
        "SAFETY_HOSTS", {}, "Fixed addresses of host names, asked before DNS: {name: address}.",
    ),
    # --- the read API ---
    Setting(
        "API_HOST", "127.0.0.1",
        "Address that `scrapy api` listens on; one that other machines reach needs API_TOKEN.",
    ),
    Setting("API_PORT", 8000, "Its port; 0 takes a free one.", "port", 0, 65_535),
    Setting(
        "API_TOKEN", "",
        "Every request must carry it as `Authorization: Bearer TOKEN`; empty asks for none. At "
        "least 16 characters.", secret=True,
    ),
)  # fmt: skip

BY_NAME = {setting.name: setting for setting in TABLE}


def read_one(name: str, raw: object) -> Any:
    """Return the value of one setting.

    Raises:
        ConfigError: The value is unusable.
    """
    return BY_NAME[name].read(raw)


def check_names(settings: BaseSettings) -> None:
    """Refuse names under our prefixes that are not in the table."""
    for name in map(str, settings):
        if name.startswith(PREFIXES) and name not in BY_NAME:
            near = difflib.get_close_matches(name, BY_NAME, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"unknown setting {name}={settings[name]!r}{hint} (all are in docs/settings.md)"
            )
