import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.config.settings import SourceRule
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Problem
from duvet.sources import glob
from duvet.sources.glob import PatternError, compile_pattern, expand_pattern
from duvet.tree.files import DiskTree, MemoryTree, Tree, TreeEntry
from tests.problems import show_problem
from tests.sample_project import written

BRACKETS = st.sampled_from(["a", "b", "**", "**/", "*", "?", "[", "]", "!", "-", "/", "[ab]"])
LOOP = "{} warning DUV013 this link points back to a parent folder, so duvet does not follow it"
FILES = ["src/a.rs", "src/.h/b.rs", "src/.c.rs", "src/é日.rs", "src/d/e/f.rs", "src/{g,h}.rs", "top.rs", "x/S.RS"]
PATHS = st.lists(st.sampled_from(["a", "b", ".a", "ab", "a.b"]), min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(st.sampled_from(["**", "*", "a", ".*", "[!b]*", "?", "*.b", "a.b"]), min_size=1, max_size=4)


INVALID = [
    *("src/***", "src/**/***/x", "***/[a", "a**/b", "src/a**", "src/**a", "src/[", "src/[]", "src/[!]", "src/[a"),
    *("src/a[b/c]d", "[a/***", "a\0b"),
]


def test_an_invalid_pattern_is_an_error(snapshot: Snapshot) -> None:
    lines = []
    for pattern in INVALID:
        with pytest.raises(PatternError) as caught:
            compile_pattern(pattern)
        lines += [f"{pattern!r}: {caught.value.message}", caught.value.hint.replace("\0", "\\0"), ""]
    snapshot.assert_match("\n".join(lines), "problems/patterns.txt")


def test_name_patterns_match_names() -> None:
    for name, matching, other in [
        *(("[abc]x", "ax bx cx", "dx abcx [abc]x x"), ("[!abc]x", "dx !x éx", "ax x"), ("[a-c-]", "a b c -", "d")),
        *(("[]]", "]", "[ a"), ("[!]]", "a", "]"), ("[a!]", "a !", "b"), ("[c-a]", "", "a b c -")),
        *(("[!c-a]", "a b c -", "aa"), ("[^a]", "^ a", "b"), ("[\\d]", "\\ d", "1"), ("[&&~~||]", "& ~ |", "x")),
        *(("?", "a é 日 .", "ab"), ("*", "a .hidden a.b", ""), ("*.rs", "a.rs .rs a.b.rs", "a.rs.bak a_rs")),
        *(("*.[rs]s", "a.rs a.ss", "a.ts"), ("a*b*c", "abc axbxc", "abx"), ("{a,b}*", "{a,b} {a,b}c", "a b")),
        *(("a.b*", "a.b a.bc", "axb"), ("[***]", "*", "a")),
    ]:
        matches = compile_pattern(name).components[0].matches
        assert matches is not None
        assert [one for one in f"{matching} {other}".split() if matches(one)] == matching.split()


def test_any_of_several_patterns_matches() -> None:
    for patterns, matching, other in [
        (["target/**"], "target/a target/a/b", "target targets/a src/target/a"),
        (["target"], "target target/a target/a/b", "targets src/target"),
        (["**/target"], "target a/target/b a/b/target", "a/targets"),
        (["./a/*.rs", "b"], "a/x.rs a/x.rs/y b/c", "a/b/x.rs a/x.c"),
        (["/a/**/c"], "/a/c /a/b/c", "a/c"),
        (["**"], "a a/b", ""),
        (["a/[!b]c"], "a/xc", "a/bc a//c"),
        (["", "."], "", "a /a"),
        ([], "", "a"),
    ]:
        covers = glob.match_any(map(compile_pattern, patterns))
        assert [one for one in f"{matching} {other}".split() if covers(one)] == matching.split()


def first_error(pattern: str) -> int | None:
    at = 0
    while at < len(pattern):
        if pattern[at] == "[":
            content = at + 2 if pattern.startswith("[!", at) else at + 1
            close = pattern.find("]", content + 1)
            if close < 0 or content >= len(pattern):
                return at
            at = close + 1
        elif pattern[at] == "*":
            size = len(pattern) - at - len(pattern[at:].lstrip("*"))
            before, after = pattern[max(0, at - 1) : at], pattern[at + size : at + size + 1]
            if size > 2:
                return at + 2
            if size == 2 and before not in ("", "/"):
                return at - 1
            if size == 2 and after not in ("", "/"):
                return at + size
            at += size
        else:
            at += 1
    return None


def split_bracket(pattern: str) -> int | None:
    at = 0
    for name in pattern.split("/"):
        wrong = first_error(name)
        if wrong is not None:
            return at + wrong
        at += len(name) + 1
    return None


@given(st.lists(BRACKETS, max_size=8).map("".join))
def test_errors_are_found_from_left_to_right(pattern: str) -> None:
    # A bracket that closes behind a slash is whole in the pattern, but in none of its names.
    wrong = [found for found in (first_error(pattern), split_bracket(pattern)) if found is not None]
    try:
        compile_pattern(pattern)
    except PatternError as error:
        assert int(error.message.split(":")[0].rsplit(" ", 1)[1]) == wrong[0]
    else:
        assert wrong == []


def touch(folder: Path, *names: str, **links: str) -> DiskTree:
    written(folder, dict.fromkeys(names, b""))
    for name, target in links.items():
        (folder / name.replace("__", "/")).symlink_to(target)
    return DiskTree(str(folder))


def expand(tree: Tree, pattern: str) -> tuple[list[str], list[str]]:
    problems: list[Problem] = []
    return expand_pattern(compile_pattern(pattern), tree, problems.append), sorted(map(show_problem, problems))


def find_files(tree: Tree, pattern: str) -> list[str]:
    paths, problems = expand(tree, pattern)
    assert problems == []
    return paths


def test_matching_files_are_found(tmp_path: Path) -> None:
    ##= man/spec/trace.md#sources
    ##% In a pattern, duvet MUST match `**` with any number of folders, including hidden folders and links to folders,
    ##% but MUST NOT follow a link in circles.
    disk, memory = touch(tmp_path, *FILES), MemoryTree(dict.fromkeys(FILES, b""))
    for pattern, paths in [
        ("src/*.rs", ["src/.c.rs", "src/a.rs", "src/{g,h}.rs", "src/é日.rs"]),
        ("src/**/*.rs", ["src/.c.rs", "src/.h/b.rs", "src/a.rs", "src/d/e/f.rs", "src/{g,h}.rs", "src/é日.rs"]),
        ("src/**", ["src/.h", "src/d", "src/d/e"]),
        ("src/*/", ["src/.h", "src/d"]),
        *((pattern, ["src/d/e/f.rs"]) for pattern in ("**/f.rs", "**/**/e/*", "*/d/*/?.rs", "./src//d/./e/f.rs")),
        ("src/{g,h}.rs", ["src/{g,h}.rs"]),
        ("src/??.rs", ["src/.c.rs", "src/é日.rs"]),
        ("**/*.RS", ["x/S.RS"]),
        ("src", ["src"]),
        *((pattern, []) for pattern in ("nothing/*", "src/a.rs/*", ".")),
    ]:
        assert find_files(disk, pattern) == find_files(memory, pattern) == paths


def test_absolute_patterns(tmp_path: Path) -> None:
    touch(tmp_path, "d/a.rs")
    memory = MemoryTree({"/d/a.rs": b"", "e/b.rs": b""})
    assert find_files(DiskTree(), f"{tmp_path}/**/*.rs") == [f"{tmp_path}/d/a.rs"]
    assert find_files(DiskTree(str(tmp_path / "d")), "../d/*.rs") == ["../d/a.rs"]
    assert (find_files(memory, "/**/*.rs"), find_files(memory, "**/*.rs")) == (["/d/a.rs"], ["e/b.rs"])


def test_folders_behind_links_are_entered_once(tmp_path: Path) -> None:
    tree = touch(tmp_path / "1", "real/a.rs", "src/b.c", src__link="../real")
    assert find_files(tree, "src/**/*.rs") == find_files(tree, "src/*/*.rs") == ["src/link/a.rs"]
    tree = touch(tmp_path / "2", "src/d/a.rs", src__d__up="..", src__self=".")
    problems = [LOOP.format(path) for path in ("src/d/up", "src/self")]
    assert expand(tree, "src/**/*.rs") == (["src/d/a.rs"], problems)
    # A loop through another folder.
    tree = touch(tmp_path / "3", "a/x.rs", "b/x.rs", a__to_b="../b", b__to_a=str(tmp_path / "3/a"))
    a = f"{tmp_path}/3/a"
    assert expand(tree, f"{a}/**/*.rs") == ([f"{a}/to_b/x.rs", f"{a}/x.rs"], [LOOP.format(f"{a}/to_b/to_a")])


def test_packages_that_link_to_one_another_are_not_walked_in_every_order(tmp_path: Path) -> None:
    names = [f"p{number}" for number in range(8)]
    pairs = [(name, other) for name in names for other in names if other != name]
    for name in names:
        (tmp_path / name / "links").mkdir(parents=True)
    links = {f"{name}__links__{other}": str(tmp_path / other) for name, other in pairs}
    paths, problems = expand(touch(tmp_path, *(f"{name}/a.rs" for name in names), **links), "**/*.rs")
    assert {f"{name}/a.rs" for name in names} | {f"{one}/links/{other}/a.rs" for one, other in pairs} <= set(paths)
    assert len(paths) < 8 * 8 * 8 and len(problems) <= 8 * 7


def test_links_that_lead_nowhere_match_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "gone.rs").symlink_to("nothing")
    (tmp_path / "loop.rs").symlink_to("loop.rs")
    found_by = {pattern: find_files(DiskTree(str(tmp_path)), pattern) for pattern in ("**/*.rs", "gone.rs", "*/a.rs")}
    assert found_by == {"**/*.rs": ["gone.rs", "loop.rs"], "gone.rs": ["gone.rs"], "*/a.rs": []}


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.rs")).touch()
    except OSError:
        pytest.skip("this file system takes no such name")
    problem = "\\xff.rs warning DUV014 duvet skips this file, because its name is not UTF-8"
    assert expand(touch(tmp_path, "a.rs"), "*.rs") == (["a.rs"], [problem])


class LockedTree(MemoryTree):
    def entries(self, folder: str) -> Iterator[TreeEntry]:
        if folder.endswith("locked"):
            raise UnreadableError("Permission denied (os error 13)", path=folder)
        return super().entries(folder)


class VanishingTree(DiskTree):
    def identity(self, folder: str) -> object:
        if folder.endswith("link"):
            raise UnreadableError("No such file or directory (os error 2)", path=folder)
        return super().identity(folder)


def test_a_folder_that_can_not_be_listed_hides_no_other(tmp_path: Path) -> None:
    locked = LockedTree({"locked/a.rs": b"", "src/b.rs": b""})
    assert expand(locked, "**/*.rs") == (["src/b.rs"], ["locked DUV010 Permission denied (os error 13)"])
    touch(tmp_path, "src/a.rs", link="src")
    problem = "link DUV010 No such file or directory (os error 2)"
    assert expand(VanishingTree(str(tmp_path)), "**/*.rs") == (["src/a.rs"], [problem])


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    deep = "/".join("a" * 2000)
    assert find_files(MemoryTree({f"{deep}/b": b""}), "**/b") == [f"{deep}/b"]
    assert len(find_files(MemoryTree({f"{deep}/b": b""}), "**")) == 2000


def matches(pattern: list[str], parts: list[str], is_folder: bool) -> bool:
    """Return whether the names match; `**` stands for any number of folders, and for at least one at the end."""
    if not pattern:
        return not parts
    if pattern[0] != "**":
        return bool(parts) and fits(pattern[0], parts[0]) and matches(pattern[1:], parts[1:], is_folder)
    if len(pattern) == 1:
        return bool(parts) and is_folder
    return any(matches(pattern[1:], parts[taken:], is_folder) for taken in range(len(parts) + 1))


def fits(pattern: str, name: str) -> bool:
    known = {"*": True, ".*": name[0] == ".", "[!b]*": name[0] != "b", "?": len(name) == 1, "*.b": name.endswith(".b")}
    return known.get(pattern, name == pattern)


@given(st.sets(PATHS, max_size=8), PATTERNS)
def test_equals_the_plain_rules(paths: set[str], pattern: list[str]) -> None:
    folders = {path.rsplit("/", up)[0] for path in paths for up in range(1, path.count("/") + 1)}
    files = paths - folders
    wanted = [path for path in sorted(files | folders) if matches(pattern, path.split("/"), is_folder=path in folders)]
    assert find_files(MemoryTree(dict.fromkeys(files, b"")), "/".join(pattern)) == wanted


@given(st.text(st.sampled_from("ab*?[]!-./é\0"), max_size=10))
def test_any_text_is_a_pattern_or_an_error(text: str) -> None:
    try:
        pattern = compile_pattern(text)
    except PatternError:
        return
    tree = MemoryTree({"a": b"", "b/é/.a": b"", "/a/b!": b""})
    assert set(find_files(tree, text)) == set(expand_pattern(pattern, tree, lambda _: None))


def test_legacy_patterns_become_source_rules() -> None:
    for pattern, rule in [
        ("src/**/*.rs", SourceRule(("src/**/*.rs",))),
        ("(*=,*#)src/**/*.c", SourceRule(("src/**/*.c",), "*=", "*#")),
        ("(# //=,# //#).github/x.yaml", SourceRule((".github/x.yaml",), "# //=", "# //#")),
        ("( ;;=,;;# )a(b).scm", SourceRule(("a(b).scm",), " ;;=", ";;# ")),
        ("(,a,,b,c)x", SourceRule(("x",), "a", "b")),
    ]:
        assert glob.parse_legacy_pattern(pattern) == rule
    for pattern in ["(*=)src/*.c", "(*=,)src/*.c", "(,)src/*.c", "(*=,*#src/*.c", "("]:
        with pytest.raises(DuvetError) as caught:
            glob.parse_legacy_pattern(pattern)
        message = f"the comment style of the source pattern `{pattern}` is incomplete"
        hint = "write it as (META,CONTENT)GLOB, for example '(*=,*#)src/**/*.c'"
        assert (str(caught.value), caught.value.hint) == (message, hint)


def test_an_inner_dot_of_a_pattern_stays_in_the_spelling() -> None:
    for patterns, spelled in [
        (["./src//*.rs"], {}),
        (["src/./*.rs"], {"src/a.rs": "src/./a.rs"}),
        (["./src/././*.rs", "src/../src/*"], {"src/a.rs": "src/././a.rs"}),
        (["src/*.rs", "src/./*.rs"], {}),
        (["**/d/./e/*"], {"src/d/e/f.rs": "src/d/./e/f.rs"}),
        (["src/./d/./e/*"], {"src/d/e/f.rs": "src/./d/./e/f.rs"}),
        (["src/./**/*.rs"], {"src/a.rs": "src/./a.rs", "src/d/e/f.rs": "src/./d/e/f.rs"}),
        (["src/**/./*.rs", "**/d/./**"], {}),
        (["*[/./src/*.rs"], {}),
        (["/./x/*"], {"/x/y": "/./x/y"}),
    ]:
        assert glob.spell_paths(patterns, ["src/a.rs", "src/d/e/f.rs", "/x/y"]) == spelled


def test_hidden_and_unfinished_files(tmp_path: Path) -> None:
    tree = touch(tmp_path / "1", "docs/.a.md", "docs/.a.md.16748-1765d643927350aa.new")
    for pattern in ["**/*", "docs/*", "docs/.*", "*/*"]:
        assert [path for path in find_files(tree, pattern) if path != "docs"] == ["docs/.a.md"]
    assert find_files(touch(tmp_path / "2", "root.rs", ".h/a.rs", ".h/b/c.rs"), ".*/*.rs") == [".h/a.rs"]
