"""Shadow roots that pages declare."""

from __future__ import annotations

import time

import pytest

from crawler.parsing.shadow import with_shadow_roots

ROOT = "<template shadowrootmode=open>"


@pytest.mark.parametrize(
    ("page", "opened"),
    [
        (
            f"<div>{ROOT}x</template></div>",
            "<div><shadow-root shadowrootmode=open>x</shadow-root></div>",
        ),
        (
            "<TEMPLATE class='>' shadowrootmode='CLOSED'>x</TEMPLATE >",
            "<shadow-root class='>' shadowrootmode='CLOSED'>x</shadow-root>",
        ),
        (
            f"{ROOT}<template>x</template></template>",
            "<shadow-root shadowrootmode=open><template>x</template></shadow-root>",
        ),
        (f"<!-- {ROOT} --></template>", None),
        ("<template shadowrootmode=other>x</template>", None),
        ("<template data-shadowrootmode=open>x</template>", None),
        ("<templates shadowrootmode=open>", None),
        ("<template>x</template>", None),
    ],
)  # fmt: skip
def test_roots_are_opened_and_other_templates_are_not(page, opened):
    """Only what a browser shows is opened (HTML §4.12.3); ends go with their beginnings."""
    assert with_shadow_roots(page) == (opened or page)


@pytest.mark.parametrize(
    "unit", ["<template ", "<template a'", '<template "', "</template>", "<!--", ROOT, "<template>"]
)
def test_the_search_is_linear(unit):
    """Four megabytes of anything cost tenths of a second (measured up to 0.1 s)."""
    page = "shadowrootmode" + unit * (4_000_000 // len(unit))
    began = time.perf_counter()
    with_shadow_roots(page)
    assert time.perf_counter() - began < 2
