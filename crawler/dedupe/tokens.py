"""What a token is: a word, or a single character in scripts that do not part words.

A word is a run of letters, digits, underscores and combining marks. In Han, Kana, Thai,
Lao, Khmer and Myanmar text each character with its marks is a token of its own, because
there a run of letters is a clause, and one changed character would change all of it.
Everything else parts tokens: white space, punctuation, symbols, emoji.

The definition exists twice: as a regular expression over strings, and as a table of code
points for whole-array work. A test holds the two together.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

MAX_CHARACTERS = 131_072
"""Code points read of a text, about 21,000 English words; the rest does not count."""

CodePoints = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]

CODE_POINT = (1 << 21) - 1
"""Mask of the code point in an element of folded text."""

# Bits above every code point, in the table and in folded text.
_SINGLE = 1 << 30  # of a script without spaces: a token of its own
_MARK = 1 << 29  # belongs to the character before it
_COMPOSES = 1 << 28  # normalisation may join it with its neighbours, or take it apart

_MOST_MARKS = 30
_TABLE_END = 0x20000  # planes 0 and 1; above them lie Han (2, 3) and no other letters
_HAN_END = 0x40000

_SPACELESS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # Han iteration mark and zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # Kana repeat marks
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Myanmar extended B
    (0xAA60, 0xAA7F),  # Myanmar extended A
    (0xF900, 0xFAFF),  # Han compatibility forms
    (0xFF66, 0xFF9F),  # half-width Katakana
    (0x1AFF0, 0x1B16F),  # Kana supplements
)
_COMBINING_JAMO = ((0x1161, 0x1175), (0x11A8, 0x11C2))  # vowels and finals of a Hangul syllable
_ASCII = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or code == ord("_") else 0 for code in range(128)
) + bytes(128)


def _entry(code: int) -> int:
    """Return the folded code point with its bits but ``_SINGLE``; 0 if it parts tokens."""
    character = chr(code)
    mark = unicodedata.category(character)[0] == "M"
    if not (mark or character.isalnum() or character == "_"):
        return 0
    composed = unicodedata.normalize("NFC", character)
    folded = code if len(composed) > 1 else ord(composed.lower()[0])
    return folded | mark * (_MARK | _COMPOSES) | (len(composed) > 1) * _COMPOSES


@cache
def _table() -> npt.NDArray[np.uint32]:
    """Return the folding table; made once, in 0.04 s, by the first text that is not ASCII."""
    table = np.fromiter(map(_entry, range(_TABLE_END)), np.uint32, _TABLE_END)
    for ranges, bit in ((_SPACELESS, _SINGLE), (_COMBINING_JAMO, _COMPOSES)):
        for first, last in ranges:
            part = table[first : last + 1]
            part[part != 0] |= bit
    return table


def _look_up(text: str) -> npt.NDArray[np.uint32]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    if not codes.size or int(codes.max()) < _TABLE_END:
        return _table().take(codes)
    beyond = codes >= _TABLE_END
    folded = _table().take(np.where(beyond, 0, codes))
    han = beyond & (codes < _HAN_END)
    folded[han] = codes[han] | np.uint32(_SINGLE)
    return folded


def fold(text: str) -> CodePoints:
    """Return a text as lower-case code points: 0 between tokens, bits above 2**28 for class.

    Returns:
        Shape (characters,), at most ``MAX_CHARACTERS``; uint8 if the text is ASCII.

    Spec: Unicode Standard Annex 15 (NFC). Deviations: case is folded one character for
    one, so capital dotted I loses its dot; text that is not safe to normalise is not.
    """
    text = text[:MAX_CHARACTERS]
    if text.isascii():
        return np.frombuffer(text.encode("ascii").translate(_ASCII), np.uint8)
    folded = _look_up(text)
    if (folded & _COMPOSES).any() and _is_stream_safe(folded):
        composed = unicodedata.normalize("NFC", text)[:MAX_CHARACTERS]
        if composed != text:
            folded = _look_up(composed)
    return folded


def _is_stream_safe(folded: npt.NDArray[np.uint32]) -> bool:
    """Tell whether no character carries more than 30 marks.

    Marks are put in order by a sort that is quadratic in their number: 130,000 in a row
    take 13 seconds.

    Spec: Unicode Standard Annex 15 §13 (Stream-Safe Text Format).
    """
    marks = ((folded & _MARK) != 0).cumsum()
    window = _MOST_MARKS + 1
    before = np.concatenate([[0], marks[:-window]])
    return not bool((marks[window - 1 :] - before == window).any())


def starts(folded: CodePoints) -> npt.NDArray[np.intp]:
    """Return the position of each token's first character in a folded text, ascending."""
    letter = folded != 0
    begins = letter.copy()
    if folded.dtype == np.uint8:
        np.greater(letter[1:], letter[:-1], out=begins[1:])
        return np.flatnonzero(begins)
    single = (folded & _SINGLE) != 0
    base = (folded & _MARK) == 0
    parted = ~letter[:-1] | (base[1:] & (single[1:] | single[:-1]))
    np.logical_and(letter[1:], parted, out=begins[1:])
    return np.flatnonzero(begins)


@cache
def _token_pattern() -> re.Pattern[str]:
    """Return the rule of ``starts`` as an expression."""

    def characters(bit: int) -> str:
        codes = np.flatnonzero(_table() & bit)
        runs = np.split(codes, np.flatnonzero(np.diff(codes) > 1) + 1)
        return "".join(f"\\U{run[0]:08x}-\\U{run[-1]:08x}" for run in runs)

    single = characters(_SINGLE) + f"\\U{_TABLE_END:08x}-\\U{_HAN_END - 1:08x}"
    marks = characters(_MARK)
    return re.compile(f"[\\w{marks}{single}](?:[{marks}]|(?<![{single}])[^\\W{single}])*")


def words(text: str) -> list[str]:
    """Return the tokens of a text as lower-case strings, in order.

    Spec: Unicode Standard Annex 15 (NFC).
    """
    text = text[:MAX_CHARACTERS]
    if text.isascii():
        return re.findall(r"\w+", text.lower())
    if _is_stream_safe(_look_up(text)):
        text = unicodedata.normalize("NFC", text)[:MAX_CHARACTERS]
    return _token_pattern().findall(text.lower())
