"""Finds a project's source files, and reads their annotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from msgspec import Struct

from duvet import rules
from duvet.config.settings import SourceRule
from duvet.errors import DuvetError
from duvet.model import Annotation, Place, Problem
from duvet.sources.comments import SourceStyle, scan_comments
from duvet.sources.glob import PathPattern, PatternError, compile_pattern, expand_pattern, make_path_start, match_any
from duvet.text import WHITESPACE, decode_utf8, find_place, path_key, quote_text
from duvet.tree.files import IS_FOLDER, FolderMembership, Tree, TreeEntry, is_folder


class FilteredTree:
    def __init__(self, tree: Tree, hides: Callable[[str, bool], object]) -> None:
        """`hides(path, is_folder)` must also hide the content of a hidden folder."""
        self.tree = tree
        self.hides = hides

    def read(self, path: str) -> bytes:
        return self.tree.read(path)

    def is_file(self, path: str) -> bool:
        return self.tree.is_file(path) and not self.hides(path, False)

    def exists(self, path: str) -> bool:
        return self.tree.exists(path) and not self.hides(path, False)

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        start = make_path_start(folder)
        for entry in self.tree.entries(folder):
            if not self.hides(start + entry.name, is_folder(entry)):
                yield entry

    def identity(self, folder: str) -> object:
        return self.tree.identity(folder)


ProblemReporter = Callable[[Problem], None]

_FOLDER_HINT = "write a pattern that matches files, such as `src/**/*.rs`; `src/**` matches only folders"


class RuleOrigin(Struct, frozen=True):
    path: str = ""
    place: Callable[[str, int], Place] = lambda key, index: Place()  # The place of a value of one of the rule's keys.


class UnreadCitation(Struct, frozen=True):
    """Lines of a file that look like targets in a comment style that duvet does not read there."""

    mark: str  # The sign that begins the line, such as `//=`.
    targets: tuple[str, ...]  # All such targets with this sign.
    places: tuple[Place, ...]


class ScannedFile(Struct, frozen=True):
    annotations: list[Annotation]
    problems: list[Problem] = []
    unread: list[UnreadCitation] = []


def find_sources(
    patterns: Iterable[tuple[SourceRule, RuleOrigin]],
    tree: Tree,
    root: str,
    report: ProblemReporter,
    within: Callable[[Tree], Tree] | None = None,
    unmatched: ProblemReporter | None = None,
) -> dict[str, tuple[SourceStyle, ...]]:
    """Return every path that the rules match, including folders; `within` narrows the tree for each rule."""
    styles: dict[str, dict[SourceStyle, None]] = {}
    for rule, origin in patterns:
        style = SourceStyle(rule.meta, rule.content, rule.kind, rule.blob_link)
        view = _exclude(rule, origin, tree, root, report)
        view = within(view) if within else view
        found = {
            index: expand_pattern(pattern, view, report)
            for index, pattern in _compile("pattern", rule.patterns, report, origin)
        }
        for path in chain.from_iterable(found.values()):
            styles.setdefault(path, {})[style] = None
        if unmatched is None:
            continue
        missing = {index: quote_text(rule.patterns[index]) for index, paths in found.items() if not paths}
        hint = f"correct the pattern, or remove {'it' if len(rule.patterns) > 1 else 'the table'}"
        if missing and (rule.language or len(rule.patterns) > 1):
            from duvet.config.languages import Language

            # Few projects contain every kind of file that a language has.
            if any(rule.patterns == language.patterns for language in Language):
                missing = {0: ", ".join(missing.values())} if len(missing) == len(found) else {}
                hint = "correct `language`, or remove the table" if rule.language else hint
        for index, names in missing.items():
            place, message = origin.place("pattern", index), f"no file matches {names}"
            fitting = _FOLDER_HINT if rule.patterns[index].endswith("**") else hint
            unmatched(rules.PATTERN_UNMATCHED.problem(message, origin.path, place, hint=fitting))
    return {path: tuple(found) for path, found in styles.items()}


def _exclude(rule: SourceRule, origin: RuleOrigin, tree: Tree, root: str, report: ProblemReporter) -> Tree:
    view = tree
    ##= man/spec/trace.md#sources
    ##% duvet MUST skip the files that `exclude` matches and, with `gitignore`, the files that git ignores.
    if rule.exclude:
        excluded = match_any(pattern for _, pattern in _compile("exclude", rule.exclude, report, origin))
        view = FilteredTree(view, lambda path, is_folder: excluded(path))
    if rule.gitignore:
        from duvet.sources.gitignore import IgnoredPaths

        view = FilteredTree(view, IgnoredPaths(tree, root).hides)
    return view


def find_matching_files(
    key: str, patterns: Iterable[str], tree: Tree, report: ProblemReporter, origin: RuleOrigin
) -> list[str]:
    return [
        path for _, pattern in _compile(key, patterns, report, origin) for path in expand_pattern(pattern, tree, report)
    ]


def _compile(
    key: str, patterns: Iterable[str], report: ProblemReporter, origin: RuleOrigin
) -> Iterator[tuple[int, PathPattern]]:
    for index, pattern in enumerate(patterns):
        try:
            yield index, compile_pattern(pattern)
        except PatternError as error:
            place = origin.place(key, index)
            report(rules.CONFIG_BAD_PATTERN.problem(error.message, origin.path, place, hint=error.hint))


def scan_file(
    path: str, styles: Sequence[SourceStyle], tree: Tree, specifications: Sequence[bytes] = ()
) -> ScannedFile:
    data = tree.read(path)
    # The search for a name is many times faster than that for targets.
    found = ScannedFile([], [], [])
    if any(name in data for name in specifications):
        found.unread.extend(find_unread_citations(path, data, styles))
    # Most files contain no prefix, and need not be parsed.
    relevant = [one for one in styles if one.meta.encode() in data or one.content.encode() in data]
    if not relevant and data.isascii():
        return found
    text = decode_utf8(data, path)
    for style in relevant:
        annotations, problems = scan_comments(path, text, style)
        found.annotations.extend(annotations)
        found.problems.extend(problems)
    return found


def make_unreadable_problem(error: DuvetError) -> Problem:
    rule = rules.find_broken_rule(error)
    hint = "write a pattern that does not match it" if rule is rules.FILE_NOT_REGULAR else error.hint
    hint = _FOLDER_HINT if error.message == IS_FOLDER else hint
    return rule.problem(error.message, error.path, Place(error.line), hint=hint)


class InnerTree(FilteredTree):
    def __init__(self, tree: Tree, inside: FolderMembership, report: Callable[[str], None]) -> None:
        super().__init__(tree, lambda path, is_folder: False)
        self.inside = inside
        self.report = report

    def entries(self, folder: str) -> Iterator[TreeEntry]:
        if not self.inside.has_folder(folder):
            self.report(folder)
            return
        start = make_path_start(folder)
        for entry in self.tree.entries(folder):
            if is_folder(entry):
                path = start + entry.name
                if not entry.is_symlink():
                    self.inside.folders[path] = True
                elif not self.inside.has_folder(path):
                    self.report(path)
                    continue
            yield entry


def order_annotations(by_path: dict[str, list[Annotation]]) -> tuple[Annotation, ...]:
    found: list[Annotation] = []
    for path in sorted(by_path, key=path_key):
        own = by_path[path]
        # Most files are already in order, without two annotations on one line.
        is_ordered = all(one.line < other.line for one, other in pairwise(own))
        found += own if is_ordered else sorted(dict.fromkeys(own), key=_sort_key)
    return tuple(found)


def _sort_key(one: Annotation) -> tuple[object, ...]:
    place = (one.line, *one.source.target, *one.source.text, *one.source.quote)
    fields = (one.kind, one.level, one.reason, one.feature, one.tracking_issue, one.tags)
    return (*place, *fields, one.blob_link is not None, one.blob_link or "")


_TARGET_AT_END = (
    # The name of a specification contains a dot or a slash; the section may be missing.
    r"[ \t]*(?:source[ \t]*=[ \t]*)?(?=[^\s\"'`(){};,=#<>|&./]*+[./#])([^\s\"'`(){};,=#<>|&]++(?:#[^\s\"'`(){};,]++)?)"
    r"[ \t]*(?:\*+[/)]|-->)?[ \t]*\r?(?:\n|\Z)"
)
_COMMENT_SIGN = r"(?i)(?:[^\w\s\"'`]{1,8}|@?rem|REM|dnl)[ \t]?"


@lru_cache
def _compile_unread(metas: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[bytes], re.Pattern[str]]:
    # A search for the equals sign is fast, and few lines with other signs end with a target.
    known = "".join(rf"(?<!\s{re.escape(meta)})" for meta in metas if meta.endswith("="))
    expression = f"={known}{_TARGET_AT_END}"
    return re.compile(expression), re.compile(expression.encode()), re.compile(_COMMENT_SIGN)


def find_unread_citations(path: str, data: bytes, styles: Sequence[SourceStyle]) -> list[UnreadCitation]:
    in_text, in_bytes, sign_of_comment = _compile_unread(tuple(style.meta for style in styles))
    if not in_bytes.search(data):
        return []
    text = data.decode(errors="replace")
    known = tuple(sign for style in styles for sign in (style.meta, style.content) if sign)
    found: dict[str, list[tuple[str, Place]]] = {}
    for match in in_text.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        before = text[start : match.start()].lstrip(WHITESPACE)
        line = text[match.start() - len(before) : match.end()]
        if sign_of_comment.fullmatch(before) and not line.startswith(known):
            place = find_place(text, match.start() - len(before), match.end(1))
            found.setdefault(f"{before}=", []).append((match[1], place))
    if not found:
        return []
    from duvet.sources.literals import find_lines_in_literals

    lines = sorted(place.line for places in found.values() for _, place in places)
    literal = set(find_lines_in_literals(path, text, lines))
    kept = {mark: [one for one in places if one[1].line not in literal] for mark, places in found.items()}
    return [UnreadCitation(mark, *map(tuple, zip(*places, strict=True))) for mark, places in kept.items() if places]
