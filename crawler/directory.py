"""Where a crawl is kept: the job directory, chosen and made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.errors import StoreError
from crawler.store import sync_directory

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

DEFAULT = "crawls/web"
"""Of the spider ``web``, and of the commands that look at a crawl."""


def job_directory(settings: BaseSettings, *, default: str | None) -> Path | None:
    """Return where a crawl is kept: JOBDIR, or else ``default``."""
    value = settings.get("JOBDIR") or default
    return Path(value).expanduser() if value else None


def shown_directory(settings: BaseSettings) -> Path:
    """Return which crawl a command looks at: JOBDIR, or else that of the spider ``web``."""
    return Path(settings.get("JOBDIR") or DEFAULT).expanduser()


def prepare_directory(directory: Path) -> None:
    """Make sure that a job directory can be written.

    Raises:
        StoreError: It cannot, with the directory and the system's reason.
    """
    try:
        directory = directory.absolute()
        new = [one for one in (directory, *directory.parents) if not one.exists()]
        directory.mkdir(parents=True, exist_ok=True)
        for one in new:
            sync_directory(one.parent)  # their names are to survive a power cut, too
        probe = directory / ".write-test"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise StoreError(
            f"JOBDIR {str(directory)!r} cannot be written: {error.strerror or error}; "
            "choose another with -s JOBDIR=PATH"
        ) from error
