"""The arguments of the spider web: each is checked; those that bound the crawl become settings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.arguments import ARGUMENTS, WebArguments
from crawler.config import Config
from crawler.errors import ConfigError
from tests.support.shell import project_settings

SEEDS = {"seeds": "http://a.example/"}


def _read(**given_arguments: object) -> WebArguments:
    return WebArguments.read({**SEEDS, **given_arguments}, project_settings())


def test_seeds_are_enough():
    """One seed starts a crawl of its site, with no limit and no pattern."""
    arguments = _read()
    assert arguments.seeds == ["http://a.example/"]
    assert (arguments.allow, arguments.deny, arguments.limits) == ([], [], {})
    assert arguments.scope.contains("https://www.a.example/x")
    assert not arguments.scope.contains("http://b.example/")


def test_sitemaps_are_a_beginning_of_their_own():
    """They come before the seeds, and their sites are in scope (sitemaps.org: same site)."""
    arguments = _read(sitemaps="http://b.example/map.xml,http://b.example/feed")
    assert arguments.sitemaps == ["http://b.example/map.xml", "http://b.example/feed"]
    assert arguments.starts == [*arguments.sitemaps, "http://a.example/"]
    assert arguments.scope.contains("http://www.b.example/x")
    assert arguments.scope.contains("http://a.example/x")


def test_sitemaps_alone_are_enough():
    """A crawl of what sitemaps list needs no seed."""
    arguments = WebArguments.read({"sitemaps": "http://b.example/map.xml"}, project_settings())
    assert (arguments.seeds, arguments.starts) == ([], ["http://b.example/map.xml"])


def test_a_bad_sitemap_is_refused_by_its_own_name():
    """The operator wrote -a sitemaps, so that is what the message speaks of."""
    with pytest.raises(ConfigError, match=r"-a sitemaps: .*ftp://x"):
        _read(sitemaps="ftp://x.example/map.xml")


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("host", "http://a.example/x", "http://www.a.example/"),
        ("site", "http://www.a.example/", "http://b.example/"),
        ("any", "http://b.example/", None),
    ],
)
def test_scope_is_chosen(scope, inside, outside):
    """host, site and any are as wide as they say."""
    chosen = _read(scope=scope).scope
    assert chosen.contains(inside)
    assert outside is None or not chosen.contains(outside)


@pytest.mark.parametrize("scope", ["", "Site", "planet", "host,site"])
def test_other_scopes_are_refused(scope):
    """The message names the three that there are."""
    with pytest.raises(ConfigError, match="host, site, any"):
        _read(scope=scope)


def test_patterns_are_separated_by_spaces():
    """A comma may be part of a regular expression; white space in a URL is always escaped."""
    arguments = _read(allow=r"/docs/ /x{1,2}/", deny=" \\.pdf$ ")
    assert arguments.allow == ["/docs/", "/x{1,2}/"]
    assert arguments.deny == ["\\.pdf$"]


@pytest.mark.parametrize("name", ["allow", "deny"])
def test_a_bad_pattern_is_refused(name):
    """The pattern is named as it was given."""
    with pytest.raises(ConfigError, match=r"'\('"):
        _read(**{name: "ok ("})


@pytest.mark.parametrize(
    ("argument", "setting"),
    [
        ("max_pages", "FRONTIER_MAX_PAGES"),
        ("max_fetches", "FRONTIER_MAX_FETCHES"),
        ("max_depth", "FRONTIER_MAX_DEPTH"),
    ],
)
def test_limits_become_settings(argument, setting):
    """An argument outweighs -s of the same meaning: it is the more particular wish."""
    settings = project_settings(**{setting: "9"})
    WebArguments.read({**SEEDS, argument: "5"}, settings).apply(settings)
    assert settings[setting] == "5"
    config = Config.read(settings).frontier
    assert getattr(config, argument) == 5


@pytest.mark.parametrize("name", ["max_pages", "max_fetches", "max_depth"])
@pytest.mark.parametrize("value", ["-1", "ten", "1.5", "", "1e3"])
def test_bad_limits_are_refused_by_their_own_name(name, value):
    """The operator wrote -a max_pages, so that is what the message speaks of."""
    with pytest.raises(ConfigError) as caught:
        _read(**{name: value})
    assert str(caught.value).startswith(f"-a {name}={value!r}: expected whole number")
    assert "FRONTIER_" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("max_page", "did you mean max_pages?"), ("seed", "did you mean seeds?"), ("xyzzy", "")],
)
def test_unknown_arguments_are_refused(name, hint):
    """A misspelt argument would silently do nothing: the nearest one is named, or all are."""
    with pytest.raises(ConfigError) as caught:
        _read(**{name: "1"})
    assert f"unknown argument -a {name}=1" in str(caught.value)
    assert hint in str(caught.value)
    assert hint or all(known in str(caught.value) for known in ARGUMENTS)


def test_arguments_of_schedulers_are_ignored():
    """Scrapyd adds _job and its like to every crawl."""
    assert _read(_job="abc", _version="1").seeds == ["http://a.example/"]


def test_no_seeds_are_refused():
    """Nothing to begin with is said before anything else is started."""
    with pytest.raises(ConfigError, match="no seeds"):
        WebArguments.read({}, project_settings())


def test_seeds_obey_the_url_settings():
    """What is one URL is the same for seeds as for links."""
    seeds = {"seeds": "http://a.example/?utm_source=x"}
    assert WebArguments.read(seeds, project_settings()).seeds == ["http://a.example/"]
    kept = WebArguments.read(seeds, project_settings(URLS_DROP_TRACKING=False))
    assert kept.seeds == ["http://a.example/?utm_source=x"]


@given(
    st.dictionaries(
        st.sampled_from([*ARGUMENTS, "_x", "y"]).filter(lambda name: name != "seeds"),
        st.text(max_size=12),
        max_size=4,
    )
)
def test_any_arguments_are_read_or_refused(values):
    """Whatever text is given, the answer is arguments or a ConfigError."""
    try:
        arguments = _read(**values)
    except ConfigError:
        return
    assert arguments.seeds == ["http://a.example/"]
