"""Where a crawl is kept: the job directory, chosen and made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from crawler.commit import WITNESS
from crawler.errors import ConfigError, StoreError
from crawler.store import sync_directory
from crawler.stores import ARCHIVE, CATALOG, PAGES

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

STORE = "frontier"
"""Folder of the frontier's engine in the job directory."""
_OF_A_CRAWL = (PAGES, ARCHIVE, CATALOG, WITNESS)
_OF_SCRAPY = ("requests.queue", "requests.seen")
DEFAULT = "crawls/web"
"""Of the spider ``web``, and of the commands that look at a crawl."""


def job_directory(settings: BaseSettings, *, default: str | None) -> Path | None:
    """Return where a crawl is kept: JOBDIR, or else ``default``.

    Raises:
        ConfigError: JOBDIR is given, and empty.
    """
    value = settings.get("JOBDIR")
    if value is not None and not str(value).strip():
        raise ConfigError(
            "JOBDIR is empty, as when a variable of a shell is not set: give the path of a "
            "directory, or leave JOBDIR out"
        )
    value = value or default
    return Path(value).expanduser() if value else None


def shown_directory(settings: BaseSettings) -> Path:
    """Return which crawl a command looks at: JOBDIR, or else that of the spider ``web``."""
    directory = job_directory(settings, default=DEFAULT)
    assert directory is not None
    return directory


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


def refuse_remains(directory: Path) -> None:
    """Refuse to begin a crawl where another one has left something: it would be overwritten.

    Args:
        directory: The job directory, without a store.

    Raises:
        StoreError: It has files of a crawl, of ours or of Scrapy's own scheduler.
    """
    ours = [name for name in _OF_A_CRAWL if _has_content(directory / name)]
    if ours:
        raise StoreError(
            f"{directory} has {' and '.join(ours)} but no {STORE}: the crawl cannot be continued; "
            "bring the store back, or choose another directory with -s JOBDIR=PATH"
        )
    foreign = [name for name in _OF_SCRAPY if (directory / name).exists()]
    if foreign:
        raise StoreError(
            f"{directory} has {' and '.join(foreign)}: a crawl of Scrapy's own scheduler, which "
            "cannot be continued here; choose another directory with -s JOBDIR=PATH"
        )


def store_of(directory: Path) -> Path:
    """Return where the store of a crawl is, for those who look at it.

    Raises:
        StoreError: There is none.
    """
    store = directory / STORE
    if not store.is_dir():
        raise StoreError(
            f"{directory} holds no crawl: there is no {store}; name one with -s JOBDIR=PATH"
        )
    return store


def kept_catalog(directory: Path, url: str) -> str:
    """Return where the catalog of a crawl is, for those who read it: a URL, or a path.

    Args:
        directory: The job directory.
        url: Of a catalog elsewhere; empty: it is in the directory.

    Raises:
        StoreError: There is no crawl in the directory, or no catalog.
    """
    if url:
        return url
    path = directory / CATALOG
    if not path.exists():
        check_crawl(directory)
        raise StoreError(
            f"{path} is missing: the crawl runs with STORE_CATALOG_ENABLED=false, or keeps its "
            "catalog elsewhere; name that with -s STORE_CATALOG=URL"
        )
    return str(path)


def check_crawl(directory: Path) -> None:
    """See that a directory is that of a crawl.

    Raises:
        StoreError: It is none, or has nothing of a crawl.
    """
    if not directory.is_dir():
        raise StoreError(
            f"JOBDIR {str(directory)!r} is no directory; name that of a crawl with -s JOBDIR=PATH"
        )
    if not any((directory / name).exists() for name in _OF_A_CRAWL):
        raise StoreError(
            f"{directory} holds no crawl; name the directory of one with -s JOBDIR=PATH"
        )


def _has_content(path: Path) -> bool:
    """Whether there is a file that is not empty, or a folder with one."""
    if path.is_dir():
        return any(map(_has_content, path.iterdir()))
    return path.exists() and path.stat().st_size > 0
