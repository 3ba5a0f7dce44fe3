import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from duvet.errors import OutputError
from duvet.tree.outputs import store_changed, store_file, store_together

KILLED = """
import os, signal, sys
from duvet.tree.outputs import store_together
with store_together() as write:
    write(sys.argv[1], b"never")
    write(sys.argv[2], b"never")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def listed(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_all_outputs_are_written_or_none(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), store_together() as write:
        write(str(tmp_path / "a"), b"new")
        raise ZeroDivisionError
    assert listed(tmp_path) == {}
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError) as caught, store_together() as write:
        write(str(tmp_path / "a"), b"new")
        write(str(tmp_path / "b"), b"new")
        write(str(tmp_path / "folder"), b"new")
    assert caught.value.path == str(tmp_path / "folder")
    (tmp_path / "folder").rmdir()
    assert listed(tmp_path) == {"a": b"old"}


def test_the_same_bytes_are_not_written_again_and_nothing_stays_behind(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "a")
    assert [store_changed(path, data) for data in (b"1", b"1", b"2", b"22", b"22")] == [True, False, True, True, False]
    store_file(path, b"3")
    assert listed(tmp_path / "new") == {"a": b"3"}


def test_a_link_stays_one_and_rights_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    store_file(str(tmp_path / "link"), b"new")
    assert listed(tmp_path) == {"a": b"new", "link": b"new"}
    assert (os.readlink(tmp_path / "link"), stat.S_IMODE((tmp_path / "a").stat().st_mode)) == ("a", 0o640)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_leftovers_of_killed_runs_are_removed(tmp_path: Path) -> None:
    (tmp_path / ".mine.new").write_bytes(b"mine")
    (tmp_path / "a").write_bytes(b"old")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "a"), str(tmp_path / ("b" * 90))]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert len(listed(tmp_path)) == 4
    assert store_changed(str(tmp_path / "a"), b"old") is False
    assert len(listed(tmp_path)) == 4
    store_file(str(tmp_path / "a"), b"new")
    assert listed(tmp_path) == {"a": b"new", ".mine.new": b"mine"}


def test_files_in_progress_are_kept(tmp_path: Path) -> None:
    with store_together() as write:
        write(str(tmp_path / "a"), b"slow")
        store_file(str(tmp_path / "a"), b"quick")
        store_file(str(tmp_path / "b"), b"quick")
    assert listed(tmp_path) == {"a": b"slow", "b": b"quick"}


def test_leftovers_are_removed_by_age_without_process_ids(tmp_path: Path) -> None:
    """In a shared folder, other machines have their own process ids."""
    elsewhere, folder = (tmp_path / f".a.{1 << 40}-01234567{number}.new" for number in ("89abcdef", "fedcba98"))
    elsewhere.touch()
    folder.mkdir()
    os.utime(folder, (0, 0))
    for seconds, names in ((3500, {elsewhere.name, folder.name, "b"}), (3700, {folder.name, "b"})):
        os.utime(elsewhere, (time.time() - seconds,) * 2)
        store_file(str(tmp_path / "b"), b"1")
        assert {path.name for path in tmp_path.iterdir()} == names


def test_outputs_that_are_not_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    for name, reason in [
        ("", "Is a directory (os error 21)"),
        ("new/", "Is a directory (os error 21)"),
        ("file/a", "Not a directory (os error 20)"),
        ("x" * 300, "File name too long (os error 36)"),
        ("a\0b", "paths can't contain NUL characters"),
    ]:
        with pytest.raises(OutputError) as caught:
            store_file(f"{tmp_path}/{name}", b"new")
        assert caught.value.message == f"can't write this file: {reason}"
        assert listed(tmp_path) == {"file": b"old"}


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    store_file(os.devnull, b"nothing")
    store_file(str(tmp_path / "pipe"), b"data")
    assert (os.read(reader, 9), stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)) == (b"data", True)
    os.close(reader)
    if os.path.exists("/dev/full"):
        with pytest.raises(OutputError, match=r"No space left on device \(os error 28\)"):
            store_file("/dev/full", b"data")
