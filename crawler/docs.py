"""Writes the documents that are generated from code: ``python -m crawler.docs [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.table import TABLE, Setting

_SETTINGS = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
_HEAD = """\
# Settings

Set them with `-s NAME=value` on the command line, in `crawler/settings.py`, or in a spider's
`custom_settings`. An unknown name under one of these prefixes, a value of the wrong type or
out of range stops the crawl at its start and says what was expected. This page is generated
from the table in `crawler/table.py`; `scripts/check` fails when the two differ.

Scrapy's own settings work as documented there. The ones that matter most here: `JOBDIR`
(the job directory, default `crawls/web`), `USER_AGENT` (name yourself and a contact),
`CONCURRENT_REQUESTS` (requests in flight over all hosts, 128), `DOWNLOAD_TIMEOUT` (seconds
for a whole response, 30), `DOWNLOAD_MAXSIZE` (bytes of a response, packed and unpacked
each, 16 MiB). Do not use `DOWNLOAD_DELAY`, `AUTOTHROTTLE_ENABLED` or `ROBOTSTXT_OBEY`: the
frontier paces hosts and obeys robots.txt.
"""
_COLUMNS = "| name | default | value | meaning |\n|---|---|---|---|"


def settings_page() -> str:
    """Return the text of docs/settings.md."""
    parts = [_HEAD]
    prefix = ""
    for setting in TABLE:
        if setting.name.split("_")[0] != prefix:
            prefix = setting.name.split("_")[0]
            parts.append(
                f"\n## {prefix}\n\n| name | default | value | meaning |\n|---|---|---|---|"
            )
        parts.append(_row(setting))
    return "\n".join(parts) + "\n"


def _row(setting: Setting) -> str:
    default = setting.default
    if isinstance(default, list):
        shown = ", ".join(default[:3]) + (", …" if len(default) > 3 else "") or "empty"  # noqa: PLR2004
    else:
        shown = str(default).lower() if isinstance(default, bool) else str(default or repr(default))
    expected = setting.expected().replace("|", "\\|")
    return f"| `{setting.name}` | `{shown}` | {expected} | {setting.meaning} |"


def main(arguments: list[str]) -> int:
    """Write the page, or compare it with the one that is there."""
    page = settings_page()
    if "--check" not in arguments:
        _SETTINGS.write_text(page, encoding="utf-8")
        return 0
    if not _SETTINGS.exists() or _SETTINGS.read_text(encoding="utf-8") != page:
        sys.stderr.write("docs/settings.md is not in step: run python -m crawler.docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
