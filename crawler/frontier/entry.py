"""A URL on its way through the frontier, and its row in a table."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from crawler.errors import StoreError
from crawler.model import Fingerprint

_HEAD = struct.Struct(">BHBBBBHI")
# priority, depth, redirects, copies, tries, throttles, len(referrer), len(payload)
_MAX_DEPTH = 0xFFFF
_MAX_REFERRER = 0xFFFF
_FINGERPRINT = 16  # bytes


@dataclass(slots=True)
class Entry:
    """A URL with what the crawl must remember until its outcome.

    ``payload`` is opaque to the frontier: a serialised request of a spider that brought its
    own callback; empty for URLs found as links.
    """

    url: str
    fingerprint: Fingerprint
    priority: int = 0  # 0 (first) to 255
    depth: int = 0
    referrer: str | None = None
    redirects: int = 0  # hops of the redirect chain that led here
    copies: int = 0  # duplicates in a row that led here
    tries: int = 0  # broken tries so far, see crawler.politeness
    throttles: int = 0  # throttled tries so far
    payload: bytes = b""

    @property
    def first_try(self) -> bool:
        """Whether the URL was never asked for before."""
        return not (self.tries or self.throttles)

    def encode(self) -> bytes:
        """Return the row: a fixed head, the referrer, the payload, the URL."""
        referrer = (self.referrer or "").encode()[:_MAX_REFERRER]
        head = _HEAD.pack(
            self.priority,
            min(self.depth, _MAX_DEPTH),
            self.redirects,
            min(self.copies, 255),
            min(self.tries, 255),
            min(self.throttles, 255),
            len(referrer),
            len(self.payload),
        )
        return b"".join((head, self.fingerprint, referrer, self.payload, self.url.encode()))

    @classmethod
    def decode(cls, row: bytes) -> Entry:
        """Rebuild an entry from :meth:`encode`.

        Raises:
            StoreError: It did not come from there, or was damaged.
        """
        try:
            head = _HEAD.unpack_from(row)
            priority, depth, redirects, copies, tries, throttles, referrer_len, payload_len = head
            at = _HEAD.size + _FINGERPRINT
            referrer_end = at + referrer_len
            payload_end = referrer_end + payload_len
            return cls(
                url=_text(row[payload_end:]),
                fingerprint=Fingerprint(row[_HEAD.size : at]),
                priority=priority,
                depth=depth,
                referrer=row[at:referrer_end].decode(errors="ignore") or None,
                redirects=redirects,
                copies=copies,
                tries=tries,
                throttles=throttles,
                payload=row[referrer_end:payload_end],
            )
        except (struct.error, ValueError) as error:
            raise StoreError(
                f"the frontier's store is damaged: the row {row[:60]!r} is no URL that "
                f"waits ({error}); restore the job directory from a copy, or start anew with "
                "another JOBDIR"
            ) from error


def _text(url: bytes) -> str:
    if not url:
        raise ValueError("cut short")
    return url.decode()
