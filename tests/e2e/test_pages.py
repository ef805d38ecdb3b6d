"""``scrapy pages`` on a finished crawl, on one that runs, and on what is none."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import pty
import shutil
import subprocess
import sys
import time
from datetime import datetime

import pytest
from pyarrow import parquet
from scrapy import cmdline

from crawler.reading import COLUMNS
from tests.support.archive import read_rows
from tests.support.crawl import ROOT, crawl, options, read_lines, start_crawl
from tests.support.server import LocalWeb
from tests.support.shell import project_settings
from tests.support.varied_site import varied_site

pytestmark = pytest.mark.e2e

HOSTS = 5


def pages(jobdir, *args, **settings):
    """Run ``scrapy pages`` in this process; return its exit code, output and last words."""
    command = ["scrapy", "pages", *map(str, args), "-s", f"JOBDIR={jobdir}", *options(**settings)]
    output, said = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with (
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(said),
        pytest.raises(SystemExit) as end,
    ):
        cmdline.execute(command, project_settings())
    output.flush()
    return end.value.code, output.buffer.getvalue(), said.getvalue()


def good(jobdir, *args, **settings):
    """Return the output of a run that ended well."""
    code, output, said = pages(jobdir, *args, **settings)
    assert code == 0, said
    return output


def on_a_terminal(jobdir, *args):
    """Return what a run shows on a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "scrapy", "pages", *args, "-s", f"JOBDIR={jobdir}"]
    with subprocess.Popen(command, cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs) as run:
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 65_536):
                shown += block
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        assert run.wait(60) == 0, shown
    return shown.decode()


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    """A finished crawl of five hosts that have some pages in common, and the home page of one."""
    jobdir = tmp_path_factory.mktemp("pages") / "job"
    with LocalWeb(varied_site, hosts=HOSTS) as web:
        result = crawl(web.urls, *options(POLITENESS_DELAY=0, BACKOFF_RETRIES=0), jobdir=jobdir)
        result.check()
        base = web.url("")
    assert result.outcomes["duplicate_exact"] > HOSTS * 4
    assert result.outcomes["duplicate_near"] >= HOSTS
    assert {"failed_content", "gone", "listed", "redirected", "skipped_type"} < {*result.outcomes}
    return jobdir, base


@pytest.fixture
def copy(job, tmp_path):
    """The job directory once more, to be changed."""
    return shutil.copytree(job[0], tmp_path / "copy")


# --- list and show ----------------------------------------------------------------------


def test_the_list_has_every_fetched_url_in_the_order_of_time(job):
    """Without a limit each URL is one line, oldest first; the first lines say what is what."""
    jobdir, _ = job
    head, *lines = good(jobdir, "list", "--limit", 0).decode().splitlines()
    assert head.split() == ["fetched", "outcome", "status", "type", "url"]
    rows = read_rows(jobdir).values()
    assert sorted(line.split()[-1] for line in lines) == sorted(row.url for row in rows)
    assert [line[:20] for line in lines] == sorted(line[:20] for line in lines)


def test_a_list_is_bounded_and_says_so(job):
    """Fifty lines are shown unless another number is asked for, and that there are more."""
    code, output, said = pages(job[0], "list")
    assert (code, output.count(b"\n")) == (0, 51)
    assert "there are more than these 50" in said
    assert pages(job[0], "list", "--limit", 0)[2] == ""


def test_filters_choose_and_the_newest_come_first(job):
    """All filters hold together; --newest turns the order round."""
    jobdir, base = job
    domain = base.removeprefix("http://").partition(":")[0]
    chosen = ("--domain", domain, "--status", 200, "--type", "text/html", "--outcome", "stored")
    listed = [json.loads(line) for line in good(jobdir, "list", *chosen, "--json").splitlines()]
    expected = [
        row.url
        for row in read_rows(jobdir).values()
        if (row.domain, row.outcome, row.content_type) == (domain, "stored", "text/html")
    ]
    assert [one["url"] for one in listed] == expected
    assert len(expected) > 5
    newest = good(jobdir, "list", *chosen, "--json", "--newest").splitlines()
    assert [json.loads(line) for line in newest] == listed[::-1]
    since, until = listed[3]["fetched_at"], listed[5]["fetched_at"]
    between = good(jobdir, "list", "--since", since, "--until", until, "--json", "--limit", 0)
    times = [json.loads(line)["fetched_at"] for line in between.splitlines()]
    assert times
    assert all(since <= at < until for at in times)


def test_a_page_is_found_in_any_spelling_and_by_its_hash(job):
    """The URL is brought into its normal form as the crawl does it."""
    jobdir, base = job
    asked = f"{base.upper().replace('HTTP', 'http')}/x/../odd?utm_source=y&a=1&b=2#top"
    record = json.loads(good(jobdir, "show", asked, "--json"))
    assert record["url"].partition("?")[0] == f"{base}/odd"
    again = json.loads(good(jobdir, "show", record["url_hash"], "--json"))
    assert again == record
    (line,) = [one for one in read_lines(jobdir / "pages.jsonl") if one["url"] == record["url"]]
    assert {name: record[name] for name in line} == line


@pytest.mark.parametrize("path", ["/gzip", "/deflate", "/br", "/same/2", "/japanese", "/image"])
def test_the_bytes_of_a_page_come_out_as_the_server_meant_them(job, path):
    """Content codings are undone, and a record that refers to another one is followed."""
    jobdir, base = job
    rows = read_rows(jobdir)
    for url in (base + path, base.replace("127.1.0.1", "127.1.0.2") + path):
        body = good(jobdir, "show", url, "--raw")
        assert len(body) == rows[url].body_bytes
        assert body == good(jobdir, "show", base + path, "--raw")
    assert body[:2] != b"\x1f\x8b"


def test_the_text_of_a_duplicate_is_read_from_its_bytes(job):
    """A page without a line has a text all the same, the same as the page that it repeats."""
    jobdir, _ = job
    rows = read_rows(jobdir).values()
    copy = next(row for row in rows if row.outcome == "duplicate_exact" and "/same" in row.url)
    first = good(jobdir, "show", copy.duplicate_of, "--text")
    assert good(jobdir, "show", copy.url, "--text") == first
    assert len(first) > 500


def test_headers_and_history_are_shown(job):
    """Headers as they were received, repeated ones included; visits with their outcomes."""
    jobdir, base = job
    shown = good(jobdir, "show", base + "/headers", "--headers").decode().splitlines()
    assert shown[0] == "HTTP 200"
    assert [line for line in shown if line.startswith("X-Robots-Tag")] == [
        "X-Robots-Tag: noarchive",
        "X-Robots-Tag: nofollow",
    ]
    told = json.loads(good(jobdir, "show", base + "/gone", "--history", "--json"))
    assert [(one["status"], one["outcome"]) for one in told["visits"]] == [(404, "gone")]


@pytest.mark.parametrize("how", [(), ("--text",), ("--raw",), ("--json",), ("--headers",)])
def test_no_page_drives_a_terminal(job, how):
    """What a page contains reaches a terminal without any control or direction character."""
    jobdir, _ = job
    url = next(
        row.url
        for row in read_rows(jobdir).values()
        if "/hostile" in row.url and row.text_offset is not None
    )
    shown = on_a_terminal(jobdir, "show", url, *how)
    assert "clears the screen" in shown or "owned" in shown or how == ("--headers",)
    assert not {*shown} & {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u202e"} - {
        *"\r\n\t"
    }


def test_a_list_fits_a_terminal(job):
    """On a terminal no line is wider than it is, and half of it is the URL's."""
    shown = on_a_terminal(job[0], "list", "--limit", "5").splitlines()
    assert max(map(len, shown)) <= 80
    assert shown[0].split() == ["fetched", "outcome", "url"]
    assert all(job[1].rpartition(".")[0] in line for line in shown[1:6])


def test_a_list_in_json_has_what_the_catalog_knows(job):
    """No field is null because nobody looked: those of the line alone are not there."""
    listed = [json.loads(one) for one in good(job[0], "list", "--limit", 0, "--json").splitlines()]
    exported = [json.loads(one) for one in good(job[0], "export").splitlines()]
    left_out = {"headings", "text", "simhash", "outlinks", "truncated"}
    for one, other in zip(listed, exported, strict=True):
        assert one.keys() == other.keys() - left_out
        assert {**other, **one} == other


# --- export -----------------------------------------------------------------------------


def exported(jobdir, file, *args):
    """Export to a file whose ending is the format."""
    good(jobdir, "export", "-o", file, *args)
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    return file


@pytest.fixture
def records(job):
    """Every record of the crawl, as JSON lines have it."""
    return [json.loads(line) for line in good(job[0], "export").splitlines()]


def test_an_export_joins_lines_and_rows(job, records):
    """Every URL is there once; those with a line have all of its fields."""
    jobdir, _ = job
    assert [*records[0]] == [column.name for column in COLUMNS]
    assert [one["url"] for one in records] == [*read_rows(jobdir)]
    lines = {line["url"]: line for line in read_lines(jobdir / "pages.jsonl")}
    for record in records:
        line = lines.get(record["url"])
        assert (line is None) == (record["outcome"] != "stored")
        if line is not None:
            assert {name: record[name] for name in line} == line
            assert record["truncated"] == line.get("truncated", False)


def test_csv_reads_back_equal(job, records, tmp_path):
    """Every cell is the value, lists as JSON; what begins like a formula has an apostrophe."""
    file = exported(job[0], tmp_path / "x.csv")
    csv.field_size_limit(10_000_000)
    read = list(csv.DictReader(io.StringIO(file.read_text("utf-8"), newline="")))
    cells = [cell for row in read for cell in row.values()]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
    assert any(row["title"].startswith("'=cmd|") for row in read)
    assert [{c.name: _value(c, row[c.name]) for c in COLUMNS} for row in read] == [
        {name: value if value != "" else None for name, value in one.items()} for one in records
    ]


def _value(column, cell):
    """Return the value of a cell; an empty one stands for None, and for an empty text."""
    if cell == "":
        return None
    if column.kind in ("list", "integer", "boolean"):
        return json.loads(cell)
    return cell.removeprefix("'")


def test_parquet_reads_back_equal(job, records, tmp_path):
    """Another program finds every value in its type; times are times."""
    table = parquet.read_table(exported(job[0], tmp_path / "x.parquet"))
    times = {column.name for column in COLUMNS if column.kind == "time"}
    assert table.column_names == [column.name for column in COLUMNS]
    assert table.to_pylist() == [
        {
            name: datetime.fromisoformat(value) if name in times and value else value
            for name, value in one.items()
        }
        for one in records
    ]


def test_an_export_takes_filters_and_a_limit(job, records, tmp_path):
    """Only what is asked for is written."""
    file = exported(job[0], tmp_path / "x.jsonl", "--outcome", "stored", "--limit", 3)
    stored = [one for one in records if one["outcome"] == "stored"]
    assert read_lines(file) == stored[:3]


# --- reprocess --------------------------------------------------------------------------


def test_the_same_code_makes_the_same_lines(job, tmp_path):
    """With code and settings of the crawl the lines are those of pages.jsonl, byte by byte."""
    jobdir, _ = job
    code, output, said = pages(jobdir, "reprocess", "-o", tmp_path / "new.jsonl", "--check")
    assert (code, output) == (0, b"")
    assert (tmp_path / "new.jsonl").read_bytes() == (jobdir / "pages.jsonl").read_bytes()
    count = len(read_lines(jobdir / "pages.jsonl"))
    assert f"lines: {count} same, 0 changed, 0 new, 0 gone\n" in said
    assert good(jobdir, "reprocess") == (jobdir / "pages.jsonl").read_bytes()


def test_other_settings_make_other_lines_and_a_check_says_so(job):
    """Without the near-duplicate stage its pages are new, and the lines lack its field."""
    jobdir, _ = job
    code, output, said = pages(jobdir, "reprocess", "--check", DEDUPE_NEAR_ENABLED=0)
    near = sum(row.outcome == "duplicate_near" for row in read_rows(jobdir).values())
    stored = len(read_lines(jobdir / "pages.jsonl"))
    assert (code, output) == (1, b"")
    assert f"lines: 0 same, {stored} changed, {near} new, 0 gone\n" in said
    first = read_lines(jobdir / "pages.jsonl")[0]["url"]
    assert f"pages: changed: {first}: simhash\n" in said
    assert said.count("pages: changed: ") + said.count("pages: new: ") == 10
    assert f"pages: these are the first 10 of {stored + near:,} differences\n" in said


def test_a_filter_chooses_lines_and_no_verdicts(job):
    """The lines of one site are those that the whole crawl has of it."""
    jobdir, base = job
    domain = base.removeprefix("http://").partition(":")[0].replace("127.1.0.1", "127.1.0.3")
    lines = (jobdir / "pages.jsonl").read_bytes().splitlines(keepends=True)
    expected = [line for line in lines if f'{{"url":"http://{domain}:'.encode() in line]
    assert good(jobdir, "reprocess", "--domain", domain).splitlines(keepends=True) == expected
    assert expected


def test_a_damaged_record_is_told_and_the_others_are_read(copy):
    """One page that cannot be read back costs its own line only; a check fails."""
    row = next(row for row in read_rows(copy).values() if row.url.endswith("/own/2"))
    with (copy / "warc" / row.warc_file).open("r+b") as file:
        file.seek(row.warc_offset + row.warc_length // 2)
        file.write(b"\xff\xff\xff\xff")
    code, _, said = pages(copy, "reprocess", "--check")
    assert code == 1
    assert "1 gone, 1 unreadable in the archive" in said
    assert f"{row.warc_file} at {row.warc_offset}" in said


def test_lines_that_are_not_in_the_archive_are_counted(copy):
    """A line of which nothing was archived cannot be made again, and a check says so."""
    with (copy / "pages.jsonl").open("ab") as file:
        file.write(b'{"url":"http://elsewhere.test/"}\n')
    code, _, said = pages(copy, "reprocess", "--check")
    assert code == 1
    assert "1 not in the archive" in said


def test_an_archive_that_has_moved_is_read_from_its_store(tmp_path):
    """Segments that were uploaded and removed here are read where they are, index and all."""
    settings = options(
        POLITENESS_DELAY=0,
        BACKOFF_RETRIES=0,
        STORE_OBJECTS=(tmp_path / "there").as_uri(),
        STORE_KEEP_LOCAL=0,
        STORE_WARC_SEGMENT=2**16,
    )
    with LocalWeb(varied_site, hosts=2) as web:
        crawl(web.urls, *settings, jobdir=tmp_path / "job").check()
    assert not (tmp_path / "job" / "warc" / "web-00000.cdxj").exists()
    assert len(list((tmp_path / "there").glob("*.cdxj"))) > 1
    where = {"STORE_OBJECTS": (tmp_path / "there").as_uri()}
    before = sorted(path.name for path in (tmp_path / "there").iterdir())
    lines = good(tmp_path / "job", "reprocess", "--check", "-o", tmp_path / "new", **where)
    assert lines == b""
    assert (tmp_path / "new").read_bytes() == (tmp_path / "job" / "pages.jsonl").read_bytes()
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == before
    code, _, said = pages(tmp_path / "job", "reprocess")
    assert code == 2
    assert "set STORE_OBJECTS" in said


# --- a crawl that runs, and what is no crawl -------------------------------------------------


def test_all_of_it_works_while_the_crawl_runs(tmp_path):
    """What is committed is there, rows and lines fit each other, and the crawl goes on."""
    job = tmp_path / "job"
    settings = options(POLITENESS_DELAY=0.3, BACKOFF_RETRIES=0, FRONTIER_COMMIT_PAGES=2)
    with LocalWeb(varied_site) as web, start_crawl([web.url()], *settings, jobdir=job) as running:
        until = time.monotonic() + 30
        while pages(job, "list", "--limit", 0)[1].count(b"\n") < 8 and time.monotonic() < until:
            time.sleep(0.2)
        made = [json.loads(line) for line in good(job, "reprocess").splitlines()]
        records = [json.loads(line) for line in good(job, "export").splitlines()]
        assert running.process.poll() is None
        running.interrupt()
        lines = running.wait(60).check().lines
    assert 0 < len(made) <= len(lines)
    assert made == lines[: len(made)]
    assert len(records) > 5


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["list", "--outcome", "stord"], "--outcome stord: is none; did you mean stored?"),
        (["list", "--status", "ok"], "--status ok: expected an HTTP status, 100 to 999"),
        (["list", "--since", "now"], "--since now: expected a date or time in ISO 8601"),
        (["list", "--type", "html"], "--type html: expected a media type, such as text/html"),
        (["list", "--limit", "-1"], "--limit -1: expected a whole number, 0 for all"),
        (["list", "--domain", "www.example.com"], "and no host below it: example.com"),
        (["list", "-s", "POLITENESS_DELAI=1"], "did you mean POLITENESS_DELAY?"),
        (["show", "example.com"], "expected a URL with http:// or https://"),
        (["show", "0" * 32], "no page has this url_hash; scrapy pages list --json shows"),
        (["show", "http://example.com/"], "nor was example.com at all"),
        (["export", "--format", "xml"], "invalid choice: 'xml'"),
        (["export", "-o", "/nowhere/x"], "-o /nowhere/x: cannot be written: No such file"),
        (["export", "-o", "/"], "-o /: is a directory"),
        (["export", "-o", "x.csv", "--format", "jsonl"], "name a file .jsonl"),
        (["reprocess", "-o", "x.csv"], "lines made again are JSON lines"),
        (["reprocess", "--newest"], "unknown: --newest; see scrapy pages reprocess -h"),
        (["nope"], "argument ACTION: invalid choice: 'nope'"),
        ([], "say what to do: list, show, export or reprocess"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(job, args, said):
    """Bad input names itself, the rule and the remedy; the exit code is 2, the output empty."""
    code, output, told = pages(job[0], *args)
    assert (code, output) == (2, b"")
    assert said in told


def test_a_mistyped_url_is_answered_with_similar_ones(job):
    """Whoever asks for a URL that was not fetched sees those that nearly are it."""
    jobdir, base = job
    code, _, said = pages(jobdir, "show", base + "/same/O")
    assert code == 2
    assert f"was not fetched by this crawl; similar: {base}/same/" in said
    assert said.endswith("; scrapy explain URL says why\n")
    assert pages(jobdir, "show", "http://example.com/")[2].endswith(
        "; scrapy explain URL says why\n"
    )


def test_a_page_without_an_answer_or_a_text_says_so(job):
    """What is not there is not made up."""
    jobdir, base = job
    assert "is no page with a text" in pages(jobdir, "show", base + "/image", "--text")[2]
    assert "does not unpack" in pages(jobdir, "show", base + "/broken", "--raw")[2]


def test_a_directory_without_a_crawl_is_refused(tmp_path):
    """What is missing is named: the directory, the crawl, or else catalog and archive, with the
    settings that bring them.
    """
    code, _, said = pages(tmp_path / "none", "list")
    assert code == 2
    assert f"JOBDIR '{tmp_path / 'none'}' is no directory" in said
    (tmp_path / "empty").mkdir()
    for action in ("list", "reprocess"):
        assert f"{tmp_path / 'empty'} holds no crawl" in pages(tmp_path / "empty", action)[2]
    assert not list((tmp_path / "empty").iterdir())
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "pages.jsonl").touch()
    assert "STORE_CATALOG_ENABLED=false" in pages(tmp_path / "bare", "list")[2]
    assert "STORE_WARC_ENABLED=false" in pages(tmp_path / "bare", "reprocess")[2]


def test_a_catalog_of_another_crawl_is_refused(copy, tmp_path):
    """Lines that are not where the rows say are never passed off as theirs."""
    (copy / "pages.jsonl").write_bytes(b'{"url":"http://elsewhere.test/"}\n' * 2000)
    code, _, said = pages(copy, "export", "-o", tmp_path / "x.jsonl")
    assert code == 2
    assert "file and catalog are of different crawls" in said
    assert not (tmp_path / "x.jsonl").exists()


def test_a_file_is_replaced_whole_or_not_at_all(copy, tmp_path):
    """An export that fails midway leaves the file of before, and nothing beside it."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "x.csv").write_text("of yesterday")
    size = (copy / "pages.jsonl").stat().st_size
    os.truncate(copy / "pages.jsonl", size // 2)
    code, _, said = pages(copy, "export", "--format", "csv", "-o", place / "x.csv")
    assert code == 2
    assert "is not the line of" in said
    assert {path.name: path.read_text() for path in place.iterdir()} == {"x.csv": "of yesterday"}


def test_the_crawls_own_files_are_never_written(copy):
    """No file in the job directory can be named as the output."""
    before = (copy / "pages.jsonl").read_bytes()
    code, _, said = pages(copy, "reprocess", "-o", copy / "pages.jsonl")
    assert code == 2
    assert "the job directory is the crawl's own" in said
    assert (copy / "pages.jsonl").read_bytes() == before


def test_a_reader_that_has_had_enough_ends_it_quietly(job):
    """``scrapy pages export | head`` is no error."""
    command = f"{sys.executable} -m scrapy pages export -s JOBDIR={job[0]} | head -c 10"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
