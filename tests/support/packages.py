"""Debian documentation packages as real webs, and what of them a crawl must find.

The reachable set is computed here by other means than the crawler's: the standard library's
HTML parser and ``urllib.parse``. Where the two differ, one of them is wrong.
"""

from __future__ import annotations

import hashlib
import mimetypes
import os
import posixpath
import re
import shutil
import subprocess
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

from tests.support.exchange import Answer, Request, not_found, plain, redirect

_HTML, _TEXT = "text/html", "text/plain"


class PackageUnavailableError(Exception):
    """A package cannot be had here; the message is the command that fetches it."""


def cache_folder() -> Path:
    """Return where packages are kept: ``CRAWLER_TEST_CACHE``, or a folder below home."""
    named = os.environ.get("CRAWLER_TEST_CACHE")
    return Path(named) if named else Path.home() / ".cache" / "crawler-tests"


def debian_docs(package: str, cache: Path | None = None, *, download: bool = True) -> Path:
    """Return the folder that holds a package's HTML, unpacked once and then kept.

    Nothing is installed: the package is downloaded by apt and unpacked by dpkg. The folder
    is the deepest one that contains every HTML file of the package.

    Raises:
        PackageUnavailableError: It is not in the cache, and ``download`` is off, the tools
            are missing or the download failed.
    """
    cache = cache or cache_folder()
    folder = cache / package
    if not folder.is_dir():
        if not download:
            raise PackageUnavailableError(_remedy(package, cache))
        _fetch(package, cache)
    pages = [str(path.parent) for path in folder.rglob("*.htm*") if path.is_file()]
    if not pages:
        raise PackageUnavailableError(f"{package} holds no HTML; remove {folder} to try again")
    return Path(os.path.commonpath(pages))


def _fetch(package: str, cache: Path) -> None:
    """Download and unpack beside the final name, so that a broken try leaves no cache."""
    trial = cache / f"{package}.part"
    shutil.rmtree(trial, ignore_errors=True)
    trial.mkdir(parents=True)
    try:
        _download(package, trial)
        archive = next(trial.glob("*.deb"))
        _run(["dpkg", "-x", archive.name, "tree"], trial)
        trial.joinpath("tree").rename(cache / package)
    except (OSError, StopIteration, subprocess.SubprocessError) as error:
        raise PackageUnavailableError(_remedy(package, cache)) from error
    finally:
        shutil.rmtree(trial, ignore_errors=True)


def _download(package: str, folder: Path) -> None:
    """Download a package; a new machine has no package lists yet, and gets them then."""
    try:
        _run(["apt-get", "download", package], folder)
    except subprocess.CalledProcessError:
        _run(["apt-get", "update"], folder)
        _run(["apt-get", "download", package], folder)


def _run(command: list[str], folder: Path) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)


def _remedy(package: str, cache: Path) -> str:
    return (
        f"{package} is not in {cache}; on Debian: apt-get update && mkdir -p {cache} && cd {cache}"
        f" && apt-get download {package} && dpkg -x {package}_*.deb {package}"
    )


@dataclass(frozen=True, slots=True)
class Found:
    """What a path of a folder is: a file to send, a redirect, or nothing."""

    status: int
    file: Path | None = None
    body: bytes = b""
    content_type: str = ""
    location: str = ""

    @property
    def is_html(self) -> bool:
        """Whether it is a page with links in it."""
        return self.status == 200 and self.content_type.startswith(_HTML)

    @property
    def is_page(self) -> bool:
        """Whether it has text that a crawl stores."""
        return self.is_html or (self.status == 200 and self.content_type == _TEXT)


class Folder:
    """Looks paths up as a plain web server would, inside ``root`` and nowhere else.

    Symbolic links are followed as long as they end below ``root``. A directory is its
    ``index.html``, or a list of what it holds, and redirects when the final slash is missing.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root).resolve(strict=True)

    def look_up(self, path: str) -> Found:
        """Return what ``path`` (percent-encoded, perhaps with a query) is."""
        route = os.fsdecode(unquote_to_bytes(path.partition("?")[0]))
        if "\0" in route:
            return Found(404)
        file = self._inside(route)
        if file is None:
            return Found(404)
        if not file.is_dir():
            kind = _content_type(file.name)
            return Found(404) if route.endswith("/") else Found(200, file, content_type=kind)
        if not route.endswith("/"):
            return Found(301, location=quote(os.fsencode(route)) + "/")
        index = self._inside(route + "index.html")
        if index is not None and index.is_file():
            return Found(200, index, content_type=_HTML)
        return Found(200, body=_listing(file), content_type=_HTML)

    def _inside(self, route: str) -> Path | None:
        try:
            file = self.root.joinpath(posixpath.normpath(route).lstrip("/")).resolve(strict=True)
        except (OSError, RuntimeError):  # missing, a loop of links, or a name too long
            return None
        return file if file.is_relative_to(self.root) else None


def _listing(folder: Path) -> bytes:
    names = sorted(one.name + "/" * one.is_dir() for one in folder.iterdir())
    items = "".join(f'<li><a href="{quote(name)}">{quote(name)}</a></li>' for name in names)
    return f"<title>Index of {quote(folder.name)}</title><ul>{items}</ul>".encode()


@lru_cache(maxsize=1024)
def _content_type(name: str) -> str:
    kind, packing = mimetypes.guess_type(name)
    return "application/gzip" if packing == "gzip" else kind or "application/octet-stream"


def static_site(**options: Any) -> StaticSite:
    """Build a :class:`StaticSite`."""
    return StaticSite(**options)


class StaticSite:
    """Serves folders: ``root`` to every host, or a folder of its own to each in ``roots``."""

    def __init__(
        self,
        *,
        root: str = "",
        roots: dict[str, str] | None = None,
        gzip: bool = False,
        robots: str = "",
    ) -> None:
        self._folders = {host: Folder(path) for host, path in (roots or {}).items()}
        self._rest = Folder(root) if root else None
        self._gzip = gzip
        self._robots = robots

    def __call__(self, request: Request) -> Answer:
        """Serve one file."""
        if request.path == "/robots.txt":
            return plain(self._robots) if self._robots else not_found()
        folder = self._folders.get(request.name, self._rest)
        found = folder.look_up(request.path) if folder else Found(404)
        if found.status == 301:
            return redirect(found.location)
        if found.status != 200:
            return not_found()
        body = found.file.read_bytes() if found.file else found.body
        text = found.content_type.startswith("text/")
        return Answer(body=body, content_type=found.content_type, gzip=self._gzip and text)


@dataclass(slots=True)
class Reach:
    """What lies within reach of a start page, by path; every path is normalised.

    Attributes:
        pages: HTML and plain text answered with 200, and the number of clicks from the start.
        resources: Other content answered with 200.
        dead: 404.
        redirects: Path to the path it redirects to.
        duplicates: Groups of two or more pages with the same bytes, each in order of path.
    """

    pages: dict[str, int] = field(default_factory=dict)
    resources: set[str] = field(default_factory=set)
    dead: set[str] = field(default_factory=set)
    redirects: dict[str, str] = field(default_factory=dict)
    duplicates: list[list[str]] = field(default_factory=list)

    @property
    def repeated(self) -> int:
        """Pages whose bytes another page has already."""
        return sum(len(group) - 1 for group in self.duplicates)

    @property
    def unique(self) -> int:
        """Pages with bytes of their own, and one of each group."""
        return len(self.pages) - self.repeated

    @property
    def requests(self) -> int:
        """Distinct paths that a crawl without limits asks for."""
        return len(self.pages) + len(self.resources) + len(self.dead) + len(self.redirects)


def reachable(root: str | Path, start: str = "/") -> Reach:
    """Walk a folder breadth first from ``start``, as links of its own pages lead.

    Followed are ``a``, ``area`` (href), ``frame`` and ``iframe`` (src), and redirects;
    within the host, without the fragment. A redirect counts as no click.
    """
    folder = Folder(root)
    reach = Reach()
    bodies: defaultdict[bytes, list[str]] = defaultdict(list)
    seen = {start}
    queue = deque([(start, 0)])
    while queue:
        path, depth = queue.popleft()
        found = folder.look_up(path)
        links = _visit(reach, bodies, path, depth, found)
        step = 0 if found.status == 301 else 1
        for link in links:
            if link not in seen:
                seen.add(link)
                queue.append((link, depth + step)) if step else queue.appendleft((link, depth))
    reach.duplicates = sorted(sorted(group) for group in bodies.values() if len(group) > 1)
    return reach


def _visit(
    reach: Reach, bodies: dict[bytes, list[str]], path: str, depth: int, found: Found
) -> list[str]:
    """File one path under what it is, and return the paths it leads to."""
    if found.status == 301:
        reach.redirects[path] = found.location
        return [found.location]
    if found.status != 200:
        reach.dead.add(path)
        return []
    if not found.is_page:
        reach.resources.add(path)
        return []
    body = found.file.read_bytes() if found.file else found.body
    reach.pages[path] = depth
    bodies[hashlib.sha256(body).digest()].append(path)
    return _links(body, path) if found.is_html else []


_HOST = "http://here"
_LINKED = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}


class _Links(HTMLParser):
    """Collects link attributes and the first base of one page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.base = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one tag."""
        wanted = _LINKED.get(tag)
        if wanted is None and tag != "base":
            return
        values = dict(reversed(attrs))  # of a repeated attribute the first one counts
        if tag == "base":
            self.base = self.base or values.get("href") or ""
        elif wanted in values:
            self.found.append(values[wanted] or "")


def _links(body: bytes, path: str) -> list[str]:
    parser = _Links()
    charset = re.search(rb"charset=[\"']?([\w-]+)", body[:1024])
    encoding = charset[1].decode("ascii") if charset else "utf-8"
    try:
        text = body.decode(encoding, "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    parser.feed(text)
    parser.close()
    base = urljoin(_HOST + path, parser.base.strip())
    paths = (_resolve(base, href) for href in parser.found)
    return list(dict.fromkeys(path for path in paths if path))


def _resolve(base: str, href: str) -> str:
    """Return the normalised path and query that a link leads to; empty when off the host.

    Spec: RFC 3986 §5.2.2. ``urljoin`` will not do: it drops empty segments.
    """
    href = re.sub(r"[\t\r\n]", "", href.strip(" \t\r\n\f\0")).partition("#")[0]
    try:
        start, parts = urlsplit(base), urlsplit(href)
    except ValueError:
        return ""
    host = f"{parts.scheme or start.scheme}://{parts.netloc or start.netloc}"
    if host.lower() != _HOST:
        return ""
    path, query = parts.path, parts.query
    if not path and not parts.netloc:
        path, query = start.path, query or start.query
    elif not path.startswith("/") and not parts.netloc:
        path = start.path[: start.path.rfind("/") + 1] + path
    path = _without_dots(_normal(path))
    return f"{path}?{_normal(query)}" if query else path


def _without_dots(path: str) -> str:
    """Take ``.`` and ``..`` out of a path (RFC 3986 §5.2.4)."""
    kept: list[str] = []
    segments = path.removeprefix("/").split("/")
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def _normal(text: str) -> str:
    """Decode escaped unreserved characters, escape what may not stand raw (RFC 3986 §6.2.2)."""

    def one(match: re.Match[str]) -> str:
        character = chr(int(match[1], 16))
        return character if _UNRESERVED.fullmatch(character) else f"%{match[1].upper()}"

    text = re.sub(r"%([0-9A-Fa-f]{2})", one, text)
    return quote(text, safe="/%:@!$&'()*+,;=?~[]|")
