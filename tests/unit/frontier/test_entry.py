"""The row of a URL in the frontier's store."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import StoreError
from crawler.frontier.entry import Entry
from crawler.model import Fingerprint

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
BYTE = st.integers(0, 255)
ENTRIES = st.builds(
    Entry,
    url=TEXT,
    fingerprint=st.binary(min_size=16, max_size=16).map(Fingerprint),
    priority=BYTE,
    depth=st.integers(0, 65_535),
    referrer=st.none() | TEXT,
    redirects=BYTE,
    copies=BYTE,
    tries=BYTE,
    throttles=BYTE,
    payload=st.binary(max_size=40),
)


@given(ENTRIES)
def test_an_entry_comes_back_as_it_was(entry):
    """What must be remembered of a URL survives the store."""
    assert Entry.decode(entry.encode()) == entry


@given(st.binary(max_size=80))
def test_any_row_is_an_entry_or_is_told_to_be_damaged(row):
    """Nothing else is raised, and an entry that was read is written as it was read."""
    try:
        entry = Entry.decode(row)
    except StoreError:
        return
    assert entry.url
    assert Entry.decode(entry.encode()) == entry


@given(ENTRIES, st.integers(0, 400))
def test_a_row_that_was_cut_is_never_another_url(entry, size):
    """Either it still has the beginning of its URL, or it is told to be damaged."""
    row = entry.encode()[:size]
    try:
        assert entry.url.startswith(Entry.decode(row).url)
    except StoreError as error:
        assert "restore the job directory" in str(error)  # noqa: PT017


def test_a_damaged_row_is_named():
    """Whoever reads the message knows what to do."""
    with pytest.raises(StoreError, match=r"row b'abc' is no URL .* another JOBDIR"):
        Entry.decode(b"abc")
