"""Uploads all segments of a folder that ``recorded`` does not name: ``upload_all URL FOLDER``.

What a crawl does with its archive, in a process that a test can kill.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from random import Random

from crawler.clock import SystemClock
from crawler.store import ObjectStore, Retry, Uploader

PART = 5 << 20


def main(url: str, folder: Path) -> None:
    """Upload, record each, and end when nothing is pending."""
    record = folder / "recorded"
    known = record.read_text().split() if record.exists() else []
    store = ObjectStore.open(url, options={}, part_bytes=PART)
    uploader = Uploader(store, random=Random(1), now=SystemClock().now, retry=Retry(0.05, 0.2))
    for path in sorted(folder.glob("*.warc.gz")):
        if path.name not in known:
            uploader.add(path, path.name)
    uploader.start()
    with record.open("a") as file:
        while uploader.pending.files:
            time.sleep(0.01)
            for upload in uploader.finished():
                file.write(f"{upload.name}\n")
                file.flush()
    uploader.close(10)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
