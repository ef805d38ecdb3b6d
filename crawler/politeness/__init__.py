"""Fetch policy: whether and when a URL may be asked for. Numbers and decisions, no acts.

Everything here is a pure function of what came and of ``now``: the frontier obeys the numbers
without knowing why, and nothing here knows of a frontier, a socket or a clock.

**robots.txt** (:class:`Robots`) is a state machine per origin (scheme, host and port)::

                          2xx                          max_age over
      unknown ──▶ fetching ───▶ rules ───────────────────────────▶ fetching
         ▲           │  ▲  ▲      ▲   next try due                     │
         │ abandoned │  │  │      │ 2xx            5xx, 429, no answer │
         └───────────┘  │  └── stale_rules ◀───────────────────────────┘
                        │                    (a copy exists: it still applies)
                     3xx│  one more hop, up to 5, across hosts
                        └──┐
      fetching ───▶ allow_all      4xx except 429, redirect loop, sixth redirect; for max_age
               ───▶ disallow_all   5xx, 429, no answer, truncated, anything odd, and no copy:
                                   until the next try; tries at growing distances, Retry-After
                                   honoured; 2xx and 4xx lead out
               ───▶ outage_allow   unreachable for 30 days, no copy, and the policy says allow

Invariants:

* No URL passes before its own origin's file has been answered; never is an error permission.
* A copy is at most a day old, or older only while every attempt to refresh it fails.
* The status decides before the body is read: a 403 page full of rules is not a rule file.
* A redirect target's rules hold for the origin that was asked, and are unknown to the target's own.
* Whatever is denied names the line of the file that denies it.

**The rules** (:class:`RobotsRules`) are matched by Protego, on a file rewritten to the one group
that speaks to us. **Retry-After** (:func:`parse_retry_after`) and **back-off** (:class:`Backoff`)
turn an answer into waits for the URL and for its host. So does what it has cost us
(:class:`Effort`), when it is more than a host's share.

Spec: RFC 9309 (robots.txt), RFC 9110 §10.2.3 (Retry-After), RFC 6585 §4 (429).
"""

from __future__ import annotations

from crawler.politeness.backoff import Attempt, Backoff, BackoffOptions, Trouble, Verdict
from crawler.politeness.effort import Effort
from crawler.politeness.gates import (
    ALLOW,
    PENDING,
    RobotsAnswer,
    RobotsOptions,
    State,
)
from crawler.politeness.retry_after import parse_retry_after
from crawler.politeness.robots import Robots
from crawler.politeness.robots_txt import parse_crawl_delay, product_token
from crawler.politeness.rules import RobotsDecision, RobotsRules

__all__ = [
    "ALLOW",
    "PENDING",
    "Attempt",
    "Backoff",
    "BackoffOptions",
    "Effort",
    "Robots",
    "RobotsAnswer",
    "RobotsDecision",
    "RobotsOptions",
    "RobotsRules",
    "State",
    "Trouble",
    "Verdict",
    "parse_crawl_delay",
    "parse_retry_after",
    "product_token",
]
