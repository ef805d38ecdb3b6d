"""Whether a short page says anything that others of its pattern have not said.

Near duplicates are found by their fingerprints, but texts of a few words have none that could
be trusted, and a number in them makes each unlike the others: "Entry 4711. Go on to 4712." So
pairs of neighbouring words, numbers left out, are compared with those that the pattern's
last pages had.

Lists that can be filtered and sorted show the same goods over and over, in ever new choices. So
more of the past is kept of pages with parameters; where these are combined, more must be new.
"""

from __future__ import annotations

from zlib import crc32

_DIGITS = b"0123456789"
_BITS = 4096
_MANY_BITS = 65536
_LONG_TEXT = 6000  # characters; their fingerprints tell such texts apart
_WINDOW = 120  # characters
_WINDOWS, _MANY_WINDOWS = 4, 20
_FEWEST_NEW = 3
_NEW_SHARE = 4  # a page with fewer new pairs than that is hollow, unless they are a quarter
_LEAST_SHARE = 8  # of the pairs of a page, where parameters are combined


class Wording:
    """Pairs of words that the last pages of a pattern had; 512 bytes, with parameters 8 KB.

    Pairs are noted as bits of a table that is emptied when half of it is full, so that what
    is compared is always recent. A pair is known by mistake with a chance below one half.
    """

    __slots__ = ("_bits", "_count", "_size")

    def __init__(self, bits: bytes = bytes(_BITS // 8)) -> None:
        self._bits = bytearray(bits)
        self._size = 8 * len(bits)
        self._count = int.from_bytes(bits, "big").bit_count()

    @classmethod
    def of_script(cls) -> Wording:
        """Return an empty table for pages with parameters."""
        return cls(bytes(_MANY_BITS // 8))

    def is_hollow(self, text: str, *, combined: bool = False) -> bool:
        """Tell whether next to nothing in a text is new, and note its words.

        Args:
            text: Of a page.
            combined: Whether its URL has several parameters.
        """
        if len(text) > _LONG_TEXT and not combined:
            return False
        if self._count > self._size // 2:
            self._bits, self._count = bytearray(self._size // 8), 0
        bits, size, pairs, new = self._bits, self._size, 0, 0
        for words in _sample(text, _MANY_WINDOWS if combined else _WINDOWS):
            before = 0
            for word in words:
                code = crc32(word)
                pair = (31 * before + code) % size
                before = code
                pairs += 1
                if not bits[pair >> 3] >> (pair & 7) & 1:
                    bits[pair >> 3] |= 1 << (pair & 7)
                    new += 1
        empty = size - self._count
        self._count += new
        if combined and new * size * _LEAST_SHARE < pairs * empty:
            return True  # also if as many more were new as are known by mistake
        return new < _FEWEST_NEW and new * _NEW_SHARE <= pairs

    def encode(self) -> bytes:
        """Return the row of the store."""
        return bytes(self._bits)

    @classmethod
    def decode(cls, row: bytes) -> Wording:
        """Rebuild the table from :meth:`encode`."""
        return cls(row)


def _sample(text: str, windows: int) -> list[list[bytes]]:
    """Return the words of each line, without digits; of a longer text those of some parts.

    What stands at the edges of a part may be cut, or follow on what is not read: it is left out.
    """
    whole = len(text) <= _WINDOW * windows
    if not whole:
        step = (len(text) - _WINDOW) // (windows - 1)
        parts = [text[at : at + _WINDOW] for at in range(0, step * windows, step)]
        text = "\n".join(parts)
    lines = text.encode("utf-8", "surrogatepass").translate(None, _DIGITS).split(b"\n")
    return [line.split() if whole else line.split()[1:-1] for line in lines]
