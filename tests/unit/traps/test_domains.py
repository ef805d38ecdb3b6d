"""How many sub-domains of a site are tried."""

from __future__ import annotations

from crawler.traps.domains import Domain, Standing
from crawler.traps.options import TrapOptions

OPTIONS = TrapOptions(sub_domains=16)


def tried(domain, *, useful, most=1000):
    """Try hosts one after the other until the site is full; return how many."""
    for n in range(most):
        if domain.full:
            return n
        domain.tried += 1
        domain.judge(Standing.TRIED, useful=useful, now=1.0)
    return most


def test_sub_domains_that_bring_nothing_are_sixteen():
    """A name server that answers for any name does not fill a crawl."""
    domain = Domain(OPTIONS)
    assert tried(domain, useful=False) == 16
    assert domain.stopped
    assert domain.trickle.since == 1.0


def test_sub_domains_that_bring_something_are_as_many_as_there_are():
    """Each useful one makes room for four more."""
    assert tried(Domain(OPTIONS), useful=True) == 1000


def test_a_useful_host_lets_a_full_site_go_on():
    """The one that shows that it is worth it is told of, once."""
    domain = Domain(OPTIONS)
    tried(domain, useful=False)
    assert domain.judge(Standing.HOLLOW, useful=True, now=2.0) == (Standing.USEFUL, True)
    assert domain.judge(Standing.USEFUL, useful=True, now=2.0) == (Standing.USEFUL, False)
    assert not domain.full


def test_a_row_says_all():
    """A domain read back goes on where it was."""
    domain = Domain(OPTIONS)
    domain.wording.is_hollow("some words of its own")
    tried(domain, useful=False)
    again = Domain(OPTIONS).decode(domain.encode())
    assert again.encode() == domain.encode()
    assert again.full
