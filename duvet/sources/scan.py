"""From source rules to the annotations of every file that they match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from duvet import rules
from duvet.config.schema import SourceRule
from duvet.errors import DuvetError
from duvet.model import Annotation, Place, Problem
from duvet.sources.comments import scan
from duvet.sources.filtered import FilteredTree
from duvet.sources.globs import expand
from duvet.sources.patterns import Pattern, PatternError, any_of, compile_pattern
from duvet.sources.runs import has_any
from duvet.sources.style import Style
from duvet.text import decode
from duvet.tree.protocol import Tree

Report = Callable[[Problem], None]

_FOLDER_HINT = "patterns have to name files: `src/**` is all folders in src, `src/**/*.rs` the files in them"


class Wanted(Struct, frozen=True):
    """A file to read, in each style that a rule gives it."""

    path: str
    styles: tuple[Style, ...]


class Origin(Struct, frozen=True):
    """Where a rule is written."""

    path: str = ""
    place: Callable[[str, int], Place] = lambda key, index: Place()
    """Where a value of one of its keys stands."""


class Scanned(Struct, frozen=True):
    """What stands in a file, and what is wrong with it."""

    annotations: list[Annotation]
    problems: list[Problem] = []


def find_sources(
    given: Iterable[tuple[SourceRule, Origin]],
    tree: Tree,
    root: str,
    report: Report,
    within: Callable[[Tree], Tree] | None = None,
) -> list[Wanted]:
    """Every file that a rule matches, once, with every different style; `within` leaves more out of what it lets see."""
    styles: dict[str, dict[Style, None]] = {}
    for rule, origin in given:
        style = Style(rule.meta, rule.content, rule.kind, rule.blob_link)
        view = _view(rule, origin, tree, root, report)
        seen = within(view) if within else view
        for path in find_files("pattern", rule.patterns, seen, report, origin):
            ##= man/spec/trace.md#sources
            ##% A file that several patterns match MUST be read once in each different style.
            styles.setdefault(path, {})[style] = None
    return [Wanted(path, tuple(found)) for path, found in styles.items()]


def _view(rule: SourceRule, origin: Origin, tree: Tree, root: str, report: Report) -> Tree:
    """What the rule lets its patterns see."""
    view = tree
    ##= man/spec/trace.md#sources
    ##% With `exclude`, the files that these patterns match MUST be left out, and all that is in folders that they
    ##% match.
    if rule.exclude:
        excluded = any_of(_compiled("exclude", rule.exclude, report, origin))
        view = FilteredTree(view, lambda path, is_folder: excluded(path))
    ##= man/spec/trace.md#sources
    ##% With `gitignore`, the files that git ignores MUST be left out.
    if rule.gitignore:
        from duvet.sources.ignored import Ignored

        view = FilteredTree(view, Ignored(tree, root).hides)
    return view


def find_files(key: str, patterns: Iterable[str], tree: Tree, report: Report, origin: Origin) -> list[str]:
    """The paths that patterns match; a pattern that means nothing is a problem where it is written."""
    return [path for pattern in _compiled(key, patterns, report, origin) for path in expand(pattern, tree, report)]


def _compiled(key: str, patterns: Iterable[str], report: Report, origin: Origin) -> Iterator[Pattern]:
    for index, pattern in enumerate(patterns):
        try:
            yield compile_pattern(pattern)
        except PatternError as error:
            place = origin.place(key, index)
            report(rules.CONFIG_BAD_PATTERN.problem(error.message, origin.path, place, hint=error.hint))


def scan_file(wanted: Wanted, tree: Tree) -> Scanned:
    """The annotations of one file, in order where it has one style; a DuvetError where it can't be read."""
    data = tree.read(wanted.path)
    found = Scanned([], [])
    relevant = [style for style in wanted.styles if has_any(data, style.meta, style.content)]
    if not relevant and data.isascii():
        return found
    text = decode(data, wanted.path)
    for style in relevant:
        annotations, problems = scan(wanted.path, text, style)
        found.annotations.extend(annotations)
        found.problems.extend(problems)
    return found


def unreadable(error: DuvetError) -> Problem:
    """The problem that a file that a pattern matches can't be read."""
    rule = rules.broken_by(error)
    hint = _FOLDER_HINT if rule is rules.FILE_NOT_REGULAR else error.hint
    return rule.problem(error.message, error.path, Place(error.line), hint=hint)
