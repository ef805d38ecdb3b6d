"""One walk over a page's tree: sorts what is found, resolves and judges nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from crawler.parsing.page import ParsingOptions

Attributes = dict[str, str | None]

_SELECTOR = (
    "base[href],link[href],meta[content],title,h1,h2,h3,a[href],area[href],frame[src],iframe[src]"
)
_FOLLOWED_RELS = frozenset(("next", "prev", "previous", "sitemap"))
_HTML_TYPES = frozenset(("", "text/html", "application/xhtml+xml"))
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/feed+json"}
_REL_SEPARATORS = re.compile(r"[\s,]+")
_HREFS_PER_LINK = 3  # distinct spellings looked at for each link that may be kept
_HEADING_SOURCE = 200_000  # characters of all headings of a page: nested ones are read twice
_SVG_DEPTH = 8  # how far above a title an svg is looked for

# The shared declarative refresh steps of HTML §4.2.5.3: seconds, then a reference.
_REFRESH = re.compile(
    r"\s*([0-9]+|(?=\.))[0-9.]*(?:(?=[;,\s])\s*[;,]?+\s*(.+))?\Z", re.DOTALL | re.ASCII
)
_REFRESH_URL = re.compile(
    r"(?:url\s*=\s*)?(?:\"([^\"]*)|'([^']*)|(.*))", re.DOTALL | re.ASCII | re.IGNORECASE
)
_REFRESH_GARBLED = re.compile(r"(?!url)u\s*r\s*l\s*=", re.ASCII | re.IGNORECASE)


class Elements:
    """What the elements of a page say, as written.

    Attributes:
        hrefs: each distinct reference in document order -> whether some link to it may be
            followed (has no nofollow).
        robots: contents of meta robots, and of the meta named as our token.
        refresh: (seconds, reference) of the first meta refresh with one, outside noscript.
    """

    __slots__ = (
        "_heading_source",
        "_limit",
        "_options",
        "_token",
        "base",
        "canonical",
        "headings",
        "hrefs",
        "lang",
        "refresh",
        "robots",
        "title",
        "title_of_graph",
    )

    def __init__(self, tree: LexborHTMLParser, token: str, options: ParsingOptions) -> None:
        self._options = options
        self._token = token.lower()
        self._limit = options.max_links * _HREFS_PER_LINK
        self._heading_source = 0
        self.base: str | None = None
        self.canonical: str | None = None
        self.headings: list[str] = []
        self.hrefs: dict[str, bool] = {}
        self.lang = _declared_language(tree)
        self.refresh: tuple[int, str] | None = None
        self.robots: list[str] = []
        self.title: str | None = None
        self.title_of_graph: str | None = None
        self._walk(tree.css(_SELECTOR))

    def _walk(self, nodes: list[LexborNode]) -> None:
        for node in nodes:
            tag = node.tag
            if tag in {"a", "area"}:
                self._add_link(node.attributes)
            elif tag in {"h1", "h2", "h3"}:
                self._add_heading(node)
            elif tag == "meta":
                self._add_meta(node)
            else:
                self._add_rare(node, tag)

    def _add_rare(self, node: LexborNode, tag: str | None) -> None:
        if tag == "link":
            self._add_relation(node.attributes)
        elif tag == "title":
            self._add_title(node)
        elif tag == "base":
            self._add_base(node.attributes)
        elif self._options.follow_frames:
            self._add_href(node.attributes.get("src"), followed=True)

    def _add_link(self, attributes: Attributes) -> None:
        rel = attributes.get("rel")
        self._add_href(_reference(attributes), followed=not rel or not _has_nofollow(rel))

    def _add_href(self, href: str | None, *, followed: bool) -> None:
        href = href or ""
        if href[:1] == "#":
            href = "#"  # thousands of them lead to one place
        if followed:
            if len(self.hrefs) < self._limit:
                self.hrefs[href] = True
        elif len(self.hrefs) < self._limit:
            self.hrefs.setdefault(href, False)

    def _add_heading(self, node: LexborNode) -> None:
        if len(self.headings) >= self._options.max_headings:
            return
        if self._heading_source > _HEADING_SOURCE:
            return
        text = node.text()
        self._heading_source += len(text)
        if text := collapse(text, self._options.max_heading):
            self.headings.append(text)

    def _add_title(self, node: LexborNode) -> None:
        if self.title is None and not _in_svg(node):
            self.title = collapse(node.text(), self._options.max_title)

    def _add_base(self, attributes: Attributes) -> None:
        if self.base is None and "href" in attributes:
            self.base = attributes["href"] or ""

    def _add_meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content")
        if not content:
            return
        name = (attributes.get("name") or "").strip().lower()
        if name in {"robots", self._token}:
            self.robots.append(content)
        elif "http-equiv" in attributes:
            self._add_pragma(node, attributes["http-equiv"] or "", content)
        elif (attributes.get("property") or name) == "og:title" and self.title_of_graph is None:
            self.title_of_graph = collapse(content, self._options.max_title)

    def _add_pragma(self, node: LexborNode, name: str, content: str) -> None:
        if name.strip().lower() != "refresh":
            return
        found = parse_refresh(content)
        if found is None:
            return
        parent = node.parent
        if parent is not None and parent.tag == "noscript":
            self._add_href(found[1], followed=True)
        elif self.refresh is None:
            self.refresh = found

    def _add_relation(self, attributes: Attributes) -> None:
        if "href" not in attributes:
            return
        rels = relation_tokens(attributes.get("rel") or "")
        if "canonical" in rels:
            if self.canonical is None:
                self.canonical = attributes["href"]
        elif is_followed_relation(rels, attributes.get("type") or ""):
            self._add_href(attributes["href"], followed="nofollow" not in rels)


def collapse(text: str, longest: int) -> str:
    """Return ``text`` with its white space collapsed, at most ``longest`` characters.

    Reads no more than it needs, so a title of megabytes costs nothing.
    """
    return " ".join(text[: longest * 8].split())[:longest].rstrip()


def parse_refresh(content: str) -> tuple[int, str] | None:
    """Read a meta refresh, or a Refresh header: (seconds, reference); None without reference.

    Spec: HTML §4.2.5.3 (pragma "refresh", shared declarative refresh steps).
    Deviation: a reference that begins with the word torn apart, ``u r l =``, is none; taken
    for a file name it leads nowhere.
    """
    found = _REFRESH.match(content[:8192])
    if found is None or not found[2]:
        return None
    reference = _REFRESH_URL.match(found[2])
    if reference is None or _REFRESH_GARBLED.match(found[2]):
        return None
    href = next((part for part in reference.groups() if part is not None), "")
    seconds = int(found[1][:9] or 0)
    return (seconds, href.strip()) if href.strip() else None


def _reference(attributes: Attributes) -> str | None:
    """Return where a link leads; the selector ``[href]`` means ``xlink:href`` as well.

    Spec: SVG 2 §16.2 (an xlink:href counts where there is no href).
    """
    return attributes["href"] if "href" in attributes else attributes.get("xlink:href")


def _has_nofollow(rel: str) -> bool:
    rel = rel.lower()
    return "nofollow" in rel and "nofollow" in relation_tokens(rel)


def relation_tokens(rel: str) -> list[str]:
    """Split a rel attribute. Spec: HTML §4.6.1; commas too, as people write them."""
    return _REL_SEPARATORS.split(rel[:256].lower())


def is_followed_relation(rels: list[str], media: str) -> bool:
    """Whether a link with these relations, to such a media type, leads on to pages.

    So do the neighbours of a page, its sitemap, and another form of it in HTML or as a feed.
    """
    if not _FOLLOWED_RELS.isdisjoint(rels):
        return True
    if "alternate" not in rels or "stylesheet" in rels:
        return False
    media = media.strip().lower()
    return media in _HTML_TYPES or media in _FEED_TYPES


def _in_svg(node: LexborNode) -> bool:
    above = node.parent
    for _ in range(_SVG_DEPTH):
        if above is None or above.tag in {"head", "body"}:
            return False
        if above.tag == "svg":
            return True
        above = above.parent
    return False


def _declared_language(tree: LexborHTMLParser) -> str | None:
    root = tree.root
    if root is None:
        return None
    attributes = root.attributes
    return attributes.get("lang") or attributes.get("xml:lang")
