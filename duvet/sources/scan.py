"""From source rules to the annotations of every file that they match."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from duvet import rules
from duvet.config.schema import SourceRule
from duvet.errors import DuvetError
from duvet.model import Annotation, Place, Problem
from duvet.sources.comments import Style, scan
from duvet.sources.globs import PatternError, compile_pattern, expand
from duvet.sources.tokens import has_any
from duvet.sources.tree import Tree
from duvet.text import decode

Report = Callable[[Problem], None]


class Wanted(Struct, frozen=True):
    """A file to read, in each style that a rule gives it."""

    path: str
    styles: tuple[Style, ...]


class Origin(Struct, frozen=True):
    """Where a pattern is written."""

    path: str = ""
    place: Place = Place()


def find_sources(given: Iterable[tuple[SourceRule, Origin]], tree: Tree, report: Report) -> list[Wanted]:
    """Every file that a rule matches, once, with every different style."""
    styles: dict[str, dict[Style, None]] = {}
    for rule, origin in given:
        style = Style(rule.meta, rule.content, rule.kind, rule.blob_link)
        for path in _matched(rule, origin, tree, report):
            styles.setdefault(path, {})[style] = None
    return [Wanted(path, tuple(found)) for path, found in styles.items()]


def _matched(rule: SourceRule, origin: Origin, tree: Tree, report: Report) -> Iterable[str]:
    view: Tree = tree
    if rule.gitignore:
        from duvet.sources.ignored import UnignoredTree

        view = UnignoredTree(tree)
    found = [path for pattern in rule.patterns for path in find_files(pattern, view, report, origin)]
    excluded = {path for pattern in rule.exclude for path in find_files(pattern, view, report, origin)}
    return [path for path in found if path not in excluded]


def find_files(pattern: str, tree: Tree, report: Report, origin: Origin) -> list[str]:
    """The paths that a pattern matches; a pattern that means nothing is a problem."""
    try:
        return expand(compile_pattern(pattern), tree, report)
    except PatternError as error:
        report(rules.CONFIG_BAD_PATTERN.problem(error.message, origin.path, origin.place, hint=error.hint))
    except DuvetError as error:
        report(unreadable(error))
    return []


def scan_file(wanted: Wanted, tree: Tree, report: Report) -> list[Annotation]:
    """The annotations of one file, in order where it has one style."""
    found: list[Annotation] = []
    try:
        data = tree.read(wanted.path)
        relevant = [style for style in wanted.styles if has_any(data, style.meta, style.content)]
        if not relevant and data.isascii():
            return found
        text = decode(data, wanted.path)
    except DuvetError as error:
        report(unreadable(error))
        return found
    for style in relevant:
        annotations, problems = scan(wanted.path, text, style)
        found += annotations
        for problem in problems:
            report(problem)
    return found


def unreadable(error: DuvetError) -> Problem:
    """The problem that a file can't be read."""
    rule = rules.FILE_NOT_UTF8 if error.line else rules.FILE_UNREADABLE
    return rule.problem(error.message, error.path, Place(error.line), hint=error.hint)
