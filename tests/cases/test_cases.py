"""All cases: those of components one by one, those of crawls after one run of each crawl."""

from __future__ import annotations

import pytest

from tests.cases import components, judge
from tests.cases.crawls import crawl_all, web_spider
from tests.cases.table import all_cases

CASES = {case.name: case for case in all_cases()}
CRAWLED = [name for name, case in CASES.items() if not case.component]
CRAWLS = sorted({CASES[name].crawl for name in CRAWLED})


@pytest.fixture(scope="module")
def crawled(request, tmp_path_factory):
    """Run the crawls that the selected tests need."""
    selected = {
        item.callspec.params.get("name") or item.callspec.params.get("crawl")
        for item in request.session.items
        if hasattr(item, "callspec")
    }
    needed = [CASES[name] for name in CRAWLED if selected & {name, CASES[name].crawl}]
    return crawl_all(needed, tmp_path_factory.mktemp("cases"), web_spider)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name].component])
def test_a_component_answers_as_it_must(name):
    """Each case of a component holds at its public function."""
    case = CASES[name]
    answers = components.OURS[case.component](case.given, case.expected)
    found = components.complaints(answers, case.expected)
    assert not found, f"{case.must} ({case.by})\n" + "\n".join(found)


@pytest.mark.e2e
@pytest.mark.parametrize("name", CRAWLED)
def test_a_crawl_does_as_it_must(crawled, name):
    """Each case of a crawl holds by the server's log and by what the crawl left."""
    case = CASES[name]
    found = judge.complaints(crawled.evidence[name], case.expected)
    assert not found, f"{case.must} ({case.by})\n" + "\n".join(found)


@pytest.mark.e2e
@pytest.mark.parametrize("crawl", CRAWLS)
def test_no_case_breaks_its_crawl(crawled, crawl):
    """Each crawl ends by itself, with its books in order and no traceback in its log."""
    assert not crawled.problems[crawl]
