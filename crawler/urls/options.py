"""What a crawl may ignore in a URL, and how an ignorable parameter is told from a real one.

The standards settle when two spellings name one resource; everything here goes further and
is therefore a switch. Two kinds, kept apart on purpose:

* noise that no server needs (tracking names, session ids, empty parameters, and the two host
  rewrites) leaves the URL that is *sent*, so that sites are not asked for it;
* guesses about sameness (parameter order, doubled slashes, index files, a trailing slash)
  touch only the *comparison key*: what is sent is always a spelling that some page linked,
  and a wrong guess costs a skipped variant, never a 404.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from crawler.errors import ConfigError

TRACKING_PARAMETERS: tuple[str, ...] = (
    "utm_*",  # campaign tags, common to most analytics
    "mtm_*",  # Matomo
    "pk_campaign",
    "pk_kwd",
    "pk_keyword",
    "pk_source",
    "pk_medium",
    "_ga",  # Google: linker, ad clicks, shopping
    "_gl",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "srsltid",
    "fbclid",  # other ad and social networks
    "msclkid",
    "yclid",
    "ysclid",
    "_openstat",
    "twclid",
    "ttclid",
    "igshid",
    "epik",
    "li_fat_id",
    "mc_cid",  # mailings
    "mc_eid",
    "mkt_tok",
    "_hsenc",
    "_hsmi",
    "hsctatracking",
    "vero_id",
    "oly_anon_id",
    "oly_enc_id",
)
"""Names that only tell the site where a visitor came from.

``ref`` is not among them: shops and forums use it for content. Add it where it is noise.
"""

FILE_EXTENSIONS: tuple[str, ...] = (
    *(
        "jpg",
        "jpeg",
        "png",
        "gif",
        "bmp",
        "ico",
        "svg",
        "webp",
        "avif",
        "tif",
        "tiff",
        "heic",
        "psd",
    ),
    *("mp3", "m4a", "ogg", "oga", "opus", "wav", "flac", "aac", "mid"),
    *("mp4", "m4v", "ogv", "webm", "avi", "mov", "mkv", "wmv", "mpg", "mpeg", "flv", "swf", "3gp"),
    *("zip", "rar", "7z", "tar", "tgz", "tar.gz", "tar.bz2", "tar.xz", "bz2", "xz", "zst", "jar"),
    *("iso", "dmg", "exe", "msi", "deb", "rpm", "apk", "whl"),
    *("css", "js", "mjs", "wasm", "map", "woff", "woff2", "ttf", "otf", "eot"),
    *(
        "pdf",
        "ps",
        "doc",
        "docx",
        "xls",
        "xlsx",
        "ppt",
        "pptx",
        "odt",
        "ods",
        "odp",
        "epub",
        "mobi",
    ),
)
"""What paths of pictures, sound, archives, programs, styles, fonts and documents end in.

Not what may be a list of pages (xml, gz, rss, txt), nor what servers name their programs (cgi).
"""

_SESSION_NAMES = frozenset({"phpsessid", "jsessionid", "oscsid", "zenid", "cftoken"})
_PERHAPS_SESSION = frozenset({"sid", "sessionid", "session_id", "sess", "s"})
_RANDOM_VALUE = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])(?:[0-9A-Fa-f]{16,128}|[0-9A-Za-z]{20,128})")


@dataclass(frozen=True, slots=True)
class UrlOptions:
    """Switches of URL identity. Every one is idempotent, alone and with the others.

    Changing one changes the identity of known URLs; see :attr:`Canonicalizer.rules`.

    Attributes:
        drop_tracking: (sent) remove the parameters named by ``tracking_parameters``.
        tracking_parameters: names, compared without case; a trailing ``*`` matches any rest.
        drop_session_ids: (sent) remove ``;jsessionid=`` and ``;phpsessid=`` path parameters
            and session ids in the query: unmistakable names whatever their value, ``sid``
            and its like only when the value looks random (letters and digits, 16 and more
            hexadecimal or 20 and more of any kind). (key) remove segments such as ``/(S(…))``,
            which a server without cookies puts in and needs.
        drop_empty_parameters: (sent) ``?a&&b&`` is ``?a&b``. A blank *value* is kept.
        https_upgrade: (sent) ask for https where a link says http on the default port.
        strip_www: (sent) remove a leading ``www.``. Only for sites that answer under both
            names: on one that redirects to ``www.`` nothing but redirects is left.
        sort_parameters: (key) order by name; repeated names keep their order.
        collapse_slashes: (key) ``/a//b`` is ``/a/b``.
        drop_index: (key) ``/a/index.html`` is ``/a/``; also .htm, .php and default.asp(x).
        strip_trailing_slash: (key) ``/a/`` is ``/a``.
    """

    drop_tracking: bool = True
    tracking_parameters: tuple[str, ...] = TRACKING_PARAMETERS
    drop_session_ids: bool = True
    drop_empty_parameters: bool = True
    https_upgrade: bool = False
    strip_www: bool = False
    sort_parameters: bool = True
    collapse_slashes: bool = False
    drop_index: bool = False
    strip_trailing_slash: bool = False

    def __post_init__(self) -> None:
        """Refuse a pattern that could not mean what it says.

        Raises:
            ConfigError: a tracking pattern is empty, matches everything, or has its star
                anywhere but at the end.
        """
        for pattern in self.tracking_parameters:
            if not pattern.rstrip("*") or "*" in pattern[:-1]:
                raise ConfigError(
                    f"tracking parameter {pattern!r}: expected a name, or the beginning of "
                    "one followed by a single *, such as utm_*"
                )


class ParameterFilter:
    """Decides which ``name=value`` pieces of a query are noise. O(1) a piece."""

    __slots__ = ("_drop_empty", "_exact", "_prefixes", "_session")

    def __init__(self, options: UrlOptions) -> None:
        names = options.tracking_parameters if options.drop_tracking else ()
        lowered = [name.lower() for name in names]
        session = _SESSION_NAMES if options.drop_session_ids else frozenset()
        self._exact = session.union(name for name in lowered if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in lowered if name.endswith("*"))
        self._session = options.drop_session_ids
        self._drop_empty = options.drop_empty_parameters

    def is_noise(self, piece: str) -> bool:
        """Tell whether ``piece``, cut out between two ``&``, is left out of the URL."""
        if not piece:
            return self._drop_empty
        name, _, value = piece.partition("=")
        name = name.lower()
        if name in self._exact or name.startswith(self._prefixes):
            return True
        return self._session and _is_session_id(name, value)


def _is_session_id(name: str, value: str) -> bool:
    if name in _PERHAPS_SESSION:
        return _RANDOM_VALUE.fullmatch(value) is not None
    return name.startswith("aspsessionid")
