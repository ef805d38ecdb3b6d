"""Uploads a folder beside an event loop as a crawl has it: ``upload_beside URL FOLDER SECONDS``.

After so many seconds, or when all is uploaded, the loop ends. Prints as JSON what was uploaded,
what was not, and the longest time in s that the loop stood still meanwhile.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from pathlib import Path
from random import Random

from scrapy.utils.reactor import install_reactor

from crawler import settings
from crawler.clock import SystemClock
from crawler.store import ObjectStore, Uploader

TICK_S = 0.01
CLOSE_S = 0.2


def main(url: str, folder: Path, seconds: float) -> None:
    """Run a loop and an uploader side by side."""
    install_reactor(
        "twisted.internet.asyncioreactor.AsyncioSelectorReactor", settings.ASYNCIO_EVENT_LOOP
    )
    from twisted.internet import reactor, task

    store = ObjectStore.open(url, options={}, part_bytes=5 << 20)
    uploader = Uploader(store, random=Random(1), now=SystemClock().now)
    for path in sorted(folder.glob("*.warc.gz")):
        uploader.add(path, path.name)
    done: list[str] = []
    ticks = [time.monotonic()]

    def tick() -> None:
        ticks.append(time.monotonic())
        done.extend(one.name for one in uploader.finished())
        if not uploader.pending.files or ticks[-1] - ticks[0] > seconds:
            reactor.stop()  # type: ignore[misc]

    uploader.start()
    looping = task.LoopingCall(tick)
    looping.start(TICK_S)
    reactor.run()  # type: ignore[misc]
    left = uploader.close(CLOSE_S)
    done.extend(one.name for one in uploader.finished())
    longest = max(later - earlier for earlier, later in itertools.pairwise(ticks))
    sys.stdout.write(json.dumps({"done": done, "left": left, "longest": longest}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]))
