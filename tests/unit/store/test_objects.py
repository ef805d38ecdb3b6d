"""Names and URLs of the object store: nothing leads out of it, nothing tells its secrets."""

from __future__ import annotations

import hashlib
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import StoreError
from crawler.store.objects import checked_name, masked
from crawler.store.transfer import etag_of


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://bucket/web", "s3://bucket/web"),
        ("file:///mnt/a@b/web", "file:///mnt/a@b/web"),
        ("sftp://user:hush@host:22/x", "sftp://***@host:22/x"),
        ("sftp://us@er:hu@sh@host/x", "sftp://***@host/x"),
        ("http://host/x?token=hush", "http://host/x"),
        ("http://host/x#hush", "http://host/x"),
        ("http://host?hush", "http://host"),
        ("memory://", "memory://"),
        ("archive", "archive"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url, shown):
    """User, password, query and fragment go; the place and the path stay."""
    assert masked(url) == shown


@given(st.text())
def test_masking_never_raises_and_twice_is_once(url):
    """Whatever the operator writes can be shown."""
    assert masked(masked(url)) == masked(url)


@given(st.text(alphabet="ab./\\\0", max_size=8))
def test_a_name_that_is_accepted_stays_below_its_place(name):
    """No part of it is empty or leads up or to itself."""
    try:
        accepted = checked_name(name)
    except StoreError:
        return
    assert accepted == name
    assert not {"", ".", ".."} & set(name.split("/"))
    assert "\\" not in name
    assert "\0" not in name


@pytest.mark.parametrize("size", [0, 1, 19, 20, 21, 30, 95])
def test_the_etag_is_that_of_s3(tmp_path, size):
    """MD5 below two parts; from there MD5 of the parts' MD5s with their number."""
    data = Random(1).randbytes(size)
    path = tmp_path / "a"
    path.write_bytes(data)
    parts = [data[at : at + 10] for at in range(0, size, 10)]
    digests = b"".join(hashlib.md5(part).digest() for part in parts)
    several = f"{hashlib.md5(digests).hexdigest()}-{len(parts)}"
    assert etag_of(path, 10) == (hashlib.md5(data).hexdigest() if size < 20 else several)
