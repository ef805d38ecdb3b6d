"""Uploads in virtual time: when a file is tried again, and what is told of it."""

from __future__ import annotations

import itertools
import threading
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import StoreError
from crawler.store import Pending, Retry, Uploader
from tests.support.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from pathlib import Path

RETRY = Retry(first=1.0, most=60.0)


class Shelf:
    """A store in memory that can be away, or refuse some names."""

    url = "shelf://here"

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.tries: list[str] = []
        self.away = False
        self.refused: set[str] = set()

    def put(self, path: Path, name: str) -> int:
        self.tries.append(name)
        if self.away or name in self.refused or not path.exists():
            raise StoreError(f"{self.url}/{name}: away")
        self.files[name] = path.read_bytes()
        return len(self.files[name])


class Scene:
    """An uploader without a thread, a shelf and a clock."""

    def __init__(self, folder: Path, **options) -> None:
        self.folder = folder
        self.shelf = Shelf()
        self.clock = VirtualClock()
        random = Random(5)
        self.uploader = Uploader(
            self.shelf, random=random, now=self.clock.now, retry=RETRY, **options
        )

    def add(self, *names: str) -> None:
        for name in names:
            path = self.folder / name
            path.write_bytes(name.encode() * 3)
            self.uploader.add(path, name)

    def run(self, seconds: float) -> list[float]:
        """Let time pass; return when files were tried."""
        end, tried = self.clock.now() + seconds, []
        while self.clock.now() <= end:
            before = len(self.shelf.tries)
            wait = self.uploader.step()
            tried += [self.clock.elapsed] * (len(self.shelf.tries) - before)
            if wait is None:
                break
            self.clock.advance_to(self.clock.now() + wait)
        return tried


@pytest.fixture
def scene(tmp_path) -> Scene:
    return Scene(tmp_path)


@given(st.integers(1, 5000), st.randoms(use_true_random=False))
def test_a_wait_is_between_half_and_whole(failures, random):
    """It doubles with each failure up to the longest, and half of it is drawn by lot."""
    longest = min(60.0, 2.0 ** min(failures - 1, 40))
    assert longest / 2 <= RETRY.wait(failures, random) <= longest


def test_files_go_in_their_order(scene):
    """One after the other, at once, and each is told once."""
    scene.add("a", "b", "c")
    assert scene.uploader.pending == Pending(3, 9)
    assert scene.run(1) == [0, 0, 0]
    assert scene.shelf.tries == ["a", "b", "c"]
    assert [(one.name, one.size, one.url) for one in scene.uploader.finished()] == [
        (name, 3, f"shelf://here/{name}") for name in "abc"
    ]
    assert scene.uploader.finished() == []
    assert scene.uploader.pending == Pending(0, 0)


def test_an_outage_is_asked_ever_less_often(scene):
    """An hour costs as many tries as the waits allow, and what was due goes when it is over."""
    scene.shelf.away = True
    scene.add("a", "b")
    tried = scene.run(3600)
    gaps = [later - earlier for earlier, later in itertools.pairwise(tried)]
    assert all(30 <= gap <= 60 for gap in gaps[7:])
    assert 60 < len(tried) < 130
    assert scene.uploader.pending == Pending(2, 6)
    scene.shelf.away = False
    scene.run(60)
    assert scene.shelf.files == {"a": b"aaa", "b": b"bbb"}


def test_an_outage_is_told_once_and_its_end_once(scene, caplog):
    """Two warnings, however many tries and files there were."""
    scene.shelf.away = True
    scene.add("a", "b", "c")
    scene.run(600)
    assert [line.partition(",")[0] for line in caplog.messages] == ["Uploads fail"]
    assert "shelf://here/a: away" in caplog.text
    scene.shelf.away = False
    scene.run(600)
    assert len(caplog.messages) == 2
    assert "go on" in caplog.messages[1]
    scene.shelf.away = True
    scene.add("d")
    scene.run(10)
    assert len(caplog.messages) == 3


def test_a_file_that_is_refused_holds_up_no_other(scene):
    """It goes to the end of the queue."""
    scene.shelf.refused = {"a"}
    scene.add("a", "b", "c")
    scene.run(10)
    assert scene.shelf.tries[:3] == ["a", "b", "c"]
    assert scene.shelf.files.keys() == {"b", "c"}
    assert scene.uploader.pending.files == 1


def test_a_success_sets_the_waits_back(scene):
    """The next outage is asked as often at its begin as the first was."""
    scene.shelf.away = True
    scene.add("a")
    scene.run(3600)
    scene.shelf.away = False
    scene.run(60)
    scene.shelf.away = True
    scene.add("b")
    began = scene.clock.elapsed
    assert scene.run(4)[:3] == [began, pytest.approx(began + 0.75, abs=0.25), pytest.approx(
        began + 2.25, abs=0.75
    )]  # fmt: skip


def test_a_file_is_queued_once(scene):
    """Whoever adds it again while it waits does no harm; afterwards it may be added anew."""
    scene.add("a", "a")
    assert scene.uploader.pending.files == 1
    scene.run(1)
    scene.add("a")
    assert scene.uploader.pending.files == 1


@pytest.mark.parametrize("name", ["../a", "/a", ""])
def test_a_name_that_no_object_can_have_is_refused_at_once(scene, name):
    """It would fail for ever."""
    scene.folder.joinpath("a").touch()
    with pytest.raises(StoreError, match="no name of a file"):
        scene.uploader.add(scene.folder / "a", name)


def test_a_file_that_goes_away_is_told_and_dropped(scene, caplog):
    """It is not tried for ever, and it is not taken for uploaded."""
    scene.shelf.away = True
    scene.add("a", "b")
    scene.run(5)
    scene.folder.joinpath("a").unlink()
    scene.shelf.away = False
    scene.run(60)
    assert [one.name for one in scene.uploader.finished()] == ["b"]
    assert scene.uploader.pending.files == 0
    assert "a is gone before it was uploaded" in caplog.text


def test_local_files_stay_by_default(scene):
    """Uploaded and recorded, they are there still."""
    scene.add("a")
    scene.run(1)
    scene.uploader.recorded(scene.uploader.finished())
    assert scene.folder.joinpath("a").exists()


def test_a_local_file_goes_only_when_its_upload_is_recorded(tmp_path):
    """A crash before that must find it, or the object would be known to nobody."""
    scene = Scene(tmp_path, keep_local=False)
    scene.add("a", "b")
    scene.run(1)
    done = scene.uploader.finished()
    assert tmp_path.joinpath("a").exists()
    scene.uploader.recorded(done[:1])
    scene.uploader.recorded(done[:1])
    assert not tmp_path.joinpath("a").exists()
    assert tmp_path.joinpath("b").exists()


def test_closing_uploads_what_is_left(scene):
    """The thread ends when the queue is empty, long before the time is up."""
    scene.uploader.start()
    scene.add("a", "b")
    assert scene.uploader.close(30) == []
    assert scene.shelf.files.keys() == {"a", "b"}
    assert "uploads" not in {thread.name for thread in threading.enumerate()}


def test_closing_tries_at_once_what_is_due_later(scene):
    """A store that is back is not left for the rest of a wait."""
    scene.shelf.away = True
    scene.add("a")
    scene.run(600)
    scene.shelf.away = False
    scene.uploader.start()
    assert scene.uploader.close(30) == []


def test_closing_during_an_outage_takes_a_bounded_time(scene, caplog):
    """What is not uploaded is named, and told to be left to the next start."""
    scene.shelf.away = True
    scene.add("a", "b")
    scene.uploader.start()
    assert sorted(scene.uploader.close(0.05)) == ["a", "b"]
    assert "2 file(s) are not in shelf://here yet" in caplog.text
    assert "the next start uploads them" in caplog.text


def test_files_may_be_added_from_any_thread(scene):
    """Every one of them is uploaded once."""
    scene.uploader.start()
    names = [f"{n:03}" for n in range(120)]
    adders = [threading.Thread(target=scene.add, args=names[n::4]) for n in range(4)]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join()
    assert scene.uploader.close(30) == []
    assert sorted(scene.shelf.tries) == names
