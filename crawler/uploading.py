"""Which files of a job directory go to the object store, and what is known to be there."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from uuid import UUID

from crawler.frontier.engine import Table

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from random import Random

    from crawler.commit import GroupCommit
    from crawler.frontier import Engine, Frontier
    from crawler.store import Pending, Uploaded, Uploader

_UPLOADED = b"uploaded"
_CRAWL = b"crawl"
_SEGMENT = re.compile(r"-(\d+)\.(?:warc\.gz|cdxj)")
_PATIENCE = 60.0  # s; what is not uploaded by then is by the next start


class Uploading:
    """Hands files to the uploader when they are full, and records what it has done.

    A sink of the commits: what was uploaded is part of the next batch, and only when that is
    written may a local file go.

    Args:
        directory: The job directory.
        folder: Of the archive in it, with a slash at the end.
        uploader: Uploads, in a thread of its own.
        keep_local: Whether the files stay here, too.
    """

    def __init__(
        self,
        directory: Path,
        folder: str,
        uploader: Uploader,
        engine: Engine,
        frontier: Frontier,
        commits: GroupCommit,
        *,
        keep_local: bool,
    ) -> None:
        self._directory = directory
        self._folder = folder
        self._uploader = uploader
        self._frontier = frontier
        self._lengths: dict[str, int] = commits.lengths
        self._keep_local = keep_local
        value = engine.get_many(Table.META, [_UPLOADED])[0]
        self._there: dict[str, int] = json.loads(value) if value else {}  # name → size
        self._noted: list[Uploaded] = []  # in the batch that is written next

    def deliver(self) -> None:
        """Note what was uploaded meanwhile, and hand over what is full now."""
        self._uploader.recorded(self._noted)
        self._noted = []
        self._note_finished()
        newest = self._newest()
        self._hand_over([name for name in self._lengths if 0 <= _number(name) < newest])

    def finish(self, *, everything: bool) -> None:
        """Upload what is left at the end of a run.

        Waits for a minute at most; what is left then, the next start uploads. To be called after
        a commit, and followed by one.

        Args:
            everything: Whether also the files that a further run would continue.
        """
        if everything:
            self._hand_over([*self._lengths])
        self._uploader.close(_PATIENCE)
        self._note_finished()

    def close(self) -> None:
        """Let the files go whose upload the last batch has recorded."""
        self._uploader.recorded(self._noted)

    @property
    def pending(self) -> Pending:
        """What is still to be uploaded."""
        return self._uploader.pending

    def _newest(self) -> int:
        return max(map(_number, self._lengths), default=0)

    def _hand_over(self, names: Iterable[str]) -> None:
        for name in names:
            path = self._directory / name
            if self._there.get(self._object(name)) != self._lengths[name] and path.exists():
                self._uploader.add(path, self._object(name))

    def _object(self, name: str) -> str:
        return name.removeprefix(self._folder)

    def _note_finished(self) -> None:
        newest = self._newest()
        for upload in self._uploader.finished():
            self._there[upload.name] = upload.size
            self._frontier.put(Table.META, _UPLOADED, json.dumps(self._there).encode())
            if 0 <= _number(upload.name) < newest and not self._keep_local:
                self._lengths.pop(self._folder + upload.name, None)  # it will be there no more
                self._noted.append(upload)


def _number(name: str) -> int:
    """Return the number of an archive's file; -1 for any other file."""
    match = _SEGMENT.search(name)
    return int(match[1]) if match else -1


def crawl_id(engine: Engine, frontier: Frontier, random: Random) -> str:
    """Return what tells this crawl from all others, the same at every start."""
    kept = engine.get_many(Table.META, [_CRAWL])[0]
    name = kept or str(UUID(int=random.getrandbits(128), version=4)).encode()
    frontier.put(Table.META, _CRAWL, name)
    return name.decode()
