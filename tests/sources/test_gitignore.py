"""What a `.gitignore` file ignores, compared with git itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from duvet.sources.filtered import FilteredTree
from duvet.sources.gitignore import reads
from duvet.sources.globs import expand
from duvet.sources.ignored import Ignored
from duvet.sources.patterns import compile_pattern
from duvet.tree.disk import DiskTree

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
PATHS = ["a", "b", "ab", "a.b", "d/a", "d/b", "d/e/a", "d/e/a.b", "d/e/f/b", "-", "d/^", "d/!x", "#", "é", "a b", "x]"]
TOKENS = [
    "a",
    "b",
    "d",
    "e",
    "f",
    "**",
    "*",
    "?",
    "/",
    "!",
    "#",
    "[",
    "]",
    "^",
    "-",
    "\\",
    ".",
    " ",
    "[ab]",
    "[:",
    ":]",
]
TOKENS += ["alpha", "é", "\r", "\t", "d/", "/**/", "**/"]
LINES = st.lists(st.sampled_from(TOKENS), max_size=6).map("".join)


@pytest.mark.parametrize(
    ("text", "path", "ignored"),
    [
        ("build/", "build/", True),
        ("build/", "build", None),
        ("build", "src/build/", True),
        ("/build", "src/build", None),
        ("src/*.o", "src/a.o", True),
        ("src/*.o", "src/b/a.o", None),
        ("*.o\n!keep.o", "keep.o", False),
        ("!keep.o\n*.o", "keep.o", True),
        ("# a\n\\#b", "#b", True),
        ("\\!b", "!b", True),
        ("a  ", "a", True),
        ("a\\ ", "a ", True),
        ("a\r\nb\r", "b", True),
        ("\ufeffa", "a", True),
        ("[[:digit:]]x", "7x", True),
        ("[[:nothing:]]x", ":x", None),
        ("[b-a]", "b", True),
        ("[a", "[a", None),
        ("a\\", "a", None),
        ("!\n/\n//\n", "a", None),
        ("??", "é", True),
    ],
)
def test_one_file(text: str, path: str, ignored: bool | None) -> None:
    assert reads(text.encode())(path) is ignored


def git(folder: Path, *arguments: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "core.excludesFile=/dev/null", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=True, text=True).stdout


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "--quiet")
        for path in PATHS:
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(b"")
        yield Path(folder)


def kept_by_git(folder: Path) -> list[str]:
    return sorted(git(folder, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1])


def kept(folder: Path) -> list[str]:
    tree = DiskTree(str(folder))
    view = FilteredTree(tree, Ignored(tree).hides)
    return [path for path in expand(compile_pattern("**/*"), view, print) if tree.is_file(path)]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines), newline="")


@needs_git
@example(["d/*", "!d/e/"], ["*.b"], ["!f/"])
@example(["b"], ["!e/"], ["!/f"])
@example(["d", "!d/a"], [], [])
@example(["*.b", "!d/"], ["!a*"], [])
@example(["d/e**/b"], ["e/a**"], ["[!a-f]"])
@example(["[]-a]", "[!^]*"], ["[\\]]", "[[-b]"], ["[--a]", "[a-\\b]"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=4), st.lists(LINES, max_size=3), st.lists(LINES, max_size=2))
def test_equals_git(repository: Path, top: list[str], inner: list[str], innermost: list[str]) -> None:
    ##= man/spec/trace.md#sources
    ##% With `gitignore`, the files that git ignores MUST be left out.
    write(repository / ".gitignore", top)
    write(repository / "d/.gitignore", inner)
    write(repository / "d/e/.gitignore", innermost)
    assert kept(repository) == kept_by_git(repository)
