"""Tokens: words, and single characters in scripts that do not part words."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.dedupe.tokens import CODE_POINT, MAX_CHARACTERS, fold, starts, words

TEXTS = st.text(
    st.sampled_from(
        "aZ_9 .-\u2019\u0301\u0307\u0130\u03a3\u0e01\u0e31\u3042\u3099\u4e00\u1161\uac00\ud800"
    )
    | st.sampled_from("\U00020000\U0002f800\U0003ffff\U0001f600\U0001d400\U000e0100\u0958\u212b")
    | st.characters(codec=None)
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("Hello, World_1!", ["hello", "world_1"], id="punctuation-and-case"),
        pytest.param("don\u2019t don't", ["don", "t", "don", "t"], id="both-apostrophes"),
        pytest.param("a\u00a0b\u3000c", ["a", "b", "c"], id="wide-spaces"),
        pytest.param("na\u00efve cafe\u0301", ["na\u00efve", "caf\u00e9"], id="composed"),
        pytest.param("\u65e5\u672c\u8a9e abc", ["\u65e5", "\u672c", "\u8a9e", "abc"], id="han"),
        pytest.param("\u30d7\u30d5\u309a", ["\u30d7", "\u30d7"], id="kana-with-mark"),
        pytest.param(
            "\u0e17\u0e35\u0e48\u0e19\u0e35\u0e48",
            ["\u0e17\u0e35\u0e48", "\u0e19\u0e35\u0e48"],
            id="thai",
        ),
        pytest.param("ab\u4e00cd", ["ab", "\u4e00", "cd"], id="han-between-latin"),
        pytest.param(
            "\ud55c\uad6d\uc5b4 \ub2e8\uc5b4",
            ["\ud55c\uad6d\uc5b4", "\ub2e8\uc5b4"],
            id="korean-has-spaces",
        ),
        pytest.param(
            "\u0939\u093f\u0928\u094d\u0926\u0940",
            ["\u0939\u093f\u0928\u094d\u0926\u0940"],
            id="vowel-signs-stay",
        ),
        pytest.param(
            "\U00020000\U00020001", ["\U00020000", "\U00020001"], id="han-beyond-the-plane"
        ),
        pytest.param("one \U0001f600 two", ["one", "two"], id="emoji-part"),
        pytest.param("a\ud800b", ["a", "b"], id="lone-surrogate-parts"),
        pytest.param("", [], id="empty"),
        pytest.param("--- \u2026", [], id="no-letters"),
    ],
)
def test_token_table(text, tokens):
    """Tokens are as the module says, by the expression and by the table."""
    assert words(text) == tokens
    assert len(starts(fold(text))) == len(tokens)


@given(TEXTS)
@example("a\u0e31b")
@example("\u0e31\u0301b")
def test_table_and_expression_agree(text):
    """The two forms of the definition find the same number of tokens in any text."""
    assert len(starts(fold(text))) == len(words(text))


@given(TEXTS)
def test_token_characters_agree(text):
    """Letter by letter, folding is NFC and lower case, but for the named deviations."""
    if any(c in text for c in "\u0130\u03a3\u03c2"):
        return
    text = unicodedata.normalize("NFC", text)
    mine = "".join(chr(int(code) & CODE_POINT) for code in fold(text) if code)
    theirs = "".join(words(text))
    assert mine == theirs


def test_reading_is_bounded():
    """Beyond the cap nothing is read, by either form."""
    for letter in ("a ", "\u00e9 ", "\u4e00 "):
        text = letter * MAX_CHARACTERS
        assert len(fold(text)) == MAX_CHARACTERS
        assert len(starts(fold(text))) == MAX_CHARACTERS // 2 == len(words(text))


@pytest.mark.parametrize("count", [29, 30, 31, 200, 100_000])
def test_piles_of_marks_cost_no_more_than_other_text(count):
    """Above 30 marks on a letter nothing is reordered, which would take quadratic time."""
    text = "a" + "\u0301\u0316" * (count // 2) + "\u0301" * (count % 2) + " b"
    assert len(starts(fold(text))) == len(words(text)) == 2
    assert (words(text)[0] == text.split()[0]) is (count > 30)
    assert bool(fold(text)[0] & CODE_POINT == ord("a")) is (count > 30)


def test_normalisation_cannot_outgrow_the_bound():
    """A text that grows threefold when normalised is cut again."""
    assert len(fold("\ufb2c" * MAX_CHARACTERS)) == MAX_CHARACTERS
