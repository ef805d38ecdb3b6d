"""64-bit fingerprints of texts: near texts differ in few bits.

A text's features are its overlapping runs of three tokens, each as often as it occurs
(a text of one or two tokens is one feature). Every feature is hashed to 64 bits and votes
on every bit of the fingerprint; a bit is set if more than half of the features set it.

Three fingerprinters keep this one definition. ``reference`` is the ``simhash`` package,
``numpy`` gives the same bits at two thirds of its cost, and ``fast`` hashes features
without ever making them strings, at a twenty-fifth. Its feature hash is another, so it has
an algorithm tag of its own and its values are compared with nothing else.

Spec: Charikar, Similarity Estimation Techniques from Rounding Algorithms (2002); Manku,
Jain and Das Sarma, Detecting Near-Duplicates for Web Crawling (2007).
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Protocol

import numpy as np
import numpy.typing as npt
from simhash import Simhash

from crawler.dedupe.tokens import CODE_POINT, MAX_CHARACTERS, fold, starts, words
from crawler.errors import ConfigError
from crawler.model import Signature

Hashes = npt.NDArray[np.uint64]

_HEX_DIGITS = re.compile("[0-9a-f]{16}")

SHINGLE_TOKENS = 3
COMPATIBLE = "words3-blake2b-1"
FAST = "words3-poly-1"


def parse_signature(form: str, tokens: int) -> Signature | None:
    """Return the signature behind its output form, or None if it is not one."""
    algorithm, _, digits = form.rpartition(":")
    if not (algorithm and _HEX_DIGITS.fullmatch(digits)):
        return None
    return Signature(int(digits, 16), tokens, algorithm)


class Fingerprinter(Protocol):
    """Makes signatures of one algorithm; deterministic across processes and runs."""

    algorithm: str

    def fingerprint(self, text: str) -> Signature:
        """Return the signature of any text; the empty text has value 0 and no tokens."""
        ...


# --- the vote -------------------------------------------------------------------------

_LANES = np.uint64(0x0101010101010101)  # the lowest bit of each byte
_SHIFTS = np.arange(8, dtype=np.uint64)[:, None]
_LANE_LIMIT = 255  # a byte holds no more votes
_WEIGHTS = np.uint64(1) << np.arange(64, dtype=np.uint64)


def vote(hashes: Hashes) -> int:
    """Return the 64 bits that more than half of the hashes set; a tie leaves a bit 0.

    Eight counters are kept in the bytes of one word, so a shift, a mask and a sum of
    words count eight bits at once.

    Args:
        hashes: Shape (features,), repeated hashes vote repeatedly. May be empty.
    """
    spread = (hashes >> _SHIFTS) & _LANES  # row s: bits s, s+8, s+16, ...
    full = len(hashes) // _LANE_LIMIT * _LANE_LIMIT
    blocks = spread[:, :full].reshape(8, -1, _LANE_LIMIT).sum(axis=2)
    sums = np.concatenate([blocks, spread[:, full:].sum(axis=1)[:, None]], axis=1)
    lanes = np.ascontiguousarray(sums.astype("<u8", copy=False)).view(np.uint8)
    counts = lanes.reshape(8, -1, 8).sum(axis=1, dtype=np.int64)  # [shift, byte]
    majority = 2 * counts.T.reshape(64) > len(hashes)  # bit = 8 * byte + shift
    return int(_WEIGHTS[majority].sum(dtype=np.uint64))


# --- feature strings, hashed by blake2b ---------------------------------------------------


def shingles(tokens: list[str]) -> list[str]:
    """Return the runs of three tokens, joined by a space."""
    if len(tokens) <= SHINGLE_TOKENS:
        return [" ".join(tokens)] if tokens else []
    return list(map(" ".join, zip(tokens, tokens[1:], tokens[2:], strict=False)))


def feature_hash(feature: bytes) -> bytes:
    """Return the 8 bytes by which the compatible algorithm votes."""
    return blake2b(feature, digest_size=8).digest()


class ReferenceFingerprinter:
    """The ``simhash`` package: the yardstick, and slow.

    It is given a plain list of strings, so that each weighs 1. Its other inputs are to be
    avoided: a string is cut into letters instead of words, and a weight above 255
    overflows under numpy 2. No features at all is answered here.
    """

    algorithm = COMPATIBLE

    def fingerprint(self, text: str) -> Signature:
        """Return the signature; about 1 millisecond for 1,000 words."""
        tokens = words(text)
        features = shingles(tokens)
        value = Simhash(features, hashfunc=feature_hash).value if features else 0
        return Signature(value, len(tokens), self.algorithm)


class NumpyFingerprinter:
    """The same bits as the reference, with an own vote."""

    algorithm = COMPATIBLE

    def fingerprint(self, text: str) -> Signature:
        """Return the signature; about 1.5 milliseconds for 1,000 words."""
        tokens = words(text)
        digests = b"".join(feature_hash(s.encode()) for s in shingles(tokens))
        hashes = np.frombuffer(digests, ">u8").astype(np.uint64)
        return Signature(vote(hashes), len(tokens), self.algorithm)


# --- features without strings ---------------------------------------------------------

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_MIX = (0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB)  # one per place; odd


def _powers(base: int) -> Hashes:
    return np.cumprod(np.full(MAX_CHARACTERS, base, np.uint64), dtype=np.uint64)


_POWERS = _powers(_BASE)
_INVERSES = _powers(pow(_BASE, -1, 2**64))


def _scramble(values: Hashes) -> Hashes:
    """Spread every input bit over all 64, in place (Stafford's mix 13 of SplitMix64)."""
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


class FastFingerprinter:
    """Whole-array hashing: no Python step per word or character.

    A token's hash is the polynomial of its code points in an odd base modulo 2**64. With
    running sums ``P[i]`` of ``code[i] * base**i``, that of a token from a to b is
    ``(P[b] - P[a]) * base**-a``, wherever in the text it stands. Three neighbours, each
    times a constant of its place, are added and scrambled to one feature.
    """

    algorithm = FAST

    def fingerprint(self, text: str) -> Signature:
        """Return the signature; about 0.1 milliseconds for 3,400 words."""
        hashes = self._token_hashes(text)
        return Signature(vote(self._mix(hashes)), len(hashes), self.algorithm)

    def features(self, text: str) -> Hashes:
        """Return the feature hashes that vote, in order of the text."""
        return self._mix(self._token_hashes(text))

    @staticmethod
    def _token_hashes(text: str) -> Hashes:
        folded = fold(text)
        begins = starts(folded)
        if not begins.size:
            return np.empty(0, np.uint64)
        # What parts tokens is 0 and adds nothing, so a sum may run up to the next token.
        codes = folded & CODE_POINT if folded.dtype != np.uint8 else folded
        terms = (codes * _POWERS[: len(codes)]).cumsum()
        ends: Hashes = terms[np.append(begins[1:] - 1, len(terms) - 1)]
        ends[1:] -= ends[:-1].copy()
        ends *= _INVERSES[begins]
        return ends

    @staticmethod
    def _mix(tokens: Hashes) -> Hashes:
        count = max(len(tokens) - SHINGLE_TOKENS + 1, min(len(tokens), 1))
        mixed = np.zeros(count, np.uint64)
        for place, factor in enumerate(_MIX):
            part = tokens[place : place + count]  # short only if the whole text is
            mixed[: len(part)] += part * np.uint64(factor)
        return _scramble(mixed)


_FINGERPRINTERS: dict[str, type[Fingerprinter]] = {
    "fast": FastFingerprinter,
    "numpy": NumpyFingerprinter,
    "reference": ReferenceFingerprinter,
}


def make_fingerprinter(name: str) -> Fingerprinter:
    """Return the fingerprinter of a name: "fast", "numpy" or "reference".

    Raises:
        ConfigError: There is none of this name.
    """
    try:
        return _FINGERPRINTERS[name]()
    except KeyError:
        known = ", ".join(sorted(_FINGERPRINTERS))
        raise ConfigError(f"fingerprint algorithm {name!r}: expected one of {known}") from None
