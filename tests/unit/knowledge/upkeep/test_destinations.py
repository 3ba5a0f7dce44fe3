"""Where files go that are handed in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from duvet.config.settings import IngestRule, StoreSection
from duvet.errors import QueryError
from duvet.knowledge.settings import KnowledgeSettings, find_store_paths
from duvet.knowledge.uploads import check_not_reserved, resolve_destination
from tests.unit.knowledge.upkeep.made import places


@pytest.mark.parametrize(
    ("given", "path"),
    [
        (None, "docs/tea.md"),
        ("", "docs/tea.md"),
        ("  ", "docs/tea.md"),
        ("docs/uploads/", "docs/uploads/tea.md"),
        ("docs/uploads", "docs/uploads/tea.md"),
        ("notes/cups.txt", "notes/cups.txt"),
        ("notes/v1.2/", "notes/v1.2/tea.md"),
        ("a//b/./", "a/b/tea.md"),
        (".", "tea.md"),
        ("./", "tea.md"),
        ("cups.md", "cups.md"),
        ("Tee für zwei/Grün.md", "Tee für zwei/Grün.md"),
    ],
)
def test_files_and_folders(tmp_path: Path, given: str | None, path: str) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `km-upload` and `km-storetext` MUST write to the given file, into the given folder, or else into
    ##% `uploads.docsSubdir`.
    assert resolve_destination(str(tmp_path), "docs", given, "tea.md") == path


BAD = {
    "absolute": "it is absolute",
    "..": "it has .. in it",
    "hidden": "is a hidden name",
    "character": "a character that not every system takes",
    "system": "is no name on some systems",
    "configuration": "it is a configuration",
    "long": "too long",
}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("/etc/passwd.md", "absolute"),
        ("//host/x.md", "absolute"),
        ("/", "absolute"),
        ("../x.md", ".."),
        ("..", ".."),
        ("docs/../../x.md", ".."),
        ("docs/../x.md", ".."),
        (".git/hooks/x.sh", "hidden"),
        (".env", "hidden"),
        ("docs/.x.md", "hidden"),
        (".duvet/config.toml", "hidden"),
        ("docs/...", "hidden"),
        ("C:\\x.md", "character"),
        ("docs\\..\\x.md", "character"),
        ("C:/x.md", "character"),
        ("x.md:stream", "character"),
        ("x\0.md", "character"),
        ("x\n.md", "character"),
        ("a*b.md", "character"),
        ("NUL", "system"),
        ("docs/con.md", "system"),
        ("docs/COM1.tar.md", "system"),
        ("docs /x.md", "system"),
        ("docs/x.md ./", "system"),
        ("duvet.config.yaml", "configuration"),
        ("sub/Contextive.config.JSON", "configuration"),
        ("x" * 300 + ".md", "long"),
        ("x/" * 600 + "x.md", "long"),
    ],
)
def test_what_leads_elsewhere(tmp_path: Path, given: str, reason: str) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST refuse a destination that is absolute, hidden, a configuration, not portable, or outside of the
    ##% content root, also by `..` or through a link.
    with pytest.raises(QueryError) as caught:
        resolve_destination(str(tmp_path), "docs", given, "tea.md")
    assert BAD[reason] in caught.value.message and "below the content root" in caught.value.hint
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("folder", "given"), [("con", None), ("docs", "con/"), ("docs", "con")])
def test_what_is_refused_is_named_as_it_was_given(tmp_path: Path, folder: str, given: str | None) -> None:
    with pytest.raises(QueryError) as caught:
        resolve_destination(str(tmp_path), folder, given, "tea.md")
    assert caught.value.message == 'nothing can be stored as "con/tea.md": "con" is no name on some systems'


@pytest.mark.parametrize("name", [".env", "..", "con", "x" * 300])
def test_names_of_files_that_are_handed_in(tmp_path: Path, name: str) -> None:
    with pytest.raises(QueryError):
        resolve_destination(str(tmp_path), "docs", None, name)


def test_links(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "docs/folder.md").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / "inner").symlink_to(root / "docs")
    (root / "docs/link.md").symlink_to(root / "docs/none.md")
    (root / "file").touch()
    for given in ("out/", "out/x.md", "out/new/x.md", "docs/link.md", "docs/folder.md", "file/x.md", "file/"):
        with pytest.raises(QueryError):
            resolve_destination(str(root), "docs", given, "tea.md")
    assert resolve_destination(str(root), "docs", "inner/", "tea.md") == "inner/tea.md"


def test_what_duvet_keeps(tmp_path: Path) -> None:
    kept = places(tmp_path)
    for path in (kept.store, kept.feedback, kept.audit, f"{kept.backups}/x.tgz"):
        with pytest.raises(QueryError, match="something of its own"):
            check_not_reserved(kept, path)
    check_not_reserved(kept, str(tmp_path / "docs/tea.md"))


def test_configurations_by_other_names(tmp_path: Path) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% The server MUST refuse a destination that is absolute, hidden, a configuration, not portable, or outside of the
    ##% content root, also by `..` or through a link.
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf/team.yaml").touch()
    (tmp_path / "conf/linked.yaml").symlink_to("real.yaml")
    os.link(tmp_path / "conf/team.yaml", tmp_path / "conf/other.yaml")
    files = ("conf/team.yaml", "conf/linked.yaml", "/nowhere.yaml")
    kept = find_store_paths(KnowledgeSettings(str(tmp_path), IngestRule(), StoreSection(), configurations=files))
    for path in ("conf/team.yaml", "conf/other.yaml", "conf/real.yaml"):
        with pytest.raises(QueryError, match="it is a configuration"):
            check_not_reserved(kept, str(tmp_path / path))
    check_not_reserved(kept, str(tmp_path / "conf/tea.yaml"))
