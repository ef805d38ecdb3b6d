"""Rows in a dictionary, for tests of what is kept in them."""

from __future__ import annotations


class DictRows:
    """A store that forgets nothing and loses nothing."""

    def __init__(self) -> None:
        self.rows: dict[bytes, bytes] = {}

    def get(self, key: bytes) -> bytes | None:
        """Return a value."""
        return self.rows.get(key)

    def scan(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """Return rows by prefix."""
        return sorted(row for row in self.rows.items() if row[0].startswith(prefix))

    def put(self, key: bytes, value: bytes) -> None:
        """Set a row."""
        self.rows[key] = value

    def delete(self, key: bytes) -> None:
        """Remove a row."""
        self.rows.pop(key, None)
