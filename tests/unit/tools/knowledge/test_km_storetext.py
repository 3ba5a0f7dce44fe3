"""`km-storetext`"""

from __future__ import annotations

from typing import Any

import pytest

from duvet.config.settings import UploadRule
from tests.unit.tools.knowledge.made import Asking
from tests.unit.tools.knowledge.upkept import refused

TOOL = "km-storetext"
EVERYTHING: dict[str, Any] = {
    "content": "## Body\nDetails\n",
    "title": "Release Notes",
    "destination": "docs/uploads/",
    "subsystem": "Deployment",
    "tags": ["release", "notes"],
    "metadata": {"author": "agent"},
    "overwrite": False,
    "ingest": True,
}


def test_a_text(kept: Asking) -> None:
    found = kept.value(TOOL, **EVERYTHING)
    run = found.pop("ingest_run")
    relative = "docs/uploads/release-notes.md"
    assert found == {
        "status": "success",
        "stored_path": str(kept.folder / relative),
        "relative_path": relative,
        "overwritten": False,
        "ingest_triggered": True,
    }
    assert (run["success"], run["profile"]) == (True, "manual")
    assert (kept.folder / relative).read_text() == (
        "---\ntitle: Release Notes\nsubsystem: Deployment\ntags: [release, notes]\nmetadata: {author: agent}\n---\n\n"
        "## Body\nDetails\n"
    )
    # What is said of it is known.
    (first, *_) = kept.value("km-search", query="details", filters={"tags": ["notes"]})["results"]
    assert (first["chunk"]["artifact_path"], first["chunk"]["subsystem"]) == (relative, "Deployment")
    assert refused(kept, TOOL, **EVERYTHING) == ("invalid_request", f'"{relative}" is there already')
    assert kept.value(TOOL, **{**EVERYTHING, "overwrite": True, "ingest": False})["overwritten"] is True


def test_less(kept: Asking) -> None:
    assert kept.value(TOOL, content="Tea", title="A b")["relative_path"] == "docs/a-b.md"
    assert (kept.folder / "docs/a-b.md").read_text() == "---\ntitle: A b\n---\n\nTea\n"
    assert kept.value(TOOL, content="Tea")["relative_path"] == "docs/note-20270115-080000.md"
    assert (kept.folder / "docs/note-20270115-080000.md").read_text() == "Tea\n"
    assert kept.value(TOOL, content="Tea", destination="x.txt")["relative_path"] == "x.txt"
    assert kept.value(TOOL, content="x" * 500_000, title="Long")["status"] == "success"


def test_names_that_duvet_makes_up(kept: Asking) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST write an upload completely or not at all, and MUST NOT overwrite a file without `overwrite` or
    ##% under a name that duvet has chosen.
    kept.uploads = UploadRule(overwrite=True)
    for content, title, more, number in (
        ("one", "", {}, ""),
        ("two", "", {}, "-2"),
        ("three", "!?", {"overwrite": True}, "-3"),
        ("four", "", {"overwrite": False}, "-4"),
    ):
        found = kept.value(TOOL, content=content, title=title, **more)
        assert found["relative_path"] == f"docs/note-20270115-080000{number}.md"
        assert found["overwritten"] is False
        assert (kept.folder / found["relative_path"]).read_text().endswith(f"{content}\n")
    # Somebody else has made this one up.
    assert kept.value(TOOL, content="a", destination="x.md")["overwritten"] is False
    assert kept.value(TOOL, content="b", destination="x.md")["overwritten"] is True


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"content": " \n\t"},
        {"content": None},
        {"content": "é" * 250_001},
        {"content": "\ud800"},
        {"tags": "release"},
        {"tags": [1]},
        {"tags": ["x" * 201]},
        {"metadata": []},
        {"destination": "../x.md"},
        {"destination": ".git/hooks/pre-commit.sh"},
        {"destination": ".duvet/knowledge/store.db"},
        {"destination": "duvet.config.yaml"},
    ],
)
def test_what_is_refused(kept: Asking, wrong: dict[str, Any]) -> None:
    before = sorted(kept.folder.rglob("*"))
    assert refused(kept, TOOL, **{**EVERYTHING, **wrong})[0] == "invalid_request"
    assert sorted(kept.folder.rglob("*")) == before


def test_what_is_too_large(kept: Asking) -> None:
    kept.uploads = UploadRule(max_bytes=10)
    assert refused(kept, TOOL, content="x" * 11)[0] == "invalid_request"
    assert kept.value(TOOL, content="x" * 9)["status"] == "success"
