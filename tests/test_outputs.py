"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from duvet.errors import OutputError
from duvet.outputs import store, store_changed, together


def listed(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_nothing_stays_behind(tmp_path: Path) -> None:
    store(str(tmp_path / "a"), b"1")
    store(str(tmp_path / "a"), b"2")
    assert listed(tmp_path) == {"a": b"2"}


def test_all_or_none(tmp_path: Path) -> None:
    ##= man/spec/trace.md#reports
    ##% The reports of one run MUST be written all of them and whole, or none of them at all.
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError) as caught, together() as write:
        write(str(tmp_path / "a"), b"new")
        write(str(tmp_path / "b"), b"new")
        write(str(tmp_path / "folder"), b"new")
    assert caught.value.path == str(tmp_path / "folder")
    (tmp_path / "folder").rmdir()
    assert listed(tmp_path) == {"a": b"old"}


def test_nothing_is_written_where_the_work_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), together() as write:
        write(str(tmp_path / "a"), b"new")
        raise ZeroDivisionError
    assert listed(tmp_path) == {}


def test_the_same_bytes_are_not_written_again(tmp_path: Path) -> None:
    ##= man/spec/trace.md#requirements
    ##% A requirement file MUST NOT be written when its bytes are what they should be.
    path = str(tmp_path / "new" / "a")
    assert [store_changed(path, data) for data in (b"1", b"1", b"2", b"22", b"22")] == [True, False, True, True, False]
    assert listed(tmp_path / "new") == {"a": b"22"}


def test_a_link_stays_one_and_rights_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "a").chmod(0o640)
    (tmp_path / "link").symlink_to("a")
    store(str(tmp_path / "link"), b"new")
    assert listed(tmp_path) == {"a": b"new", "link": b"new"}
    assert (os.readlink(tmp_path / "link"), stat.S_IMODE((tmp_path / "a").stat().st_mode)) == ("a", 0o640)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "Is a directory (os error 21)"),
        ("new/", "Is a directory (os error 21)"),
        ("file/a", "Not a directory (os error 20)"),
        ("x" * 300, "File name too long (os error 36)"),
        ("a\0b", "a path can't hold a NUL"),
    ],
)
def test_what_can_be_no_file(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(OutputError) as caught:
        store(f"{tmp_path}/{name}", b"new")
    assert caught.value.message == f"can't write this file: {reason}"
    assert listed(tmp_path) == {"file": b"old"}


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    store(os.devnull, b"nothing")
    store(str(tmp_path / "pipe"), b"data")
    assert (os.read(reader, 9), stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)) == (b"data", True)
    os.close(reader)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_device() -> None:
    with pytest.raises(OutputError, match=r"No space left on device \(os error 28\)"):
        store("/dev/full", b"data")
