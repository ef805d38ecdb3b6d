"""Reads the tables of cases and says what is wrong with them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cases.components import OURS, expected_of
from tests.cases.judge import EXPECTATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FOLDER = Path(__file__).parent / "data"
_SHARED = {"by", "component", "seeds", "crawl"}
_OF_A_CRAWL = {"seeds", "web", "crawl", "private"}


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes:
        name: ``kind/id``.
        must: The sentence that holds of a good crawler.
        by: The section of the standard that says so, or ``practice``.
        house: Why this crawler does it otherwise than the standard, or than others do; the
            case then describes what this crawler does.
        component: Which component is judged; empty for a crawl.
        given: The web and its seeds, or the component's input.
        expected: By the name of an expectation (:data:`tests.cases.judge.EXPECTATIONS`); for
            a component, the field ``is`` or ``either``.
    """

    name: str
    must: str
    by: str
    house: str = ""
    component: str = ""
    given: dict[str, Any] = field(default_factory=dict, compare=False)
    expected: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def kind(self) -> str:
        """The kind of fault."""
        return self.name.partition("/")[0]

    @property
    def crawl(self) -> str:
        """The crawl that it takes part in (``data/crawls.toml``)."""
        return str(self.given.get("crawl", "common"))


@dataclass(frozen=True)
class CrawlSetup:
    """One crawl of many cases.

    Attributes:
        settings: Of Scrapy and of ours.
        arguments: Of the spider.
        timeout: Seconds after which it is stopped.
    """

    name: str
    settings: dict[str, Any]
    arguments: dict[str, str]
    timeout: float


@cache
def all_cases() -> tuple[Case, ...]:
    """Return all cases in the order of the files.

    Raises:
        ValueError: A table has an unknown or a missing field, or two cases of one name.
    """
    cases = []
    for file in sorted(FOLDER.glob("*.toml")):
        if file.stem != "crawls":
            cases += _cases_of(file)
    names = [case.name for case in cases]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{sorted(twice)}: names of cases are there once")
    return tuple(cases)


@cache
def crawl_setups() -> dict[str, CrawlSetup]:
    """Return the crawls by name; each begins with the settings of ``common``."""
    tables = tomllib.loads(FOLDER.joinpath("crawls.toml").read_text())
    common = tables["common"]["settings"]
    return {
        name: CrawlSetup(
            name,
            {**common, **table.get("settings", {})},
            {"scope": "any", **table.get("arguments", {})},
            float(table.get("timeout", 60)),
        )
        for name, table in tables.items()
    }


def _cases_of(file: Path) -> list[Case]:
    table = tomllib.loads(file.read_text())
    rows = [*table.get("case", ()), *_of_rows(table.get("rows", ()))]
    return [_case(table, row) for row in rows]


def _case(table: Mapping[str, Any], row: Mapping[str, Any]) -> Case:
    """Make a case of a row and of what its file says of all."""
    shared = _SHARED & table.keys()
    fields = {**{name: table[name] for name in shared}, **row}
    name, component = f"{table['kind']}/{row['id']}", fields.pop("component", "")
    words = {field: str(fields.pop(field, "")) for field in ("must", "by", "house")}
    del fields["id"]
    if component:
        known = fields.keys() - expected_of(component) - {"seeds", "crawl"}
    else:
        known = _OF_A_CRAWL
        fields["web"] = {**table.get("web", {}), **fields.get("web", {})}
    given = {key: value for key, value in fields.items() if key in known}
    expected = {key: value for key, value in fields.items() if key not in known}
    case = Case(name, **words, component=component, given=given, expected=expected)
    _check(case)
    return case


def _of_rows(tables: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a case for each ``[input, answer]`` of compact tables."""
    for table in tables:
        common = {key: value for key, value in table.items() if key not in ("values", "input")}
        for number, (value, answer) in enumerate(table["values"], start=1):
            end = {"either": answer["either"]} if isinstance(answer, dict) else {"is": answer}
            yield {**common, "id": f"{table['id']}-{number}", table["input"]: value, **end}


def _check(case: Case) -> None:
    if not case.must or not case.by:
        raise ValueError(f"{case.name}: the fields must and by are missing")
    if not case.expected:
        raise ValueError(f"{case.name}: nothing is expected")
    if case.component:
        if case.component not in OURS:
            raise ValueError(f"{case.name}: no component {case.component}, but {sorted(OURS)}")
        return
    if not case.given["web"] or "seeds" not in case.given:
        raise ValueError(f"{case.name}: a crawl has seeds and a web")
    if unknown := case.expected.keys() - EXPECTATIONS.keys():
        raise ValueError(f"{case.name}: unknown fields {sorted(unknown)}")
