"""The files that a pattern matches, compared with its rules spelt out name by name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.errors import UnreadableError
from duvet.model import Problem, Severity
from duvet.sources.glob import PatternError, compile_pattern, expand_pattern
from duvet.tree.files import DiskTree, MemoryTree, Tree, TreeEntry

LOOP = "this link leads back to a folder around it; it is not entered"
NAMES = st.sampled_from(["a", "b", ".a", "ab", "a.b"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.sampled_from(["**", "*", "a", ".*", "[!b]*", "?", "*.b", "a.b"]), min_size=1, max_size=4)


def found(tree: Tree, pattern: str) -> list[str]:
    """What matches, where nothing may be wrong."""
    problems: list[Problem] = []
    paths = expand_pattern(compile_pattern(pattern), tree, problems.append)
    assert problems == []
    return paths


FILES = ["src/a.rs", "src/.h/b.rs", "src/.c.rs", "src/é日.rs", "src/d/e/f.rs", "src/{g,h}.rs", "top.rs", "x/S.RS"]


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("src/*.rs", ["src/.c.rs", "src/a.rs", "src/{g,h}.rs", "src/é日.rs"]),
        ("src/**/*.rs", ["src/.c.rs", "src/.h/b.rs", "src/a.rs", "src/d/e/f.rs", "src/{g,h}.rs", "src/é日.rs"]),
        ("**/f.rs", ["src/d/e/f.rs"]),
        ("**/**/e/*", ["src/d/e/f.rs"]),
        ("src/**", ["src/.h", "src/d", "src/d/e"]),
        ("src/*/", ["src/.h", "src/d"]),
        ("*/d/*/?.rs", ["src/d/e/f.rs"]),
        ("./src//d/./e/f.rs", ["src/d/e/f.rs"]),
        ("src/{g,h}.rs", ["src/{g,h}.rs"]),
        ("src/??.rs", ["src/.c.rs", "src/é日.rs"]),
        ("**/*.RS", ["x/S.RS"]),
        ("src", ["src"]),
        ("nothing/*", []),
        ("src/a.rs/*", []),
        (".", []),
    ],
)
def test_matches(tmp_path: Path, pattern: str, paths: list[str]) -> None:
    ##= man/spec/trace.md#sources
    ##% `**` MUST match any number of folders, including hidden and linked ones, and enter a folder that contains itself
    ##% once.
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    assert found(DiskTree(str(tmp_path)), pattern) == paths
    assert found(MemoryTree(dict.fromkeys(FILES, b"")), pattern) == paths


@pytest.mark.parametrize("pattern", ["**/*", "docs/*", "docs/.*", "*/*"])
def test_what_was_left_unfinished(tmp_path: Path, pattern: str) -> None:
    ##= man/spec/trace.md#reports
    ##= type=test
    ##% duvet MUST ignore the temporary files of killed runs and remove them in a later run, but not those of a run that
    ##% is still writing.
    (tmp_path / "docs").mkdir()
    for name in (".a.md", ".a.md.16748-1765d643927350aa.new"):
        (tmp_path / "docs" / name).touch()
    assert [path for path in found(DiskTree(str(tmp_path)), pattern) if path != "docs"] == ["docs/.a.md"]


def test_absolute_patterns(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d/a.rs").write_bytes(b"")
    assert found(DiskTree(), f"{tmp_path}/**/*.rs") == [f"{tmp_path}/d/a.rs"]
    assert found(DiskTree(str(tmp_path / "d")), "../d/*.rs") == ["../d/a.rs"]
    assert found(MemoryTree({"/d/a.rs": b"", "e/b.rs": b""}), "/**/*.rs") == ["/d/a.rs"]
    assert found(MemoryTree({"/d/a.rs": b"", "e/b.rs": b""}), "**/*.rs") == ["e/b.rs"]


def test_folders_behind_links_are_entered(tmp_path: Path) -> None:
    ##= man/spec/trace.md#sources
    ##% `**` MUST match any number of folders, including hidden and linked ones, and enter a folder that contains itself
    ##% once.
    (tmp_path / "real").mkdir()
    (tmp_path / "real/a.rs").write_bytes(b"")
    (tmp_path / "src").mkdir()
    (tmp_path / "src/link").symlink_to("../real")
    assert found(DiskTree(str(tmp_path)), "src/**/*.rs") == ["src/link/a.rs"]
    assert found(DiskTree(str(tmp_path)), "src/*/*.rs") == ["src/link/a.rs"]


def test_a_folder_that_holds_itself_is_entered_once(tmp_path: Path) -> None:
    ##= man/spec/trace.md#sources
    ##% `**` MUST match any number of folders, including hidden and linked ones, and enter a folder that contains itself
    ##% once.
    (tmp_path / "src/d").mkdir(parents=True)
    (tmp_path / "src/d/a.rs").write_bytes(b"")
    (tmp_path / "src/d/up").symlink_to("..")
    (tmp_path / "src/self").symlink_to(".")
    problems: list[Problem] = []
    assert expand_pattern(compile_pattern("src/**/*.rs"), DiskTree(str(tmp_path)), problems.append) == ["src/d/a.rs"]
    assert sorted(problems, key=lambda one: one.path) == [
        Problem("DUV013", LOOP, "src/d/up", severity=Severity.WARNING),
        Problem("DUV013", LOOP, "src/self", severity=Severity.WARNING),
    ]


def test_a_loop_through_another_folder_is_entered_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.rs").write_bytes(b"")
    (tmp_path / "a/to_b").symlink_to("../b")
    (tmp_path / "b/to_a").symlink_to(tmp_path / "a")
    problems: list[Problem] = []
    paths = expand_pattern(compile_pattern(f"{tmp_path}/a/**/*.rs"), DiskTree(), problems.append)
    assert paths == [f"{tmp_path}/a/to_b/x.rs", f"{tmp_path}/a/x.rs"]
    assert [(one.code, one.path) for one in problems] == [("DUV013", f"{tmp_path}/a/to_b/to_a")]


def test_links_that_lead_nowhere_match_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "gone.rs").symlink_to("nothing")
    (tmp_path / "loop.rs").symlink_to("loop.rs")
    assert found(DiskTree(str(tmp_path)), "**/*.rs") == ["gone.rs", "loop.rs"]
    assert found(DiskTree(str(tmp_path)), "gone.rs") == ["gone.rs"]
    assert found(DiskTree(str(tmp_path)), "*/a.rs") == []


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_bytes(b"")
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.rs")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes no such name")
    problems: list[Problem] = []
    assert expand_pattern(compile_pattern("*.rs"), DiskTree(str(tmp_path)), problems.append) == ["a.rs"]
    message = "the name of this file is not UTF-8, so it is not read"
    assert problems == [Problem("DUV014", message, "\\xff.rs", severity=Severity.WARNING)]


class LockedTree(MemoryTree):
    """Folders of one name can't be listed."""

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        if folder.endswith("locked"):
            raise UnreadableError("Permission denied (os error 13)", path=folder)
        return super().entries(folder)


def test_a_folder_that_cant_be_listed_hides_no_other() -> None:
    problems: list[Problem] = []
    tree = LockedTree({"locked/a.rs": b"", "src/b.rs": b""})
    assert expand_pattern(compile_pattern("**/*.rs"), tree, problems.append) == ["src/b.rs"]
    assert problems == [Problem("DUV010", "Permission denied (os error 13)", "locked")]


class VanishingTree(DiskTree):
    """Of some folders nothing is known once their names have been read."""

    def identity(self, folder: str) -> object:
        if folder.endswith("link"):
            raise UnreadableError("No such file or directory (os error 2)", path=folder)
        return super().identity(folder)


def test_a_folder_that_vanishes_hides_no_other(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.rs").write_bytes(b"")
    (tmp_path / "link").symlink_to("src")
    problems: list[Problem] = []
    assert expand_pattern(compile_pattern("**/*.rs"), VanishingTree(str(tmp_path)), problems.append) == ["src/a.rs"]
    assert problems == [Problem("DUV010", "No such file or directory (os error 2)", "link")]


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    deep = "/".join("a" * 2000)
    assert found(MemoryTree({f"{deep}/b": b""}), "**/b") == [f"{deep}/b"]
    assert len(found(MemoryTree({f"{deep}/b": b""}), "**")) == 2000


def matches(pattern: list[str], parts: list[str], is_folder: bool) -> bool:
    """Whether the names fit, one after the other; `**` is any number of folders, at the end at least one."""
    if not pattern:
        return not parts
    if pattern[0] != "**":
        return bool(parts) and fits(pattern[0], parts[0]) and matches(pattern[1:], parts[1:], is_folder)
    if len(pattern) == 1:
        return bool(parts) and is_folder
    return any(matches(pattern[1:], parts[taken:], is_folder) for taken in range(len(parts) + 1))


def fits(pattern: str, name: str) -> bool:
    """Whether a name is of the few patterns that are tried here."""
    known = {"*": True, ".*": name[0] == ".", "[!b]*": name[0] != "b", "?": len(name) == 1, "*.b": name.endswith(".b")}
    return known.get(pattern, name == pattern)


@given(st.sets(PATHS, max_size=8), PATTERNS)
def test_equals_the_plain_rules(paths: set[str], pattern: list[str]) -> None:
    folders = {path.rsplit("/", up)[0] for path in paths for up in range(1, path.count("/") + 1)}
    files = paths - folders
    wanted = [path for path in sorted(files | folders) if matches(pattern, path.split("/"), is_folder=path in folders)]
    assert found(MemoryTree(dict.fromkeys(files, b"")), "/".join(pattern)) == wanted


@given(st.text(st.sampled_from("ab*?[]!-./é\0"), max_size=10))
def test_any_text_is_a_pattern_or_an_error(text: str) -> None:
    try:
        pattern = compile_pattern(text)
    except PatternError:
        return
    tree = MemoryTree({"a": b"", "b/é/.a": b"", "/a/b!": b""})
    assert set(found(tree, text)) == set(expand_pattern(pattern, tree, lambda _: None))


def test_packages_that_link_to_one_another_are_not_walked_in_every_order(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(8)]
    for name in names:
        (tmp_path / name / "links").mkdir(parents=True)
        (tmp_path / name / "a.rs").touch()
        for other in names:
            if other != name:
                (tmp_path / name / "links" / other).symlink_to(tmp_path / other)
    problems: list[Problem] = []
    found = expand_pattern(compile_pattern("**/*.rs"), DiskTree(str(tmp_path)), problems.append)
    assert {f"{name}/a.rs" for name in names} <= set(found)
    assert {f"{name}/links/{other}/a.rs" for name in names for other in names if other != name} <= set(found)
    assert len(found) < 8 * 8 * 8
    assert len(problems) <= 8 * 7
