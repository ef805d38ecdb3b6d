"""Documents that can rot are checked against what they speak of."""

from __future__ import annotations

import ast
import re
import shlex
from collections import Counter
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path

import pytest
from scrapy.settings import default_settings

import crawler
from crawler import settings as our_settings
from crawler.arguments import ARGUMENTS
from crawler.model import Outcome, Page, Reason
from crawler.politeness.gates import State
from crawler.store import page_record
from crawler.table import PREFIXES, TABLE
from crawler.traps import TrapOptions
from crawler.traps.figures import Figures
from crawler.traps.report import pattern_figures
from tests.cases.table import all_cases
from tests.unit.urls.test_resolution import DIFFERENCES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]

_CODE = re.compile(r"`([^`\n]+)`")
_TEST = re.compile(r"(tests/[\w/]+\.py)::(\w+)")
_PATH = re.compile(r"(?:crawler|tests|docs|scripts|benchmarks|\.ci)/[a-z][\w./-]*")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SETTING = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_FENCE = re.compile(r"^```sh\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CELLS = re.compile(r"(?<!\\)\|")


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def code_of(text: str) -> list[str]:
    """Return what stands in backticks or in blocks."""
    return [
        *_CODE.findall(text),
        *re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE),
    ]


def rows(name: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without its head."""
    section = re.split(r"^#+ ", read(name).partition(f"# {heading}\n")[2], flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in _CELLS.split(line)[1:-1]] for line in lines[2:]]


def first_names(name: str, heading: str) -> list[str]:
    """Return what the first column of a table has in backticks."""
    return [found for row in rows(name, heading) for found in _CODE.findall(row[0])]


@lru_cache
def functions_of(file: str) -> frozenset[str]:
    path = ROOT / file
    if not path.exists():
        return frozenset()
    functions = ast.walk(ast.parse(path.read_text("utf-8")))
    return frozenset(
        f.name for f in functions if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)
    )


@lru_cache
def anchors_of(path: Path) -> frozenset[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads)


@pytest.mark.parametrize("name", NAMES)
def test_every_test_that_is_named_exists(name):
    """A promise whose proof was renamed or removed is no promise."""
    named = _TEST.findall(read(name))
    assert [f"{file}::{test}" for file, test in named if test not in functions_of(file)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_is_named_exists(name):
    """Modules, scripts and documents are where the text says."""
    example = {"crawler/pipelines/titles.py"}  # the reader's own
    named = set(chain.from_iterable(_PATH.findall(code) for code in _CODE.findall(read(name))))
    assert sorted(path for path in named - example if not (ROOT / path).exists()) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(name):
    """Links inside the repository have a target, and its heading when they name one."""
    broken = []
    for link in _LINK.findall(read(name)):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (ROOT / name).parent / file if file else ROOT / name
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_that_is_named_exists(name):
    """A name in capitals is one of our settings or of Scrapy's, or of Amazon's environment."""
    known = (
        {setting.name for setting in TABLE}
        | set(dir(default_settings))
        | set(dir(our_settings))
        | {"CONTENT_TYPE"}  # what a module of a content type declares
    )
    named = set(chain.from_iterable(_SETTING.findall(code) for code in code_of(read(name))))
    environment = {name for name in named if name.startswith("AWS_")}  # of the driver of S3
    assert sorted(named - known - environment) == []


def test_settings_under_our_prefixes_are_ours_alone():
    """A setting of Scrapy's under one of our prefixes would be refused as unknown."""
    assert [name for name in dir(default_settings) if name.startswith(PREFIXES)] == []


def test_the_fields_of_a_line_are_described_in_their_order():
    """Each field has its row, with type, meaning, null and example, and no row is left over."""
    page = Page("", 200, 0.0, 0, None, "", "", None, None, [], "", None, [], None, None, 0)
    page.truncated = True  # the one field that only some lines have
    table = rows("docs/output.md", "Fields")
    assert [row[0].strip("`") for row in table] == list(page_record(page))
    assert all(len(row) == 5 and all(row) for row in table)


@pytest.mark.parametrize(
    ("heading", "names"), [("Outcomes", Outcome), ("Reasons", Reason)], ids=["outcomes", "reasons"]
)
def test_every_end_of_a_url_is_described(heading, names):
    """The closed sets are described whole, in their order."""
    assert first_names("docs/output.md", heading) == [member.value for member in names]


def test_every_stat_of_ours_is_described():
    """A stat that the code sets has its row; NAME, STATUS and TROUBLE stand for what varies."""
    set_here = set()
    for path in (ROOT / "crawler").rglob("*.py"):
        for call in re.findall(r'(?:inc|set|max)_value\(\s*f?"([^"]+)"', path.read_text("utf-8")):
            set_here.add(call.partition("{")[0])
    described = {re.sub(r"[A-Z]+$", "", name) for name in first_names("docs/output.md", "Stats")}
    assert set_here
    assert {stat for stat in set_here - described if stat != "frontier/"} == set()


def strings_in(file: str, pattern: str) -> set[str]:
    return set(re.findall(pattern, read(file)))


def test_every_row_of_the_summary_is_described():
    """What a crawl says at its end has its row, in the order in which it is said."""
    said = re.findall(
        r'^        \("([a-z. ]+)", ', read("crawler/extensions/summary.py"), re.MULTILINE
    )
    assert len(said) > 10
    assert first_names("docs/operating.md", "The summary") == said


def test_every_fact_of_an_explanation_is_described():
    """So has each fact of ``scrapy explain``, those that only programs are told included."""
    pattern = r'(?:found\.add\(\s*|yield |details\[)"([a-z. ]+)"'
    told = strings_in("crawler/facts.py", pattern) | strings_in("crawler/explanation.py", pattern)
    text = read("docs/operating.md").partition("| fact | meaning |")[2].partition("\n\n")[0]
    described = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert told == set(described)
    assert len(described) == len(told)


def test_every_figure_and_state_of_an_explanation_is_described():
    """Names in outputs are defined where one would look for them."""
    text = read("docs/operating.md")
    figures = pattern_figures(Figures(TrapOptions()))
    states = [state.value for state in State]
    for head, names in (("| figure |", list(figures)), ("| state of the file |", states)):
        table = text.partition(head)[2].partition("\n\n")[0]
        assert re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE) == names


def test_every_promise_of_politeness_has_a_source_and_a_test():
    """Each row of the first four tables says where it is from and what proves it."""
    for heading in ("Pace", "robots.txt", "Back-off", "Restraint"):
        table = rows("docs/politeness.md", heading)
        assert table
        assert [row[0] for row in table if not (row[1] and _TEST.search(row[2]))] == []


def test_every_threat_has_an_answer_and_a_test():
    """Each row of the four tables says what is done, and what proves it."""
    headings = [
        "Into the network",
        "Against the machine",
        "Against the crawl",
        "Against the data and the operator",
    ]
    for heading in headings:
        table = rows("docs/threats.md", heading)
        assert table
        assert [row[0] for row in table if not (row[1] and "`tests/" in row[2])] == []


def test_every_deliberate_difference_is_told():
    """Whoever differs from a standard on purpose says so: each house rule, each group of rows."""
    text = read("docs/politeness.md")
    house_rules = [
        test
        for path in (ROOT / "tests").rglob("test_*.py")
        for test in functions_of(str(path.relative_to(ROOT)))
        if test.startswith("test_house_rule_")
    ]
    assert house_rules
    assert [test for test in house_rules if f"::{test}`" not in text] == []
    told = {row[0]: row[1] for row in rows("docs/politeness.md", "From the URL standards")}
    assert told == {reason: str(len(found)) for reason, found in DIFFERENCES.items()}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_command_can_be_run(name):
    """The first word of each command is a script that may be executed; its arguments exist."""
    commands = [line for block in _FENCE.findall(read(name)) for line in block.splitlines()]
    assert commands
    for command in commands:
        script, *words = shlex.split(command)
        assert (ROOT / script).stat().st_mode & 0o111, command
        given = [word for flag, word in pairwise(words) if flag == "-a"]
        assert {word.partition("=")[0] for word in given} <= ARGUMENTS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_every_argument_and_benchmark_that_is_named_exists(name):
    """``-a name=`` is an argument of the spider, ``scripts/bench NAME`` a benchmark."""
    text = "\n".join(code_of(read(name)))
    arguments = {found for found in re.findall(r"-a (\w+)=", text) if found != "name"}
    assert arguments <= ARGUMENTS.keys()
    benchmarks = set(re.findall(r"scripts/bench ([a-z]\w*)", text))
    assert [one for one in benchmarks if not (ROOT / f"benchmarks/{one}.py").exists()] == []


def test_the_readme_names_every_argument():
    """An argument that the README does not have is not found."""
    named = re.findall(r"-a (\w+)=", read("README.md"))
    assert ARGUMENTS.keys() - set(named) <= {"seeds"}


def test_decisions_are_numbered_and_listed():
    """Records are 0001, 0002 and so on, each with its sections, each listed once."""
    files = sorted(path.name for path in (ROOT / "docs/decisions").glob("*.md"))
    assert [name[:4] for name in files] == [f"{n:04}" for n in range(1, len(files) + 1)]
    listed = re.findall(r"\(decisions/([\w-]+\.md)\)", read("docs/architecture.md"))
    assert listed == files
    for name in files:
        text = read(f"docs/decisions/{name}")
        assert text.startswith(f"# {name[:4]} ")
        assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Consequences"))


def test_the_cases_are_counted_as_they_are():
    """Each kind has its row with the number of its cases, and each difference is told."""
    cases = all_cases()
    told = {row[0]: row[1] for row in rows("docs/cases.md", "By kind")}
    told.pop("**all**")
    assert told == {kind: str(n) for kind, n in Counter(case.kind for case in cases).items()}
    differences = first_names("docs/cases.md", "Deliberate differences")
    assert differences == [case.name for case in cases if case.house]


def test_the_glossary_is_in_order():
    """Each word stands once, in alphabetical order."""
    terms = re.findall(r"^\*\*(.+?)\*\* —", read("docs/glossary.md"), re.MULTILINE)
    assert len(terms) > 20
    assert terms == sorted(set(terms), key=str.lower)


def test_the_map_names_every_room():
    """Each module and package beside ``crawler/__init__.py`` is on its map."""
    rooms = {path.stem for path in (ROOT / "crawler").iterdir() if path.suffix in {".py", ""}}
    named = set(re.findall(r"``(\w+)``", crawler.__doc__ or ""))
    assert rooms - named <= {"__init__", "__pycache__"}
