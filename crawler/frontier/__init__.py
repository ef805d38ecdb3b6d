"""The frontier: which URL is fetched next, and when. It knows no Scrapy, clock or socket.

Three levels, as in a mail sorting office::

    origin (scheme://host:port)   one URL queue, one robots.txt     which URL of the host
      └─ host (pacing key)        one clock, one request at a time  when
           └─ frontier            two heaps of hosts                which host

A **URL** lives: discovered → queued → leased → done (outcome) | waiting (until) | rejected
(reason). At every commit ``discovered = queued + leased + waiting + done + rejected``.

A **host** is *leased* (one request is out), *resting* (its next time lies ahead: the delay
after the last transfer, or *blocked until*), *ready*, or *idle* (no URL that may go). Its next
time is the latest of three that are kept apart: end of the last transfer + delay, blocked
until, and the earliest time at which one of its queues is open. Resting hosts wait in a heap
by that time, ready ones in a heap by priority and age; so a host is looked at only when it can
act, and ``next`` costs O(log hosts).

What a URL must wait for beyond its host's clock the frontier does not know: ``next`` asks a
*gate* (the robots rules, through the scheduler), which lets the URL go, rejects it, names
a URL to be fetched first (an *errand*, which takes its own turn at its own host), or says when
to ask again. So whatever goes to a host takes a turn on the host's one clock.

Storage is an ordered key-value engine. A queue row stays in its table while its URL is leased
and goes with the commit that records the outcome: after a crash the leased URLs are simply
still queued. Only hosts and a short buffer per queue are kept in memory.
"""

from crawler.frontier.engine import Batch, Engine, Table
from crawler.frontier.entry import Entry
from crawler.frontier.frontier import Frontier
from crawler.frontier.hosts import NEVER, Host, Kind, Lease
from crawler.frontier.memory import MemoryEngine
from crawler.frontier.options import FrontierOptions
from crawler.frontier.rests import Cause, Rest
from crawler.frontier.rocks import RocksEngine

__all__ = [
    "NEVER",
    "Batch",
    "Cause",
    "Engine",
    "Entry",
    "Frontier",
    "FrontierOptions",
    "Host",
    "Kind",
    "Lease",
    "MemoryEngine",
    "Rest",
    "RocksEngine",
    "Table",
]
