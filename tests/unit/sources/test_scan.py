"""From source rules to files and their annotations."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from duvet.config.settings import SourceRule
from duvet.errors import DuvetError
from duvet.model import Kind, Place, Problem, Severity
from duvet.sources.comments import SourceStyle
from duvet.sources.scan import (
    RuleOrigin,
    SourceFile,
    find_matching_files,
    find_sources,
    make_unreadable_problem,
    scan_file,
)
from duvet.tree.files import MemoryTree

HINT = "* and ? stay within a folder, ** is a whole folder name, [abc] is one character"
TREE = MemoryTree(
    dict.fromkeys(
        [
            "src/a.rs",
            "src/b.rs",
            "src/gen/c.rs",
            "src/gen/deep/d.rs",
            "target/e.rs",
            "target/debug/f.rs",
            "top.rs",
        ],
        b"",
    )
)


def found(*rules: SourceRule, tree: MemoryTree = TREE) -> list[str]:
    """The files of some rules, where nothing may be wrong."""
    problems: list[Problem] = []
    wanted = find_sources([(rule, RuleOrigin()) for rule in rules], tree, "/root", problems.append)
    assert problems == []
    return sorted(one.path for one in wanted)


def test_a_file_of_several_rules_is_read_once_in_each_style() -> None:
    ##= man/spec/trace.md#sources
    ##% duvet MUST read a file once in each comment style of the patterns that match it.
    rules = [
        SourceRule(("src/*.rs", "src/a.*")),
        SourceRule(("**/a.rs",), "//@", "//-", Kind.TEST),
        SourceRule(("src/a.rs",), blob_link="https://host"),
        SourceRule(("src/a.rs",)),
    ]
    wanted = find_sources([(rule, RuleOrigin()) for rule in rules], TREE, "/root", print)
    linked = SourceStyle(blob_link="https://host")
    assert wanted == [
        SourceFile("src/a.rs", (SourceStyle(), SourceStyle("//@", "//-", Kind.TEST), linked)),
        SourceFile("src/b.rs", (SourceStyle(),)),
    ]


def test_excluded_folders_with_all_that_is_in_them() -> None:
    ##= man/spec/trace.md#sources
    ##% duvet MUST skip the files that `exclude` matches and, with `gitignore`, those that git ignores.
    everything = ("**/*.rs",)
    without_target = ["src/a.rs", "src/b.rs", "src/gen/c.rs", "src/gen/deep/d.rs", "top.rs"]
    for pattern in ("target/**", "target", "target/", "./target/**/*.rs", "**/target"):
        assert found(SourceRule(everything, exclude=(pattern,))) == without_target
    assert found(SourceRule(everything, exclude=("**/gen/*", "target/*", "**/b.rs"))) == ["src/a.rs", "top.rs"]
    assert found(SourceRule(everything, exclude=("**",))) == []
    assert found(SourceRule(everything, exclude=("*.rs", "src/gen/*.rs"))) == [
        "src/a.rs",
        "src/b.rs",
        "src/gen/deep/d.rs",
        "target/debug/f.rs",
        "target/e.rs",
    ]


def test_what_is_excluded_from_one_rule_may_be_in_another() -> None:
    rules = SourceRule(("src/*.rs",), exclude=("src/a.rs",)), SourceRule(("src/a.rs",))
    assert found(*rules) == ["src/a.rs", "src/b.rs"]


def test_a_named_file_can_be_excluded() -> None:
    assert found(SourceRule(("src/gen/c.rs", "top.rs"), exclude=("src/gen",))) == ["top.rs"]


def test_what_git_ignores() -> None:
    files = {
        ".gitignore": b"target/\n*.gen.rs\n",
        "src/.gitignore": b"!keep.gen.rs\n/local/\n",
        ".git/hooks/x.rs": b"",
        "src/local/.gitignore": b"!*\n",
        **dict.fromkeys(["a.rs", "a.gen.rs", "src/keep.gen.rs", "src/b.gen.rs", "src/local/c.rs", "target/d.rs"], b""),
    }
    tree = MemoryTree(files)
    assert found(SourceRule(("**/*.rs",), gitignore=True), tree=tree) == ["a.rs", "src/keep.gen.rs"]
    named = ("target/*.rs", "src/local/c.rs", ".git/hooks/x.rs", "a.gen.rs", "a.rs")
    assert found(SourceRule(named, gitignore=True), tree=tree) == ["a.rs"]
    both = SourceRule(("**/*.rs",), gitignore=True, exclude=("src",))
    assert found(both, tree=tree) == ["a.rs"]


def test_git_ignores_by_the_folders_around_a_path() -> None:
    files = {"/.gitignore": b"b.rs\n", "/p/a.rs": b"", "/p/b.rs": b"", ".gitignore": b"a.rs\nq\n", "../q/a.rs": b""}
    rules = SourceRule(("/p/*.rs", "../q/*.rs"), gitignore=True)
    assert found(rules, tree=MemoryTree(files)) == ["../q/a.rs", "/p/a.rs"]


def test_patterns_that_mean_nothing() -> None:
    problems: list[Problem] = []
    place: Callable[[str, int], Place] = lambda key, index: Place(len(key), index + 1)
    rule = SourceRule(("src/*.rs", "a**"), exclude=("[", "src/b.rs", "***"))
    wanted = find_sources([(rule, RuleOrigin("c.toml", place))], TREE, "/root", problems.append)
    assert [one.path for one in wanted] == ["src/a.rs"]
    error = "Pattern syntax error near position"
    assert problems == [
        Problem("DUV006", f"{error} 0: invalid range pattern", "c.toml", Place(7, 1), hint=f"`[`: {HINT}"),
        Problem(
            "DUV006",
            f"{error} 2: wildcards are either regular `*` or recursive `**`",
            "c.toml",
            Place(7, 3),
            hint=f"`***`: {HINT}",
        ),
        Problem(
            "DUV006",
            f"{error} 0: recursive wildcards must form a single path component",
            "c.toml",
            Place(7, 2),
            hint=f"`a**`: {HINT}",
        ),
    ]


def test_patterns_of_files() -> None:
    problems: list[Problem] = []
    paths = find_matching_files("pattern", ["src/*.rs", "[", "src/a.rs"], TREE, problems.append, RuleOrigin())
    assert paths == ["src/a.rs", "src/b.rs", "src/a.rs"]
    assert [(one.code, one.path, one.place) for one in problems] == [("DUV006", "", Place())]


def scanned(data: bytes, *styles: SourceStyle) -> tuple[list[tuple[int, str, str]], list[Problem]]:
    wanted = SourceFile("a.rs", styles or (SourceStyle(),))
    found = scan_file(wanted, MemoryTree({"a.rs": data}))
    return [(one.line, one.target, one.quote) for one in found.annotations], found.problems


def refused(path: str, tree: MemoryTree) -> Problem:
    with pytest.raises(DuvetError) as error:
        scan_file(SourceFile(path, (SourceStyle(),)), tree)
    return make_unreadable_problem(error.value)


def test_a_file_in_two_styles() -> None:
    data = b"//= a#1\n//# one\n*= a#2\n*# two\n//= a#3\n"
    found, problems = scanned(data, SourceStyle(), SourceStyle("*=", "*#"), SourceStyle("%=", "%#"))
    assert (found, problems) == ([(1, "a#1", "one"), (5, "a#3", ""), (3, "a#2", "two")], [])


def test_a_file_without_annotations() -> None:
    assert scanned(b"fn main() {}\n") == ([], [])
    assert scanned('fn main() { "é" }\n'.encode()) == ([], [])


def test_problems_of_a_file() -> None:
    found, problems = scanned(b"//= a#1\n//= type=x\n//# one\n\n//# two\n")
    assert found == []
    assert [(one.code, one.path, one.place, one.severity) for one in problems] == [
        ("DUV022", "a.rs", Place(2, 10, 1), Severity.ERROR),
        ("DUV027", "a.rs", Place(5, 5, 3), Severity.WARNING),
    ]


def test_a_file_that_is_not_utf8() -> None:
    ##= man/spec/trace.md#sources
    ##% duvet MUST report a source that is not UTF-8 with the offset of the first wrong byte, and one that is not a
    ##% regular file without waiting for it.
    message, hint = "invalid utf-8 sequence of 1 bytes from index 9", "save the file as UTF-8"
    wrong = Problem("DUV011", message, "a.rs", Place(2), hint=hint)
    for data in (b"//= a#1\n'\xff'\n", b"no text\n'\xff'\n"):
        assert refused("a.rs", MemoryTree({"a.rs": data})) == wrong


def test_a_folder_and_a_file_that_is_gone() -> None:
    hint = "patterns have to name files: `src/**` is all folders in src, `src/**/*.rs` the files in them"
    assert [refused(path, TREE) for path in ("src", "gone.rs")] == [
        Problem("DUV012", "Is a directory (os error 21)", "src", hint=hint),
        Problem("DUV010", "No such file or directory (os error 2)", "gone.rs"),
    ]
