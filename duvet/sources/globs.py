"""Patterns for paths, with the semantics of Rust's glob crate, which awslabs duvet uses.

`*` and `?` also match leading dots, `**` is a whole component, braces mean themselves, and folders behind
links are entered; unlike there, a folder that holds itself is entered once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Problem
from duvet.sources.tree import Tree

_NAME = re.compile(r"[^/]+")
_SPECIAL = re.compile(r"[*?\[]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SUFFIX_ONLY = re.compile(r"\*([^*?\[\]]+)")
_CLASS = re.compile(r"\[(?:!([^\0][^]]*)|([^!\0][^]]*))\]", re.DOTALL)

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


class Pattern(Struct, frozen=True):
    """A compiled pattern."""

    text: str
    root: str
    components: tuple[Component, ...]


def compile_pattern(text: str) -> Pattern:
    """The pattern, or PatternError with upstream's words."""
    _check(text)
    root = "/" if text.startswith("/") else ""
    names = (found for found in _NAME.finditer(text) if found[0] != ".")
    return Pattern(text, root, tuple(_component(found[0], text, found.start()) for found in names))


def _check(text: str) -> None:
    for run in re.finditer(r"\*{2,}", text):
        start, end = run.span()
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
        return Component(literal=name)
    suffix = _SUFFIX_ONLY.fullmatch(name)
    if suffix:
        ending = suffix[1]
        return Component(matches=lambda name: name.endswith(ending))
    return Component(matches=re.compile(_expression(name, pattern, offset), re.DOTALL).fullmatch)


def _expression(name: str, pattern: str, offset: int) -> str:
    parts: list[str] = []
    at = 0
    while at < len(name):
        char = name[at]
        if char == "[":
            found = _CLASS.match(name, at)
            if not found:
                raise PatternError(pattern, offset + at, "invalid range pattern")
            parts.append(_character_class(found[1] or found[2], negated=found[1] is not None))
            at = found.end()
        else:
            parts.append({"*": ".*", "?": "."}.get(char) or re.escape(char))
            at += 1
    return "".join(parts)


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
        return "." if negated else r"(?!)"
    return f"[{'^' if negated else ''}{''.join(choices)}]"


def expand(pattern: Pattern, tree: Tree, report: Callable[[Problem], None]) -> list[str]:
    """Every path that the pattern matches, folders too, sorted; `report` hears of what could not be entered."""
    found = set(_Walk(tree, pattern.components, report).below(pattern.root, 0))
    if not any(map(_is_odd, found)):
        return sorted(found)
    for path in filter(_is_odd, found):
        shown = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
        report(rules.FILE_ODD_NAME.problem("the name of this file is not UTF-8, so it is not read", shown))
    return sorted(path for path in found if not _is_odd(path))


def _is_odd(path: str) -> bool:
    return not path.isascii() and bool(_SURROGATE.search(path))


class _Walk:
    def __init__(self, tree: Tree, components: tuple[Component, ...], report: Callable[[Problem], None]) -> None:
        self.tree = tree
        self.components = components
        self.report = report

    def below(self, folder: str, index: int) -> Iterator[str]:
        """The matches in a folder for the components from index on."""
        component = self.components[index] if index < len(self.components) else None
        if component is None:
            return
        if component.literal is not None:
            yield from self._literal(folder, component.literal, index)
        elif component.matches is not None:
            yield from self._listed(folder, component.matches, index)
        else:
            yield from self._recursive(folder, index, ())

    def _literal(self, folder: str, name: str, index: int) -> Iterator[str]:
        path = _join(folder, name)
        if index + 1 < len(self.components):
            yield from self.below(path, index + 1)
        elif self.tree.exists(path):
            yield path

    def _listed(self, folder: str, matches: Matches, index: int) -> Iterator[str]:
        last = index + 1 == len(self.components)
        for entry in self.tree.entries(folder):
            if matches(entry.name):
                path = _join(folder, entry.name)
                if last:
                    yield path
                elif entry.is_dir():
                    yield from self.below(path, index + 1)

    def _recursive(self, folder: str, index: int, above: tuple[object, ...]) -> Iterator[str]:
        rest = index + 1
        while rest < len(self.components) and self.components[rest] == Component():
            rest += 1
        if rest == len(self.components):
            yield from self._folders(folder, above)
            return
        last = self.components[rest].matches if rest + 1 == len(self.components) else None
        if last is None:
            yield from self.below(folder, rest)
        for entry in self.tree.entries(folder):
            name = entry.name
            if last is not None and last(name):
                yield _join(folder, name)
            if entry.is_dir():
                path = _join(folder, name)
                inside = self._entered(folder, path, entry.is_symlink(), above)
                if inside is not None:
                    yield from self._recursive(path, index, inside)

    def _folders(self, folder: str, above: tuple[object, ...]) -> Iterator[str]:
        for entry in self.tree.entries(folder):
            if entry.is_dir():
                path = _join(folder, entry.name)
                inside = self._entered(folder, path, entry.is_symlink(), above)
                if inside is not None:
                    yield path
                    yield from self._folders(path, inside)

    def _entered(self, folder: str, path: str, is_link: bool, above: tuple[object, ...]) -> tuple[object, ...] | None:
        """The folders around what is in the path; None where the path leads back into one of them."""
        if not is_link and not above:
            return above
        around = above or self._ancestors(folder)
        identity = self.tree.identity(path)
        if identity in around:
            self.report(rules.LINK_LOOP.problem("this link leads back to a folder around it; it is not entered", path))
            return None
        return (*around, identity)

    def _ancestors(self, folder: str) -> tuple[object, ...]:
        absolute = folder.startswith("/")
        parts = [part for part in folder.split("/") if part]
        prefixes = ["/" if absolute else ""]
        for part in parts:
            prefixes.append(_join(prefixes[-1], part))
        return tuple(self.tree.identity(prefix) for prefix in prefixes)


def _join(folder: str, name: str) -> str:
    return f"{folder}{name}" if not folder or folder.endswith("/") else f"{folder}/{name}"
