"""Writes the documents that are generated from code: ``python -m crawler.docs [--check]``."""

from __future__ import annotations

import sys
from pathlib import Path

from crawler.borrowed import CHECKED, UNUSED
from crawler.table import TABLE, Setting

_SETTINGS = Path(__file__).resolve().parents[1] / "docs" / "settings.md"
_HEAD = """\
# Settings

Set them with `-s NAME=value` on the command line, in `crawler/settings.py`, or in a spider's
`custom_settings`. An unknown name under one of these prefixes, a value of the wrong type or
out of range stops the crawl at its start and says what was expected. This page is generated
from the table in `crawler/table.py`; `scripts/check` fails when the two differ.

Scrapy's own settings work as documented there; the few below are checked, too. `JOBDIR` is the job
directory (default `crawls/web`), `USER_AGENT` must have a name that robots.txt can address:
name yourself and a contact.
"""
_COLUMNS = "| name | default | value | meaning |\n|---|---|---|---|"
_UNUSED = """
## Scrapy's that have no say in a crawl

Do not use these: what they are about is decided elsewhere. A crawl that is given one says so in
a warning. `scrapy shell`, `fetch`, `view` and `parse` work beside any crawl, and there they count.

| name | instead |
|---|---|"""


def settings_page() -> str:
    """Return the text of docs/settings.md."""
    parts = [_HEAD]
    prefix = ""
    for setting in TABLE:
        if setting.name.split("_")[0] != prefix:
            prefix = setting.name.split("_")[0]
            parts.append(f"\n## {prefix}\n\n{_COLUMNS}")
        parts.append(_row(setting))
    parts += [f"\n## Scrapy's\n\n{_COLUMNS}", *map(_row, CHECKED), _UNUSED]
    parts += [f"| `{name}` | {instead} |" for name, instead in UNUSED.items()]
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
