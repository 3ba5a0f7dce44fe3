"""Validates annotations and applies fixes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from shlex import quote as quote_shell
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError, OutputError
from duvet.model import Annotation, Applicability, Edit, Kind, Note, Problem
from duvet.project.findings import Finding, Findings
from duvet.project.fixes import AnnotationFixer
from duvet.project.history import TextHistory
from duvet.project.project import Project, find_missing_reasons, find_setup_problems
from duvet.sources.editor import apply_edits
from duvet.sources.literals import find_lines_in_literals, may_have_literals
from duvet.text import join_names, quote_phrase, shorten_text
from duvet.trace.build import make_two_spellings_problem
from duvet.trace.coverage import find_partial_quotes, find_quotes_outside_requirements
from duvet.trace.records import CITATION, EXCEPTION, TEST, AnnotationPlaces, Trace, find_second_spellings
from duvet.tree.cache import Cache
from duvet.tree.files import MemoryTree
from duvet.tree.outputs import store_together

_FEW_LINES = 2
_MOST_LINES = 10  # The number of lines that a message lists.
_MOST_MISSING = 3  # The number of missing stretches that a message lists.
# A fix makes its annotation valid, so a second pass finds little to do, and a third pass nothing.
_MOST_PASSES = 5

Value = TypeVar("Value")


def validate(project: Project, places: AnnotationPlaces | None = None, history: TextHistory | None = None) -> Findings:
    """Find what `duvet validate` reports, except problems of pages; `places` keeps the texts that fixes edit."""
    trace, inputs = project.trace, project.inputs
    places = places or AnnotationPlaces(project.tree)
    styles = {path: styles for styles, paths in inputs.sources for path in paths}
    fixer = AnnotationFixer(project, places, styles, history or TextHistory(project))
    by_path: dict[str, list[int]] = {}
    for id, annotation in enumerate(trace.annotations):
        by_path.setdefault(annotation.path, []).append(id)
    found = [
        *_find_trace_problems(project, places),
        ##= man/spec/validate.md#checks
        ##% `duvet validate` SHOULD warn about duplicate annotations, about annotations in string literals, and about
        ##% code or tests that cite excepted text.
        *_find_literals(project, by_path, places),
        *(Finding(problem, id) for id, problem in find_missing_reasons(trace, places)),
        *_find_duplicates(trace, places),
        *_find_cited_exceptions(trace, places),
        *([] if project.is_like_upstream else _find_incomplete_quotes(project, places)),
        *map(Finding, find_setup_problems(project)),
    ]
    problems = iter(fixer.add_fixes([(trace.annotations[one.id], one.problem) for one in found if one.id >= 0]))
    fixed = [replace(one, problem=next(problems)) if one.id >= 0 else one for one in found]
    files = {path: 0 for _, paths in inputs.sources for path in paths} | dict.fromkeys(inputs.requirements, 0)
    files |= {path: sum(trace.annotations[id].kind is not Kind.SPEC for id in ids) for path, ids in by_path.items()}
    ordered = tuple(sorted(fixed, key=lambda one: one.problem.sort_key))
    generated = tuple(path for path in project.extraction.files if path in files)
    return Findings(files, ordered, project.config.path if project.config else "", generated)


def _find_trace_problems(project: Project, places: AnnotationPlaces) -> Iterator[Finding]:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report every problem that `duvet report` reports for an annotation.
    trace = project.trace
    listed = dict.fromkeys(trace.problems)
    generated = () if project.is_like_upstream else project.extraction.files
    for id, failure in trace.failures.items():
        if trace.annotations[id].path in generated:
            continue
        problem = failure.of(trace.annotations[id], places)
        listed.pop(problem, None)
        yield Finding(problem, id, failure.once, failure.is_reported)
    firsts = {other.locator: first for other, first in find_second_spellings(trace.coverages, project.root)}
    for coverage in trace.coverages:
        first = firsts.get(coverage.specification.locator)
        if first is None:
            continue
        for id in sorted(id for match in coverage.matches for id in match.ids):
            problem = make_two_spellings_problem(coverage.specification, first, trace.annotations[id])
            listed.pop(problem, None)
            yield Finding(problem, id, once=True)
    for problem in listed:
        # A specification with two spellings is reported once, even if the annotation leads nowhere.
        yield Finding(problem, once=problem.code == rules.TARGET_TWO_SPELLINGS.code)


def _find_literals(project: Project, by_path: dict[str, list[int]], places: AnnotationPlaces) -> Iterator[Finding]:
    annotations = project.trace.annotations

    def read(path: str) -> list[int]:
        lines = [annotations[id].line for id in by_path[path]]
        return find_lines_in_literals(path, places.text(path), lines)

    message = "this annotation is in a string literal, not in a comment"
    hint = "exclude the file from its `[[source]]`, or move the annotation into a comment"
    for styles, paths in project.inputs.sources:
        relevant = [path for path in paths if path in by_path and may_have_literals(path)]
        for path, inside in project.memory.parse_files("literals", list[int], relevant, (styles,), read):
            for id in by_path[path] if inside else ():
                if annotations[id].line in inside:
                    yield Finding(_make_problem(rules.CITATION_IN_STRING, message, annotations[id], places, hint), id)


def _find_duplicates(trace: Trace, places: AnnotationPlaces) -> Iterator[Finding]:
    last: dict[tuple[str, Kind, str, str], Annotation] = {}
    for id, annotation in enumerate(trace.annotations):
        if annotation.kind is Kind.SPEC:
            continue
        key = (annotation.path, annotation.kind, annotation.target, annotation.quote)
        before = last.get(key)
        last[key] = annotation
        if before is None:
            continue
        # Duplicates that are farther apart belong to different code.
        between = places.text(before.path)[before.source.text_end : annotation.source.text_start]
        if between.count("\n") - 1 <= _FEW_LINES:
            notes = (Note(places.of(before, before.source.target), "first annotation"),)
            message = "this annotation repeats the one before it"
            hint = "remove one of them"
            yield Finding(_make_problem(rules.CITATION_REPEATED, message, annotation, places, hint, notes), id)


def _find_cited_exceptions(trace: Trace, places: AnnotationPlaces) -> Iterator[Finding]:
    exceptions: dict[int, Annotation] = {}
    for coverage in trace.coverages:
        for segment in (one for lines in coverage.sections.values() for found in lines.values() for one in found):
            if segment.flags & EXCEPTION and segment.flags & (CITATION | TEST):
                members = [(id, trace.annotations[id]) for id in segment.ids]
                exception = next(one for _, one in members if one.kind is Kind.EXCEPTION)
                exceptions |= {id: exception for id, one in members if one.kind in (Kind.CITATION, Kind.TEST)}
    for id, exception in sorted(exceptions.items(), key=lambda item: item[0]):
        annotation = trace.annotations[id]
        noun = "test" if annotation.kind is Kind.TEST else "code"
        message = f"this {noun} cites text that the exception at {exception.path}:{exception.line} covers"
        hint = "remove the exception or this annotation"
        yield Finding(_make_problem(rules.CITATION_EXCEPTED, message, annotation, places, hint), id)


def _find_incomplete_quotes(project: Project, places: AnnotationPlaces) -> Iterator[Finding]:
    ##= man/spec/validate.md#checks
    ##% With duvet's own schema, `duvet validate` MUST warn about a requirement that the annotations of one type quote
    ##% only in part, and show the missing words.
    trace = project.trace
    reported: set[tuple[str, int]] = set()
    for requirement, kind, ids, parts in find_partial_quotes(trace.coverages, project.requirements, trace.annotations):
        missing = join_names([quote_phrase(shorten_text(words)) for words in parts], _MOST_MISSING)
        name = requirement.name or "a requirement"
        paths: set[str] = set()
        for id in ids:
            annotation = trace.annotations[id]
            if annotation.path in paths or (missing, id) in reported:
                continue
            paths.add(annotation.path)
            reported.add((missing, id))
            message = f"this annotation quotes only a part of {name}; missing: {missing}"
            hint = f"quote the missing words in this or another annotation of type `{kind.words}`"
            place = places.of(annotation, annotation.source.quote)
            label = "quotes only part of the requirement"
            yield Finding(rules.QUOTE_PARTIAL.problem(message, annotation.path, place, label=label, hint=hint), id)
    others: dict[str, list[int]] = {}
    for id in sorted(id for coverage in trace.coverages for id in find_quotes_outside_requirements(coverage)):
        others.setdefault(trace.annotations[id].path, []).append(id)
    for path, ids in others.items():
        first, *further = (trace.annotations[id] for id in sorted(ids, key=lambda one: trace.annotations[one].line))
        message, label = "this quote is not part of a requirement", "covers no requirement"
        hint = f"quote one of the requirements that `duvet show {quote_shell(first.target)}` lists"
        if further:
            message = f"{len(ids)} quotes in this file are not part of a requirement"
            lines = join_names([str(one.line) for one in further], _MOST_LINES)
            hint += f"\nthe other {'quote is on line' if len(further) == 1 else 'quotes are on lines'} {lines}"
        place = places.of(first, first.source.quote)
        problem = rules.QUOTE_NOT_NORMATIVE.problem(message, path, place, label=label, hint=hint)
        yield Finding(problem, ids[0])


_LABELS = {
    rules.CITATION_IN_STRING.code: "inside a string literal",
    rules.CITATION_REPEATED.code: "repeated annotation",
    rules.CITATION_EXCEPTED.code: "citation of excepted text",
}


def _make_problem(
    rule: rules.Rule, message: str, one: Annotation, places: AnnotationPlaces, hint: str, notes: tuple[Note, ...] = ()
) -> Problem:
    place = places.of(one, one.source.target)
    return rule.problem(message, one.path, place, label=_LABELS[rule.code], hint=hint, notes=notes)


def overlay_project(project: Project, files: Mapping[str, bytes]) -> Project:
    # Only a project on disk downloads missing specifications.
    project.extraction  # noqa: B018
    return Project(
        project.root,
        project.options,
        environ=project.environ,
        tree=MemoryTree(files, project.tree),
        progress=project.progress,
        memory=_OverlayCache(project.memory, files),
        today=project.today,
    )


class _OverlayCache(Cache):
    def __init__(self, memory: Cache, files: Mapping[str, bytes]) -> None:
        self.memory = memory
        self.files = files

    def parse_files(
        self, name: str, kind: type[Value], paths: Iterable[str], key: object, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        wanted = list(paths)
        yield from self.memory.parse_files(name, kind, [path for path in wanted if path not in self.files], key, read)
        yield from super().parse_files(name, kind, [path for path in wanted if path in self.files], key, read)

    def parse_text(
        self, name: str, kind: type[Value], path: str, key: object, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        return parse() if path in self.files else self.memory.parse_text(name, kind, path, key, data, parse)


class FixResult(Struct, frozen=True):
    before: dict[str, bytes]
    after: dict[str, bytes]
    first: Findings
    findings: Findings
    citations: int  # The number of fixed annotations.
    changes: tuple[Problem, ...] = ()  # The problems that are fixed, in the order of the fixes.


def is_safely_fixed(problem: Problem, text: str) -> bool:
    ##= man/spec/validate.md#safe-fixes
    ##% With duvet's own schema, `duvet validate --fix` MUST apply only safe fixes, and report why any other fix is
    ##% unsafe.
    return problem.fix is not None and problem.fix.applicability is Applicability.SAFE


def fix_project(
    project: Project,
    chosen: Callable[[Findings], Iterable[str]],
    approve: Callable[[Problem, str], bool] = is_safely_fixed,
) -> FixResult:
    """Fix the chosen inputs in memory; `approve` accepts or refuses each fix, given the text of the file."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    ids: set[int] = set()
    changes: list[Problem] = []
    current, first, history = project, None, TextHistory(project)
    for _ in range(_MOST_PASSES):
        places = AnnotationPlaces(current.tree)
        findings = validate(current, places, history)
        first = first or findings
        paths = frozenset(chosen(findings))
        edits: dict[str, list[Edit]] = {}
        for one in findings.found:
            problem = one.problem
            if problem.fix is not None and problem.path in paths and approve(problem, places.text(problem.path)):
                edits.setdefault(problem.path, []).extend(problem.fix.edits)
                ids.add(one.id)
                changes.append(problem)
        if not edits:
            break
        for path, found in edits.items():
            text = places.text(path)
            before.setdefault(path, text.encode())
            after[path] = apply_edits(text, found).encode()
        current = overlay_project(project, after)
    return FixResult(before, after, first or findings, findings, len(ids), tuple(changes))


def write_fixes(project: Project, found: FixResult) -> tuple[Problem, ...]:
    ##= man/spec/validate.md#fixes
    ##% If a file to fix is read-only or has changed since duvet read it, `duvet validate --fix` MUST report the file
    ##% and write nothing.
    problems: list[Problem] = []
    for path in found.after:
        is_same = False
        with suppress(DuvetError):
            is_same = project.disk.read(path) == found.before[path]
        if not is_same:
            message, hint = "this file changed while it was checked, so it was not fixed", "run the same command again"
            problems.append(rules.FILE_UNWRITABLE.problem(message, path, hint=hint))
        elif not os.access(project.disk.at(path), os.W_OK):
            problems.append(rules.FILE_UNWRITABLE.problem("this file is read-only, so it was not fixed", path))
    if problems:
        return tuple(problems)
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST write all fixed files completely or none of them, and keep their permissions and
    ##% symbolic links.
    try:
        with store_together() as write:
            for path, data in found.after.items():
                write(project.disk.at(path), data)
    except OutputError as error:
        return (rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint),)
    return ()
