"""Content types as plugins: one module each says what it takes and turns it into values.

::

    Content-Type, body ──choose──▶ the type's module ──parse──▶ Extract ──▶ ParsedPage
                                                            └─▶ ParsedPage (HTML), Feed

A module has a ``CONTENT_TYPE``. Which modules a crawl has is a setting; nothing else in the
crawler names one. The order of precedence: bytes that only one format begins with beat the
declared type, since servers label such files carelessly; then what the start of a document
says (a sitemap, a feed); then the declared type, as far as the bytes do not refute it. What
is declared HTML and begins like HTML is asked nothing more.

What a module returns is bounded here, so that a careless one breaks no promise of this package.

Spec: MIME Sniffing §7 (determining the computed type), §7.3 (mislabelled feeds).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

from crawler.errors import ConfigError
from crawler.parsing.media import HTML_TYPES, begins_like_html, real_type
from crawler.parsing.page import DEFAULT_OPTIONS, ParsedPage, ParsingOptions, Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self

    from crawler.parsing.listing import Feed

BUILT_IN = {
    "html": "crawler.parsing.html",
    "sitemap": "crawler.parsing.sitemap",
    "feed": "crawler.parsing.feeds",
    "text": "crawler.parsing.plain_text",
}
"""The types that are on unless a setting says otherwise: name -> module."""

_START = 65_536  # bytes that tell a sitemap or a feed from other documents


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Document:
    """An answer on its way to a parser.

    Attributes:
        body: decompressed, not empty.
        url: absolute; what relative references are resolved against.
        media: while a type is looked for, as declared; in ``parse``, what it was found to be.
        charset: parameter of Content-Type.
        resolver: resolves and normalises references. An isolated type has none and gives
            references as they are written.
        options: bounds and choices.
        robots_headers: values of X-Robots-Tag.
        link_headers: values of Link.
        token: our product token, for directives to us alone.
        now: crawl-clock seconds; None where they are not known.
        listed: the URL was named as that of a sitemap.
        expired: whether the time is up: a parser that asks between its parts can return what
            it has so far. Only isolated types have a time.
    """

    body: bytes
    url: str
    resolver: Resolver
    media: str = ""
    charset: str | None = None
    options: ParsingOptions = DEFAULT_OPTIONS
    robots_headers: Sequence[str] = ()
    link_headers: Sequence[str] = ()
    token: str = "*"  # noqa: S105 -- a name
    now: float | None = None
    listed: bool = False
    expired: Callable[[], bool] = _never

    @property
    def start(self) -> bytes:
        """The first 64 KiB of the body."""
        return self.body[:_START]


@dataclass(slots=True)
class Extract:
    """What a parser has read: plain values, which become a page within the bounds of all pages.

    Attributes:
        text: what a reader of the document reads; duplicates are judged by it.
        title: None where there is none.
        headings: the most important ones, in order.
        hrefs: references to other documents, as written.
        lang: as declared; the text has a say in what the page says.
        charset: standard name of the encoding that was used.
        truncated: some of the document was not read.
        error: what was wrong with the document. With no text it ends as ``failed_content``.
    """

    text: str = ""
    title: str | None = None
    headings: list[str] = field(default_factory=list)
    hrefs: list[str] = field(default_factory=list)
    lang: str | None = None
    charset: str = "utf-8"
    truncated: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ContentType:
    """One content type, declared by its module as ``CONTENT_TYPE``.

    Attributes:
        parse: reads a document; what it raises is counted as a failure of that document.
        media: media types, lower case, the usual one first.
        signatures: how files of this type, and of no other, begin.
        looks: whether a document is of this type although its declaration may not say so.
        extensions: of files of this type, lower case; links to them are followed.
        pipelines: item pipelines that come with the type: import path -> order.
        requires: distributions that must be installed, as pip names them: ``name==version``.
        isolated: parse in a process of its own, bounded in time and memory. For formats whose
            libraries cannot be bounded otherwise. Such a type returns an :class:`Extract`.
    """

    parse: Callable[[Document], ParsedPage | Feed | Extract]
    media: tuple[str, ...] = ()
    signatures: tuple[bytes, ...] = ()
    looks: Callable[[Document], bool] | None = None
    extensions: tuple[str, ...] = ()
    pipelines: Mapping[str, int] = field(default_factory=dict)
    requires: tuple[str, ...] = ()
    isolated: bool = False

    def __post_init__(self) -> None:
        """Refuse what would never match, or match by its letters.

        Raises:
            TypeError: A text stands where a tuple of texts belongs, or the like.
            ValueError: A media type or an ending is written in a way that no other one is.
        """
        for name in ("media", "signatures", "extensions", "requires"):
            _check_tuple(name, getattr(self, name), bytes if name == "signatures" else str)
        for name, strange in (("media", " ;"), ("extensions", ".")):
            for one in getattr(self, name):
                usual = one.lower().lstrip(strange).partition(";")[0].rstrip()
                if one != usual:
                    raise ValueError(f"{name}: {one!r} never matches; write {usual!r}")


def _check_tuple(name: str, value: object, kind: type) -> None:
    if isinstance(value, tuple) and all(isinstance(one, kind) for one in value):
        return
    example = (value,) if isinstance(value, kind) else ("…",) if kind is str else (b"...",)
    raise TypeError(f"{name}={value!r}: expected a tuple of {kind.__name__}, such as {example!r}")


class Chosen(NamedTuple):
    """What reads a document, and the media type that it was found to be."""

    name: str
    module: str
    kind: ContentType
    media: str


class ContentTypes:
    """The types of a crawl. Choosing costs a few microseconds for a page of HTML."""

    __slots__ = ("_by_media", "_modules", "_signed", "_types")

    def __init__(self, modules: Mapping[str, str]) -> None:
        """Import the modules.

        Args:
            modules: name -> import path.

        Raises:
            ConfigError: A module cannot be imported, declares no type, or needs what is not
                installed; two take the same media type.
        """
        self._modules = dict(modules)
        self._types = {name: _load(name, path) for name, path in modules.items()}
        self._signed = [(one.signatures, name) for name, one in self._types.items()]
        self._by_media: dict[str, str] = {}
        for name, one in self._types.items():
            for media in one.media:
                other = self._by_media.setdefault(media, name)
                if other != name:
                    raise ConfigError(
                        f"PARSING_TYPES: {other} and {name} both take {media}; switch one of "
                        f'them off with {{"{other}": ""}}'
                    )

    @classmethod
    def named(cls, changes: Mapping[str, str]) -> Self:
        """Return the built-in types with additions and changes; an empty path switches one off.

        Types that are added are asked before those that come with the crawler.
        """
        modules = {**changes, **{k: v for k, v in BUILT_IN.items() if k not in changes}}
        return cls({name: path for name, path in modules.items() if path})

    @property
    def extensions(self) -> frozenset[str]:
        """Endings of the files that some type reads."""
        return frozenset(ending for one in self._types.values() for ending in one.extensions)

    @property
    def pipelines(self) -> dict[str, int]:
        """The pipelines that come with the types."""
        return {
            path: order for one in self._types.values() for path, order in one.pipelines.items()
        }

    def choose(self, document: Document) -> Chosen | None:
        """Return what reads a document; None if nothing does."""
        if not document.body:
            return None
        media = document.media
        if not (media in HTML_TYPES and begins_like_html(document.body)):
            name = next(self._sniffed(document), None)
            if name is not None:
                return self._chosen(name, media)
        real = real_type(media, document.body, document.charset)
        name = self._by_media.get(real)
        return None if name is None else self._chosen(name, real)

    def _sniffed(self, document: Document) -> Iterator[str]:
        for signatures, name in self._signed:
            if document.body.startswith(signatures):
                yield name
        for name, one in self._types.items():
            if one.looks is not None and one.looks(document):
                yield name

    def _chosen(self, name: str, media: str) -> Chosen:
        kind = self._types[name]
        if kind.media and media not in kind.media:
            media = kind.media[0]
        return Chosen(name, self._modules[name], kind, media)


def load_type(path: str) -> ContentType:
    """Return the type that a module declares.

    Raises:
        ImportError: The module, or something that it needs, is not there.
        AttributeError: It has no ``CONTENT_TYPE``.
        TypeError: That is something else.
    """
    kind = import_module(path).CONTENT_TYPE
    if not isinstance(kind, ContentType):
        raise TypeError(f"CONTENT_TYPE is {kind!r}, no ContentType")
    return kind


def _load(name: str, path: str) -> ContentType:
    try:
        kind = load_type(path)
    except Exception as error:  # whatever a module does when it is imported
        raise ConfigError(
            f"PARSING_TYPES: {name}={path!r} is no module with a CONTENT_TYPE: "
            f"{type(error).__name__}: {error}"
        ) from error
    missing = [one for one in kind.requires if not _is_installed(one)]
    if missing:
        raise ConfigError(
            f"PARSING_TYPES: {name} needs what is not installed: pip install {' '.join(missing)}"
        )
    return kind


def _is_installed(requirement: str) -> bool:
    return find_spec(requirement.partition("==")[0].replace("-", "_")) is not None
