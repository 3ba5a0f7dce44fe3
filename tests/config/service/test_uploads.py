"""What the configuration says of files that are handed in."""

from __future__ import annotations

import pytest

from duvet.config.schema import StoreRule
from duvet.config.service.read import service_config
from duvet.config.upload import UploadRule
from duvet.errors import DuvetError
from duvet.model import ProblemsError
from duvet.tree.memory import MemoryTree

VARIABLES = {
    "KM_CONTENT_ROOT": " /content ",
    "KM_UPLOAD_DEFAULT_OVERWRITE": "TRUE",
    "KM_UPLOAD_DEFAULT_INGEST": "1",
}


def uploads(text: str, **environ: str) -> UploadRule:
    found = service_config(MemoryTree({"duvet.config.yaml": text.encode()}), environ)
    return found.config.uploads.rule(environ)


def test_variables_count_where_nothing_is_said() -> None:
    ##= man/spec/gateway.md#maintenance
    ##= type=test
    ##% Where the configuration says nothing of it below `uploads`, `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and
    ##% `KM_UPLOAD_DEFAULT_INGEST` MUST count.
    assert uploads("{}") == UploadRule()
    assert uploads("{}", **VARIABLES) == UploadRule(root="/content", overwrite=True, ingest=True)
    said = "uploads: {root: in, docsSubdir: notes, overwrite: false, ingest: false, maxBytes: 9}"
    assert uploads(said, **VARIABLES) == UploadRule(root="in", docs_subdir="notes", max_bytes=9)
    with pytest.raises(DuvetError, match="KM_UPLOAD_DEFAULT_INGEST"):
        uploads("{}", KM_UPLOAD_DEFAULT_INGEST="perhaps")


def test_what_is_wrong() -> None:
    for text in ("uploads: {maxBytes: 0}", "uploads: {docs: x}", "uploads: {overwrite: 1}"):
        with pytest.raises(ProblemsError):
            uploads(text)


def test_backups() -> None:
    found = service_config(MemoryTree({"duvet.config.yaml": b"store: {backups: $PLACE/b}"}), {"PLACE": "/mnt"})
    assert found.config.store.rule() == StoreRule(backups="/mnt/b")
