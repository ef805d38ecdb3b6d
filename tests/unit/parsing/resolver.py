"""A plain resolver: enough to test parsing without the rules of URL identity."""

from __future__ import annotations

from urllib.parse import quote, urldefrag, urljoin


class Joiner:
    """Joins, drops the fragment, escapes; http and https only."""

    def resolve(self, base: str, href: str, encoding: str = "utf-8") -> str | None:
        """Return the absolute URL, or None."""
        try:
            url = urldefrag(urljoin(base, href.strip()))[0]
        except ValueError:
            return None
        path, mark, query = url.partition("?")
        query = quote(query.encode(encoding, "replace"), safe="%&=+/:;@")
        url = quote(path.encode("utf-8", "replace"), safe="%/:@;=+&,~") + mark + query
        return url if url.startswith(("http://", "https://")) else None
