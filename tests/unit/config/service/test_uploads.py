"""What the configuration says of files that are handed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.config.service import load_service
from duvet.config.settings import StoreSection, UploadRule
from duvet.errors import DuvetError, ProblemsError
from duvet.knowledge.uploads import resolve_destination
from duvet.tree.files import MemoryTree

VARIABLES = {
    "KM_CONTENT_ROOT": " /content ",
    "KM_UPLOAD_DEFAULT_OVERWRITE": "TRUE",
    "KM_UPLOAD_DEFAULT_INGEST": "1",
}
ELSEWHERE = ["../x", "a/../b", "/x", ".x", "a/.b", "", " ", "a:b"]
REFUSED = ["con", "docs.", "a/docs /b", "NUL.d/", "x/com1", "é" * 128]


def uploads(text: str, **environ: str) -> UploadRule:
    found = load_service(MemoryTree({"duvet.config.yaml": text.encode()}), environ)
    return found.config.uploads.rule(environ)


def test_variables_count_where_nothing_is_said() -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and `KM_UPLOAD_DEFAULT_INGEST` MUST apply where `uploads` sets
    ##% nothing, and be refused at the start if they are invalid.
    assert uploads("{}") == UploadRule()
    assert uploads("{}", **VARIABLES) == UploadRule(
        root="/content", root_said_by="KM_CONTENT_ROOT", overwrite=True, ingest=True
    )
    said = "uploads: {root: in, docsSubdir: notes, overwrite: false, ingest: false, maxBytes: 9}"
    assert uploads(said, **VARIABLES) == UploadRule(
        root="in", root_said_by="uploads.root", docs_subdir="notes", max_bytes=9
    )
    with pytest.raises(DuvetError, match="KM_UPLOAD_DEFAULT_INGEST"):
        uploads("{}", KM_UPLOAD_DEFAULT_INGEST="perhaps")


def test_what_is_wrong() -> None:
    for text in ("uploads: {maxBytes: 0}", "uploads: {docs: x}", "uploads: {overwrite: 1}"):
        with pytest.raises(ProblemsError):
            uploads(text)


@pytest.mark.parametrize("folder", [*ELSEWHERE, *REFUSED])
def test_a_folder_that_is_refused(folder: str) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST refuse a destination that is absolute, hidden, a configuration, not portable, or outside of the
    ##% content root, also by `..` or through a link.
    with pytest.raises(ProblemsError) as caught:
        uploads(f"uploads:\n  docsSubdir: '{folder}'\n")
    (problem,) = caught.value.problems
    assert (problem.path, problem.place.line) == ("duvet.config.yaml", 2)
    assert "a folder below the content root" in problem.message
    with pytest.raises(ProblemsError) as caught:
        uploads("uploads: {docsSubdir: $IN}", IN=folder)
    (problem,) = caught.value.problems
    assert problem.message == (
        "uploads.docsSubdir: once its variables are filled in, this is not a folder below the content root, without hidden "
        "names and .., which every system can have"
    )


@pytest.mark.parametrize("folder", REFUSED)
def test_why_it_is_refused(folder: str, tmp_path: Path) -> None:
    with pytest.raises(ProblemsError) as caught:
        uploads(f"uploads:\n  docsSubdir: '{folder}'\n")
    with pytest.raises(DuvetError) as refused:
        resolve_destination(str(tmp_path), folder, None, "t.md")
    assert refused.value.message.partition(": ")[2] in caught.value.problems[0].message


@pytest.mark.parametrize("folder", ["a/b/", ".", "./docs", "a b", "v1.2", "é"])
def test_a_folder_below(folder: str) -> None:
    assert uploads(f"uploads: {{docsSubdir: '{folder}'}}").docs_subdir == folder
    assert uploads("uploads: {docsSubdir: 'a/${IN}'}", IN="b").docs_subdir == "a/b"


def test_backups() -> None:
    found = load_service(MemoryTree({"duvet.config.yaml": b"store: {backups: $PLACE/b}"}), {"PLACE": "/mnt"})
    assert found.config.store == StoreSection(backups="/mnt/b")
