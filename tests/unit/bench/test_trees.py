"""What is done to a tree before each run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.workloads import Edit, forget

SOURCE = "/**\n *= spec.md#a\n *# The quote\n *# goes on.\n */\nint a;\n\n//= spec.md#b\n//# Another one.\n"
CITATION = " *= spec.md#a\n *# The quote\n *# goes on.\n"


def test_an_edit_adds_and_removes_a_citation_and_never_writes_the_same_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(SOURCE)
    edit, texts = Edit(path), []
    for _ in range(4):
        edit()
        texts.append(path.read_text())
    assert texts == [
        f"{CITATION}\n{SOURCE}",
        f"\n\n{SOURCE}",
        f"{CITATION}\n\n\n{SOURCE}",
        f"\n\n\n\n{SOURCE}",
    ]


def test_a_source_without_citations_is_no_choice(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("int a; // nothing\n")
    with pytest.raises(ValueError, match="cites nothing"):
        Edit(path)


def test_only_what_was_kept_from_earlier_runs_is_forgotten(tmp_path: Path) -> None:
    for name in ("cache/a.db", "reports/report.json"):
        (tmp_path / ".duvet" / name).parent.mkdir(parents=True)
        (tmp_path / ".duvet" / name).write_text("")
    forget(tmp_path)
    forget(tmp_path)
    assert sorted(path.name for path in (tmp_path / ".duvet").iterdir()) == ["reports"]
