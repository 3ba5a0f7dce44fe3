"""What is in a file, and whether it has to be read."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from duvet.knowledge.ingest.chunks import IngestContent, IngestReader
from duvet.knowledge.ingest.files import detect_kind, format_problem_line
from tests.cli.running import NOBODY
from tests.unit.knowledge.ingest.made import LONG_AGO, project, written

LATER = time.time_ns() + 3_600_000_000_000


def reader(folder: Path, most: int = 100, now: int | None = LATER) -> IngestReader:
    return IngestReader(project(folder), most, finds_symbols=True, now=now)


def read(folder: Path, path: str) -> IngestContent:
    found = reader(folder).read(path, detect_kind(path), "")
    assert found is not None
    return found


def test_what_has_no_pieces(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#files
    ##= type=test
    ##% `duvet ingest` MUST keep only the name of a file that is empty, too large, not UTF-8 or unreadable, and skip one
    ##% whose name is not UTF-8.
    files: dict[str, str | bytes] = {
        "a.md": "",
        "b.py": " \n",
        "c.py": b"a\0b",
        "d.py": b"\xff",
        "e.py": "x" * 101,
        "f.py": "x" * 100,
    }
    folder = written(tmp_path, files)
    (folder / "g.py").mkdir()
    found = {path: read(folder, path) for path in (*files, "g.py")}
    assert {path: one.skipped for path, one in found.items()} == {
        "a.md": "empty",
        "b.py": "empty",
        "c.py": "binary",
        "d.py": "binary",
        "e.py": "too large",
        "f.py": "",
        "g.py": "unreadable",
    }
    assert [format_problem_line(one) for one in found["g.py"].problems] == ["g.py: Is a directory (os error 21)"]
    assert [path for path, one in found.items() if one.pieces] == ["f.py"]


@pytest.mark.skipif(bool(NOBODY), reason="root may read everything")
def test_what_may_not_be_read(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.md": "x"})
    (folder / "a.md").chmod(0)
    assert format_problem_line(read(folder, "a.md").problems[0]) == "a.md: Permission denied (os error 13)"


def test_what_vanishes_is_gone(tmp_path: Path) -> None:
    assert reader(tmp_path).read("a.md", detect_kind("a.md"), "") is None


def test_what_looks_the_same_is_not_read(tmp_path: Path) -> None:
    ##= man/spec/knowledge.md#ingest-runs
    ##= type=test
    ##% `duvet ingest` MUST process only files whose bytes have changed, and compute all vectors again when the model or
    ##% more than a fifth of the chunks has changed.
    folder = written(tmp_path, {"a.md": "one"})
    first = read(folder, "a.md")
    assert first.pieces and reader(folder).modified("a.md", first.record.seen) == LONG_AGO
    same = reader(folder).read("a.md", detect_kind("a.md"), first.digest)
    assert same is not None and same.digest == first.digest and not same.pieces
    written(folder, {"a.md": "two"})
    assert reader(folder).modified("a.md", first.record.seen) is None
    assert reader(folder).modified("b.md", first.record.seen) is None


def test_what_was_written_a_moment_ago_is_compared_by_its_bytes(tmp_path: Path) -> None:
    folder = written(tmp_path, {"a.md": "one"})
    content = reader(folder, now=os.stat(folder / "a.md").st_ctime_ns).read("a.md", detect_kind("a.md"), "")
    assert content is not None and content.record.seen is not None
    assert reader(folder).modified("a.md", content.record.seen) is None


def test_a_document(tmp_path: Path) -> None:
    text = b"\xef\xbb\xbf---\ntags: [x]\nsubsystem: Ledger\n---\n# Title\n\nSee [b](b.md), [[c]].\n"
    found = read(written(tmp_path, {"a.md": text}), "a.md")
    known = found.record
    assert (known.subsystem, known.tags, known.title, known.links, known.pages) == (
        "Ledger",
        ("x",),
        "Title",
        ("b.md",),
        ("c",),
    )
    assert [(one.title, one.line_start, one.line_end) for one in found.pieces] == [("Title", 1, 7)]


def test_front_matter_that_is_wrong_is_told_and_the_rest_taken(tmp_path: Path) -> None:
    found = read(written(tmp_path, {"a.md": "---\na: *b\n---\n# Title\n"}), "a.md")
    assert [format_problem_line(one).partition(": ")[0] for one in found.problems] == ["a.md"]
    assert found.pieces and found.record.title == "Title"
