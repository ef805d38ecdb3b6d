"""The only code that turns settings into the option values of the stages.

A stage never sees a settings object: it gets a frozen options value made here, from the
values that :mod:`crawler.table` has read and checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.utils.misc import load_object

from crawler.borrowed import read_borrowed
from crawler.dedupe import DedupeOptions
from crawler.errors import ConfigError
from crawler.frontier import FrontierOptions
from crawler.parsing import ContentTypes, ParsingOptions
from crawler.politeness import BackoffOptions, RobotsOptions, product_token
from crawler.store import ObjectOptions, StoreOptions
from crawler.table import TABLE, check_names
from crawler.traps import TrapOptions
from crawler.urls import FILE_EXTENSIONS, Network, UrlFilter, UrlOptions, parse_networks
from crawler.workers import WorkerOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scrapy.settings import BaseSettings


@dataclass(frozen=True, slots=True)
class Config:
    """All options of a crawl, each in the type of the stage that obeys it."""

    frontier: FrontierOptions
    robots: RobotsOptions
    backoff: BackoffOptions
    urls: UrlOptions
    parsing: ParsingOptions
    types: ContentTypes
    workers: WorkerOptions
    dedupe: DedupeOptions
    store: StoreOptions
    objects: ObjectOptions
    traps: TrapOptions
    networks: tuple[Network, ...]
    hosts: dict[str, str]
    api: tuple[str, int, str]  # host, port, token
    sitemaps: bool
    max_copies: int
    max_wait: float
    cpu_burst: float
    commit_interval: float
    commit_pages: int
    most_bytes: int
    _limits: tuple[int, int, int]
    _extensions: tuple[str, ...]

    @classmethod
    def read(cls, settings: BaseSettings) -> Config:
        """Read and check every setting of ours, and what is checked of Scrapy's.

        Raises:
            ConfigError: Naming the setting, its value and what was expected.
        """
        check_names(settings)
        v = {s.name: s.read(settings.get(s.name, s.default)) for s in TABLE}
        v |= read_borrowed(settings)
        types = ContentTypes.named(v["PARSING_TYPES"])
        return cls(
            frontier=_frontier(v),
            robots=_robots(v, str(settings.get("USER_AGENT") or "")),
            backoff=_backoff(v),
            urls=_urls(v),
            parsing=ParsingOptions(
                max_bytes=v["PARSING_MAX_BYTES"],
                max_links=v["PARSING_MAX_LINKS"],
                max_text=v["PARSING_MAX_TEXT"],
                follow_frames=v["PARSING_FOLLOW_FRAMES"],
            ),
            types=types,
            workers=WorkerOptions(
                processes=v["PARSING_WORKERS"],
                timeout=v["PARSING_TIMEOUT"],
                memory=v["PARSING_MEMORY"],
            ),
            dedupe=DedupeOptions(
                exact=v["DEDUPE_EXACT_ENABLED"],
                near=v["DEDUPE_NEAR_ENABLED"],
                algorithm=v["DEDUPE_ALGORITHM"],
                cross_site=v["DEDUPE_CROSS_SITE"],
            ),
            store=StoreOptions(
                warc=v["STORE_WARC_ENABLED"],
                segment=v["STORE_WARC_SEGMENT"],
                other_types=v["STORE_OTHER_TYPES"],
                catalog=v["STORE_CATALOG_ENABLED"],
                catalog_url=v["STORE_CATALOG"],
            ),
            objects=ObjectOptions(
                url=v["STORE_OBJECTS"],
                driver=v["STORE_OBJECTS_OPTIONS"],
                keep_local=v["STORE_KEEP_LOCAL"],
            ),
            traps=TrapOptions(
                enabled=v["TRAPS_ENABLED"],
                patience=v["TRAPS_PATIENCE"],
                probe_every=v["TRAPS_PROBES"],
                evidence=v["TRAPS_EVIDENCE"],
                kept=v["TRAPS_KEPT"],
                sub_domains=v["TRAPS_SUB_DOMAINS"],
            ),
            networks=_networks(v["SAFETY_ALLOWED_NETWORKS"]),
            hosts={name.lower(): address for name, address in v["SAFETY_HOSTS"].items()},
            api=(v["API_HOST"], v["API_PORT"], v["API_TOKEN"]),
            sitemaps=v["SEEDS_SITEMAPS"],
            max_copies=v["FRONTIER_MAX_COPIES"],
            max_wait=v["FRONTIER_MAX_WAIT"],
            cpu_burst=v["BACKOFF_CPU_BURST"],
            commit_interval=v["FRONTIER_COMMIT_INTERVAL"],
            commit_pages=1 if v["FRONTIER_SYNC"] == "commit" else v["FRONTIER_COMMIT_PAGES"],
            most_bytes=v["DOWNLOAD_MAXSIZE"],
            _limits=(
                v["FRONTIER_MAX_URL_LENGTH"],
                v["FRONTIER_MAX_PATH_SEGMENTS"],
                v["FRONTIER_MAX_QUERY_PARAMETERS"],
            ),
            _extensions=_extensions(v["FRONTIER_SKIP_EXTENSIONS"], types),
        )

    def url_filter(
        self, allow: Sequence[str], deny: Sequence[str], *, only_pages: bool = False
    ) -> UrlFilter:
        """Return the filter of a crawl: its patterns and the limits of a URL.

        Args:
            allow: Patterns of which one must be found.
            deny: Patterns of which none may be found.
            only_pages: Whether the crawl has no use for other files.

        Raises:
            ConfigError: A pattern is no regular expression.
        """
        length, segments, parameters = self._limits
        return UrlFilter(
            allow,
            deny,
            max_length=length,
            max_segments=segments,
            max_parameters=parameters,
            extensions=self._extensions if only_pages else (),
        )


def add_pipelines(settings: BaseSettings, types: ContentTypes) -> None:
    """Put the pipelines that come with content types among those of the crawl.

    An order, or a None, that the settings give one stands; where items pass none at all, as in
    ``scrapy shell``, that stands, too.

    Raises:
        ConfigError: A pipeline cannot be imported.
    """
    present = settings.getdict("ITEM_PIPELINES")
    if present and types.pipelines:
        for path in types.pipelines:
            if present.get(path, 0) is not None:
                _check_pipeline(path)
        priority = settings.getpriority("ITEM_PIPELINES") or 0
        settings.set("ITEM_PIPELINES", {**types.pipelines, **present}, priority=priority)


def _check_pipeline(path: str) -> None:
    try:
        load_object(path)
    except Exception as error:  # whatever a module does when it is imported
        raise ConfigError(
            f"PARSING_TYPES: the pipeline {path!r} of a content type cannot be imported: "
            f"{type(error).__name__}: {error}; correct `pipelines` in its CONTENT_TYPE"
        ) from error


Values = dict[str, Any]


def _frontier(v: Values) -> FrontierOptions:
    return FrontierOptions(
        delay=v["POLITENESS_DELAY"],
        host_budget=v["FRONTIER_HOST_BUDGET"],
        max_depth=v["FRONTIER_MAX_DEPTH"],
        max_redirects=v["FRONTIER_MAX_REDIRECTS"],
        max_pages=v["FRONTIER_MAX_PAGES"],
        max_fetches=v["FRONTIER_MAX_FETCHES"],
        aging=v["FRONTIER_AGING"],
        buffer=v["FRONTIER_BUFFER"],
        seen=v["FRONTIER_SEEN"],
        seen_capacity=v["FRONTIER_SEEN_CAPACITY"],
        seen_error=v["FRONTIER_SEEN_ERROR"],
    )


def _robots(v: Values, user_agent: str) -> RobotsOptions:
    token = product_token(user_agent)
    if not token:
        raise ConfigError(
            f"USER_AGENT={user_agent!r}: expected a name that robots.txt can address, such as "
            "'examplebot/1.0 (+https://example.com/bot)'"
        )
    return RobotsOptions(
        token=token,
        enabled=v["ROBOTS_ENABLED"],
        max_age=v["ROBOTS_MAX_AGE"],
        unreachable_retry=v["ROBOTS_RETRY"],
        long_outage=v["ROBOTS_LONG_OUTAGE"],
        long_outage_policy=v["ROBOTS_LONG_OUTAGE_POLICY"],
        retry_after_cap=v["BACKOFF_RETRY_AFTER_CAP"],
        crawl_delay_cap=v["POLITENESS_CRAWL_DELAY_CAP"],
    )


def _backoff(v: Values) -> BackoffOptions:
    return BackoffOptions(
        base=v["BACKOFF_BASE"],
        retry_base=v["BACKOFF_RETRY_BASE"],
        cap=v["BACKOFF_CAP"],
        retry_after_cap=v["BACKOFF_RETRY_AFTER_CAP"],
        max_retries=v["BACKOFF_RETRIES"],
        max_throttles=v["BACKOFF_THROTTLES"],
    )


def _extensions(given: list[str], types: ContentTypes) -> tuple[str, ...]:
    """Return the endings of files that are not followed: never those of a type that is read.

    Unless the operator has named them, which is the more particular wish.
    """
    endings = tuple(one.lower().lstrip(".") for one in given)
    if endings != FILE_EXTENSIONS:
        return endings
    return tuple(one for one in endings if one not in types.extensions)


def _urls(v: Values) -> UrlOptions:
    return UrlOptions(
        drop_tracking=v["URLS_DROP_TRACKING"],
        tracking_parameters=tuple(v["URLS_TRACKING_PARAMETERS"]),
        drop_session_ids=v["URLS_DROP_SESSION_IDS"],
        sort_parameters=v["URLS_SORT_PARAMETERS"],
        collapse_slashes=v["URLS_COLLAPSE_SLASHES"],
        drop_index=v["URLS_DROP_INDEX"],
        strip_trailing_slash=v["URLS_STRIP_TRAILING_SLASH"],
    )


def _networks(entries: list[str]) -> tuple[Network, ...]:
    try:
        return parse_networks(entries)
    except ConfigError as error:
        raise ConfigError(f"SAFETY_ALLOWED_NETWORKS: {error}") from error
