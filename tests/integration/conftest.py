"""Services that tests of this folder start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.s3 import KEYS, S3Server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def _s3_process(tmp_path_factory) -> Iterator[S3Server]:
    with S3Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(_s3_process, monkeypatch) -> S3Server:
    """An S3 server with one empty bucket, and an environment that leads to it."""
    _s3_process.reset()
    _s3_process.make_bucket()
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", _s3_process.url)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")  # nothing of whoever runs the tests
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return _s3_process
