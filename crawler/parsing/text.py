"""The text of a page: its main part without menus and footers, and the language.

Main text is what duplicates are judged by: a page with another advertisement beside it is
still the same page. resiliparse finds it; where it finds next to nothing the full text
stands in, and the page says which of the two it carries, because the two kinds must never
be compared with each other.

resiliparse's element collections take quadratic time, so only whole-document functions of it
are used. Its main-text search takes time with depth times size: see :func:`is_searchable`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree
from resiliparse.parse.lang import detect_fast

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

POOR_WORDS = 25
"""A main text with fewer words is no main text."""

POOR_SHARE = 20
"""Nor is one that makes less than one part in so many of the page's text."""

LANGUAGE_SAMPLE = 4_000
"""Characters that decide the language."""

_LANGUAGE_LEAST = 40  # characters; below, no guess is made
_LANGUAGE_SURE = 200  # characters; below, the page's own word is better than a guess
# Distances of a text from the profile of its language: 200 to 500, short ones to 600. Texts
# that are mostly names and code lie beyond, and are near to several languages at once.
_LANGUAGE_FAR = 650
_LANGUAGE_RIVAL = 1.02
_LANGUAGE_KIN = 1.1
_LANGUAGES_OF_MANY_SIGNS = frozenset(("ja", "ko", "zh"))  # always far

_FEW_TAGS = 2_000  # up to here depth does no harm: at worst 0.1 s
_MANY_TAGS = 8_000
_MOST_TAGS = 100_000
_MOST_OPTIONS = 5_000  # of select: time grows with the square
_DEEP = ">".join(["*"] * 128)

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_UNSPACED_PER_WORD = 2
_LANGUAGE_TAG = re.compile("[A-Za-z]{2,3}(?=[-_]|$)")


class PageText(NamedTuple):
    """The text of a page, and which: ``full`` is set where it had to be read anyway."""

    text: str
    is_main: bool
    full: str | None = None


def read_text(html: str, tree: LexborHTMLParser, tags: int) -> PageText:
    """Return the main text of a page, or its full text where the main one is poor.

    Args:
        html: the page.
        tree: of the same page, without script and style.
        tags: at least how many tags the page has.
    """
    if not is_searchable(tree, tags):
        full = plain_text(tree)
        return PageText(full, is_main=False, full=full)
    text_tree = HTMLTree.parse(html)
    main: str = extract_plain_text(
        text_tree, main_content=True, list_bullets=False, alt_texts=False
    ).strip()
    if has_words(main) and _is_fair_share(main, html, tree):
        return PageText(main, is_main=True)
    full = _full_text(text_tree)
    return PageText(full, is_main=False, full=full)


def visible_text(html: str) -> str:
    """Return all visible text of ``html``, blocks on lines of their own."""
    return _full_text(HTMLTree.parse(html)) if html else ""


def plain_text(tree: LexborHTMLParser) -> str:
    """Return all text of a page too odd for anything better: words and single blanks."""
    root = tree.body or tree.root
    return " ".join(root.text(separator=" ", skip_empty=True).split()) if root else ""


def is_searchable(tree: LexborHTMLParser, tags: int) -> bool:
    """Whether the search for main text takes bounded time: not on deep or huge pages."""
    if tags <= _FEW_TAGS:
        return True
    if tags > _MOST_TAGS or tree.css_first(_DEEP) is not None:
        return False
    return tags <= _MANY_TAGS or len(tree.css("option")) <= _MOST_OPTIONS


def has_words(text: str, least: int = POOR_WORDS) -> bool:
    """Whether ``text`` has so many words; scripts without blanks count two characters as one.

    Cost: constant; reads the first few hundred characters.
    """
    sample = text[: least * 16]
    words = len(sample.split(None, least))
    if words < least and not sample.isascii():
        words = max(words, len(_UNSPACED.findall(sample)) // _UNSPACED_PER_WORD)
    return words >= least


def language(text: str, declared: str | None) -> str | None:
    """Return the primary language subtag, lower case: from the text, else as declared.

    The page's own word stands where the text nearly agrees with it, or does not decide: on
    short and technical texts the guess alone is wrong a quarter of the time.

    Args:
        text: the page's text.
        declared: the ``lang`` attribute, e.g. ``en-GB``.

    Spec: RFC 5646 §2.2.1 (primary subtag).
    """
    match = _LANGUAGE_TAG.match(declared.strip()) if declared else None
    tag = match[0].lower() if match else None
    if len(text) < (_LANGUAGE_SURE if tag else _LANGUAGE_LEAST):
        return tag
    guesses = _guess_language(text[:LANGUAGE_SAMPLE])
    if not guesses or any(found == tag for found, _ in _near(guesses, _LANGUAGE_KIN)):
        return tag
    best, distance = guesses[0]
    far = distance > _LANGUAGE_FAR and best not in _LANGUAGES_OF_MANY_SIGNS
    if far or len(_near(guesses, _LANGUAGE_RIVAL)) > 1:
        return tag
    return best


def _guess_language(sample: str) -> list[tuple[str, int]]:
    """Return up to three (language, distance), the nearest first."""
    guesses = detect_fast(sample, n_results=3)
    return guesses if isinstance(guesses, list) else [guesses]


def _near(guesses: list[tuple[str, int]], factor: float) -> list[tuple[str, int]]:
    """Return the guesses that are hardly worse than the first."""
    limit = guesses[0][1] * factor
    return [guess for guess in guesses if guess[1] <= limit]


def _full_text(text_tree: HTMLTree) -> str:
    text: str = extract_plain_text(text_tree, list_bullets=False, alt_texts=False)
    return text.strip()


def _is_fair_share(main: str, html: str, tree: LexborHTMLParser) -> bool:
    """Whether ``main`` is enough of the page's text; the whole is measured only in doubt."""
    enough = len(main) * POOR_SHARE
    if enough >= len(html):
        return True
    root = tree.body or tree.root
    whole = root.text(skip_empty=True) if root else ""
    return enough >= len(whole) or enough >= len(" ".join(whole.split()))
