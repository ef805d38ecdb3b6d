"""Settings become options once, at the start; what cannot be used stops the crawl by name."""

from __future__ import annotations

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.settings import Settings

from crawler.borrowed import CHECKED, UNUSED, unused
from crawler.config import Config, add_pipelines
from crawler.errors import ConfigError
from crawler.model import Reason
from crawler.table import PREFIXES, TABLE, JsonObject, read_one
from tests.support.shell import project_settings

NAMES = [setting.name for setting in TABLE]
BY_NAME = {setting.name: setting for setting in TABLE}
NUMBERS = [s for s in TABLE if type(s.default) in (int, float)]


@pytest.mark.parametrize("name", NAMES)
def test_every_default_reads_as_itself(name):
    """A default passes its own check and keeps its value and type."""
    setting = BY_NAME[name]
    value = setting.read(setting.default)
    assert value == setting.default
    assert type(value) is type(setting.default)


@pytest.mark.parametrize("name", NAMES)
def test_every_default_reads_from_the_command_line(name):
    """-s NAME=value gives text: the default written as text reads as the default."""
    default = BY_NAME[name].default
    if isinstance(default, list):
        text = ",".join(default)
    elif isinstance(default, dict):
        text = ""
    else:
        text = str(default)
    assert BY_NAME[name].read(text) == default


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_ours_and_described(name):
    """Each name has one of our prefixes, and each row says what it means."""
    assert name.startswith(PREFIXES)
    assert BY_NAME[name].meaning.endswith((".", "`."))


def test_names_are_unique():
    """No setting is in the table twice."""
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("setting", NUMBERS, ids=lambda s: s.name)
def test_numbers_have_both_ends_checked(setting):
    """A bound itself passes; the next value beyond it does not."""
    step = 1 if isinstance(setting.default, int) else 1e-6
    for bound, beyond in ((setting.low, -step), (setting.high, step)):
        if bound is None:
            continue
        assert setting.read(type(setting.default)(bound)) == bound
        with pytest.raises(ConfigError):
            setting.read(type(setting.default)(bound) + beyond)


WRONG = {
    bool: ["", "maybe", "2", None, [], "truee"],
    int: ["", "1.5", "1e3", "x", None, True, 1.0, [], "0x10", "NaN"],
    float: ["", "x", None, True, [], "1,5", "nan", math.nan],
    str: [None, 1, [], b"x"],
    list: [None, 1, [1], [None]],
    dict: [None, 1, "x", "[]", '{"a": 1}', {"a": 1}, {1: "a"}, "{"],
    JsonObject: [None, 1, "x", "[]", {1: "a"}, "{"],
}


@pytest.mark.parametrize("name", NAMES)
def test_wrong_types_name_setting_value_and_expectation(name):
    """A value of the wrong type is refused with all that is needed to put it right."""
    setting = BY_NAME[name]
    for value in WRONG[type(setting.default)]:
        with pytest.raises(ConfigError) as caught:
            setting.read(value)
        shown = "…" if setting.secret else repr(value)
        assert str(caught.value) == f"{name}={shown}: expected {setting.expected()}"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("POLITENESS_DELAY", "-1", "number (s) at least 0, at most 86400"),
        ("FRONTIER_MAX_PAGES", "-1", "whole number (pages) at least 0"),
        ("FRONTIER_MAX_PAGES", "many", "whole number (pages) at least 0"),
        ("ROBOTS_ENABLED", "maybe", "true or false"),
        ("DEDUPE_ALGORITHM", "md5", "one of fast, numpy, reference"),
        ("SAFETY_HOSTS", "a=b", "mapping (JSON on the command line)"),
        ("CONCURRENT_REQUESTS", "abc", "whole number (requests) at least 1, at most 100000"),
        ("CONCURRENT_REQUESTS", "0", "whole number (requests) at least 1, at most 100000"),
        ("DOWNLOAD_TIMEOUT", "abc", "number (s) at least 0.1, at most 86400"),
        ("DOWNLOAD_TIMEOUT", "-5", "number (s) at least 0.1, at most 86400"),
        ("DOWNLOAD_MAXSIZE", "16M", "whole number (bytes) at least 0"),
        ("DOWNLOAD_WARNSIZE", "-1", "whole number (bytes) at least 0"),
        ("LOGSTATS_INTERVAL", "often", "number (s) at least 0"),
    ],
)
def test_messages_say_what_was_expected(name, value, expected):
    """The sentence is made for the operator: type, unit, range or choices."""
    with pytest.raises(ConfigError) as caught:
        Config.read(project_settings(**{name: value}))
    assert str(caught.value) == f"{name}={value!r}: expected {expected}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("ROBOTS_ENABLED", " FALSE ", False),
        ("ROBOTS_ENABLED", "yes", True),
        ("ROBOTS_ENABLED", 1, True),
        ("FRONTIER_MAX_PAGES", " 12 ", 12),
        ("POLITENESS_DELAY", "0.25", 0.25),
        ("POLITENESS_DELAY", 2, 2.0),
        ("SAFETY_ALLOWED_NETWORKS", "10.0.0.0/8, ::1/128,,", ["10.0.0.0/8", "::1/128"]),
        ("SAFETY_ALLOWED_NETWORKS", ("10.0.0.0/8",), ["10.0.0.0/8"]),
        ("SAFETY_HOSTS", '{"a.example": "127.0.0.1"}', {"a.example": "127.0.0.1"}),
        ("STORE_OBJECTS_OPTIONS", '{"anon": true, "a": {"b": 1}}', {"anon": True, "a": {"b": 1}}),
        ("STORE_OBJECTS_OPTIONS", {"anon": True}, {"anon": True}),
    ],
)
def test_values_are_read_in_their_type(name, text, value):
    """Text of the command line and values of a settings module mean the same."""
    assert read_one(name, text) == value


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("FRONTIER_MAX_PGES", "did you mean FRONTIER_MAX_PAGES?"),
        ("POLITENESS_DELAYS", "did you mean POLITENESS_DELAY?"),
        ("ROBOTS_OBEY", ""),
        ("DEDUPE_XYZZY_QUUX", ""),
    ],
)
def test_unknown_names_are_refused(name, hint):
    """A misspelt setting would silently do nothing: it stops the crawl, with a hint if near."""
    with pytest.raises(ConfigError) as caught:
        Config.read(project_settings(**{name: "1"}))
    assert f"unknown setting {name}='1'" in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", ["ROBOTSTXT_OBEY", "RETRY_TIMES", "MY_FRONTIER", "DOWNLOAD_DELAY"])
def test_names_of_others_are_left_alone(name):
    """Settings of Scrapy and of other packages refuse no crawl."""
    Config.read(project_settings(**{name: "1"}))


@pytest.mark.parametrize("setting", CHECKED, ids=lambda s: s.name)
def test_what_is_checked_of_scrapy_has_the_default_of_this_project(setting):
    """The documents name the value that crawler/settings.py sets, or Scrapy's."""
    assert setting.read(project_settings().get(setting.name)) == setting.default


def test_an_untouched_project_sets_nothing_that_has_no_say():
    """What crawler/settings.py itself keeps neutral is no reason for a warning."""
    assert list(unused(project_settings())) == []


@pytest.mark.parametrize("name", UNUSED)
def test_what_has_no_say_is_told_with_what_has(name):
    """One sentence, also where the neutral value is given by hand: somebody expects something."""
    for value in ("0", "1"):
        [sentence] = unused(project_settings(**{name: value}))
        assert sentence == f"{name}={value} has no say in a crawl; {UNUSED[name]}"
    edited = project_settings()
    edited.set(name, 7, priority="project")
    assert len(list(unused(edited))) == 1


def test_scrapy_has_no_setting_under_our_prefixes():
    """A setting of Scrapy's own under one of our prefixes would refuse every crawl."""
    assert [name for name in Settings() if name.startswith(PREFIXES)] == []


def test_the_defaults_make_a_crawl():
    """An untouched project starts, one second between requests, robots.txt obeyed."""
    config = Config.read(project_settings())
    assert config.frontier.delay == 1.0
    assert config.robots.enabled
    assert config.robots.token == "crawler"
    assert config.networks == ()


# option field ← setting: each of them must arrive
ARRIVES = [
    ("POLITENESS_DELAY", 7.5, lambda c: c.frontier.delay),
    ("FRONTIER_HOST_BUDGET", 7, lambda c: c.frontier.host_budget),
    ("FRONTIER_MAX_DEPTH", 7, lambda c: c.frontier.max_depth),
    ("FRONTIER_MAX_PAGES", 7, lambda c: c.frontier.max_pages),
    ("FRONTIER_MAX_FETCHES", 7, lambda c: c.frontier.max_fetches),
    ("FRONTIER_MAX_REDIRECTS", 7, lambda c: c.frontier.max_redirects),
    ("FRONTIER_MAX_COPIES", 7, lambda c: c.max_copies),
    ("FRONTIER_AGING", 7.5, lambda c: c.frontier.aging),
    ("FRONTIER_BUFFER", 7, lambda c: c.frontier.buffer),
    ("FRONTIER_MAX_WAIT", 7.5, lambda c: c.max_wait),
    ("FRONTIER_COMMIT_INTERVAL", 7.5, lambda c: c.commit_interval),
    ("FRONTIER_COMMIT_PAGES", 7, lambda c: c.commit_pages),
    ("SEEDS_SITEMAPS", False, lambda c: c.sitemaps),
    ("FRONTIER_SYNC", "commit", lambda c: "commit" if c.commit_pages == 1 else "interval"),
    ("FRONTIER_SEEN", "approximate", lambda c: c.frontier.seen),
    ("FRONTIER_SEEN_CAPACITY", 7000, lambda c: c.frontier.seen_capacity),
    ("FRONTIER_SEEN_ERROR", 0.1, lambda c: c.frontier.seen_error),
    ("POLITENESS_CRAWL_DELAY_CAP", 7.5, lambda c: c.robots.crawl_delay_cap),
    ("ROBOTS_ENABLED", False, lambda c: c.robots.enabled),
    ("ROBOTS_MAX_AGE", 7.5, lambda c: c.robots.max_age),
    ("ROBOTS_RETRY", 7.5, lambda c: c.robots.unreachable_retry),
    ("ROBOTS_LONG_OUTAGE", 7.5, lambda c: c.robots.long_outage),
    ("ROBOTS_LONG_OUTAGE_POLICY", "allow", lambda c: c.robots.long_outage_policy),
    ("BACKOFF_BASE", 7.5, lambda c: c.backoff.base),
    ("BACKOFF_CAP", 7.5, lambda c: c.backoff.cap),
    ("BACKOFF_RETRY_AFTER_CAP", 7.5, lambda c: c.backoff.retry_after_cap),
    ("BACKOFF_RETRY_AFTER_CAP", 7.5, lambda c: c.robots.retry_after_cap),
    ("BACKOFF_CPU_BURST", 7.5, lambda c: c.cpu_burst),
    ("BACKOFF_RETRIES", 7, lambda c: c.backoff.max_retries),
    ("BACKOFF_THROTTLES", 7, lambda c: c.backoff.max_throttles),
    ("BACKOFF_RETRY_BASE", 7.5, lambda c: c.backoff.retry_base),
    ("URLS_DROP_TRACKING", False, lambda c: c.urls.drop_tracking),
    ("URLS_TRACKING_PARAMETERS", ["a"], lambda c: list(c.urls.tracking_parameters)),
    ("URLS_DROP_SESSION_IDS", False, lambda c: c.urls.drop_session_ids),
    ("URLS_SORT_PARAMETERS", False, lambda c: c.urls.sort_parameters),
    ("URLS_COLLAPSE_SLASHES", True, lambda c: c.urls.collapse_slashes),
    ("URLS_DROP_INDEX", True, lambda c: c.urls.drop_index),
    ("URLS_STRIP_TRAILING_SLASH", True, lambda c: c.urls.strip_trailing_slash),
    ("PARSING_MAX_BYTES", 7000, lambda c: c.parsing.max_bytes),
    ("PARSING_MAX_LINKS", 7, lambda c: c.parsing.max_links),
    ("PARSING_MAX_TEXT", 7, lambda c: c.parsing.max_text),
    ("PARSING_FOLLOW_FRAMES", False, lambda c: c.parsing.follow_frames),
    ("PARSING_TYPES", {"text": ""}, lambda c: {} if "txt" in c.types.extensions else {"text": ""}),
    ("PARSING_TIMEOUT", 7.5, lambda c: c.workers.timeout),
    ("PARSING_MEMORY", 2**28, lambda c: c.workers.memory),
    ("PARSING_WORKERS", 7, lambda c: c.workers.processes),
    ("DEDUPE_EXACT_ENABLED", False, lambda c: c.dedupe.exact),
    ("DEDUPE_NEAR_ENABLED", False, lambda c: c.dedupe.near),
    ("DEDUPE_ALGORITHM", "numpy", lambda c: c.dedupe.algorithm),
    ("DEDUPE_CROSS_SITE", False, lambda c: c.dedupe.cross_site),
    ("STORE_WARC_ENABLED", False, lambda c: c.store.warc),
    ("STORE_WARC_SEGMENT", 70_000, lambda c: c.store.segment),
    ("STORE_OTHER_TYPES", False, lambda c: c.store.other_types),
    ("STORE_CATALOG_ENABLED", False, lambda c: c.store.catalog),
    ("STORE_CATALOG", "postgresql+psycopg://host/name", lambda c: c.store.catalog_url),
    ("STORE_OBJECTS", "s3://bucket/web", lambda c: c.objects.url),
    ("STORE_OBJECTS_OPTIONS", {"anon": True}, lambda c: c.objects.driver),
    ("STORE_KEEP_LOCAL", False, lambda c: c.objects.keep_local),
    ("SAFETY_ALLOWED_NETWORKS", ["10.0.0.0/8"], lambda c: list(map(str, c.networks))),
    ("SAFETY_HOSTS", {"a.example": "127.0.0.1"}, lambda c: c.hosts),
    ("TRAPS_ENABLED", False, lambda c: c.traps.enabled),
    ("TRAPS_PATIENCE", 7, lambda c: c.traps.patience),
    ("TRAPS_PROBES", 7, lambda c: c.traps.probe_every),
    ("TRAPS_EVIDENCE", 7, lambda c: c.traps.evidence),
    ("TRAPS_KEPT", 7, lambda c: c.traps.kept),
    ("TRAPS_SUB_DOMAINS", 7, lambda c: c.traps.sub_domains),
    ("API_HOST", "::1", lambda c: c.api[0]),
    ("API_PORT", 0, lambda c: c.api[1]),
    ("API_TOKEN", "a-token-of-some-length", lambda c: c.api[2]),
]
FILTERS = {
    "FRONTIER_MAX_URL_LENGTH": (20, Reason.URL_LENGTH),
    "FRONTIER_MAX_PATH_SEGMENTS": (2, Reason.PATH_SEGMENTS),
    "FRONTIER_MAX_QUERY_PARAMETERS": (1, Reason.QUERY_PARAMETERS),
    "FRONTIER_SKIP_EXTENSIONS": ([".Three", "x"], Reason.EXTENSION),
}


@pytest.mark.parametrize(("name", "value", "field"), ARRIVES, ids=[row[0] for row in ARRIVES])
def test_each_setting_arrives_at_its_stage(name, value, field):
    """A setting that is read and then dropped would be a lie to the operator."""
    assert field(Config.read(project_settings())) != value
    assert field(Config.read(project_settings(**{name: value}))) == value


@pytest.mark.parametrize("name", FILTERS)
def test_each_limit_of_a_url_arrives(name):
    """The limits of a URL reject what exceeds them, and nothing at their default."""
    value, reason = FILTERS[name]
    url = "http://a.example/one/two/no.three?a=1&b=2"
    assert Config.read(project_settings()).url_filter([], [], only_pages=True).verdict(url) is None
    config = Config.read(project_settings(**{name: value}))
    assert config.url_filter([], [], only_pages=True).verdict(url) is reason


def test_only_crawls_for_pages_skip_other_files():
    """A spider that brings its own callbacks may want any file."""
    config = Config.read(project_settings())
    assert config.url_filter([], []).verdict("http://a.example/x.zip") is None
    wanted = config.url_filter([], [], only_pages=True)
    assert wanted.verdict("http://a.example/x.zip") is Reason.EXTENSION


PDF = {"pdf": "crawler.parsing.pdf"}


def _skips_pdf(**settings):
    url_filter = Config.read(project_settings(**settings)).url_filter([], [], only_pages=True)
    return url_filter.verdict("http://a.example/x.pdf") is Reason.EXTENSION


def test_files_of_a_type_that_is_read_are_followed():
    """Whoever adds a content type need not know that links to its files were skipped."""
    assert _skips_pdf()
    assert not _skips_pdf(PARSING_TYPES=PDF)


def test_endings_that_the_operator_names_are_skipped():
    """FRONTIER_SKIP_EXTENSIONS is the more particular wish."""
    assert _skips_pdf(PARSING_TYPES=PDF, FRONTIER_SKIP_EXTENSIONS=["pdf"])


def test_a_type_brings_its_pipelines(monkeypatch):
    """They stand beside those of the project; an order or a None of the settings' own stands."""
    types = Config.read(project_settings()).types
    a, c = "collections.Counter", "collections.deque"  # what can be imported
    monkeypatch.setattr(type(types), "pipelines", {a: 950, "b.B": 960, c: 970})
    settings = project_settings()
    mine = {**settings.getdict("ITEM_PIPELINES"), a: 1, "b.B": None}
    settings.set("ITEM_PIPELINES", mine, "project")
    add_pipelines(settings, types)
    assert settings.getdict("ITEM_PIPELINES") == {**mine, c: 970}
    settings.set("ITEM_PIPELINES", {}, "cmdline")
    add_pipelines(settings, types)
    assert not settings.getdict("ITEM_PIPELINES")


@pytest.mark.parametrize("path", ["no_such_module.Pipeline", "collections.NoSuchPipeline"])
def test_a_pipeline_of_a_type_that_is_not_there_is_refused(monkeypatch, path):
    """Setting and pipeline are named in one line, before the crawl begins."""
    types = Config.read(project_settings()).types
    monkeypatch.setattr(type(types), "pipelines", {path: 950})
    with pytest.raises(ConfigError, match="PARSING_TYPES: the pipeline") as caught:
        add_pipelines(project_settings(), types)
    assert repr(path) in str(caught.value)


def test_no_setting_goes_untested():
    """Each row of the table is in one of the two tables above."""
    assert {row[0] for row in ARRIVES} | set(FILTERS) == set(NAMES)


def test_options_cannot_be_changed():
    """A stage can rely on its options for the whole crawl."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Config.read(project_settings()).max_wait = 1.0


def test_host_names_are_compared_in_lower_case():
    """SAFETY_HOSTS is asked with normalised names."""
    config = Config.read(project_settings(SAFETY_HOSTS={"A.Example": "127.0.0.1"}))
    assert config.hosts == {"a.example": "127.0.0.1"}


@pytest.mark.parametrize("agent", ["", " ", "/1.0", "123", None])
def test_a_user_agent_without_a_name_is_refused(agent):
    """A crawler that robots.txt cannot address must not start (RFC 9309 §2.2.1)."""
    with pytest.raises(ConfigError, match="USER_AGENT"):
        Config.read(project_settings(USER_AGENT=agent))


@pytest.mark.parametrize("network", ["10.0.0.0/33", "x", "10.0.0.1/8/8", "example.com"])
def test_a_bad_network_is_named(network):
    """The setting and the entry that is no network are in the message."""
    with pytest.raises(ConfigError, match="SAFETY_ALLOWED_NETWORKS") as caught:
        Config.read(project_settings(SAFETY_ALLOWED_NETWORKS=["10.0.0.0/8", network]))
    assert network in str(caught.value)


@pytest.mark.parametrize("patterns", [["("], ["ok", "[a"], ["*"]])
def test_a_bad_pattern_is_named(patterns):
    """A pattern that is no regular expression stops the crawl, by its text."""
    with pytest.raises(ConfigError) as caught:
        Config.read(project_settings()).url_filter(patterns, [])
    assert repr(patterns[-1]) in str(caught.value)


ANY = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=5),
    st.lists(st.one_of(st.text(max_size=5), st.integers()), max_size=3),
    st.dictionaries(st.text(max_size=5), st.one_of(st.text(max_size=5), st.integers()), max_size=2),
)


@given(name=st.sampled_from(NAMES), value=ANY)
def test_any_value_is_read_or_refused(name, value):
    """No value of any type ends in anything but a value of the right type or a ConfigError."""
    try:
        read = read_one(name, value)
    except ConfigError:
        return
    assert type(read) is type(BY_NAME[name].default)
