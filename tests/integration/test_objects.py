"""The object store: one contract over a bucket, a folder and memory, and what may go wrong."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import fsspec
import pytest

from crawler.clock import SystemClock
from crawler.errors import OutOfReachError, StoreError
from crawler.store import (
    ArchiveReader,
    Exchange,
    ObjectStore,
    Retry,
    Uploader,
    WarcWriter,
    read_record,
)
from crawler.store.transfer import Transfer
from tests.support.s3 import BUCKET, S3Server, through
from tests.support.scrapyd import wait_for

ROOT = Path(__file__).resolve().parents[2]
PART = 5 << 20  # the smallest that S3 takes
SMALL = b"a few bytes\0\xff" * 100
LARGE = 2 * PART + 12_345  # bytes; three parts
MEMORIES = itertools.count()


@pytest.fixture
def opened():
    """Open stores that are closed after the test."""
    with contextlib.ExitStack() as stack:

        def opener(url: str, **options) -> ObjectStore:
            store = ObjectStore.open(url, options=options, part_bytes=PART)
            stack.callback(store.close)
            return store

        yield opener


@pytest.fixture(params=["s3", "file", "memory"])
def url(request, tmp_path) -> str:
    if request.param == "s3":
        request.getfixturevalue("s3")
        return f"s3://{BUCKET}/crawls/web"
    if request.param == "file":
        return f"file://{tmp_path}/objects/web"
    return f"memory://objects-{next(MEMORIES)}/web"


@pytest.fixture
def store(url, opened) -> ObjectStore:
    return opened(url)


def _file(folder: Path, data: bytes, name: str = "local") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _large(folder: Path, name: str = "large", seed: int = 1) -> tuple[Path, bytes]:
    data = Random(seed).randbytes(LARGE)
    return _file(folder, data, name), data


# the contract


def test_what_was_put_is_read_back(store, tmp_path):
    """An object has the size and the bytes of its file."""
    assert store.put(_file(tmp_path, SMALL), "a.warc.gz") == len(SMALL)
    assert store.exists("a.warc.gz") == len(SMALL)
    assert store.read("a.warc.gz", 0, len(SMALL)) == SMALL


def test_a_file_of_several_parts_is_read_back(store, tmp_path):
    """What is larger than a part arrives byte for byte, too."""
    path, data = _large(tmp_path)
    assert store.put(path, "a.warc.gz") == LARGE
    assert store.read("a.warc.gz", 0, LARGE) == data


@pytest.mark.parametrize(
    ("offset", "length"),
    [(0, 1), (5, 7), (len(SMALL) - 3, 3), (len(SMALL) - 3, 30), (len(SMALL), 5), (9999, 5), (3, 0)],
)
def test_a_range_is_what_a_file_would_give(store, tmp_path, offset, length):
    """Ranges are those of the bytes, cut at the end, and empty behind it."""
    store.put(_file(tmp_path, SMALL), "a")
    assert store.read("a", offset, length) == SMALL[offset : offset + length]


@pytest.mark.parametrize(("offset", "length"), [(-1, 5), (0, -1)])
def test_no_range_begins_before_the_object(store, tmp_path, offset, length):
    """Drivers would count it from the end."""
    store.put(_file(tmp_path, SMALL), "a")
    with pytest.raises(StoreError, match="no range"):
        store.read("a", offset, length)


def test_an_empty_file_is_an_object(store, tmp_path):
    """There is one, of no bytes."""
    store.put(_file(tmp_path, b""), "a")
    assert store.exists("a") == 0
    assert store.read("a", 0, 10) == b""


def test_what_is_not_there(store, tmp_path):
    """Missing is None for a size and an error for bytes; a folder is no object."""
    store.put(_file(tmp_path, SMALL), "folder/a")
    assert store.exists("b") is None
    assert store.exists("folder") is None
    assert store.exists("folder/a") == len(SMALL)
    with pytest.raises(StoreError, match=f"{store.url}/b: "):
        store.read("b", 0, 10)


@pytest.mark.parametrize("data", [SMALL + b"more", SMALL[:-1] + b"!", b""])
def test_an_object_is_replaced_by_another_file(store, tmp_path, data):
    """Also by one of the same size; the answer is the new one at once."""
    store.put(_file(tmp_path, SMALL), "a")
    store.put(_file(tmp_path, data), "a")
    assert store.exists("a") == len(data)
    assert store.read("a", 0, 1 << 20) == data


def test_the_same_file_is_not_sent_again(store, tmp_path, monkeypatch):
    """After a crash between upload and record nothing is uploaded twice."""
    path, _ = _large(tmp_path)
    store.put(path, "a")
    monkeypatch.setattr(Transfer, "send", lambda *_: pytest.fail("sent again"))
    assert store.put(path, "a") == LARGE


def test_a_file_that_is_not_there_is_no_object(store, tmp_path):
    """The error names the object and the file; nothing appears in the store."""
    with pytest.raises(StoreError, match=f"{store.url}/a: .*nowhere"):
        store.put(tmp_path / "nowhere", "a")
    assert store.exists("a") is None


def test_the_probe_leaves_nothing(url, opened):
    """What was written to try the store is removed."""
    opened(url)
    files, root = fsspec.url_to_fs(url, skip_instance_cache=True)
    with contextlib.suppress(FileNotFoundError):  # a bucket has no empty folders
        assert files.ls(root) == []


@pytest.mark.parametrize("name", ["", "/a", "../a", "a/../../b", "a//b", "a/", ".", "a\\b", "a\0"])
def test_no_name_leads_out_of_the_place(store, tmp_path, name):
    """A name is relative and never leads up, for reading and for writing."""
    for use in (lambda: store.put(_file(tmp_path, SMALL), name), lambda: store.read(name, 0, 1)):
        with pytest.raises(StoreError, match="no name of a file"):
            use()
    with pytest.raises(StoreError, match="no name of a file"):
        store.exists(name)


def test_a_place_belongs_to_one_crawl(url, opened):
    """Two crawls at one URL would overwrite each other's segments: the second is refused."""
    opened(url).claim("first crawl")
    opened(url).claim("first crawl")
    with pytest.raises(StoreError, match=r"of another crawl \(first crawl\); give each"):
        opened(url).claim("second crawl")


# what is in the way at the start


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("archive", "expected a URL such as"),
        ("", "expected a URL such as"),
        ("simplecache::s3://b", "no chain"),
        ("s3://id:hush@bucket/x", r"s3://\*\*\*@bucket/x.*credentials do not belong"),
        ("nosuch://bucket/x", "Protocol not known"),
        ("http://127.0.0.1:9/x?token=hush", "STORE_OBJECTS=http://127.0.0.1:9/x cannot"),
    ],
)
def test_a_url_that_cannot_be_used(opened, url, said):
    """The message has the URL without its secrets, and what to do."""
    with pytest.raises(StoreError, match=said) as caught:
        opened(url)
    assert "hush" not in str(caught.value)


def test_a_missing_driver_is_named(opened, monkeypatch):
    """Whoever lacks it is told the command that installs it."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    command = f"pip install s3fs=={fsspec.__version__}"
    with pytest.raises(StoreError, match=f"driver is missing: {command}"):
        opened(f"s3://{BUCKET}")


def test_a_reader_writes_nothing(s3):
    """Opened for reading only, a store is not tried by writing: the key need not allow it."""
    before = len(s3.log())
    store = ObjectStore.open(f"s3://{BUCKET}/x", options={}, read_only=True)
    assert store.exists("nothing") is None
    assert not [line for line in s3.log()[before:] if '"PUT' in line or '"POST' in line]


def test_a_missing_bucket_is_not_made(s3, opened):
    """A misspelt name must not become a bucket of its own."""
    with pytest.raises(StoreError, match=r"STORE_OBJECTS=s3://attic/x cannot.*make the bucket"):
        opened("s3://attic/x")
    with pytest.raises(StoreError, match="make the bucket"):
        opened("s3://attic/x")


def test_wrong_credentials_are_refused_at_the_start(s3, opened, monkeypatch):
    """An unknown key and a wrong secret are told apart from a missing bucket."""
    keys = s3.require_keys()
    with pytest.raises(StoreError, match="check the credentials"):
        opened(f"s3://{BUCKET}/x")
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    opened(f"s3://{BUCKET}/x")
    with pytest.raises(StoreError, match="check the credentials") as caught:
        opened(f"s3://{BUCKET}/x", key=keys["AWS_ACCESS_KEY_ID"], secret="wrong-secret")
    assert "wrong-secret" not in str(caught.value)


def test_credentials_and_endpoint_may_be_options(s3, opened, tmp_path, monkeypatch):
    """What the driver's options say needs no environment."""
    keys = s3.require_keys()
    for name in (*keys, "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name)
    options = dict(zip(("key", "secret"), keys.values(), strict=True))
    store = opened(f"s3://{BUCKET}/x", endpoint_url=s3.url, **options)
    assert store.put(_file(tmp_path, SMALL), "a") == len(SMALL)


def test_without_credentials_it_says_so(s3, opened, monkeypatch):
    """No key anywhere is an error of the credentials."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(StoreError, match="check the credentials"):
        opened(f"s3://{BUCKET}/x")


def test_an_endpoint_that_does_not_answer(s3, opened, monkeypatch):
    """The message leads to the endpoint."""
    with through(s3) as gate:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gate.url)
        gate.shut()
        with pytest.raises(StoreError, match="AWS_ENDPOINT_URL"):
            opened(f"s3://{BUCKET}/x")


def test_a_store_that_does_not_answer_is_out_of_reach(s3, opened, tmp_path, monkeypatch):
    """That is another error than that an object is not there."""
    with through(s3) as gate:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gate.url)
        store = opened(f"s3://{BUCKET}/x")
        store.put(_file(tmp_path, SMALL), "a")
        with pytest.raises(StoreError) as missing:
            store.read("b", 0, 1)
        assert not isinstance(missing.value, OutOfReachError)
        gate.shut()
        with pytest.raises(OutOfReachError):
            store.read("a", 0, 1)


def test_a_file_is_no_folder(opened, tmp_path):
    """A store below a file cannot be."""
    path = _file(tmp_path, SMALL)
    with pytest.raises(StoreError, match="check the URL"):
        opened(f"file://{path}/x")


# whole or not at all


def test_a_full_disk_leaves_the_object_as_it_was(opened, tmp_path):
    """What is written in part has a name of its own, and becomes no object."""
    store = opened(f"file://{tmp_path}/objects")
    store.put(_file(tmp_path, SMALL), "a")
    path, _ = _large(tmp_path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        for name in ("a", "b"):
            with pytest.raises(StoreError, match="too large"):
                store.put(path, name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert store.read("a", 0, 1 << 20) == SMALL
    assert store.exists("b") is None


def test_a_bucket_is_verified_by_its_etag(s3, opened, tmp_path):
    """Nothing is downloaded to see that it arrived, be it sent in parts or not."""
    store = opened(f"s3://{BUCKET}/x")
    before = len(s3.log())
    store.put(_large(tmp_path)[0], "large")
    store.put(_file(tmp_path, SMALL), "small")
    asked = [line for line in s3.log()[before:] if "GET /archive/x/" in line]
    assert asked == []


def test_an_etag_that_says_nothing_is_no_fault(opened, s3, tmp_path, monkeypatch):
    """Buckets with keys of their own have other ETags: the object is read instead."""
    monkeypatch.setattr("crawler.store.transfer.etag_of", lambda *_: "another")
    store = opened(f"s3://{BUCKET}/x")
    path, data = _large(tmp_path)
    store.put(path, "a")
    assert s3.objects() == {"x/a": data}


def test_what_arrives_changed_is_an_error(store, tmp_path, monkeypatch):
    """A store that keeps other bytes of the same number is found out."""
    path, other = _file(tmp_path, SMALL), _file(tmp_path, SMALL[::-1], "other")
    send = Transfer.send
    monkeypatch.setattr(Transfer, "send", lambda self, _, target: send(self, other, target))
    with pytest.raises(StoreError, match="what arrived is not what was sent"):
        store.put(path, "a")


# uploads that are interrupted


@pytest.fixture
def uploading():
    """Start uploaders that are closed after the test."""
    with contextlib.ExitStack() as stack:

        def start(store: ObjectStore) -> Uploader:
            retry = Retry(first=0.05, most=0.2)
            now = SystemClock().now
            uploader = Uploader(store, random=Random(1), now=now, retry=retry)
            uploader.start()
            stack.callback(uploader.close, 10)
            return uploader

        yield start


def test_a_bucket_that_goes_away_in_mid_upload(
    s3, opened, uploading, tmp_path, monkeypatch, caplog
):
    """The upload is made again when it is back, and is whole; nothing is left of the first try."""
    with through(s3) as gate:
        monkeypatch.setenv("AWS_ENDPOINT_URL", gate.url)
        store = opened(f"s3://{BUCKET}/x")
        gate.shut()
        gate.open(LARGE // 2)
        uploader = uploading(store)
        files = dict(_large(tmp_path, f"{n}.warc.gz", seed=n) for n in range(2))
        for path in files:
            uploader.add(path, path.name)
        assert gate.reached.wait(20)
        wait_for("the outage is told", lambda: "Uploads fail" in caplog.text)
        assert uploader.pending.files == 2
        assert s3.objects() == {}
        gate.open()
        wait_for("both are uploaded", lambda: not uploader.pending.files)
        assert {one.name: one.size for one in uploader.finished()} == {
            path.name: LARGE for path in files
        }
    assert s3.objects() == {f"x/{path.name}": data for path, data in files.items()}
    assert s3.remains() == []
    assert [line.count("Uploads") for line in caplog.messages] == [1, 1]


def test_a_server_that_is_stopped_and_started(opened, uploading, tmp_path, monkeypatch, s3):
    """Uploads go on with the new server as if nothing had been."""
    with S3Server(tmp_path) as server:
        server.make_bucket()
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
        store = opened(f"s3://{BUCKET}/x")
        server.stop()
        uploader = uploading(store)
        path, data = _large(tmp_path)
        uploader.add(path, "a")
        server.start()
        server.make_bucket()
        wait_for("it is uploaded", lambda: not uploader.pending.files)
        assert server.objects() == {"x/a": data}


def test_a_process_that_is_killed_in_mid_upload(s3, tmp_path):
    """The next start has every sealed file in the bucket, each whole, and no remains."""
    files = dict(_large(tmp_path, f"{n}.warc.gz", seed=n) for n in range(3))
    command = [sys.executable, "-m", "tests.support.upload_all", f"s3://{BUCKET}/x", str(tmp_path)]
    for sent in (LARGE // 2, LARGE):
        with through(s3) as gate:
            gate.shut()
            gate.open(sent, hold=True)
            environment = os.environ | {"AWS_ENDPOINT_URL": gate.url}
            process = subprocess.Popen(command, cwd=ROOT, env=environment)
            assert gate.reached.wait(30)
            process.kill()
            assert process.wait() == -signal.SIGKILL
    assert s3.remains() != []
    assert len(s3.objects()) < len(files)
    subprocess.run(command, cwd=ROOT, check=True, timeout=60)
    assert s3.objects() == {f"x/{path.name}": data for path, data in files.items()}
    assert s3.remains() == []
    assert sorted((tmp_path / "recorded").read_text().split()) == sorted(p.name for p in files)


# beside a crawl


def _beside(url: str, folder: Path, seconds: float, endpoint: str) -> dict:
    """Upload beside an event loop in a process of its own; it must end by itself, and silently."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.upload_beside", url, str(folder),
         str(seconds)],
        cwd=ROOT, env=os.environ | {"AWS_ENDPOINT_URL": endpoint}, capture_output=True, text=True,
        timeout=30, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout) | {"said": ran.stderr}


def test_the_loop_of_a_crawl_goes_on_during_uploads(s3, tmp_path):
    """The driver has a loop and a thread of its own; neither loop waits for the other."""
    files = dict(_large(tmp_path, f"{n}.warc.gz", seed=n) for n in range(3))
    ran = _beside(f"s3://{BUCKET}/x", tmp_path, 20, s3.url)
    assert ran["done"] == [path.name for path in files]
    assert (ran["left"], ran["said"]) == ([], "")
    assert ran["longest"] < 0.5
    assert s3.objects() == {f"x/{path.name}": data for path, data in files.items()}


def test_a_process_ends_although_an_upload_does_not(s3, tmp_path):
    """An upload that hangs keeps no crawl from ending; it is told, and nothing else."""
    _large(tmp_path, "a.warc.gz")
    with through(s3) as gate:
        gate.shut()
        gate.open(LARGE // 2, hold=True)
        ran = _beside(f"s3://{BUCKET}/x", tmp_path, 1, gate.url)
    assert (ran["done"], ran["left"]) == ([], ["a.warc.gz"])
    assert ran["said"] == (
        f"1 file(s) are not in s3://{BUCKET}/x yet (a.warc.gz); they stay in the job directory, "
        "and the next start uploads them.\n"
    )


# the archive, wherever it is


def test_a_record_is_read_from_where_its_segment_is(store, tmp_path):
    """From the folder, and when the segment is gone, the same from the store."""
    writer = WarcWriter(tmp_path, "web", committed={}, limit=1 << 30, random=Random(7))
    exchange = Exchange("http://example.com/", 1e9, 200, [(b"X", b"y")], b"a body")
    for _ in range(3):
        place = writer.response(exchange)
    writer.sync()
    writer.close()
    segment = tmp_path / place.file
    expected = read_record(segment, place.offset, place.length)
    reader = ArchiveReader(tmp_path, store)
    assert reader.read(*place[:3]) == expected
    store.put(segment, place.file)
    segment.unlink()
    assert reader.read(*place[:3]) == expected
    with pytest.raises(StoreError, match="cut short"):
        reader.read(place.file, place.offset, place.length - 1)
    with pytest.raises(StoreError, match="the limit is"):
        reader.read(place.file, place.offset, place.length, limit=10)
