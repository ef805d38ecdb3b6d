"""What a URL is remembered by: sixteen bytes, the first eight the same for a whole host.

Two keyed hashes, so that nobody can prepare URLs that collide with others by knowing
BLAKE2b alone, and so that a host is never mistaken for a URL. The keys are constants of the
stored format: with others, nothing in an existing store would be found again. Eight bytes
for the URL collide within one host only: at a million URLs of a host the chance of a single
lost page is 3e-8.

Spec: RFC 7693 (BLAKE2).
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from crawler.model import Fingerprint

HASH_BYTES = 8
_HOST_KEY = b"host-v1."
_URL_KEY = b"url-v1.."


@lru_cache(maxsize=16_384)
def host_hash(host_key: str) -> bytes:
    """Return the 8 bytes with which all fingerprints of a host begin."""
    return _hash(host_key, _HOST_KEY)


def fingerprint(host_key: str, key: str) -> Fingerprint:
    """Return the 16-byte identity of the URL with this host key and comparison key."""
    return Fingerprint(host_hash(host_key) + _hash(key, _URL_KEY))


def _hash(text: str, key: bytes) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=HASH_BYTES, key=key).digest()
