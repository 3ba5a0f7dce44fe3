from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from duvet.config.settings import SourceRule
from duvet.errors import DuvetError
from duvet.model import Annotation, Kind, Level, Place, Problem, Severity, Source
from duvet.sources import scan
from duvet.sources.comments import SourceStyle
from duvet.sources.glob import compile_pattern, expand_pattern
from duvet.tree.files import DiskTree, MemoryTree
from tests.problems import show_problem

HINT = "`*` and `?` match within one name, `**` matches whole folders, `[abc]` matches one character"
FILES = "src/a.rs src/b.rs src/gen/c.rs src/gen/deep/d.rs target/e.rs target/debug/f.rs top.rs"
TREE = MemoryTree(dict.fromkeys(FILES.split(), b""))


def found(*rules: SourceRule, tree: MemoryTree = TREE) -> list[str]:
    problems: list[Problem] = []
    wanted = scan.find_sources([(rule, scan.RuleOrigin()) for rule in rules], tree, "/root", problems.append)
    assert problems == []
    return sorted(wanted)


def test_a_file_of_several_rules_is_read_once_in_each_style() -> None:
    rules = [
        SourceRule(("src/*.rs", "src/a.*")),
        SourceRule(("**/a.rs",), "//@", "//-", Kind.TEST),
        SourceRule(("src/a.rs",), blob_link="https://host"),
        SourceRule(("src/a.rs",)),
    ]
    wanted = scan.find_sources([(rule, scan.RuleOrigin()) for rule in rules], TREE, "/root", print)
    linked = SourceStyle(blob_link="https://host")
    assert wanted == {
        "src/a.rs": (SourceStyle(), SourceStyle("//@", "//-", Kind.TEST), linked),
        "src/b.rs": (SourceStyle(),),
    }


def test_files_that_rules_exclude() -> None:
    ##= man/spec/trace.md#sources
    ##% duvet MUST skip the files that `exclude` matches and, with `gitignore`, the files that git ignores.
    for excluded, paths in [
        *(
            ([pattern], ["src/a.rs", "src/b.rs", "src/gen/c.rs", "src/gen/deep/d.rs", "top.rs"])
            for pattern in ("target/**", "target", "target/", "./target/**/*.rs", "**/target")
        ),
        (["**/gen/*", "target/*", "**/b.rs"], ["src/a.rs", "top.rs"]),
        (["**"], []),
        (["*.rs", "src/gen/*.rs"], ["src/a.rs", "src/b.rs", "src/gen/deep/d.rs", "target/debug/f.rs", "target/e.rs"]),
    ]:
        assert found(SourceRule(("**/*.rs",), exclude=tuple(excluded))) == paths
    rules = SourceRule(("src/*.rs",), exclude=("src/a.rs",)), SourceRule(("src/a.rs",))
    assert found(*rules) == ["src/a.rs", "src/b.rs"]
    assert found(SourceRule(("src/gen/c.rs", "top.rs"), exclude=("src/gen",))) == ["top.rs"]


def test_ignored_files_are_not_scanned() -> None:
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
    assert found(SourceRule(("**/*.rs",), gitignore=True, exclude=("src",)), tree=tree) == ["a.rs"]


def test_invalid_patterns_are_reported() -> None:
    problems: list[Problem] = []
    place: Callable[[str, int], Place] = lambda key, index: Place(len(key), index + 1)
    rule = SourceRule(("src/*.rs", "a**"), exclude=("[", "src/b.rs", "***"))
    wanted = scan.find_sources([(rule, scan.RuleOrigin("c.toml", place))], TREE, "/root", problems.append)
    assert [*wanted] == ["src/a.rs"]
    error = "DUV006 Pattern syntax error near position"
    assert list(map(show_problem, problems)) == [
        f"c.toml:7:1 {error} 0: invalid range pattern; check `[`: {HINT}",
        f"c.toml:7:3 {error} 2: wildcards are either regular `*` or recursive `**`; check `***`: {HINT}",
        f"c.toml:7:2 {error} 0: recursive wildcards must form a single path component; check `a**`: {HINT}",
    ]


def scanned(data: bytes, *styles: SourceStyle) -> tuple[list[tuple[int, str, str]], list[Problem]]:
    found = scan.scan_file("a.rs", styles or (SourceStyle(),), MemoryTree({"a.rs": data}))
    return [(one.line, one.target, one.quote) for one in found.annotations], found.problems


def test_a_file_may_have_two_styles_and_problems() -> None:
    data = b"//= a#1\n//# one\n*= a#2\n*# two\n//= a#3\n"
    found, problems = scanned(data, SourceStyle(), SourceStyle("*=", "*#"), SourceStyle("%=", "%#"))
    assert (found, problems) == ([(1, "a#1", "one"), (5, "a#3", ""), (3, "a#2", "two")], [])
    assert scanned('fn main() { "é" }\n'.encode()) == ([], [])
    assert scanned(b"//= a#1\n") == ([(1, "a#1", "")], [])
    assert [one.code for one in scanned(b"//# two\n")[1]] == ["DUV027"]
    found, problems = scanned(b"//= a#1\n//= type=x\n//# one\n\n//# two\n")
    assert found == []
    assert [(one.code, one.path, one.place, one.severity) for one in problems] == [
        ("DUV022", "a.rs", Place(2, 10, 1), Severity.ERROR),
        ("DUV027", "a.rs", Place(5, 5, 3), Severity.WARNING),
    ]


def test_files_that_can_not_be_read() -> None:
    hint = "write a pattern that matches files, such as `src/**/*.rs`; `src/**` matches only folders"
    for path, expected in [
        ("src", f"src DUV012 Is a directory (os error 21); {hint}"),
        ("gone.rs", "gone.rs DUV010 No such file or directory (os error 2)"),
        ("a.rs", "a.rs:2 DUV011 invalid utf-8 sequence of 1 bytes from index 9; save the file as UTF-8"),
        ("b.rs", "b.rs:2 DUV011 invalid utf-8 sequence of 1 bytes from index 9; save the file as UTF-8"),
    ]:
        odd = {"a.rs": b"//= a#1\n'\xff'\n", "b.rs": b"no text\n'\xff'\n"}
        with pytest.raises(DuvetError) as error:
            scan.scan_file(path, (SourceStyle(),), MemoryTree({**TREE.files, **odd}))
        assert show_problem(scan.make_unreadable_problem(error.value)) == expected


FILTERED = scan.FilteredTree(
    MemoryTree({"a.rs": b"a", "b/c.rs": b"c", "/d/e": b"e"}), lambda path, is_folder: "b" in path
)


def test_a_filtered_tree_is_scanned(tmp_path: Path) -> None:
    assert [entry.name for entry in FILTERED.entries("")] == ["a.rs"]
    assert [FILTERED.exists(path) for path in ("a.rs", "b", "b/c.rs", "nothing")] == [True, False, False, False]
    assert [FILTERED.is_file(path) for path in ("a.rs", "b/c.rs", "nothing")] == [True, False, False]
    assert FILTERED.read("b/c.rs") == b"c"
    # Paths are whole, and loops are seen.
    seen: list[tuple[str, bool]] = []
    view = scan.FilteredTree(FILTERED.tree, lambda path, is_folder: seen.append((path, is_folder)))
    for folder in ("", "b", "/", "/d"):
        assert list(view.entries(folder)) != []
    assert seen == [("a.rs", False), ("b", True), ("b/c.rs", False), ("/d", True), ("/d/e", False)]
    (tmp_path / "a").touch()
    (tmp_path / "loop").symlink_to(".")
    view, problems = scan.FilteredTree(DiskTree(str(tmp_path)), lambda path, is_folder: False), list[str]()
    assert expand_pattern(compile_pattern("**/a"), view, lambda problem: problems.append(problem.path)) == ["a"]
    assert problems == ["loop"]


def made(path: str = "a.rs", line: int = 1, start: int = 0, kind: Kind = Kind.CITATION) -> Annotation:
    return Annotation(path, line, kind, "a#1", "", source=Source(start, start + 3, start, start + 3))


def test_annotations_sort_by_path_place_kind_and_the_rest_and_equal_ones_become_one() -> None:
    paths = ["/z.rs", "./z.rs", "../z.rs", "src/a/b.rs", "src/a-b.rs", "src/a.rs"]
    found = scan.order_annotations({path: [made(path)] for path in reversed(paths)})
    assert [one.path for one in found] == paths
    first = made(line=2, start=2)
    wanted = [
        made(line=1, start=9),
        made(line=2, start=1, kind=Kind.IMPLICATION),
        *(made(line=2, start=2, kind=kind) for kind in (Kind.SPEC, Kind.TEST)),
        first,
        *(replace(first, blob_link=link) for link in ("", "a")),
        *(replace(first, tags=("t",)), replace(first, tracking_issue="t"), replace(first, feature="f")),
        *(replace(first, reason="r"), replace(first, level=Level.MUST)),
        *(made(line=2, start=2, kind=kind) for kind in (Kind.EXCEPTION, Kind.TODO, Kind.IMPLICATION)),
        made(line=10),
    ]
    assert scan.order_annotations({"a.rs": wanted[::-1]}) == tuple(wanted)
    one, other = made(), replace(made(), blob_link="https://host")
    assert scan.order_annotations({"a.rs": [other, one, made(), other]}) == (one, other)
