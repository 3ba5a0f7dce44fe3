"""Glob patterns with the syntax and error messages of Rust's glob crate, which awslabs duvet uses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from msgspec import Struct

from duvet import rules
from duvet.config.settings import SourceRule
from duvet.errors import DuvetError
from duvet.model import Problem
from duvet.tree.files import Tree, TreeEntry, is_folder
from duvet.tree.outputs import is_unfinished

_NAME = re.compile(r"[^/]+")
_SPECIAL = re.compile(r"[*?\[]")
_SUFFIX_ONLY = re.compile(r"\*([^*?\[\]]+)")
_CLASS = r"\[(?:!(?P<none>.[^]]*)|(?P<one>[^!][^]]*))\]"
_MARK = re.compile(rf"{_CLASS}|(?P<stars>\*\*+)|(?P<open>\[)|(?P<nul>\0)", re.DOTALL)
_TOKEN = re.compile(rf"{_CLASS}|(?P<star>\*)|(?P<any>\?)|(?P<open>\[)|[^*?[]+", re.DOTALL)

PathPredicate = Callable[[str], object]


class PatternError(DuvetError):
    def __init__(self, pattern: str, position: int, reason: str) -> None:
        hint = f"check `{pattern}`: `*` and `?` match within one name, `**` matches whole folders, `[abc]` matches one character"
        if "\0" in pattern:
            hint = "remove the NUL character"
        super().__init__(f"Pattern syntax error near position {position}: {reason}", hint=hint)


class PatternComponent(Struct, frozen=True):
    literal: str | None = None
    matches: PathPredicate | None = None
    expression: str = ""  # A regular expression for the name.

    @property
    def is_recursive(self) -> bool:
        return self.literal is None and self.matches is None


class PathPattern(Struct, frozen=True):
    root: str
    components: tuple[PatternComponent, ...]
    wants_folders: bool  # The pattern ends with a slash, so that it matches no file.
    dots: tuple[int, ...] = ()  # For each inner `.`, the index of the component behind it; negative from the end.


def compile_pattern(text: str) -> PathPattern:
    for mark in _MARK.finditer(text):
        start, end = mark.span()
        if mark["nul"]:
            raise PatternError(text, start, "paths can't contain NUL characters")
        if mark["open"]:
            raise PatternError(text, start, "invalid range pattern")
        if mark["stars"]:
            if end - start > 2:
                raise PatternError(text, start + 2, "wildcards are either regular `*` or recursive `**`")
            if start and text[start - 1] != "/":
                raise PatternError(text, start - 1, "recursive wildcards must form a single path component")
            if end < len(text) and text[end] != "/":
                raise PatternError(text, end, "recursive wildcards must form a single path component")
    components: list[PatternComponent] = []
    dots: list[int] = []
    for found in _NAME.finditer(text):
        if found[0] == ".":
            dots += [len(components)] if components or text.startswith("/") else []
            continue
        component = _parse_component(found[0], text, found.start())
        if not (component.is_recursive and components and components[-1].is_recursive):
            components.append(component)
    anchored = []
    for index in dots:
        if not any(one.is_recursive for one in components[:index]):
            anchored.append(index)
        # A `.` between two recursive components, or directly after one, is left out.
        elif index < len(components) and not any(one.is_recursive for one in components[index - 1 :]):
            anchored.append(index - len(components))
    root = "/" if text.startswith("/") else ""
    return PathPattern(root, tuple(components), text.endswith("/"), tuple(anchored))


def spell_paths(patterns: Iterable[str], paths: Iterable[str]) -> dict[str, str]:
    """Return awslabs duvet's spelling, such as `src/./main.rs`, of paths whose first matching pattern has `/./`."""
    rest, spelled = dict.fromkeys(paths), dict[str, str]()
    for text in patterns if rest else ():
        with suppress(PatternError):
            pattern = compile_pattern(text)
            for path in filter(match_any([pattern]), [*rest]):
                del rest[path]
                if pattern.dots:
                    parts = path.removeprefix(pattern.root).split("/")
                    behind = [index if index >= 0 else index + len(parts) for index in pattern.dots]
                    for index in sorted(behind, reverse=True):
                        parts.insert(index, ".")
                    spelled[path] = pattern.root + "/".join(parts)
    return spelled


def match_any(patterns: Iterable[PathPattern]) -> PathPredicate:
    """Return a function that tests whether one of the patterns matches a path or a folder that contains it."""
    expressions = []
    for pattern in patterns:
        if pattern.components:
            *folders, last = pattern.components
            inner = "".join(["(?:.*/)?" if one.is_recursive else f"{one.expression}/" for one in folders])
            expressions.append(f"{pattern.root}{inner}{'.+' if last.is_recursive else last.expression}(?:/.*)?")
    return re.compile("|".join(expressions) or "(?!)", re.DOTALL).fullmatch


def _parse_component(name: str, pattern: str, offset: int) -> PatternComponent:
    if name == "**":
        return PatternComponent()
    if not _SPECIAL.search(name):
        return PatternComponent(literal=name, expression=re.escape(name))
    expression = ""
    for token in _TOKEN.finditer(name):
        if token["open"]:
            # The closing bracket is after a slash.
            raise PatternError(pattern, offset + token.start(), "invalid range pattern")
        if token["star"] or token["any"]:
            expression += "[^/]*" if token["star"] else "[^/]"
        elif token["one"] or token["none"]:
            choices = ""
            for low, high in re.findall(r"(.)(?:-(.))?", token["one"] or token["none"], re.DOTALL):
                if not high:
                    choices += re.escape(low)
                elif low <= high:
                    choices += f"{re.escape(low)}-{re.escape(high)}"
            is_negated = token["none"] is not None
            if choices:
                expression += f"(?!/)[{'^' if is_negated else ''}{choices}]"
            else:
                expression += "[^/]" if is_negated else "(?!)"
        else:
            expression += re.escape(token[0])
    suffix = _SUFFIX_ONLY.fullmatch(name)
    if suffix:
        ending = suffix[1]
        return PatternComponent(matches=lambda name: name.endswith(ending), expression=expression)
    return PatternComponent(matches=re.compile(expression, re.DOTALL).fullmatch, expression=expression)


_END = re.compile(r"(?<=[^/])(?:/|\Z)")


def expand_pattern(pattern: PathPattern, tree: Tree, report: Callable[[Problem], None]) -> list[str]:
    found = _Walk(tree, pattern.components, report).run(pattern.root)
    if pattern.wants_folders:
        found = {path for path in found if not tree.is_file(path)}
    odd = {path for path in found if not path.isascii() and re.search("[\ud800-\udfff]", path)}
    for path in odd:
        printable = path.encode(errors="surrogateescape").decode(errors="backslashreplace")
        report(rules.FILE_ODD_NAME.problem("duvet skips this file, because its name is not UTF-8", printable))
    return sorted(found - odd)


class _Walk:
    """Walks folders with an explicit stack, because a tree may be deeper than Python's recursion limit."""

    def __init__(self, tree: Tree, components: tuple[PatternComponent, ...], report: Callable[[Problem], None]) -> None:
        self.tree = tree
        self.components = components
        self.report = report
        self.found: set[str] = set()
        self.todo: list[tuple[str, int, tuple[object, ...]]] = []
        """A folder, the component to look for in it, and the folders around it if it was reached through a link."""
        self.linked: set[object] = set()  # The folders that links point to.
        self.looped: set[object] = set()
        """The links that point back to a folder that contains them, by folder and name."""

    def run(self, root: str) -> set[str]:
        if self.components:
            self.todo.append((root, 0, ()))
        while self.todo:
            folder, index, above = self.todo.pop()
            component = self.components[index]
            is_last = index + 1 == len(self.components)
            start = make_path_start(folder)
            if component.is_recursive:
                self._match_any_depth(folder, index, above)
            elif component.literal is not None:
                path = start + component.literal
                if not is_last:
                    self.todo.append((path, index + 1, ()))
                elif self.tree.exists(path):
                    self.found.add(path)
            elif component.matches is not None:
                names = [entry for entry in self._list_entries(folder) if component.matches(entry.name)]
                if is_last:
                    self.found.update(start + entry.name for entry in names)
                else:
                    self.todo += [(start + entry.name, index + 1, ()) for entry in names if is_folder(entry)]
        return self.found

    def _match_any_depth(self, folder: str, index: int, above: tuple[object, ...]) -> None:
        ##= man/spec/trace.md#sources
        ##% In a pattern, duvet MUST match `**` with any number of folders, including hidden folders and links to
        ##% folders, but MUST NOT follow a link in circles.
        rest = self.components[index + 1 :]
        test = rest[0].matches if len(rest) == 1 else None
        if rest and test is None:
            self.todo.append((folder, index + 1, ()))
        start = make_path_start(folder)
        folders: list[tuple[str, bool]] = []
        for entry in self._list_entries(folder):
            if test is not None and test(entry.name):
                self.found.add(start + entry.name)
            if is_folder(entry):
                folders.append((start + entry.name, entry.is_symlink()))
        # Sort, because the first link to a folder determines where the folder is entered.
        for path, is_link in sorted(folders):
            inside = self._enter(folder, path, is_link, above)
            if inside is not None:
                self.todo.append((path, index, inside))
                if not rest:
                    self.found.add(path)

    def _list_entries(self, folder: str) -> Iterator[TreeEntry]:
        try:
            for entry in self.tree.entries(folder):
                if not is_unfinished(entry.name):
                    yield entry
        except DuvetError as error:
            self._report_unreadable(error)

    def _enter(self, folder: str, path: str, is_link: bool, above: tuple[object, ...]) -> tuple[object, ...] | None:
        if not is_link and not above:
            return above
        try:
            root = "/" if folder.startswith("/") else ""
            folders = [root, *(folder[: end.start()] for end in _END.finditer(folder))]
            around = above or tuple(map(self.tree.identity, folders))
            identity = self.tree.identity(path)
        except DuvetError as error:
            self._report_unreadable(error)
            return None
        if identity in around:
            link = (around[-1], path.rpartition("/")[2])
            # A link is reported once, however many paths lead to it.
            if link not in self.looped:
                self.looped.add(link)
                message = "this link points back to a parent folder, so duvet does not follow it"
                self.report(rules.LINK_LOOP.problem(message, path))
            return None
        # Behind a link, a folder that another link has led to is not entered again: packages that link to one another
        # would be walked in every order.
        if is_link and above and identity in self.linked:
            return None
        if is_link:
            self.linked.add(identity)
        return (*around, identity)

    def _report_unreadable(self, error: DuvetError) -> None:
        self.report(rules.FILE_UNREADABLE.problem(error.message, error.path))


def make_path_start(folder: str) -> str:
    return f"{folder}/" if folder and not folder.endswith("/") else folder


def parse_legacy_pattern(pattern: str) -> SourceRule:
    if not pattern.startswith("("):
        return SourceRule(patterns=(pattern,))
    style, bracket, glob = pattern[1:].partition(")")
    prefixes = [part for part in style.split(",") if part]
    if not bracket or len(prefixes) < 2:
        raise DuvetError(
            f"the comment style of the source pattern `{pattern}` is incomplete",
            hint="write it as (META,CONTENT)GLOB, for example '(*=,*#)src/**/*.c'",
        )
    return SourceRule(patterns=(glob,), meta=prefixes[0], content=prefixes[1])
