"""What is kept of one origin's robots.txt beside the text, and its plain form for a store."""

from __future__ import annotations

import base64
import binascii
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from crawler.politeness.gates import State

if TYPE_CHECKING:
    from collections.abc import Mapping

Plain: TypeAlias = "str | int | float | None"
"""What a dumped state is made of: any store can keep it."""

_LASTING = (State.RULES, State.STALE, State.ALLOW_ALL, State.DISALLOW_ALL, State.OUTAGE_ALLOW)


@dataclass(slots=True)
class Site:
    """State of one origin.

    Invariants: `state` is never FETCHING, which lies over it as `fetching`; it holds from
    `answered_at` up to `until`, and outside of that a fetch is due (outside on the left if
    the clock was set back between two runs).
    """

    state: State = State.UNKNOWN
    answered_at: float = 0.0
    until: float = 0.0
    fetching: bool = False
    status: int | None = None  # of the last answer
    copied_at: float | None = None  # when the copy was last known to be current
    failures: int = 0  # in a row
    failed_since: float | None = None
    delay: float | None = None  # seconds, as the copy says
    hops: tuple[str, ...] = ()  # redirect targets so far; the last one is fetched next

    @property
    def has_copy(self) -> bool:
        """True if rules of a copy apply."""
        return self.state is State.RULES or self.state is State.STALE

    def plain(self, packed: bytes | None) -> dict[str, Plain]:
        """Return the state as plain values; a fetch or a redirect under way is not part of it."""
        return {
            "state": self.state.value,
            "answered_at": self.answered_at,
            "until": self.until,
            "status": self.status,
            "copied_at": self.copied_at,
            "failures": self.failures,
            "failed_since": self.failed_since,
            "delay": self.delay,
            "copy": None if packed is None else base64.b64encode(packed).decode("ascii"),
        }


def restored(values: Mapping[str, object], longest: float) -> Site | None:
    """Build a site from plain values, or None if they are not what `Site.plain` gives.

    Args:
        values: of any origin; nothing about them is trusted.
        longest: seconds for which an answer may hold at most.
    """
    state = next((state for state in _LASTING if state.value == values.get("state")), None)
    answered_at, until = _number(values, "answered_at"), _number(values, "until")
    if state is None or answered_at is None or until is None:
        return None
    status = _number(values, "status")
    return Site(
        state=state,
        answered_at=answered_at,
        until=min(until, answered_at + longest),
        status=None if status is None else int(status),
        copied_at=_number(values, "copied_at"),
        failures=max(int(_number(values, "failures") or 0), 0),
        failed_since=_number(values, "failed_since"),
        delay=_number(values, "delay"),
    )


def packed_copy(values: Mapping[str, object]) -> bytes | None:
    """Return the packed copy among plain values, None if there is none that can be read."""
    copy = values.get("copy")
    if not isinstance(copy, str):
        return None
    try:
        return base64.b64decode(copy, validate=True)
    except (binascii.Error, ValueError):
        return None


def _number(values: Mapping[str, object], key: str) -> float | None:
    value = values.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) and value >= 0 else None
    except OverflowError:
        return None
