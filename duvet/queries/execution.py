"""Determines from coverage reports whether the code below annotations ran."""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from heapq import heappop, heappush
from itertools import accumulate

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.model import Annotation
from duvet.sources import java
from duvet.sources.coverage_report import LineHits
from duvet.text import WHITESPACE, decode_utf8
from duvet.tree.files import Tree


class Outcome(Enum):
    EXECUTED = "executed"
    NOT_EXECUTED = "not executed"
    STRUCTURAL = "structural"  # There is no code to execute.
    UNKNOWN = "unknown"


class Execution(Struct, frozen=True):
    outcome: Outcome
    line: int = 0  # The line that makes an outcome unknown; 0 if the file ends.

    @property
    def is_executed(self) -> bool:
        return self.outcome is Outcome.EXECUTED


_EXECUTED, _NOT_EXECUTED, _STRUCTURAL = (
    Execution(outcome) for outcome in (Outcome.EXECUTED, Outcome.NOT_EXECUTED, Outcome.STRUCTURAL)
)
LineRange = tuple[int, int]  # The first and the last line of an annotation.
LineJudge = Callable[[LineRange], Execution]  # Returns whether the code below an annotation ran, by one report.


class DirectModel:
    """A file without a parser for its language."""

    def __init__(self, text: str, annotated: Iterable[LineRange]) -> None:
        lines = java.split_source_lines(text)
        skipped = {line for first, last in annotated for line in range(first, last + 1)}
        self._below = [0] * (len(lines) + 2)  # For each line, the first line of code at or below it.
        for line in range(len(lines), 0, -1):
            is_code = line not in skipped and lines[line - 1].strip(WHITESPACE)
            self._below[line] = line if is_code else self._below[line + 1]

    def apply(self, hits: LineHits) -> LineJudge:
        return partial(self._judge, hits)

    def _judge(self, hits: LineHits, lines: LineRange) -> Execution:
        ##= man/spec/query.md#executed-lines
        ##% Except in Java files, an annotation MUST count as executed if the next line below it that is neither blank
        ##% nor an annotation was executed.
        line = self._below[min(lines[1] + 1, len(self._below) - 1)]
        if not line or line not in hits:
            return Execution(Outcome.UNKNOWN, line)
        return _EXECUTED if hits[line] else _NOT_EXECUTED


class JavaModel:
    def __init__(self, classes: java.LineClasses, annotated: Iterable[LineRange]) -> None:
        properties = list(classes.properties)
        for first, last in annotated:
            for line in range(first, min(last, classes.last_line) + 1):
                properties[line] = java.ANNOTATION
        self.properties = properties
        self.last_line = classes.last_line
        self.faults = classes.faults
        self._scopes = classes.scopes
        self._statements = list(accumulate(bool(one & java.STATEMENT) for one in properties))
        self._smallest = self._find_smallest_scopes()
        # For each line, the next line of code at or below it; None if the scope or file ends first.
        self._targets: list[int | None] = [None] * (self.last_line + 2)
        code = java.STATEMENT | java.DECLARATION | java.SCOPE_OPEN
        for line in range(self.last_line, 0, -1):
            own = properties[line]
            if own & java.ANNOTATION or own in (java.BLANK, java.COMMENT):
                self._targets[line] = self._targets[line + 1]
            elif not (own & java.SCOPE_CLOSE and not own & code):
                self._targets[line] = line
        # For each line, whether it is inside a scope without labels, below the first line of that scope.
        labels = list(accumulate(bool(one & java.NON_LINEAR) for one in properties))
        changes = [0] * (self.last_line + 3)
        for scope in self._scopes:
            if scope.first <= self.last_line and labels[scope.last] == labels[scope.first - 1]:
                changes[scope.first + 1] += 1
                changes[scope.last + 1] -= 1
        self._linear = [count > 0 for count in accumulate(changes)]

    def _find_smallest_scopes(self) -> list[java.LineScope | None]:
        begun: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for index, scope in enumerate(self._scopes):
            begun[scope.first].append((scope.last - scope.first, index))
        found: list[java.LineScope | None] = [None] * (self.last_line + 1)
        around: list[tuple[int, int]] = []
        for line in range(1, self.last_line + 1):
            for entry in begun.get(line, ()):
                heappush(around, entry)
            while around and self._scopes[around[0][1]].last < line:
                heappop(around)
            found[line] = self._scopes[around[0][1]] if around else None
        return found

    def apply(self, hits: LineHits) -> LineJudge:
        ##= man/spec/query.md#executed-lines
        ##% If duvet cannot parse a Java file, or a coverage report lists lines that the file does not have, `duvet
        ##% query` MUST report the annotations in the file as unknown.
        is_stale = any(not 0 < line <= self.last_line for line in hits)
        if self.faults or is_stale:
            return partial(self._judge, frozenset(), is_stale)
        ##= man/spec/query.md#executed-lines
        ##% In a Java file, `duvet query` MUST also treat the declarations, comments and blank lines directly above an
        ##% executed line as executed, up to the line that opens their block.
        executed = {line for line, is_hit in hits.items() if is_hit}
        reached: set[int] = set()
        for start in sorted(executed):
            if not self._linear[start]:
                continue
            for line in range(start - 1, 0, -1):
                properties = self.properties[line]
                if not properties or properties & (java.SCOPE_CLOSE | java.STATEMENT) or line in reached:
                    break
                reached.add(line)
                if properties & java.SCOPE_OPEN:
                    break
        return partial(self._judge, frozenset(executed | reached), is_stale)

    def _judge(self, executed: frozenset[int], is_stale: bool, lines: LineRange) -> Execution:
        if self.faults:
            return Execution(Outcome.UNKNOWN, self.faults[0])
        if is_stale:
            return Execution(Outcome.UNKNOWN, lines[0])
        line = self._targets[lines[1] + 1] if lines[1] < self.last_line else None
        if line is None:
            return _STRUCTURAL
        properties = self.properties[line]
        if not properties or properties & java.NON_LINEAR:
            return Execution(Outcome.UNKNOWN, line)
        if line in executed:
            return _EXECUTED
        scope = self._smallest[line]
        has_statements = scope is None or self._statements[scope.last] > self._statements[scope.first - 1]
        is_declaration = properties & java.DECLARATION and not properties & java.STATEMENT
        return _STRUCTURAL if is_declaration and not has_statements else _NOT_EXECUTED


class FileModels:
    def __init__(self, tree: Tree, annotations: Sequence[Annotation]) -> None:
        self.tree = tree
        self.direct: set[str] = set()  # The paths of files without a classifier.
        self.classified: set[str] = set()
        self._by_path: dict[str, list[Annotation]] = defaultdict(list)
        for annotation in annotations:
            self._by_path[annotation.path].append(annotation)
        self._models: dict[str, JavaModel | DirectModel] = {}
        self._lines: dict[str, dict[Annotation, LineRange]] = {}

    def load(self, path: str) -> JavaModel | DirectModel:
        if path not in self._models:
            text = decode_utf8(self.tree.read(path), path)
            annotated = self._lines[path] = {
                one: (one.line, one.line + text.count("\n", *one.source.text)) for one in self._by_path[path]
            }
            # Other spellings, such as `JAVA`, are other languages.
            if posixpath.splitext(path)[1] == ".java":
                model = self._models[path] = JavaModel(java.classify_java(text, path), annotated.values())
                if not model.faults:
                    self.classified.add(path)
            else:
                self._models[path] = DirectModel(text, annotated.values())
                self.direct.add(path)
        return self._models[path]

    def lines(self, annotation: Annotation) -> LineRange:
        return self._lines[annotation.path][annotation]


class ReportLines(Struct, frozen=True):
    by_path: Mapping[str, LineJudge]
    faults: Mapping[str, tuple[int, ...]]  # The lines of parse errors, by path.


def apply_report(report: Mapping[str, LineHits], sources: Sequence[str], root: str, models: FileModels) -> ReportLines:
    by_path: dict[str, LineJudge] = {}
    faults: dict[str, tuple[int, ...]] = {}
    for path, entry in sorted(join_sources(report, sources, root).items()):
        model = models.load(path)
        by_path[path] = model.apply(report[entry])
        if isinstance(model, JavaModel) and model.faults:
            faults[path] = model.faults
    return ReportLines(by_path, faults)


def join_sources(entries: Iterable[str], sources: Sequence[str], root: str) -> dict[str, str]:
    by_name: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        by_name[entry.replace("\\", "/")].append(entry)
    joined: dict[str, str] = {}
    matched: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        parts = os.path.join(root, source).replace("\\", "/").split("/")
        found = [entry for start in range(len(parts)) for entry in by_name.get("/".join(parts[start:]), ())]
        ##= man/spec/query.md#coverage-reports
        ##% `duvet query` MUST match an entry of a coverage report with the source file whose absolute path ends
        ##% with the path of the entry, and refuse an ambiguous match.
        if len(found) > 1:
            raise DuvetError(
                f"coverage is ambiguous for {source}: its path matches multiple report entries "
                f"({', '.join(sorted(found))}). duvet cannot tell which entry refers to this file."
            )
        for entry in found:
            joined[source] = entry
            matched[entry].append(source)
    for entry, paths in sorted(matched.items()):
        if len(paths) > 1:
            raise DuvetError(
                f"coverage report entry '{entry}' is ambiguous: it matches multiple source files "
                f"({', '.join(sorted(paths))}). duvet cannot tell which file the report refers to."
            )
    return joined


def judge_annotation(annotation: Annotation, reports: Iterable[ReportLines], models: FileModels) -> Execution:
    ##= man/spec/query.md#coverage-reports
    ##% An annotation that was executed in one coverage report MUST count as executed, whatever the other reports say.
    found = _NOT_EXECUTED
    for report in reports:
        judge = report.by_path.get(annotation.path)
        one = judge(models.lines(annotation)) if judge and not annotation.from_file else _NOT_EXECUTED
        if one.is_executed:
            return one
        if one.outcome is Outcome.UNKNOWN or found is _NOT_EXECUTED:
            found = one
    return found
