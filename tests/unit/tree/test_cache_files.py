import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from duvet.tree import cache
from duvet.tree.cache import BLOB_MAGIC, BlobStore, make_blob_header
from tests.sample_project import written

VALUE = {"one": [1, 2], "two": []}
PRINT = "from duvet.tree.cache import compute_build_id; print(compute_build_id().hex())"


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(str(tmp_path / ".duvet" / "cache"))


def load(blobs: BlobStore) -> dict[str, list[int]] | None:
    return blobs.load("name", dict[str, list[int]])


def saved(blobs: BlobStore) -> Path:
    blobs.save("name", VALUE)
    return Path(blobs.folder, "name")


def test_saved_values_are_loaded(blobs: BlobStore) -> None:
    assert load(blobs) is None
    saved(blobs)
    assert (load(blobs), blobs.load("name", list[int])) == (VALUE, None)
    assert blobs.names() == ["name"]
    assert Path(blobs.folder, ".gitignore").read_bytes() == b"*\n"
    blobs.save("odd", "\udcff")
    assert blobs.names() == ["name"]


def test_a_file_that_is_damaged(blobs: BlobStore) -> None:
    ##= man/spec/cache.md#storage
    ##% duvet MUST ignore a cache that is damaged, that belongs to another user, or that another build of duvet wrote.
    path = saved(blobs)
    whole, header = path.read_bytes(), make_blob_header("name")
    cut = [whole[:length] for length in range(len(whole))]
    flipped = [whole[:at] + bytes([byte ^ 1 << at % 8]) + whole[at + 1 :] for at, byte in enumerate(whole)]
    other_build = whole.replace(header, BLOB_MAGIC.ljust(len(header), b"\0"))
    assert whole.startswith(header)
    for data in (*cut, *flipped, whole + b"\0", other_build):
        path.write_bytes(data)
        assert load(blobs) is None, data
    path.write_bytes(whole)
    path.rename(path.with_name("other"))
    assert blobs.load("other", dict[str, list[int]]) is None


def test_a_file_that_is_larger_than_memory(blobs: BlobStore) -> None:
    for start in [b"", BLOB_MAGIC, make_blob_header("name"), make_blob_header("name") + (1 << 60).to_bytes(8)]:
        path = saved(blobs)
        path.write_bytes(start)
        try:
            os.truncate(path, 1 << 43)
        except OSError:
            pytest.skip("this disk takes no file with so large a hole")
        assert load(blobs) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_its_place(blobs: BlobStore) -> None:
    path = saved(blobs)
    path.unlink()
    os.mkfifo(path)
    assert load(blobs) is None
    blobs.save("name", VALUE)
    assert load(blobs) is None and path.is_fifo()


def test_something_in_the_place_of_the_file_or_its_folder(blobs: BlobStore, tmp_path: Path) -> None:
    ##= man/spec/cache.md#storage
    ##% If the cache cannot be written, duvet MUST work without it. Concurrent and killed runs MUST NOT damage the
    ##% cache.
    Path(blobs.folder, "name").mkdir(parents=True)
    blobs.save("name", VALUE)
    assert load(blobs) is None
    (tmp_path / "file").touch()
    other = BlobStore(str(tmp_path / "file"))
    other.save("name", VALUE)
    assert load(other) is None and other.names() == []


@pytest.mark.parametrize("linked", [".duvet", ".duvet/cache", ".duvet/cache/name"])
def test_a_link_is_not_written_to(linked: str, blobs: BlobStore, tmp_path: Path) -> None:
    ##= man/spec/cache.md#storage
    ##% duvet MUST NOT write to the cache or the index through a symbolic link.
    elsewhere = tmp_path / "elsewhere"
    if linked.endswith("name"):
        elsewhere.write_text("precious")
    else:
        elsewhere.mkdir()
    link = tmp_path / linked
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    blobs.save("name", VALUE)
    assert load(blobs) is None
    assert elsewhere.read_text() == "precious" if elsewhere.is_file() else not list(elsewhere.iterdir())


def test_abandoned_unfinished_files_are_removed(blobs: BlobStore) -> None:
    names = (f".name.{process}-0123456789abcdef.new" for process in (1, 2))
    old, new, mine = (Path(blobs.folder, name) for name in (*names, "mine.new"))
    saved(blobs)
    for path in (old, new, mine):
        path.touch()
    for path in (old, mine):
        os.utime(path, (0, 0))
    saved(BlobStore(blobs.folder))
    assert (old.exists(), new.exists(), mine.exists()) == (False, True, True)
    assert blobs.names() == ["mine.new", "name"]


def test_a_module_that_changes_makes_another_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    modules = "specs/slug.py", "templates/page/page.html.j2"
    written(tmp_path, dict.fromkeys((*modules, "specs/__pycache__/slug.pyc"), b""))
    monkeypatch.setattr(cache, "_PACKAGE", str(tmp_path))
    builds = [cache.compute_build_id.__wrapped__() for _ in range(2)]
    for path in (*modules, "specs/__pycache__/slug.pyc"):
        (tmp_path / path).write_text("'another'\n")
        builds.append(cache.compute_build_id.__wrapped__())
    assert [builds.index(build) for build in builds] == [0, 0, 2, 3, 3]


@pytest.mark.skipif(sys.platform == "win32" or os.getuid() != 0, reason="only root can become another user")
def test_another_user_makes_another_build() -> None:
    # The other user may not be allowed to read what is imported later.
    step_down = PRINT.replace("print", "import blake3, os; os.setgroups([]); os.setgid(65534); os.setuid(65534); print")
    run = partial(subprocess.run, check=True, capture_output=True)
    assert len({run([sys.executable, "-c", program]).stdout for program in (PRINT, step_down)}) == 2
