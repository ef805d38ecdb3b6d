"""Seeded English-looking prose: unlike every other, and the same on every machine.

Sentences are drawn from short patterns over some hundred words. Two texts of 120 words
from different seeds share next to no three words in a row, so nothing that looks for
near duplicates may join them.
"""

from __future__ import annotations

import random
from functools import lru_cache


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_NOUNS = _words("""
    harbour lantern orchard engine river meadow window ledger compass violin market bridge
    garden letter mountain valley carriage blanket kettle pencil cottage forest basket station
    archive pocket hammer ribbon saddle mirror captain teacher farmer painter sailor doctor
    merchant printer weaver baker miller shepherd tailor gardener traveller neighbour island
    village museum library theatre factory cellar attic chimney corridor staircase balcony
    platform tunnel canal quarry pasture hedge fence barn stable mill tower castle chapel abbey
    monument statue fountain pavement alley avenue boulevard square terrace
""")
_ADJECTIVES = _words("""
    quiet narrow golden ancient careful distant wooden broken heavy gentle bitter crowded empty
    faded frozen hollow humble jagged lonely mellow patient polished rusty sacred shallow silver
    slender solemn steady stubborn sudden tender tidy tired vivid wandering weary wild wise
    yellow brisk calm clever damp eager early famous fertile foreign grateful hidden honest idle
    late modest noisy odd pale plain proud rapid rare remote rough round
""")
_VERBS = _words("""
    carried painted followed measured repaired borrowed noticed described counted crossed
    watched guarded lifted opened planted polished promised remembered returned searched shaped
    signalled sketched studied surprised traded visited wandered welcomed whispered wrapped
    admired answered approached arranged assembled avoided balanced covered delivered discovered
    emptied examined explained filled finished folded gathered greeted hurried invited joined
    labelled lowered marked moved named ordered packed passed placed pointed raised reached
""")
_PLACES = _words("""
    behind beside beyond across inside near under above along against around before between
    towards through without within opposite past beneath
""")
_TIMES = _words("""
    yesterday tonight afterwards meanwhile sometimes rarely often later once twice eventually
    suddenly slowly quickly quietly carefully
""")
_DETERMINERS = _words("""
    the a one every some this that each our my her his their another no any your its many
""")
_CONJUNCTIONS = _words("""
    and but while because until so yet although since whenever after as where if though
""")
_COPULAS = _words("was seemed became stayed looked remained felt grew sounded appeared turned")
_PATTERNS = (
    "{d} {a} {n} {v} {d} {a} {n} {p} {d} {n}.",
    "{t}, {d} {n} {v} {d} {n} {p} {d} {a} {n}, {c} {d} {n} {v} {d} {n}.",
    "{c} {d} {n} {v} {d} {n}, {d} {n} {b} {a} {c} {a}.",
    "{d} {a} {n} {b} {a} {t}; {d} {n} {v} {d} {a} {n}.",
    "{p} {d} {n}, {d} {a} {n} {v} {d} {n} {t}.",
    "{d} {n} {v} {num} {n}s {p} {d} {n}, {c} {d} {n} {b} {a}.",
)
_LISTS = {
    "n": _NOUNS,
    "a": _ADJECTIVES,
    "v": _VERBS,
    "p": _PLACES,
    "t": _TIMES,
    "d": _DETERMINERS,
    "c": _CONJUNCTIONS,
    "b": _COPULAS,
}


class Prose:
    """An endless supply of sentences from one seed."""

    def __init__(self, seed: object) -> None:
        self._random = random.Random(str(seed))

    def words(self, count: int) -> list[str]:
        """Return ``count`` nouns and adjectives in turn."""
        return [self._pick("an"[n % 2]) for n in range(count)]

    def title(self) -> str:
        """Return a heading of four words and a number."""
        words = " ".join(self.words(4)).capitalize()
        return f"{words} {self._random.randrange(1000, 9999)}"

    def sentence(self) -> str:
        """Return one sentence of 9 to 16 words."""
        pattern = _PATTERNS[int(self._random.random() * len(_PATTERNS))]
        parts = _split(pattern)
        text = "".join(self._pick(part) if slot else part for slot, part in parts)
        return text[0].upper() + text[1:]

    def paragraph(self, words: int) -> str:
        """Return sentences of at least ``words`` words together."""
        sentences: list[str] = []
        while words > 0:
            sentences.append(self.sentence())
            words -= sentences[-1].count(" ") + 1
        return " ".join(sentences)

    def _pick(self, slot: str) -> str:
        if slot == "num":
            return str(self._random.randrange(2, 9999))
        words = _LISTS[slot]
        return words[int(self._random.random() * len(words))]


@lru_cache(maxsize=64)
def _split(pattern: str) -> tuple[tuple[bool, str], ...]:
    """Cut a pattern into (is a slot, text) pieces."""
    pieces: list[tuple[bool, str]] = []
    for at, part in enumerate(pattern.replace("}", "{").split("{")):
        if part:
            pieces.append((bool(at % 2), part))
    return tuple(pieces)


def document(title: str, body: str, *, links: str = "", head: str = "", lang: str = "en") -> bytes:
    """Return a small HTML page: a heading, paragraphs (HTML) and a navigation list."""
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        f"<title>{title}</title>{head}</head>\n<body><main><h1>{title}</h1>\n{body}\n</main>\n"
        f"<nav>{links}</nav></body></html>\n"
    ).encode()


def anchors(paths: list[str]) -> str:
    """Return one HTML link per path, its text being the path."""
    return " ".join(f'<a href="{path}">{path}</a>' for path in paths)


def paragraphs(prose: Prose, count: int, words: int) -> str:
    """Return ``count`` HTML paragraphs of at least ``words`` words each."""
    return "\n".join(f"<p>{prose.paragraph(words)}</p>" for _ in range(count))
