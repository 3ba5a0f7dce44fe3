"""The files of the cache, whole and spoilt in every way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.tree.cache import BLOB_MAGIC, BlobStore, make_blob_header

VALUE = {"one": [1, 2], "two": []}


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(str(tmp_path / ".duvet" / "cache"))


def load(blobs: BlobStore) -> dict[str, list[int]] | None:
    return blobs.load("name", dict[str, list[int]])


def saved(blobs: BlobStore) -> Path:
    blobs.save("name", VALUE)
    return Path(blobs.folder, "name")


def test_what_was_saved_is_loaded(blobs: BlobStore) -> None:
    assert load(blobs) is None
    saved(blobs)
    assert load(blobs) == VALUE
    assert blobs.names() == ["name"]


def test_git_ignores_all_of_it(blobs: BlobStore) -> None:
    ##= man/spec/cache.md#storage
    ##= type=test
    ##% duvet MUST hide the cache and the index from git and from source patterns, and MUST NOT write through a symbolic
    ##% link there.
    saved(blobs)
    assert Path(blobs.folder, ".gitignore").read_bytes() == b"*\n"


def test_a_file_that_is_cut_off(blobs: BlobStore) -> None:
    ##= man/spec/cache.md#storage
    ##= type=test
    ##% duvet MUST treat a cache that is damaged, or that another user or another build of duvet wrote, as absent.
    path = saved(blobs)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert load(blobs) is None
    path.write_bytes(whole + b"\0")
    assert load(blobs) is None


def test_a_file_with_a_bit_flipped(blobs: BlobStore) -> None:
    path = saved(blobs)
    whole = path.read_bytes()
    for bit in range(len(whole) * 8):
        spoilt = bytearray(whole)
        spoilt[bit // 8] ^= 1 << bit % 8
        path.write_bytes(spoilt)
        assert load(blobs) is None


def test_a_file_of_another_build(blobs: BlobStore) -> None:
    path = saved(blobs)
    whole = path.read_bytes()
    assert whole.startswith(make_blob_header("name"))
    path.write_bytes(whole.replace(make_blob_header("name"), BLOB_MAGIC.ljust(len(make_blob_header("name")), b"\0")))
    assert load(blobs) is None


def test_a_value_of_another_kind(blobs: BlobStore) -> None:
    saved(blobs)
    assert blobs.load("name", list[int]) is None


def test_a_file_under_another_name(blobs: BlobStore) -> None:
    saved(blobs).rename(Path(blobs.folder, "other"))
    assert blobs.load("other", dict[str, list[int]]) is None


@pytest.mark.parametrize(
    "start", [b"", BLOB_MAGIC, make_blob_header("name"), make_blob_header("name") + (1 << 60).to_bytes(8)]
)
def test_a_file_that_is_larger_than_memory(start: bytes, blobs: BlobStore) -> None:
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


def test_a_folder_in_its_place(blobs: BlobStore) -> None:
    ##= man/spec/cache.md#storage
    ##= type=test
    ##% A cache that cannot be written MUST NOT fail a run, and concurrent or killed runs MUST NOT damage it.
    Path(blobs.folder, "name").mkdir(parents=True)
    blobs.save("name", VALUE)
    assert load(blobs) is None


def test_a_file_in_the_place_of_the_folder(blobs: BlobStore) -> None:
    Path(blobs.folder).parent.mkdir()
    Path(blobs.folder).touch()
    blobs.save("name", VALUE)
    assert load(blobs) is None and blobs.names() == []


@pytest.mark.parametrize("linked", [".duvet", ".duvet/cache", ".duvet/cache/name"])
def test_a_link_is_not_written_to(linked: str, blobs: BlobStore, tmp_path: Path) -> None:
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


def test_names_that_can_not_be_encoded(blobs: BlobStore) -> None:
    blobs.save("name", "\udcff")
    assert blobs.names() == []


def test_what_nobody_finished_is_swept_away_after_a_while(blobs: BlobStore) -> None:
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
