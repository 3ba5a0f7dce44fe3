import os
import sys
from pathlib import Path

import pytest

from duvet.errors import DuvetError, OutputError
from duvet.knowledge.feedback import append_lines, append_record, read_lines, read_votes
from duvet.knowledge.restore import restore_backup
from duvet.store.location import StorePaths
from tests.cli.damage import small_files
from tests.unit.knowledge import stored_project
from tests.unit.knowledge.archives import manifest, member, members, packed

posix = pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits and locks")
DEEP = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


def test_lines_are_appended_in_order(tmp_path: Path) -> None:
    path = str(tmp_path / "a.jsonl")
    assert list(read_lines(path)) == []
    append_lines(path, [b'{"a":"line\\nfeed"}'])
    append_lines(path, [b'{"b": 1}', b'{"c": 2}'])
    assert Path(path).read_bytes() == b'{"a":"line\\nfeed"}\n{"b": 1}\n{"c": 2}\n'
    assert list(read_lines(path)) == [b'{"a":"line\\nfeed"}', b'{"b": 1}', b'{"c": 2}']


def test_unfinished_and_invalid_lines_are_dropped(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#feedback
    ##% Stored feedback MUST survive killed processes and concurrent writers.
    path = tmp_path / "a.jsonl"
    for left, valid in [
        (b'{"a": 1}\n{"b', [b'{"a": 1}']),
        (b'{"b', []),
        (b'{"a": 1}\n{"b": 2}', [b'{"a": 1}', b'{"b": 2}']),
        (b'{"a": 1}\n{"b": "' + b"x" * 200_000, [b'{"a": 1}']),
        (b'{"a": "' + b"x" * 200_000 + b'"}', [b'{"a": "' + b"x" * 200_000 + b'"}']),
        (b'no line\n[]\n{"a": 1}\n', [b'{"a": 1}']),
        (DEEP + b'\n{"a": "\xff"}\n{"a": 1}\n', [b'{"a": 1}']),
        (b'{"a": 1}\n' + DEEP, [b'{"a": 1}']),
    ]:
        path.write_bytes(left)
        append_lines(str(path), [b'{"c":3}'])
        assert list(read_lines(str(path))) == [*valid, b'{"c":3}']


@posix
def test_a_line_without_room_is_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    append_lines(str(path), [b'{"number":0}'])
    with small_files(1000):
        with pytest.raises(OutputError, match="can't append to this file"):
            append_lines(str(path), [b'{"note":"%s"}' % (b"tea " * 1000)])
        append_lines(str(path), [b'{"number":1}'])
    assert path.read_bytes() == b'{"number":0}\n{"number":1}\n'


@posix
def test_a_link_is_not_followed_and_a_locked_file_times_out(tmp_path: Path) -> None:
    from fcntl import LOCK_EX, flock

    link, path = tmp_path / "link.jsonl", tmp_path / "a.jsonl"
    link.symlink_to(path)
    with pytest.raises(DuvetError):
        append_lines(str(link), [b"{}"])
    with path.open("w") as file:
        flock(file, LOCK_EX)
        with pytest.raises(DuvetError, match="another process has locked it"):
            append_lines(str(path), [b"{}"], patience=0)
    append_lines(str(path), [b"{}"], patience=0)
    assert path.read_bytes() == b"{}\n"
    with pytest.raises(DuvetError):
        list(read_lines(str(link)))


def chunks(paths: StorePaths) -> list[str]:
    return [one.chunk_id for one in read_votes(paths.feedback)]


def test_feedback_is_backed_up_without_an_index(paths: StorePaths, tmp_path: Path) -> None:
    before = stored_project.ask_store(paths.store)
    os.rename(paths.store, tmp_path / "store.db")
    archive = stored_project.make_backup(paths)
    assert list(members(archive)) == ["manifest.json", "feedback.jsonl"]
    os.unlink(paths.feedback)
    assert (restore_backup(paths, archive, stored_project.CLOCK).votes, os.path.exists(paths.store)) == (1, False)
    os.rename(tmp_path / "store.db", paths.store)
    os.unlink(paths.feedback)
    found = restore_backup(paths, archive, stored_project.CLOCK)
    assert (found.votes, found.kept, stored_project.ask_store(paths.store)) == (1, "", before)


def test_a_restore_merges_the_feedback(paths: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#feedback
    ##% `duvet restore` MUST add the feedback of the backup to the feedback of the project.
    archive = stored_project.make_backup(paths)
    append_record(paths, stored_project.vote("docs/tea.md::0", -1.0))
    os.unlink(paths.store)
    stored_project.fill(tmp_path / "tea")
    assert restore_backup(paths, archive, stored_project.CLOCK).votes == 0
    assert chunks(paths) == ["src/kettle/boil.py::0", "docs/tea.md::0"]
    os.unlink(paths.feedback)
    append_record(paths, stored_project.vote("docs/tea.md::0", 0.5))
    assert restore_backup(paths, archive, stored_project.CLOCK).votes == 1
    assert chunks(paths) == ["docs/tea.md::0", "src/kettle/boil.py::0"]


def test_invalid_feedback_is_neither_restored_nor_backed_up(paths: StorePaths, tmp_path: Path) -> None:
    found = members(stored_project.make_backup(paths))
    lines = b"\n".join([DEEP, b'{"a": "\xff"}', b"[]", b"{", b""])
    files = {"feedback.jsonl": lines, "store.db": found["store.db"]}
    archive = packed(tmp_path / "a.tgz", [manifest(files), *(member(*one) for one in files.items())])
    assert restore_backup(paths, archive, stored_project.CLOCK).votes == 0
    with open(paths.feedback, "ab") as file:
        file.write(lines)
    append_record(paths, stored_project.vote("docs/tea.md::0", -1.0))
    assert chunks(paths) == ["src/kettle/boil.py::0", "docs/tea.md::0"]
    assert members(stored_project.make_backup(paths))["feedback.jsonl"].count(b"\n") == 2


@posix
def test_feedback_is_restored_before_the_index(paths: StorePaths, tmp_path: Path) -> None:
    ##= man/spec/gateway.md#backups
    ##% `duvet restore` MUST replace the index in one step, even while servers use it. `duvet restore` MUST back up the
    ##% current index before replacing it, unless `--force` is given.
    archive = stored_project.make_backup(paths)
    stored_project.change_store(paths.store, "docs/tea.md")
    before = stored_project.ask_store(paths.store)
    limit = 4 * os.path.getsize(paths.store)
    line = b'{"request_id": "r", "note": "%s"}\n'
    Path(paths.feedback).write_bytes(line % (b"x" * (limit - len(line))))
    with small_files(limit), pytest.raises(OutputError, match="can't append to this file: ") as caught:
        restore_backup(paths, archive, stored_project.CLOCK, keeps=False)
    assert (caught.value.path, stored_project.ask_store(paths.store)) == (paths.feedback, before)
