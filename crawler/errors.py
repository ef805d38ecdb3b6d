"""Every exception the crawler raises on purpose.

::

    CrawlerError
    ├── ConfigError   a setting, spider argument or seed is unusable; the crawl does not start
    ├── QueryError    what is asked for is no question, or has no answer
    └── StoreError    a job directory or a file in it cannot be used; nothing was changed
        └── OutOfReachError   what is kept elsewhere cannot be had now, and may be later

What the web does wrong is never an exception: it ends in an outcome or a rejection
(:mod:`crawler.model`). Each message names the input, the rule and the remedy.
"""

from __future__ import annotations


class CrawlerError(Exception):
    """Base of all errors raised on purpose."""


class ConfigError(CrawlerError):
    """A setting, a spider argument or a seed cannot be used."""


class QueryError(CrawlerError):
    """What is asked of a finished crawl cannot be read, or is not there."""


class StoreError(CrawlerError):
    """A job directory, or a file in it, cannot be used as it is."""


class OutOfReachError(StoreError):
    """A store elsewhere does not answer, or refuses; what it keeps is there all the same."""
