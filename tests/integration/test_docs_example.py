"""Documents against a real crawl: the worked example of docs/architecture.md, and the stats."""

from __future__ import annotations

import json
import re

import pytest

from crawler import settings
from tests.support.crawl import ROOT, crawl, options
from tests.support.server import LocalWeb

pytestmark = pytest.mark.e2e

_BLOCK = re.compile(r"<!-- tests/\S+ runs this block -->\n```python\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def example():
    blocks = _BLOCK.findall((ROOT / "docs/architecture.md").read_text("utf-8"))
    assert len(blocks) == 1
    return blocks[0]


@pytest.fixture(scope="module")
def result(example, tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    (folder / "titles_example.py").write_text(example, "utf-8")
    pipelines = {**settings.ITEM_PIPELINES, "titles_example.TitlesPipeline": 950}
    with LocalWeb("tests.support.sites:docs_site") as web, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(folder))
        return crawl(
            [web.url()],
            *("-a", "max_depth=1"),
            *options(POLITENESS_DELAY=0, ITEM_PIPELINES=json.dumps(pipelines)),
            jobdir=folder / "job",
        ).check()


def test_the_example_pipeline_writes_its_file(result):
    """A pipeline put in as the document says sees each stored page once, and no duplicate."""
    rows = (result.jobdir / "titles.tsv").read_text("utf-8").splitlines()
    assert len(rows) > 4
    assert rows == [f"{len(line['text'].split())}\t{line['title']}" for line in result.lines]


def test_every_stat_of_a_crawl_is_described(result):
    """A name of ours in the dump of stats stands in docs/output.md, itself or by its kind."""
    text = (ROOT / "docs/output.md").read_text("utf-8")
    kinds = {"outcome": "NAME", "rejected": "NAME", "robots": "STATUS", "fetch": "TROUBLE"}
    ours = [name for name in result.stats if name.partition("/")[0] in {"frontier", *kinds}]
    assert len(ours) > 8
    for name in ours:
        stage = name.partition("/")[0]
        assert f"`{name}`" in text or f"`{stage}/{kinds.get(stage)}`" in text, name
