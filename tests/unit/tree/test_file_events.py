import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duvet.tree.file_events import MODIFIED_EVENT, UNKNOWN_EVENTS, FolderWatcher, MountTable, read_mounts
from tests.edits import Edit, append, create as created, delete, move

if sys.platform != "linux":
    pytest.skip("inotify", allow_module_level=True)

from duvet.tree.file_events import InotifyDescriptor

TABLE = r"""
22 1 254:1 / / rw,relatime - ext4 /dev/root rw
23 22 0:21 / /proc rw - proc proc rw
40 22 0:50 / /net rw,relatime shared:5 - nfs4 server:/all rw,vers=4.2
41 40 254:2 / /net/local rw - ext4 /dev/b rw
42 22 0:51 / /with\040space\134 rw - fuse.sshfs host:/ rw
43 22 0:52 / /layers rw - overlay overlay rw,lowerdir=/usr:/net/images\054a,upperdir=/var/u,workdir=/var/w
44 22 0:53 / /local-layers rw - overlay overlay rw,lowerdir=/usr,upperdir=/var/u,workdir=/net/w
45 22 0:54 / /twice rw - 9p share rw
46 22 254:3 / /twice rw - xfs /dev/c rw
a line that is none
47 22
"""
ADDED = 1


def test_folders_without_notifications() -> None:
    for folders, blind in [
        *(([one], False) for one in ("/", "/home/me/project", "/netting", "/net/local/project", "/local-layers/a")),
        *(([folder], True) for folder in ("/net", "/net/deep/down", "/with space\\/a", "/layers/a")),
        (["/twice/a"], False),
        (["/", "/net/a", "/usr"], True),
    ]:
        assert MountTable(TABLE).are_blind(folders) is blind
        assert not MountTable("").are_blind(["/", ""])
    assert isinstance(read_mounts().are_blind(["/proc/self"]), bool)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "old").touch()
    return tmp_path


@pytest.fixture
def descriptor(folder: Path) -> Iterator[InotifyDescriptor]:
    found = InotifyDescriptor()
    found.open({str(folder / "a")})
    yield found
    found.close()


HEARD: dict[str, tuple[Edit, set[tuple[int, str]]]] = {
    "written": (append("a/old"), {(MODIFIED_EVENT, "a/old")}),
    "written elsewhere": (append("b/new"), set()),
    "read": (lambda folder: (folder / "a" / "old").read_text(), set()),
    "permissions": (lambda folder: (folder / "a" / "old").chmod(0o600), {(MODIFIED_EVENT, "a/old")}),
    "created": (lambda folder: (folder / "a" / "new").mkdir(), {(ADDED, "a/new")}),
    "moved in": (created("a/new", ""), {(ADDED, "a/new")}),
    "moved out": (move("a/old", "b/old"), {(ADDED, "a/old")}),
    "deleted": (delete("a/old"), {(ADDED, "a/old")}),
    "itself moved": (move("a", "c"), {(ADDED, "a")}),
    "itself deleted": (delete("a"), {(ADDED, "a/old"), (ADDED, "a")}),
    "not UTF-8": (lambda folder: (folder / "a" / os.fsdecode(b"\xff")).mkdir(), {(ADDED, "a/\udcff")}),
}


@pytest.mark.parametrize("edit, heard", HEARD.values(), ids=HEARD)
def test_file_system_events_are_reported(
    edit: Edit, heard: set[tuple[int, str]], folder: Path, descriptor: InotifyDescriptor
) -> None:
    (folder / "b" / "new").touch()
    assert descriptor.is_silent()
    edit(folder)
    assert descriptor.is_silent() is not bool(heard)
    assert set(descriptor.read()) == {(kind, f"{folder}/{path}") for kind, path in heard}
    assert descriptor.is_silent() and list(descriptor.read()) == []


def test_folders_that_are_others_now(folder: Path, descriptor: InotifyDescriptor) -> None:
    delete("a")(folder)
    (folder / "a").mkdir()
    assert descriptor.read() and descriptor.folders == set()
    for name, other in (("a", "b"), ("b", "a")):
        descriptor.open({str(folder / name)})
        (folder / other / f"beside {name}").mkdir()
        assert list(descriptor.read()) == []
        (folder / name / "new").mkdir()
        assert set(descriptor.read()) == {(ADDED, f"{folder}/{name}/new")}
    for gone in ("none", "a/old/none"):
        with pytest.raises(FileNotFoundError):
            descriptor.open({str(folder / gone)})


def test_folders_whose_names_are_not_utf8_are_not_watched(folder: Path) -> None:
    odd = folder / os.fsdecode(b"\xff")
    odd.mkdir()
    watcher = FolderWatcher({})
    watcher.open({str(folder), str(odd)})
    assert watcher.folders == {str(folder), str(odd)}
    watcher.close()


def test_more_events_than_fit_into_one_read_and_than_the_system_keeps(
    folder: Path, descriptor: InotifyDescriptor
) -> None:
    for count in range(400):
        (folder / "a" / f"{count:04}{'x' * 200}").touch()
    assert len({path for _, path in descriptor.read()}) == 400
    one, other = str(folder / "a" / "one"), str(folder / "a" / "other")
    Path(one).touch()
    for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text()) // 4 + 2):
        os.rename(one, other)
        os.rename(other, one)
    assert descriptor.read() is UNKNOWN_EVENTS
    assert descriptor.is_silent()
    append("a/old")(folder)
    assert set(descriptor.read()) == {(MODIFIED_EVENT, f"{folder}/a/old")}


def test_descriptors_that_are_closed_or_have_no_room(folder: Path, descriptor: InotifyDescriptor) -> None:
    append("a/old")(folder)
    descriptor.close()
    assert not descriptor.is_silent() and list(descriptor.read()) == []
    handle = InotifyDescriptor().handle
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(handle)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            InotifyDescriptor()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
