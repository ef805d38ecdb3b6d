"""Traps: which URLs are not worth fetching, learned from what came of others like them.

A host can offer endless URLs: calendars, counters, filters of a shop, session ids, names that any
name server answers for. Most rules of thumb against them lose real pages. So every URL has a
*pattern* (:mod:`patterns`), and what counts is what the pattern has brought::

    new URL ─▶ Rules: sub-domain? parameters? pattern? ─▶ queued, late, or rejected
                 ▲                                              │ again before it is fetched
    Lessons ─────┘◀── outcome, text, where its links led ◀──────┘

* A pattern has a credit (:mod:`figures`). Fetches that bring nothing new use it up, others
  give it back. Without credit it is stopped; with little, its URLs go later than others.
* A parameter that changes nothing on its pages is left out when URLs are compared
  (:mod:`parameters`); what is sent stays as it was found.
* Sub-domains of a site are tried in a number that grows with what they bring
  (:mod:`domains`).

Nothing is final. Of what is rejected a trickle is fetched all the same (:mod:`trickle`), and
what is rejected is kept; when a rule turns out to be wrong it falls, and all that it kept is
queued. So a wrong guess costs time, and no page.

Invariants: memory and store are bounded per host (:mod:`book`, :mod:`library`); rows go with the
batch that records the outcome from which they were learned, so that a crash leaves neither
ahead of the other. Nothing here reads a clock or draws lots.
"""

from crawler.traps.lessons import Observation
from crawler.traps.options import TrapOptions
from crawler.traps.report import Stop
from crawler.traps.rules import REVOCABLE
from crawler.traps.traps import Assessment, Traps

__all__ = ["REVOCABLE", "Assessment", "Observation", "Stop", "TrapOptions", "Traps"]
