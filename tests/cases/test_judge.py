"""The judge can say no: each expectation is broken by some evidence, and names survive the way."""

from __future__ import annotations

import pytest

from tests.cases.judge import EXPECTATIONS, Asked, Evidence, complaints
from tests.cases.names import Names, hosts_in, split_local

HOME = "http://a.test"
EVIDENCE = Evidence(
    HOME,
    [
        Asked(f"{HOME}/robots.txt", 0.0, 0.1, 404),
        Asked(f"{HOME}/", 1.0, 1.1, 200),
        Asked(f"{HOME}/x", 2.1, 2.2, 500),
        Asked(f"{HOME}/x", 2.7, 2.8, 200),
        Asked("http://b.test/y", 2.9, 3.0, 200),
    ],
    {f"{HOME}/": {"title": "T", "text": "some words", "outlinks": [f"{HOME}/x"]}},
    {f"{HOME}/": "stored", f"{HOME}/x": "gone"},
)

# expectation, what the evidence has, what it has not
ROWS = [
    ("asked", ["/", "http://b.test/y"], ["/z"]),
    ("not_asked", ["/z"], ["/x"]),
    ("only_asked", ["/", "/x", "http://b.test/y"], ["/", "/x"]),
    ("most", {"/x": 2}, {"/x": 1}),
    ("least", {"/x": 2}, {"/x": 3}),
    ("most_in_all", 5, 4),
    ("most_hosts", 2, 1),
    ("most_like", {"a.test": 4}, {"a.test": 3}),
    ("least_like", {"a.test": 3}, {"a.test": 4}),
    ("gaps", {"/x": 0.5, "a.test": 0.5}, {"/x": 0.6}),
    ("gaps", {"/x": 0.5}, {"/": 0.5}),
    ("rest", {"/": 1.0}, {"/": 1.1}),
    ("rest", {"/x": 0.5}, {"/z": 0.1}),
    ("stored", ["/"], ["/x"]),
    ("not_stored", ["/x"], ["/"]),
    ("only_stored", ["/"], []),
    ("lines", 1, 2),
    ("page", {"/": {"title": "T", "text": "me wo", "outlinks": ["/x"]}}, {"/": {"title": "U"}}),
    ("page", {"/": {"truncated": None}}, {"/x": {"title": "T"}}),
    ("outcome", {"/": "stored", "/z": "none"}, {"/x": "stored"}),
    ("outcome", {"/x": ["gone", "refused"]}, {"/": ["gone"]}),
]


@pytest.mark.parametrize(("name", "holds", "fails"), ROWS, ids=[row[0] for row in ROWS])
def test_an_expectation_holds_or_fails_by_the_evidence(name, holds, fails):
    """What happened is no complaint, and what did not is one."""
    assert complaints(EVIDENCE, {name: holds}) == []
    assert len(complaints(EVIDENCE, {name: fails})) == 1


def test_every_expectation_is_tried():
    """An expectation that cannot fail would prove nothing."""
    assert {row[0] for row in ROWS} == EXPECTATIONS.keys()


@pytest.mark.parametrize("ports", [{"http": 80, "https": 443}, {"http": 8080, "https": 8443}])
@pytest.mark.parametrize(
    "text",
    [
        "http://a.test/x?u=https://www.b.test/",
        "<a href='//a.test/x'>//</a> HTTP://a.test:9200/",
        "Location: http://user:pw@a.test/\r\n",
        "http://a.test./x http://a.test",
        "http://PRIVATE/x",
    ],
)
def test_names_come_back_as_they_were(ports, text):
    """On the local web each case has names of its own, and the evidence speaks the case's."""
    names = Names(7, ports, "127.9.9.2")
    local = names.local(text)
    assert local != text
    assert names.told(local) == text


def test_names_of_a_case_are_found_again():
    """The server knows by the host which case is meant."""
    assert hosts_in("see http://www.a.test/ and //B.test") == {"www.a.test", "b.test"}
    assert split_local("www.a-c12.test") == ("www.a.test", 12)
    assert split_local("www.example.com") is None
