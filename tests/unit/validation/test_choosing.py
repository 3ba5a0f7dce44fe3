"""Files by the names that people and hooks give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from duvet.model import Place, Problem
from duvet.project.findings import ChosenInputs, choose_inputs, normalise_input_name
from duvet.tree.files import DiskTree
from tests.cli.made import make

FILES = {"src/a.rs": "", "src/deep/b.rs": "", "other/c.rs": "", "README.md": ""}
INPUTS = ("src/a.rs", "src/deep/b.rs", "other/c.rs", ".duvet/requirements/a.toml")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "root", FILES)


def chosen(root: Path, *names: str) -> ChosenInputs:
    return choose_inputs(names, INPUTS, str(root), DiskTree(str(root)))


@pytest.mark.parametrize(
    "name", ["src/a.rs", "./src/a.rs", "src//a.rs", "other/../src/a.rs", "src\\a.rs", ".\\src\\a.rs"]
)
def test_spellings_of_a_file(name: str, root: Path) -> None:
    assert chosen(root, name, str(root / "src/a.rs"), f"../{root.name}/src/a.rs") == ChosenInputs(("src/a.rs",))
    assert normalise_input_name(name, str(root), DiskTree(str(root))) == "src/a.rs"
    assert normalise_input_name("/elsewhere/a.rs", str(root), DiskTree(str(root))) == "/elsewhere/a.rs"


def test_a_way_through_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    assert chosen(root, str(tmp_path / "link/src/a.rs")) == ChosenInputs(("src/a.rs",))
    assert chosen(root, str(tmp_path / "link/src")) == ChosenInputs(("src/a.rs", "src/deep/b.rs"))


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("src", ("src/a.rs", "src/deep/b.rs")),
        ("src/deep/", ("src/deep/b.rs",)),
        (".", INPUTS),
        ("..", INPUTS),
        ("/", INPUTS),
        # An input that is extracted may not be on disk yet.
        (".duvet/requirements/a.toml", (".duvet/requirements/a.toml",)),
    ],
)
def test_a_folder_means_all_in_it(name: str, paths: tuple[str, ...], root: Path) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST check only the configuration and the files and folders that it is given, or all inputs of
    ##% the project.
    assert chosen(root, name) == ChosenInputs(paths)


def test_what_is_no_input_and_what_is_not_there(root: Path) -> None:
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST skip a file that is not an input, with a notice, and fail for a path that does not exist.
    (root / "empty").mkdir()
    hint = "paths begin in the working directory"
    assert chosen(root, "README.md", "other", "gone.rs", "empty", "README.md", "a\0b", "s") == ChosenInputs(
        ("other/c.rs",),
        ("README.md", "empty"),
        (
            Problem("DUV010", "there is no such file or folder", "gone.rs", Place(), hint=hint),
            Problem("DUV010", "there is no such file or folder", "a\0b", Place(), hint=hint),
            Problem("DUV010", "there is no such file or folder", "s", Place(), hint=hint),
        ),
    )
