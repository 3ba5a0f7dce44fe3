"""Patterns of paths, compared with their rules spelt out character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.sources.glob import PatternError, compile_pattern, match_any

STARS = "wildcards are either regular `*` or recursive `**`"
WHOLE = "recursive wildcards must form a single path component"
RANGE = "invalid range pattern"
PATTERNS = st.lists(
    st.sampled_from(["a", "b", "**", "**/", "*", "?", "[", "]", "!", "-", "/", "[ab]"]), max_size=8
).map("".join)


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        ("src/***", 6, STARS),
        ("src/**/***/x", 9, STARS),
        ("a**/b", 0, WHOLE),
        ("src/a**", 4, WHOLE),
        ("src/**a", 6, WHOLE),
        ("src/[", 4, RANGE),
        ("src/[]", 4, RANGE),
        ("src/[!]", 4, RANGE),
        ("src/[a", 4, RANGE),
        ("src/a[b/c]d", 5, RANGE),
        ("[a/***", 0, RANGE),
        ("***/[a", 2, STARS),
    ],
)
def test_a_pattern_that_means_nothing(pattern: str, position: int, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    hint = f"`{pattern}`: * and ? stay within a folder, ** is a whole folder name, [abc] is one character"
    shown = (caught.value.message, caught.value.hint)
    assert shown == (f"Pattern syntax error near position {position}: {reason}", hint)


def test_no_path_holds_a_nul() -> None:
    with pytest.raises(PatternError, match="near position 1: no path holds a NUL"):
        compile_pattern("a\0b")


@pytest.mark.parametrize(
    ("name", "matching", "other"),
    [
        ("[abc]x", "ax bx cx", "dx abcx [abc]x x"),
        ("[!abc]x", "dx !x éx", "ax x"),
        ("[a-c-]", "a b c -", "d"),
        ("[]]", "]", "[ a"),
        ("[!]]", "a", "]"),
        ("[a!]", "a !", "b"),
        ("[c-a]", "", "a b c -"),
        ("[!c-a]", "a b c -", "aa"),
        ("[^a]", "^ a", "b"),
        ("[\\d]", "\\ d", "1"),
        ("[&&~~||]", "& ~ |", "x"),
        ("?", "a é 日 .", "ab"),
        ("*", "a .hidden a.b", ""),
        ("*.rs", "a.rs .rs a.b.rs", "a.rs.bak a_rs"),
        ("*.[rs]s", "a.rs a.ss", "a.ts"),
        ("a*b*c", "abc axbxc", "abx"),
        ("{a,b}*", "{a,b} {a,b}c", "a b"),
        ("a.b*", "a.b a.bc", "axb"),
        ("[***]", "*", "a"),
    ],
)
def test_a_name(name: str, matching: str, other: str) -> None:
    matches = compile_pattern(name).components[0].matches
    assert matches is not None
    assert [one for one in f"{matching} {other}".split() if matches(one)] == matching.split()


@pytest.mark.parametrize(
    ("pattern", "root", "literals"),
    [
        ("./src//./a.rs", "", ["src", "a.rs"]),
        ("/src/../a.rs", "/", ["src", "..", "a.rs"]),
        ("**/**/a", "", [None, "a"]),
        (".", "", []),
        ("", "", []),
        ("{a,b}/]", "", ["{a,b}", "]"]),
    ],
)
def test_components(pattern: str, root: str, literals: list[str | None]) -> None:
    compiled = compile_pattern(pattern)
    assert (compiled.root, [component.literal for component in compiled.components]) == (root, literals)


@pytest.mark.parametrize(
    ("patterns", "matching", "other"),
    [
        (["target/**"], "target/a target/a/b", "target targets/a src/target/a"),
        (["target"], "target target/a target/a/b", "targets src/target"),
        (["**/target"], "target a/target/b a/b/target", "a/targets"),
        (["./a/*.rs", "b"], "a/x.rs a/x.rs/y b/c", "a/b/x.rs a/x.c"),
        (["/a/**/c"], "/a/c /a/b/c", "a/c"),
        (["**"], "a a/b", ""),
        (["a/[!b]c"], "a/xc", "a/bc a//c"),
        (["", "."], "", "a /a"),
        ([], "", "a"),
    ],
)
def test_any_of(patterns: list[str], matching: str, other: str) -> None:
    covers = match_any(map(compile_pattern, patterns))
    assert [one for one in f"{matching} {other}".split() if covers(one)] == matching.split()


def first_error(pattern: str) -> int | None:
    """Where a pattern goes wrong, read from left to right."""
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


@given(PATTERNS)
def test_errors_are_found_from_left_to_right(pattern: str) -> None:
    try:
        compile_pattern(pattern)
    except PatternError as error:
        position = int(error.message.split(":")[0].rsplit(" ", 1)[1])
        # A bracket that closes behind a slash is whole in the pattern, but in none of its names.
        wrong = [found for found in (first_error(pattern), split_bracket(pattern)) if found is not None]
        assert position == wrong[0]
    else:
        assert (first_error(pattern), split_bracket(pattern)) == (None, None)


def split_bracket(pattern: str) -> int | None:
    at = 0
    for name in pattern.split("/"):
        wrong = first_error(name)
        if wrong is not None:
            return at + wrong
        at += len(name) + 1
    return None
