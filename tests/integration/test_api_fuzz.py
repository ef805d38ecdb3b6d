"""Requests that nobody would think of, made from the API's own description."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.archived import Archived, example_site
from tests.support.live_api import live_api

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-some-length"
PROGRAM = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
# The description cannot say which texts are times, cursors or URLs of this crawl.
UNTOLD = "positive_data_acceptance"


@pytest.mark.parametrize("token", ["", TOKEN], ids=["open", "token"])
def test_no_request_breaks_the_server_or_its_description(tmp_path, token):
    """No server error, no status, header or document that is not described."""
    assert PROGRAM, "schemathesis is not installed: pip install -r requirements-dev.txt"
    with Archived(tmp_path) as archived:
        example_site(archived)
    more = ["--phases", "examples,fuzzing", "-H", f"Authorization: Bearer {token}"] if token else []
    with live_api(tmp_path, token) as api:
        done = subprocess.run(
            [PROGRAM, "run", f"{api.url}/openapi.json", "--checks", "all", "--exclude-checks",
             UNTOLD, "--max-examples", "25", "--no-color", *more],
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "8 selected / 8 total" in done.stdout
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        assert api.get("/healthz", headers).status == 200
