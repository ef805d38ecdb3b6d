"""Seeds are read in order, each once; a bad one stops the crawl by its name and line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.seeds import read_seeds
from crawler.seeds import reader as reader_module
from crawler.urls import Canonicalizer, UrlOptions

normalize = Canonicalizer(UrlOptions()).normalize

SPECS = {
    "one": ("http://a.example/", ["http://a.example/"]),
    "several": ("http://a.example/,http://b.example/", ["http://a.example/", "http://b.example/"]),
    "spaces": (
        " http://a.example/ \n http://b.example/ ",
        ["http://a.example/", "http://b.example/"],
    ),
    "each once, in order": (
        "http://b.example/,http://a.example/,http://b.example",
        ["http://b.example/", "http://a.example/"],
    ),
    "normalised": ("HTTP://A.Example:80/b/../c#d", ["http://a.example/c"]),
    "no scheme": ("a.example", ["http://a.example/"]),
    "no scheme, path": ("a.example/x?y=1", ["http://a.example/x?y=1"]),
    "no scheme, query": ("a.example?y=http://b/", ["http://a.example/?y=http://b/"]),
    "no scheme, several": ("a.example,b.example", ["http://a.example/", "http://b.example/"]),
    "no scheme, port": ("a.example:81,b.example", ["http://a.example:81/", "http://b.example/"]),
    "no scheme, address": ("127.0.0.1:8767/x", ["http://127.0.0.1:8767/x"]),
    "no scheme, address v6": (
        "127.0.0.1,[::1]:81/x,[::1]",
        ["http://127.0.0.1/", "http://[::1]:81/x", "http://[::1]/"],
    ),
    "no scheme, international": ("bücher.example/ä", ["http://xn--bcher-kva.example/%C3%A4"]),
    "comma in a path": ("http://a.example/1,2", ["http://a.example/1,2"]),
    "comma in a query": (
        "http://a.example/?x=1,2,http://b.example/",
        ["http://a.example/?x=1,2", "http://b.example/"],
    ),
    "empty parts": (",http://a.example/,,", ["http://a.example/"]),
    "port": ("http://127.0.0.1:8080/", ["http://127.0.0.1:8080/"]),
    "address v6": ("http://[::1]:8080/", ["http://[::1]:8080/"]),
    "localhost": ("http://localhost/,localhost/x", ["http://localhost/", "http://localhost/x"]),
    "localhost, port": ("LocalHost:81", ["http://localhost:81/"]),
    "international": ("http://bücher.example/", ["http://xn--bcher-kva.example/"]),
}


@pytest.mark.parametrize(("spec", "seeds"), SPECS.values(), ids=SPECS)
def test_specs_are_read(spec, seeds):
    """URLs separated by commas or white space become a list without repetitions."""
    assert read_seeds(spec, normalize) == seeds


@pytest.mark.parametrize(
    "spec",
    [
        "ftp://a.example/",
        "mailto:a@b.example",
        "http://",
        "http://[",
        "http://a:b/",
        "//",
        "javascript:1",
        "foo",
        "foo:80",
        "foo/bar.html",
        "user@a.example",
        "a.example:port",
        "::1",
        "//a.example/",
    ],
)
def test_a_bad_seed_is_named(spec):
    """What is no http(s) URL is refused with its text."""
    with pytest.raises(ConfigError) as caught:
        read_seeds(f"http://good.example/ {spec}", normalize)
    assert f"seed {spec!r} is no http or https URL" in str(caught.value)


@pytest.mark.parametrize("spec", ["foo", "foo/", "foo:8080/a.b"])
def test_a_word_is_no_host_unasked(spec):
    """A name without a dot is more likely a slip than a host; the message says how to mean it."""
    with pytest.raises(ConfigError, match="without a dot needs its scheme: http://foo/"):
        read_seeds(spec, normalize)
    assert read_seeds("http://foo/", normalize) == ["http://foo/"]


def test_a_url_with_a_space_is_two_words():
    """The second half is refused, and the message says what separates seeds."""
    with pytest.raises(ConfigError, match=r"seed 'page' .*white space separates seeds; .* %20"):
        read_seeds("http://a.example/my page", normalize)


@pytest.mark.parametrize("spec", ["", " ", ",", " ,, "])
def test_no_seed_at_all_is_refused(spec):
    """Without a seed there is nothing to crawl; the message shows what one looks like."""
    with pytest.raises(ConfigError, match=r"no seeds: .* has none; expected URLs such as https://"):
        read_seeds(spec, normalize)


def _file(tmp_path, content: bytes):
    path = tmp_path / "seeds.txt"
    path.write_bytes(content)
    return path


FILES = {
    "lines": (
        b"http://a.example/\nhttp://b.example/\n",
        ["http://a.example/", "http://b.example/"],
    ),
    "comments and blanks": (
        b"# mine\n\n  \n http://a.example/ \n#http://no/\n",
        ["http://a.example/"],
    ),
    "no last newline": (b"http://a.example/", ["http://a.example/"]),
    "crlf": (
        b"http://a.example/\r\nhttp://b.example/\r\n",
        ["http://a.example/", "http://b.example/"],
    ),
    "byte order mark": (b"\xef\xbb\xbfhttp://a.example/\n", ["http://a.example/"]),
    "no scheme": (b"a.example\n", ["http://a.example/"]),
    "a comma is part of a line": (
        b"http://a.example/?x=1,b.example\n",
        ["http://a.example/?x=1,b.example"],
    ),
    "utf-8": ("http://a.example/ä\n".encode(), ["http://a.example/%C3%A4"]),
}


@pytest.mark.parametrize(("content", "seeds"), FILES.values(), ids=FILES)
def test_files_are_read_by_lines(tmp_path, content, seeds):
    """One URL a line; blank lines and comments do not count."""
    assert read_seeds(f"@{_file(tmp_path, content)}", normalize) == seeds


def test_a_bad_line_is_named_with_its_number(tmp_path):
    """The operator finds the line: its number counts blanks and comments."""
    path = _file(tmp_path, b"# seeds\n\nhttp://a.example/\nnot a url\n")
    with pytest.raises(ConfigError) as caught:
        read_seeds(f"@{path}", normalize)
    assert f"'not a url' (line 4 of {path})" in str(caught.value)


def test_a_long_bad_line_is_cut_in_the_message(tmp_path):
    """A binary file given by mistake does not fill the terminal."""
    path = _file(tmp_path, b"ftp://" + b"x" * 100_000)
    with pytest.raises(ConfigError) as caught:
        read_seeds(f"@{path}", normalize)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("content", [b"", b"\n\n", b"# only\n"], ids=["empty", "blank", "comments"])
def test_a_file_without_seeds_is_named(tmp_path, content):
    """The message says which file holds none."""
    path = _file(tmp_path, content)
    with pytest.raises(ConfigError, match="no seeds") as caught:
        read_seeds(f"@{path}", normalize)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    """The path and the system's reason are in the message."""
    with pytest.raises(ConfigError, match="No such file") as caught:
        read_seeds(f"@{tmp_path}/none.txt", normalize)
    assert f"{tmp_path}/none.txt" in str(caught.value)


def test_a_folder_is_no_file(tmp_path):
    """A folder given for a file is refused like any unreadable file."""
    with pytest.raises(ConfigError, match="cannot be read"):
        read_seeds(f"@{tmp_path}", normalize)


def test_a_file_that_is_not_utf_8_is_refused(tmp_path):
    """Guessing the encoding of URLs would crawl others; the message says where it breaks."""
    path = _file(tmp_path, b"http://a.example/\xe4\n")
    with pytest.raises(ConfigError, match=r"not UTF-8 \(byte 17\)"):
        read_seeds(f"@{path}", normalize)


def test_a_huge_file_is_refused(tmp_path, monkeypatch):
    """The list is held in memory, so its size is bounded before it is read."""
    monkeypatch.setattr(reader_module, "MAX_SEEDS_BYTES", 10)
    with pytest.raises(ConfigError, match="larger than 10 bytes"):
        read_seeds(f"@{_file(tmp_path, b'http://a.example/')}", normalize)


def test_the_home_folder_may_be_written_as_tilde(tmp_path, monkeypatch):
    """The shell does not expand ~ behind seeds=@."""
    monkeypatch.setenv("HOME", str(tmp_path))
    _file(tmp_path, b"http://a.example/\n")
    assert read_seeds("@~/seeds.txt", normalize) == ["http://a.example/"]


@given(st.text(max_size=80).filter(lambda text: not text.startswith("@")))
def test_any_text_is_read_or_refused(spec):
    """Whatever is given: a list of normalised URLs, each once, or a ConfigError."""
    try:
        seeds = read_seeds(spec, normalize)
    except ConfigError:
        return
    assert seeds
    assert len(set(seeds)) == len(seeds)
    assert [normalize(url) for url in seeds] == seeds
