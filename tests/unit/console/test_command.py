import os
import posixpath
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.cli import enter_project
from duvet.console.command import ReferenceType, TerminalSettings, find_project_folder, locate_path, show_path
from tests.cli.sample_project import make

CONFIG = ".duvet/config.toml"


def test_the_nearest_configuration_in_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ##= man/spec/init.md#project-discovery
    ##% duvet MUST use the nearest `.duvet/config.toml` in the working directory or a folder above it, but MUST NOT
    ##% search above the top of a git repository.
    cases: list[tuple[list[str], str, str | None]] = [
        ([CONFIG], "a/b", ""),
        ([CONFIG, f"a/{CONFIG}"], "a/b", "a"),
        ([CONFIG, ".git/HEAD"], "a/b", ""),
        ([CONFIG, "a/.git/HEAD"], "a/b", None),
        ([CONFIG, "a/b/.git"], "a/b", None),
        ([f"a/{CONFIG}", "a/.git"], "a/b", "a"),
        ([CONFIG, "a/.duvet/cache/x"], "a", ""),
        ([CONFIG], ".duvet", ""),
        ([], "a/b", None),
    ]
    for number, (files, start, found) in enumerate(cases):
        root, link = make(tmp_path / f"root{number}", dict.fromkeys(files, "")), tmp_path / f"link{number}"
        (root / start).mkdir(parents=True, exist_ok=True)
        expected = None if found is None else str(root / found)
        assert find_project_folder(str(root / start)) == expected
        link.symlink_to(root / start)
        assert find_project_folder(str(link)) == expected
        monkeypatch.chdir(root / start)
        assert find_project_folder() == expected
        # A configuration that can't be read is reported.
        if found is not None:
            (root / found / CONFIG).unlink()
            (root / found / CONFIG).symlink_to("nowhere")
            assert find_project_folder() == expected


def test_settings_in_a_folder_of_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, {CONFIG: "", "src/deep/a.rs": ""})
    monkeypatch.chdir(tmp_path / "src/deep")
    settings = TerminalSettings({"DUVET_CONFIG": "../s.yaml", "HOME": "."}, config_path="c.toml")
    entered = enter_project(settings)
    assert (os.getcwd(), entered.folder, entered.config_path) == (str(tmp_path), "src/deep", "src/deep/c.toml")
    assert entered.environ == {"DUVET_CONFIG": "src/s.yaml", "HOME": "."}
    assert enter_project(settings) is settings


WRITTEN = [
    *(("", "../a"), ("src", "a.rs"), ("src", "."), ("src", "./a.rs"), ("src", ".."), ("src", "../spec.md")),
    *(("src/deep", ".././/../docs/"), ("src", "../../other/a"), ("src", "link/../a"), ("src", "..a")),
    *(("src", "-"), ("src", ""), ("src", "/tmp/a"), ("src", "https://host/a")),
]


def test_paths_that_users_write_and_read(snapshot: Snapshot) -> None:
    lines = (f"{path!r} in {folder!r}: {locate_path(path, folder)!r}\n" for folder, path in WRITTEN)
    snapshot.assert_match("".join(lines), "discovery/written_paths.txt")
    for path, shown in [
        ("src/a.rs", "a.rs"),
        ("src", "."),
        ("spec.md", "../spec.md"),
        ("srcs/a.rs", "../srcs/a.rs"),
        *((path, path) for path in ("-", "", "/tmp/a", "https://host/a", "main:src/a.rs")),
    ]:
        assert (show_path(path, "src"), show_path(path, "")) == (shown, path)


PATHS = st.lists(st.sampled_from(["a", "b", ".c", "d e"]), min_size=1, max_size=4).map("/".join)


@given(PATHS, PATHS)
def test_a_path_that_is_shown_can_be_written(path: str, folder: str) -> None:
    ##= man/spec/init.md#project-discovery
    ##% duvet MUST read and print paths relative to the working directory.
    shown = show_path(path, folder)
    assert posixpath.normpath(posixpath.join(folder, shown)) == path == locate_path(shown, folder)


def test_references_to_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make(tmp_path, {"src/a.rs": "", "spec.md": "", "src/b/c.md": ""}))
    written = [
        *("a.rs", "a.rs:7", "a.rs:7:2", "../spec.md#heating", "b/c.md#a#b", "b", "spec.md", "src/a.rs:1", "3b42", "")
    ]
    assert [ReferenceType.locate(one, "src") for one in written] == [
        *("src/a.rs", "src/a.rs:7", "src/a.rs:7:2", "spec.md#heating", "src/b/c.md#a#b"),
        *("b", "spec.md", "src/a.rs:1", "3b42", ""),
    ]
    assert ReferenceType.locate("a.rs", "") == "a.rs"
