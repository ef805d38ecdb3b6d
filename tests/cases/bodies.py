"""Bodies as the tables describe them, for answers and for components alike."""

from __future__ import annotations

import gzip
import sys
import zlib
from typing import TYPE_CHECKING, Any

import brotli

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FIELDS = frozenset({"body", "text", "bytes", "parts", "pack", "cut", "append", "encode"})


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


_PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "raw-deflate": _raw_deflate,
    "br": lambda body: brotli.compress(body, quality=5),
    "zstd": zstd.compress,
}


def body_of(fields: Mapping[str, Any], local: Callable[[str], str] = str) -> bytes:
    """Return the body: made of its parts, packed, cut and lengthened in this order.

    Args:
        fields: Of an answer or of a component's input; ``README.md`` describes them.
        local: Puts the names of the local web into texts.
    """
    if "bytes" in fields:
        body = local(fields["bytes"]).encode("latin-1")
    elif "parts" in fields:
        body = "".join(local(text) * times for text, times in fields["parts"]).encode()
    else:
        text = local(str(fields.get("body", fields.get("text", ""))))
        body = text.encode(str(fields.get("encode", "utf-8")))
    for coding in fields.get("pack", ()):
        body = _PACKERS[coding](body)
    cut, more = int(fields.get("cut", 0)), str(fields.get("append", ""))
    return body[: len(body) - cut] + more.encode("latin-1")
