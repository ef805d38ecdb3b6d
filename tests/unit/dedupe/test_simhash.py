"""Fingerprints: one definition, three makers, and a vote that is the package's own."""

import random
import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simhash import Simhash

from crawler.dedupe import make_fingerprinter, parse_signature
from crawler.dedupe import simhash as simhash_module
from crawler.dedupe.simhash import feature_hash, shingles, vote
from crawler.dedupe.tokens import MAX_CHARACTERS, words
from crawler.errors import ConfigError
from crawler.model import Signature
from tests.unit.dedupe.samples import make_text, make_words

FAST = make_fingerprinter("fast")
NUMPY = make_fingerprinter("numpy")
REFERENCE = make_fingerprinter("reference")
ALL = pytest.mark.parametrize("maker", [FAST, NUMPY, REFERENCE], ids=["fast", "numpy", "reference"])


def package_vote(hashes):
    """Return the package's value for given feature hashes, through a look-up."""
    by_name = {str(place): int(value) for place, value in enumerate(hashes)}
    return Simhash(list(by_name), hashfunc=lambda name: by_name.get(name.decode(), 0)).value


def distance(maker, one, other):
    return (maker.fingerprint(one).value ^ maker.fingerprint(other).value).bit_count()


@pytest.mark.parametrize("count", [1, 2, 3, 4, 254, 255, 256, 257, 510, 511, 1500])
def test_vote_equals_the_package(count):
    """For the same 64-bit feature hashes the vote gives the package's bits."""
    hashes = np.random.default_rng(count).integers(0, 2**64, count, dtype=np.uint64)
    assert vote(hashes) == package_vote(hashes)


@given(
    st.lists(st.sampled_from([0, 1, 2**63, 2**64 - 1, 0x00FF00FF00FF00FF]), min_size=1, max_size=20)
)
def test_ties_and_repeats_vote_like_the_package(values):
    """Few distinct hashes give many ties and repeats; a tie leaves a bit 0."""
    assert vote(np.array(values, np.uint64)) == package_vote(values)


@pytest.mark.parametrize("repeats", [255, 256, 300, 70_000])
def test_one_feature_repeated_often_counts_each_time(repeats):
    """No counter overflows: a feature repeated beyond a byte, or 16 bits, still wins by one."""
    hashes = np.array([2**64 - 1] * repeats + [0] * (repeats - 1), np.uint64)
    assert vote(hashes) == 2**64 - 1
    assert vote(hashes[1:]) == 0


@pytest.mark.parametrize("count", [1, 2, 3, 40, 700])
@pytest.mark.parametrize("mark", ["", "\u2019", "\u4e00"], ids=["ascii", "quote", "han"])
def test_numpy_equals_the_reference(count, mark):
    """The compatible maker gives the package's bits for any text."""
    text = mark + make_text(count, seed=count)
    assert NUMPY.fingerprint(text) == REFERENCE.fingerprint(text)


@given(st.text(st.characters(codec=None)))
def test_numpy_equals_the_reference_on_anything(text):
    """Arbitrary characters change nothing of that."""
    assert NUMPY.fingerprint(text) == REFERENCE.fingerprint(text)


@pytest.mark.parametrize("text", [make_text(900), "the cat " * 300, "\u4e00 a " * 300])
def test_fast_value_is_the_packages_vote_over_its_features(text):
    """What the fast maker adds is the feature hash alone; 300 repeats of one included."""
    features = FAST.features(text)
    assert FAST.fingerprint(text).value == package_vote(features)


@given(st.text(st.characters(codec=None)))
def test_fast_counts_the_tokens_of_the_reference(text):
    """Thresholds by length mean the same with either algorithm."""
    assert FAST.fingerprint(text).tokens == REFERENCE.fingerprint(text).tokens


@given(st.lists(st.sampled_from(["a", "bb", "c", "\u4e00", "\u00e9t\u00e9", "d1"]), max_size=30))
def test_fast_features_are_equal_where_shingles_are(tokens):
    """A feature hash depends on its three tokens and not on where they stand."""
    texts = shingles(tokens)
    features = FAST.features(" ".join(tokens)).tolist()
    assert len(features) == len(texts)
    assert len(set(features)) == len(set(texts))
    assert len(dict(zip(texts, features, strict=True))) == len(
        set(zip(texts, features, strict=True))
    )


def modelled_feature(tokens):
    """Return the feature hash of up to three tokens by the definition, one integer at a time."""
    value = 0
    for token, factor in zip(tokens, simhash_module._MIX, strict=False):
        word = sum(ord(c) * simhash_module._BASE**place for place, c in enumerate(token))
        value = (value + word * factor) % 2**64
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    value = (value ^ value >> 27) * 0x94D049BB133111EB % 2**64
    return value ^ value >> 31


@given(st.text(st.sampled_from("aZ_9 .\u2019\u4e00\u0e01\u0e31\u00e9\U00020000"), max_size=60))
def test_fast_features_are_those_of_the_definition(text):
    """Whole-array hashing gives what hashing each token by itself would."""
    tokens = words(text)
    runs = [tokens[at : at + 3] for at in range(max(len(tokens) - 2, min(len(tokens), 1)))]
    assert FAST.features(text).tolist() == [modelled_feature(run) for run in runs]


def test_fast_features_do_not_collide():
    """Thousands of shingles over short words, whose hashes are structured, stay distinct."""
    rng = random.Random(3)
    tokens = ["".join(rng.choices("ab01", k=rng.randint(1, 3))) for _ in range(6000)]
    features = FAST.features(" ".join(tokens)).tolist()
    assert len(set(features)) == len(set(shingles(tokens)))


def test_fast_features_set_each_bit_half_the_time():
    """No bit of the feature hash is biased: a biased one would be alike in all texts."""
    features = FAST.features(" ".join(f"w{number}" for number in range(20_000)))
    bits = np.unpackbits(features.view(np.uint8)).reshape(-1, 64).mean(axis=0)
    assert np.all(np.abs(bits - 0.5) < 0.02)


@pytest.mark.parametrize(
    "pair", [("\u00e9t\u00e9", "e\u0301te\u0301"), ("ABC def", "abc DEF"), ("a b", "a,\u00a0b")]
)
@ALL
def test_form_of_the_characters_does_not_count(maker, pair):
    """Composition, case and punctuation leave the fingerprint as it is."""
    assert maker.fingerprint(pair[0]) == maker.fingerprint(pair[1])


@ALL
def test_empty_text_has_no_tokens(maker):
    """Nothing to vote gives value 0 and 0 tokens."""
    assert maker.fingerprint(" .\n") == Signature(0, 0, maker.algorithm)


@pytest.mark.parametrize(
    ("maker", "value"),
    [
        (FAST, "words3-poly-1:4c26e15401011044"),
        (NUMPY, "words3-blake2b-1:0018822c34828108"),
        (REFERENCE, "words3-blake2b-1:0018822c34828108"),
    ],
    ids=["fast", "numpy", "reference"],
)
def test_values_never_change(maker, value):
    """Equal text has an equal print in every process, release and year (simhash issue 26)."""
    assert str(maker.fingerprint("alpha beta gamma delta \u65e5\u672c")) == value


@ALL
def test_near_texts_are_near_and_others_far(maker):
    """Two words changed in 500 move few bits; another text differs in about half of them."""
    near, far = [], []
    for seed in range(12):
        tokens = make_words(500, seed=seed)
        edited = [*tokens[:100], "zebra", *tokens[101:400], "gnu", *tokens[401:]]
        near.append(distance(maker, " ".join(tokens), " ".join(edited)))
        far.append(distance(maker, " ".join(tokens), make_text(500, seed=seed + 100)))
    assert statistics.median(near) <= 5
    assert max(near) <= 10
    assert min(far) >= 14


@ALL
def test_one_character_of_a_clause_is_a_small_change(maker):
    """In text without spaces one changed character must not change every feature."""
    rng = random.Random(2)
    text = "".join(chr(rng.randint(0x4E00, 0x4FFF)) for _ in range(150))
    assert distance(maker, text, text[:70] + "\u6c34" + text[71:]) <= 12


@settings(max_examples=30)
@given(st.text(st.sampled_from("a \u4e00"), min_size=1), st.integers(1, 20_000))
def test_huge_texts_are_bounded(piece, times):
    """Any length ends in a signature, with no more tokens than characters read."""
    signature = FAST.fingerprint(piece * times)
    assert 0 <= signature.value < 2**64
    assert signature.tokens <= MAX_CHARACTERS


def test_unknown_name_is_a_configuration_error():
    """A misspelt algorithm stops the crawl at its start and names the known ones."""
    with pytest.raises(ConfigError, match=r"'slow'.*fast, numpy, reference"):
        make_fingerprinter("slow")


def test_tags_part_the_algorithms():
    """Only the two makers with equal bits share a tag."""
    assert NUMPY.algorithm == REFERENCE.algorithm != FAST.algorithm


def test_output_form_can_be_read_back():
    """The text form of a signature loses nothing but the tokens."""
    signature = Signature(0xAB, 30, "words3-poly-1")
    assert str(signature) == "words3-poly-1:00000000000000ab"
    assert parse_signature(str(signature), 30) == signature


@given(st.text() | st.from_regex("[a-z0-9-]{0,4}:[0-9a-f]{14,18}", fullmatch=True))
def test_reading_a_signature_never_raises(form):
    """A form is read back whole or is None."""
    signature = parse_signature(form, 1)
    assert signature is None or str(signature) == form


def test_feature_hash_is_blake2b():
    """The compatible tag fixes the hash: 8 bytes of BLAKE2b (RFC 7693)."""
    assert feature_hash(b"a b c").hex() == "30cc09468d276974"
