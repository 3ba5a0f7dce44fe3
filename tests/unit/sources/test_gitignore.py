import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from duvet.sources.gitignore import IgnoredPaths, parse_gitignore
from duvet.sources.glob import compile_pattern, expand_pattern
from duvet.sources.scan import FilteredTree
from duvet.tree.files import DiskTree

needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
PATHS = ["a", "b", "ab", "a.b", "d/a", "d/b", "d/e/a", "d/e/a.b", "d/e/f/b", "-", "d/^", "d/!x", "#", "é", "a b", "x]"]
TOKENS = [
    *("a", "b", "d", "e", "f", "**", "*", "?", "/", "!", "#", "[", "]", "^", "-", "\\", ".", " ", "[ab]", "[:", ":]"),
    *("alpha", "é", "\r", "\t", "d/", "/**/", "**/"),
]
LINES = st.lists(st.sampled_from(TOKENS), max_size=6).map("".join)


def test_patterns_of_one_file_apply() -> None:
    for text, ignored, kept, unknown in [
        ("build/", ["build/"], [], ["build"]),
        ("build", ["src/build/"], [], []),
        ("/build", [], [], ["src/build"]),
        ("src/*.o", ["src/a.o"], [], ["src/b/a.o"]),
        ("*.o\n!keep.o", [], ["keep.o"], []),
        ("!keep.o\n*.o", ["keep.o"], [], []),
        ("# a\n\\#b\n\\!b", ["#b", "!b"], [], []),
        ("a  \nc\\ ", ["a", "c "], [], []),
        ("a\r\nb\r", ["b"], [], []),
        ("\ufeffa", ["a"], [], []),
        ("[[:digit:]]x\n[[:nothing:]]x", ["7x"], [], [":x"]),
        ("[b-a]\n??", ["b", "é"], [], []),
        ("[a", [], [], ["[a"]),
        ("a\\\n!\n/\n//\n", [], [], ["a"]),
    ]:
        hides = parse_gitignore(text.encode())
        assert {path: hides(path) for path in (*ignored, *kept, *unknown)} == {
            **dict.fromkeys(ignored, True),
            **dict.fromkeys(kept, False),
            **dict.fromkeys(unknown),
        }


def run_git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "core.excludesFile=/dev/null", *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False, text=True)


def git(folder: Path, *arguments: str) -> str:
    done = run_git(folder, *arguments)
    done.check_returncode()
    return done.stdout


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "--quiet")
        for path in PATHS:
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(b"")
        yield Path(folder)


def list_visible(folder: Path, pattern: str) -> list[str]:
    tree = DiskTree(str(folder))
    view = FilteredTree(tree, IgnoredPaths(tree, str(folder)).hides)
    return [path for path in expand_pattern(compile_pattern(pattern), view, print) if view.is_file(path)]


def write(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(lines), newline="")


@needs_git
@example(["d/*", "!d/e/"], ["*.b"], ["!f/"])
@example(["b"], ["!e/"], ["!/f"])
@example(["d", "!d/a"], [], [])
@example(["*.b", "!d/"], ["!a*"], [])
@example(["d/e**/b"], ["e/a**"], ["[!a-f]"])
@example(["[]-a]", "[!^]*"], ["[\\]]", "[[-b]"], ["[--a]", "[a-\\b]"])
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(LINES, max_size=4), st.lists(LINES, max_size=3), st.lists(LINES, max_size=2))
def test_ignored_files_equal_those_of_git(
    repository: Path, top: list[str], inner: list[str], innermost: list[str]
) -> None:
    ##= man/spec/trace.md#sources
    ##% duvet MUST skip the files that `exclude` matches and, with `gitignore`, the files that git ignores.
    write(repository / ".gitignore", top)
    write(repository / "d/.gitignore", inner)
    write(repository / "d/e/.gitignore", innermost)
    kept = git(repository, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1]
    assert list_visible(repository, "**/*") == sorted(kept)


SOURCES = ["a.rs", "b.rs", "c.rs", "own.rs", "sub/a.rs", "sub/b.rs", "sub/own.rs", "gone/c.rs", "gone/keep/a.rs"]
HOUSES = {
    "nothing": {},
    "top": {".gitignore": "b.rs\n/p/project/c.rs\nproject/gone\n/a.rs\n"},
    "between": {".gitignore": "*.rs\n", "p/.gitignore": "!a.rs\n!project/sub/*\n"},
    "own list": {".git/info/exclude": "own.rs\n/c.rs\np/project/sub/b.rs\n"},
    "own list comes last": {
        ".git/info/exclude": "*.rs\n",
        ".gitignore": "!a.rs\n",
        "p/project/.gitignore": "!own.rs\n",
    },
    "the project": {"p/.gitignore": "project/\n", "p/project/.gitignore": "!*\n"},
    "a folder above": {".gitignore": "p\n", "p/.gitignore": "!project\n"},
    "above the top": {"../.gitignore": "a.rs\nhouse\n"},
}


@needs_git
# Only the list of a repository is elsewhere in other kinds.
@pytest.mark.parametrize(
    ("kind", "house"), [*product(["repository"], HOUSES), *product(["worktree", "submodule"], ["top", "own list"])]
)
def test_a_project_in_a_folder_of_a_repository(house: str, kind: str, tmp_path: Path) -> None:
    top = tmp_path / "house"
    own = made(kind, top)
    project = top / "p" / "project"
    beside = ["../a.rs", "../b.rs", "../../other/a.rs", "../../other/own.rs"]
    for path in [*SOURCES, *beside]:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(b"")
    for path, text in HOUSES[house].items():
        file = own / "info/exclude" if path == ".git/info/exclude" else top / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    paths = [*SOURCES, *beside]
    done = run_git(project, "check-ignore", "--no-index", *paths)
    assert done.returncode in (0, 1), done.stderr
    visible = [path for path in paths if list_visible(project, path)]
    assert visible == [path for path in paths if path not in done.stdout.splitlines()]


def made(kind: str, top: Path) -> Path:
    main = top if kind == "repository" else top.parent / "main"
    main.mkdir()
    git(main, "init", "--quiet")
    if kind == "worktree":
        git(main, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "--allow-empty", "-m", "a")
        git(main, "worktree", "add", "--quiet", str(top))
    if kind == "submodule":
        top.mkdir()
        git(top, "init", "--quiet", f"--separate-git-dir={top.parent / 'own'}")
        (top / ".git").write_text("gitdir: ../own\n")
        return top.parent / "own"
    return main / ".git"
