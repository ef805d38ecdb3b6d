"""The page for people: what the API has, from its own description, without a script."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_CODE = re.compile(r"(`{1,2})(.+?)\1", re.DOTALL)

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content-Security-Policy of the page."""

_HEAD = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 1rem/1.5 sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
code {{ font: .9rem monospace; background: #8881; padding: .1rem .2rem }}
dt {{ margin-top: .4rem }}
</style>
<h1>{title}</h1>
<p>{description}</p>
<p>For programs: <a href="/openapi.json">/openapi.json</a> (OpenAPI).</p>
"""


def manual(openapi: Mapping[str, Any]) -> str:
    """Return an HTML page that lists the endpoints of an API and their parameters."""
    info = openapi["info"]
    head = _HEAD.format(title=escape(info["title"]), description=_prose(info["description"]))
    parts = [_endpoint(path, methods["get"]) for path, methods in openapi["paths"].items()]
    return head + "".join(parts) + "</html>\n"


def _endpoint(path: str, operation: Mapping[str, Any]) -> str:
    rows = [_parameter(one) for one in operation.get("parameters", ())]
    table = f"<dl>{''.join(rows)}</dl>\n" if rows else ""
    summary = _prose(operation.get("description") or operation["summary"])
    return f"<h2><code>GET {escape(path)}</code></h2>\n<p>{summary}</p>\n{table}"


def _parameter(one: Mapping[str, Any]) -> str:
    needed = " (required)" if one["required"] and one["in"] == "query" else ""
    name = f"<dt><code>{escape(one['name'])}</code>{needed}</dt>"
    return f"{name}<dd>{_prose(one.get('description', ''))}</dd>\n"


def _prose(text: str) -> str:
    """Return a description as HTML: what it marks as code, by one backtick or two, is that."""
    return _CODE.sub(r"<code>\2</code>", escape(text))
