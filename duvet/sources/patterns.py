"""Patterns for paths, with the syntax of Rust's glob crate, which awslabs duvet uses.

`*` and `?` also match leading dots, `**` is a whole component, and braces mean themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from duvet.errors import DuvetError

_NAME = re.compile(r"[^/]+")
_SPECIAL = re.compile(r"[*?\[]")
_SUFFIX_ONLY = re.compile(r"\*([^*?\[\]]+)")
_CLASS = r"\[(?:!(?P<none>.[^]]*)|(?P<one>[^!][^]]*))\]"
_MARK = re.compile(rf"{_CLASS}|(?P<stars>\*\*+)|(?P<open>\[)|(?P<nul>\0)", re.DOTALL)
_TOKEN = re.compile(rf"{_CLASS}|(?P<star>\*)|(?P<any>\?)|(?P<open>\[)|[^*?[]+", re.DOTALL)

Matches = Callable[[str], object]


class PatternError(DuvetError):
    """A pattern that means nothing."""

    def __init__(self, pattern: str, position: int, reason: str) -> None:
        super().__init__(
            f"Pattern syntax error near position {position}: {reason}",
            hint=f"`{pattern}`: * and ? stay within a folder, ** is a whole folder name, [abc] is one character",
        )


class Component(Struct, frozen=True):
    """One folder or file name of a pattern: a literal, a test, or (with neither) any number of folders."""

    literal: str | None = None
    matches: Matches | None = None
    expression: str = ""
    """What a name has to be, as a regular expression."""

    @property
    def is_recursive(self) -> bool:
        return self.literal is None and self.matches is None


class Pattern(Struct, frozen=True):
    """A compiled pattern."""

    root: str
    components: tuple[Component, ...]
    wants_folders: bool
    """It ends with a slash, so that no file matches."""


def compile_pattern(text: str) -> Pattern:
    """The pattern, or PatternError with upstream's words."""
    _check(text)
    names = (found for found in _NAME.finditer(text) if found[0] != ".")
    components: list[Component] = []
    for found in names:
        component = _component(found[0], text, found.start())
        if not (component.is_recursive and components and components[-1].is_recursive):
            components.append(component)
    return Pattern("/" if text.startswith("/") else "", tuple(components), text.endswith("/"))


def any_of(patterns: Iterable[Pattern]) -> Matches:
    """A test for the paths that a pattern matches, and for all that is in folders that it matches."""
    return re.compile("|".join(map(_path_expression, patterns)) or "(?!)", re.DOTALL).fullmatch


def _check(text: str) -> None:
    for mark in _MARK.finditer(text):
        start, end = mark.span()
        if mark["nul"]:
            raise PatternError(text, start, "no path holds a NUL")
        if mark["open"]:
            raise PatternError(text, start, "invalid range pattern")
        if mark["stars"]:
            if end - start > 2:
                raise PatternError(text, start + 2, "wildcards are either regular `*` or recursive `**`")
            if start and text[start - 1] != "/":
                raise PatternError(text, start - 1, "recursive wildcards must form a single path component")
            if end < len(text) and text[end] != "/":
                raise PatternError(text, end, "recursive wildcards must form a single path component")


def _component(name: str, pattern: str, offset: int) -> Component:
    if name == "**":
        return Component()
    if not _SPECIAL.search(name):
        return Component(literal=name, expression=re.escape(name))
    expression = "".join([_translated(token, pattern, offset) for token in _TOKEN.finditer(name)])
    suffix = _SUFFIX_ONLY.fullmatch(name)
    if suffix:
        ending = suffix[1]
        return Component(matches=lambda name: name.endswith(ending), expression=expression)
    return Component(matches=re.compile(expression, re.DOTALL).fullmatch, expression=expression)


def _translated(token: re.Match[str], pattern: str, offset: int) -> str:
    match token.lastgroup:
        case "star":
            return "[^/]*"
        case "any":
            return "[^/]"
        case "one" | "none":
            return _character_class(token["one"] or token["none"], negated=token["none"] is not None)
        case "open":
            # The bracket that closes it is behind a slash.
            raise PatternError(pattern, offset + token.start(), "invalid range pattern")
    return re.escape(token[0])


def _character_class(inside: str, *, negated: bool) -> str:
    choices: list[str] = []
    at = 0
    while at < len(inside):
        if at + 2 < len(inside) and inside[at + 1] == "-":
            low, high = inside[at], inside[at + 2]
            choices += [f"{re.escape(low)}-{re.escape(high)}"] if low <= high else []
            at += 3
        else:
            choices.append(re.escape(inside[at]))
            at += 1
    if not choices:
        return "[^/]" if negated else "(?!)"
    return f"(?!/)[{'^' if negated else ''}{''.join(choices)}]"


def _path_expression(pattern: Pattern) -> str:
    if not pattern.components:
        return "(?!)"
    *folders, last = pattern.components
    inner = "".join(["(?:.*/)?" if one.is_recursive else f"{one.expression}/" for one in folders])
    return f"{pattern.root}{inner}{'.+' if last.is_recursive else last.expression}(?:/.*)?"
