"""Folders are served as a web server would, and what is reachable is counted right."""

from __future__ import annotations

import subprocess
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import packages
from tests.support.exchange import Request
from tests.support.packages import (
    Folder,
    PackageUnavailableError,
    debian_docs,
    reachable,
    static_site,
)


def write(root, files):
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "root"
    write(
        root,
        {
            "index.html": '<a href="a/b.html#top">1</a> <a href=sub>2</a> <a href="dead.html">3</a>'
            '<area href="data.txt"> <a href="picture.png">3</a>'
            '<a href="http://other.test/">4</a> <a href="mailto:x">5</a>',
            "a/b.html": '<base href="/a/"><iframe src="c%2ehtml"></iframe><a href="?q=1">q</a>',
            "a/c.html": "<a href='b.html'>back</a><a href='http://['>bad</a>",
            "a/alone.html": "nobody links this",
            "sub/index.html": '<a href="../a/twin.html">twin</a><a href="my page.html">space</a>',
            "sub/my page.html": "text",
            "data.txt": "text without links",
            "picture.png": "no page",
            "list/one.html": "1",
        },
    )
    root.joinpath("a/twin.html").symlink_to("c.html")
    tmp_path.joinpath("outside.html").write_text("secret")
    root.joinpath("out.html").symlink_to(tmp_path / "outside.html")
    root.joinpath("loop").symlink_to("loop")
    return root


class TestFolder:
    @pytest.mark.parametrize(
        ("path", "status"),
        [
            pytest.param("/", 200, id="index"),
            pytest.param("/a/b.html?x=1", 200, id="query ignored"),
            pytest.param("/sub/my%20page.html", 200, id="escaped"),
            pytest.param("/a/twin.html", 200, id="link inside"),
            pytest.param("/out.html", 404, id="link outside"),
            pytest.param("/loop", 404, id="loop of links"),
            pytest.param("/../outside.html", 404, id="dots"),
            pytest.param("/%2e%2e/outside.html", 404, id="escaped dots"),
            pytest.param("/a/b.html/", 404, id="slash after a file"),
            pytest.param("/sub", 301, id="folder without slash"),
            pytest.param("/list/", 200, id="listing"),
            pytest.param("/%00", 404, id="NUL"),
            pytest.param("/" + "x" * 5000, 404, id="long name"),
        ],
    )
    def test_status(self, tree, path, status):
        """Files, folders and links are looked up inside the root only."""
        assert Folder(tree).look_up(path).status == status

    def test_redirect_target_and_types(self, tree):
        """A folder redirects to itself with a slash; types follow the file name."""
        folder = Folder(tree)
        assert folder.look_up("/sub").location == "/sub/"
        assert folder.look_up("/data.txt").content_type == "text/plain"
        assert folder.look_up("/a/b.html").is_html

    @given(path=st.text())
    def test_never_raises_and_stays_inside(self, path):
        """Whatever is asked, the answer is a value, and its file lies below the root."""
        folder = Folder(packages.__file__.rpartition("/")[0])
        for one in ("/" + path, "/" + quote(path), "/../" + path):
            found = folder.look_up(one)
            assert found.file is None or found.file.is_relative_to(folder.root)


class TestStaticSite:
    def test_serves_what_the_folder_holds(self, tree):
        """Bytes, types, redirects and 404 come from the folder; robots.txt is optional."""
        site = static_site(root=str(tree), gzip=True)
        page = site(Request("h", "/data.txt"))
        assert (page.status, page.body, page.gzip) == (200, b"text without links", True)
        assert site(Request("h", "/sub")).headers == {"Location": "/sub/"}
        assert site(Request("h", "/no")).status == 404
        assert site(Request("h", "/robots.txt")).status == 404
        assert static_site(root=str(tree), robots="x")(Request("h", "/robots.txt")).body == b"x"

    def test_a_folder_per_host(self, tree):
        """Each host has its folder; a host without one has nothing."""
        site = static_site(roots={"a.test": str(tree), "b.test": str(tree / "sub")})
        assert site(Request("b.test:80", "/my%20page.html")).status == 200
        assert site(Request("a.test:80", "/my%20page.html")).status == 404
        assert site(Request("c.test:80", "/")).status == 404


class TestReachable:
    def test_counts(self, tree):
        """Pages with their clicks, other files, dead links, redirects and twins."""
        reach = reachable(tree)
        assert reach.pages == {
            "/": 0,
            "/a/b.html": 1,
            "/data.txt": 1,
            "/sub/": 1,
            "/a/c.html": 2,
            "/a/?q=1": 2,
            "/a/twin.html": 2,
            "/sub/my%20page.html": 2,
            "/a/alone.html": 3,
        }
        assert reach.resources == {"/picture.png"}
        assert reach.dead == {"/dead.html"}
        assert reach.redirects == {"/sub": "/sub/"}
        assert reach.duplicates == [["/a/c.html", "/a/twin.html"]]
        assert (reach.unique, reach.repeated, reach.requests) == (8, 1, 12)

    @pytest.mark.parametrize(
        ("href", "path"),
        [
            pytest.param("../../../x", "/x", id="dots above the root"),
            pytest.param("%7Euser/%e4", "/d/~user/%E4", id="escapes"),
            pytest.param(" x\n y ", "/d/x%20y", id="white space"),
            pytest.param("é", "/d/%C3%A9", id="not ASCII"),
            pytest.param("#here", "/d/p", id="fragment only"),
            pytest.param("?a=1&amp;b=%2f", "/d/p?a=1&b=%2F", id="query"),
            pytest.param("//HERE/x", "/x", id="own host"),
            pytest.param("https://here/x", None, id="another scheme"),
            pytest.param("javascript:x()", None, id="not http"),
            pytest.param("a//b/", "/d/a//b/", id="empty segment"),
            pytest.param("/a/./b/..", "/a/", id="dots at the end"),
            pytest.param("%2E%2e/x", "/x", id="escaped dots"),
            pytest.param("http://here", "/", id="no path"),
            pytest.param("y' href='z", "/d/y", id="repeated attribute"),
        ],
    )
    def test_links(self, href, path):
        """Links are resolved and normalised by RFC 3986, §5.2 and §6.2.2."""
        found = packages._links(f"<a href='{href}'>x</a>".encode(), "/d/p")
        assert found == ([path] if path else [])

    @given(body=st.binary(max_size=200), path=st.text(max_size=20))
    def test_links_of_anything(self, body, path):
        """Broken pages give links or none, never an error, and only normalised ones."""
        for link in packages._links(b"<a href='" + body + b"'>" + body, "/" + quote(path)):
            assert link.startswith("/")
            assert link.isascii()
            assert not set(link) & set(' "<>#')


class TestDebianDocs:
    def test_cached_package_is_the_common_folder(self, tmp_path):
        """The root is the deepest folder that holds all HTML files."""
        write(tmp_path / "p", {"usr/doc/p/html/a/1.html": "1", "usr/doc/p/html/2.htm": "2"})
        assert debian_docs("p", tmp_path) == tmp_path / "p/usr/doc/p/html"

    def test_missing_package_names_the_command(self, tmp_path):
        """Without a download the error is the command to run."""
        with pytest.raises(PackageUnavailableError, match="apt-get download p && dpkg -x"):
            debian_docs("p", tmp_path, download=False)

    def test_failed_download_leaves_nothing(self, tmp_path, monkeypatch):
        """A download that fails is reported, and is tried again the next time."""

        def fail(command, folder):
            raise subprocess.CalledProcessError(100, command)

        monkeypatch.setattr(packages, "_run", fail)
        with pytest.raises(PackageUnavailableError, match="apt-get update"):
            debian_docs("p", tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_download_is_unpacked_once(self, tmp_path, monkeypatch):
        """A package is fetched and unpacked the first time, and kept."""
        commands = []

        def pretend(command, folder):
            commands.append(command[0])
            write(folder, {"p_1.deb": ""} if command[0] == "apt-get" else {"tree/x/1.html": "1"})

        monkeypatch.setattr(packages, "_run", pretend)
        assert debian_docs("p", tmp_path) == debian_docs("p", tmp_path) == tmp_path / "p/x"
        assert commands == ["apt-get", "dpkg"]

    def test_package_without_html(self, tmp_path):
        """A package without pages is refused."""
        write(tmp_path / "p", {"usr/a.txt": ""})
        with pytest.raises(PackageUnavailableError, match="no HTML"):
            debian_docs("p", tmp_path)
