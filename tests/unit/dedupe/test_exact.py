"""Exact duplicates: what the hash sees, and which page is named."""

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.dedupe import EMPTY_HASH, ExactIndex, UrlTable, body_hash, content_hash
from crawler.dedupe import exact as exact_module

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"
WHITE = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())


def entry(number):
    return content_hash(f"text {number}"), f"https://example.com/{number}"


@pytest.fixture
def small_seals(monkeypatch):
    """Seal often, so that few entries go through every path."""
    monkeypatch.setattr(exact_module, "_FRESH_LIMIT", 7)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("a b", "a  b", True, id="run-of-spaces"),
        pytest.param("a b", "\n a\t\r\n b \x0c", True, id="any-white-space-and-ends"),
        pytest.param("a b", "a\u00a0b", True, id="no-break-space"),
        pytest.param("a b", "a\u3000\u2003b", True, id="ideographic-and-em-space"),
        pytest.param("a b", "a\x1fb\x85", True, id="separators-and-next-line"),
        pytest.param("ab c", "a bc", False, id="where-the-space-stands"),
        pytest.param("ab", "a b", False, id="space-or-none"),
        pytest.param("A b", "a b", False, id="case"),
        pytest.param("a b", "a\u200bb", False, id="zero-width-space-is-not-white"),
        pytest.param("caf\u00e9", "cafe\u0301", False, id="composed-or-not"),
    ],
)
def test_hash_sees_all_but_runs_of_white_space(one, other, same):
    """Two texts have one hash if and only if they agree once white space is collapsed."""
    assert (content_hash(one) == content_hash(other)) is same


@given(st.text(st.sampled_from(WHITE + "ab\u2019\ud800\U0001f600") | st.characters()))
def test_hash_is_that_of_the_joined_words(text):
    """Anyone can repeat the hash from the output: blake2b of the words joined by spaces."""
    collapsed = " ".join(text.split()).encode("utf-8", "surrogatepass")
    assert content_hash(text) == hashlib.blake2b(collapsed, digest_size=16).digest()


def test_hash_never_changes():
    """Stored hashes stay valid: the value of a known text is fixed."""
    assert content_hash("alpha beta gamma").hex() == "4e1b6d14147c7ba8ee248a1866877e37"


def test_long_run_of_spaces_is_linear():
    """A megabyte of spaces collapses like one."""
    assert content_hash("a" + " " * 1_000_003 + "b") == content_hash("a b")


def test_second_page_finds_the_first():
    """The answer is the page that had the content first, also after a third came."""
    index = ExactIndex()
    index.add(content_hash("x"), A)
    index.add(content_hash("x"), B)
    assert index.lookup(content_hash("x"), C) == A
    assert index.lookup(content_hash("y"), C) is None


def test_a_page_is_no_duplicate_of_itself():
    """A page fetched again after a crash or on a re-visit gets no verdict (C2)."""
    index = ExactIndex()
    index.add(content_hash("x"), A)
    index.add(content_hash("x"), A)
    assert index.lookup(content_hash("x"), A) is None
    assert index.lookup(content_hash("x"), B) == A


@pytest.mark.parametrize("text", ["", "  \n\u00a0"], ids=["empty", "white"])
def test_empty_text_has_no_duplicates(text):
    """Pages without text have nothing in common."""
    index = ExactIndex()
    index.add(content_hash(text), A)
    assert content_hash(text) == EMPTY_HASH
    assert index.lookup(content_hash(text), B) is None


def test_discard_forgets_only_the_pages_own_entry():
    """A page that changed is no longer named; nobody can discard another's entry."""
    index = ExactIndex()
    index.add(content_hash("x"), A)
    index.discard(content_hash("x"), B)
    assert index.lookup(content_hash("x"), C) == A
    index.discard(content_hash("x"), A)
    index.discard(content_hash("never seen"), A)
    assert index.lookup(content_hash("x"), C) is None
    index.add(content_hash("x"), B)
    assert index.lookup(content_hash("x"), C) == B


@pytest.mark.usefixtures("small_seals")
def test_sealed_index_behaves_like_a_dict():
    """Through many seals, additions and discards answer as a plain dict would."""
    rng = random.Random(4)
    index, model = ExactIndex(), {}
    for _ in range(2000):
        content, url = entry(rng.randrange(150))
        url += rng.choice(["", "?again"])
        if rng.random() < 0.3:
            index.discard(content, url)
            if model.get(content) == url:
                del model[content]
        else:
            index.add(content, url)
            model.setdefault(content, url)
        probe, _ = entry(rng.randrange(150))
        assert index.lookup(probe, "https://asking.example/") == model.get(probe)


@pytest.mark.usefixtures("small_seals")
def test_few_entries_are_python_objects():
    """What is not yet sealed stays below the limit, however many entries there are."""
    index = ExactIndex()
    for number in range(100):
        index.add(*entry(number))
        assert len(index._fresh) < max(8, number // 7)
    assert len(index._fresh) + len(index._sealed.rows) == 100


@pytest.mark.usefixtures("small_seals")
def test_half_a_hash_is_not_enough():
    """Contents whose hashes agree in their first 8 bytes stay apart, sealed or not."""
    index = ExactIndex()
    contents = [b"\xff" * 8 + number.to_bytes(8, "big") for number in range(20)]
    index.load((content, f"https://e.example/{n}") for n, content in enumerate(contents))
    found = [index.lookup(content, A) for content in contents]
    assert found == [f"https://e.example/{n}" for n in range(20)]
    assert index.lookup(b"\xff" * 16, A) is None


def test_hash_of_another_length_is_refused():
    """A caller that hands in something else than a content hash learns it at once."""
    with pytest.raises(ValueError, match="16"):
        ExactIndex().add(b"short", A)


@given(st.lists(st.text(st.characters(codec=None), max_size=8)))
def test_table_returns_what_was_added(urls):
    """Every row keeps its URL, in the order of addition, even ill-formed ones."""
    table = UrlTable()
    rows = [table.add(url) for url in urls]
    assert [table[row] for row in rows] == urls
    assert rows == sorted(rows)


def test_table_shares_the_row_of_a_page_just_added():
    """Both indexes add a page in turn, and its URL is kept once."""
    table = UrlTable()
    assert (table.add(A), table.add(A), table.add(B), table.add(A)) == (0, 0, 1, 2)
    assert table.size_bytes == len(A) * 3 + 8 * 4


@pytest.mark.parametrize("body", [b"", b"<title></title>"], ids=["empty", "no text"])
def test_equal_bodies_without_text_are_duplicates(body):
    """A page without text goes by its bytes, also by none at all."""
    index = ExactIndex(UrlTable())
    index.add(body_hash(body), "http://a.test/")
    assert index.lookup(body_hash(body), "http://b.test/") == "http://a.test/"
    assert index.lookup(body_hash(body + b" "), "http://b.test/") is None
    assert body_hash(body) != content_hash(body.decode())
