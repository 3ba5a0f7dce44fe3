"""Validates annotations, and applies fixes."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError, OutputError
from duvet.model import Annotation, Edit, Kind, Note, Place, Problem, Severity
from duvet.project.fixes import AnnotationFixer
from duvet.project.inputs import InputFiles
from duvet.project.project import Project
from duvet.sources.comments import SourceStyle
from duvet.sources.editor import apply_edits
from duvet.sources.literals import lines_in_literals, may_have_literals
from duvet.trace.build import find_second_spellings, make_two_spellings_problem
from duvet.trace.records import CITATION, EXCEPTION, TEST, AnnotationPlaces, Trace
from duvet.tree.cache import Cache
from duvet.tree.files import MemoryTree, Tree
from duvet.tree.outputs import store_together

_DONE = {Kind.CITATION: CITATION, Kind.TEST: TEST}

_FEW_LINES = 2


class FoundProblem(NamedTuple):
    """A problem, and the annotation that it is about."""

    id: int
    problem: Problem


def check_annotations(trace: Trace, places: AnnotationPlaces) -> Iterator[FoundProblem]:
    """Every problem that only these checks find, but for those that need the text around annotations."""
    yield from _without_reason(trace, places)
    yield from _repeated(trace, places)
    yield from _excepted(trace, places)


def _without_reason(trace: Trace, places: AnnotationPlaces) -> Iterator[FoundProblem]:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report an exception without a reason as an error.
    for id, annotation in enumerate(trace.annotations):
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            hint = "write down why, in a line `reason=…` below the target"
            message = "this exception does not say why"
            yield FoundProblem(id, _problem(rules.EXCEPTION_NO_REASON, message, annotation, places, hint))


def _repeated(trace: Trace, places: AnnotationPlaces) -> Iterator[FoundProblem]:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` SHOULD warn about duplicate annotations, annotations in string literals, and code or tests for
    ##% excepted text.
    known: dict[tuple[str, Kind, str, str], Annotation] = {}
    for id, annotation in enumerate(trace.annotations):
        if annotation.kind is Kind.SPEC:
            continue
        said = (annotation.path, annotation.kind, annotation.target, annotation.quote)
        before = known.get(said)
        known[said] = annotation
        if before is not None and _are_close(before, annotation, places):
            notes = (Note(places.of(before, before.source.target), "first written here"),)
            message = "this annotation says the same as the one before it"
            hint = "keep the one that stands at the code that does it"
            problem = _problem(rules.CITATION_REPEATED, message, annotation, places, hint, notes)
            yield FoundProblem(id, problem)


def _are_close(one: Annotation, other: Annotation, places: AnnotationPlaces) -> bool:
    """Whether hardly any code stands between them: farther apart they are about different code."""
    between = places.text(one.path)[one.source.text_end : other.source.text_start]
    return between.count("\n") - 1 <= _FEW_LINES


def _excepted(trace: Trace, places: AnnotationPlaces) -> Iterator[FoundProblem]:
    exceptions: dict[int, Annotation] = {}
    for coverage in trace.coverages:
        for lines in coverage.sections.values():
            for segments in lines.values():
                for segment in segments:
                    if segment.flags & EXCEPTION and segment.flags & (CITATION | TEST):
                        members = [(id, trace.annotations[id]) for id in segment.ids]
                        excusing = next(one for _, one in members if one.kind is Kind.EXCEPTION)
                        exceptions |= {id: excusing for id, one in members if one.kind in _DONE}
    for id, excusing in sorted(exceptions.items(), key=lambda item: item[0]):
        annotation = trace.annotations[id]
        noun = "a test" if annotation.kind is Kind.TEST else "code"
        message = f"there is {noun} for text that {excusing.path}:{excusing.line} excepts"
        hint = "remove the exception, or this annotation"
        yield FoundProblem(id, _problem(rules.CITATION_EXCEPTED, message, annotation, places, hint))


def make_string_problem(annotation: Annotation, places: AnnotationPlaces) -> Problem:
    """The problem that an annotation is no comment."""
    message = "this annotation stands in a string, so it is none of the code's own comments"
    hint = "exclude the file from the sources, or move the annotation into a comment"
    return _problem(rules.CITATION_IN_STRING, message, annotation, places, hint)


def _problem(
    rule: rules.Rule, message: str, one: Annotation, places: AnnotationPlaces, hint: str, notes: tuple[Note, ...] = ()
) -> Problem:
    place: Place = places.of(one, one.source.target)
    return rule.problem(message, one.path, place, label="here", hint=hint, notes=notes)


class Finding(Struct, frozen=True, array_like=True):
    """A problem, and the annotation that it is about."""

    problem: Problem
    id: int = -1
    """The index of the annotation in the trace; -1 where the problem is about none."""
    once: bool = False
    """Whether one report is enough for all annotations that have this problem."""
    is_told: bool = False
    """Whether a problem of the configuration says so already."""


class Checked(Struct, frozen=True):
    """What was asked for: the problems, and how much there was to check."""

    problems: tuple[Problem, ...]
    annotations: int
    files: int


class Findings(Struct, frozen=True, array_like=True):
    """What validation has found out about a whole project; parts of it are chosen from this."""

    files: dict[str, int]
    """How many annotations there are in each file that is an input."""
    found: tuple[Finding, ...]
    """In the order in which problems are listed."""
    config: str = ""
    """The path of the configuration."""

    def of(self, paths: Collection[str]) -> Checked:
        """What there is to say of these inputs, and of the configuration, without which nothing is right."""
        chosen = frozenset(paths)
        # What names no file comes from the command line.
        told = {*chosen, self.config, ""}
        wanted = [one for one in self.found if len(chosen) == len(self.files) or one.problem.path in told]
        problems = tuple(one.problem for one in _first_ones(wanted))
        return Checked(problems, sum(self.files[path] for path in chosen), len(chosen))

    def invalid(self) -> dict[int, tuple[Problem, ...]]:
        """The errors of each annotation that has any, by its index in the trace."""
        found: dict[int, list[Problem]] = {}
        for one in self.found:
            if one.id >= 0 and one.problem.severity is Severity.ERROR:
                found.setdefault(one.id, []).append(one.problem)
        return {id: tuple(problems) for id, problems in sorted(found.items())}


def _first_ones(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings without what need not be told again."""
    told: set[tuple[str, str]] = set()
    for one in findings:
        known = (one.problem.code, one.problem.message)
        if one.is_told or (one.once and known in told):
            continue
        told.add(known)
        yield one


class LiteralLines(Struct, frozen=True):
    """The lines of annotations of a file that begin in string literals."""

    inside: list[int]


def validate(project: Project, places: AnnotationPlaces | None = None) -> Findings:
    """Every problem of the project, with its answer; the places keep the texts that fixes are made for."""
    trace, inputs = project.trace, project.inputs
    places = places or AnnotationPlaces(project.tree)
    mender = AnnotationFixer(project, places, _styles(inputs))
    by_path = _by_path(trace.annotations)
    known = [*_of_trace(project, places), *_in_literals(project, by_path, places)]
    known += [Finding(found.problem, found.id) for found in check_annotations(trace, places)]
    answered = [
        replace(one, problem=mender.mended(trace.annotations[one.id], one.problem)) if one.id >= 0 else one
        for one in known
    ]
    files = {path: 0 for _, paths in inputs.sources for path in paths} | dict.fromkeys(inputs.requirements, 0)
    files |= {path: len(ids) for path, ids in by_path.items()}
    found = tuple(sorted(answered, key=lambda one: one.problem.sort_key))
    return Findings(files, found, project.config.path if project.config else "")


def _styles(inputs: InputFiles) -> dict[str, tuple[SourceStyle, ...]]:
    return {path: styles for styles, paths in inputs.sources for path in paths}


def _by_path(annotations: Iterable[Annotation]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for id, annotation in enumerate(annotations):
        found.setdefault(annotation.path, []).append(id)
    return found


def _of_trace(project: Project, places: AnnotationPlaces) -> Iterator[Finding]:
    """The problems of the trace, and those that it tells once for all annotations that have them."""
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST find every problem that `duvet report` finds with an annotation.
    trace = project.trace
    listed = dict.fromkeys(trace.problems)
    for id, failure in trace.failures.items():
        problem = failure.of(trace.annotations[id], places)
        listed.pop(problem, None)
        yield Finding(problem, id, failure.once, failure.is_told)
    for one in _second_spellings(trace, project.root):
        listed.pop(one.problem, None)
        yield one
    for problem in listed:
        # What is said of a specification is said once, be it of an annotation that leads nowhere.
        yield Finding(problem, once=problem.code == rules.TARGET_TWO_SPELLINGS.code)


def _second_spellings(trace: Trace, base: str) -> Iterator[Finding]:
    """The warning about a second spelling, for every annotation that has it."""
    firsts = {other.locator: first for other, first in find_second_spellings(trace.coverages, base)}
    for coverage in trace.coverages:
        first = firsts.get(coverage.specification.locator)
        if first is not None:
            for id in sorted(id for match in coverage.matches for id in match.ids):
                yield Finding(
                    make_two_spellings_problem(coverage.specification, first, trace.annotations[id]), id, once=True
                )


def _in_literals(project: Project, by_path: dict[str, list[int]], places: AnnotationPlaces) -> Iterator[Finding]:
    annotations = project.trace.annotations

    def read(path: str) -> LiteralLines:
        lines = [annotations[id].line for id in by_path[path]]
        return LiteralLines(lines_in_literals(path, places.text(path), lines))

    for styles, paths in project.inputs.sources:
        wanted = [path for path in paths if path in by_path and may_have_literals(path)]
        for path, lines in project.memory.parse_files("literals", LiteralLines, wanted, (styles,), read):
            for id in by_path[path] if lines.inside else ():
                if annotations[id].line in lines.inside:
                    yield Finding(make_string_problem(annotations[id], places), id)


class ChosenInputs(Struct, frozen=True):
    """The inputs that are meant, what is none of them, and what is not there."""

    paths: tuple[str, ...]
    others: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()


def choose_inputs(names: Iterable[str], inputs: Iterable[str], root: str, tree: Tree) -> ChosenInputs:
    """The inputs that these names mean; a folder means all that are in it."""
    chooser = _Chooser(inputs, root, tree)
    for name in names:
        chooser.add(name)
    return ChosenInputs(tuple(chooser.paths), tuple(chooser.others), tuple(chooser.problems))


def normalise_input_name(name: str, root: str, tree: Tree) -> str:
    """The name of a file as an input would have it: relative to the root where it is below that."""
    whole = posixpath.normpath(posixpath.join(root, _with_slashes(name, tree)))
    return whole.removeprefix(root.rstrip("/") + "/")


def _with_slashes(name: str, tree: Tree) -> str:
    return name if tree.exists(name) else name.replace("\\", "/")


class _Chooser:
    def __init__(self, inputs: Iterable[str], root: str, tree: Tree) -> None:
        self.root, self.tree = root, tree
        self.paths: dict[str, None] = {}
        self.others: dict[str, None] = {}
        self.problems: list[Problem] = []
        self._inputs = {self._whole(path): path for path in inputs}

    def _whole(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self.root, path))

    def add(self, name: str) -> None:
        ##= man/spec/show.md#references
        ##% duvet MUST find a file by its relative or absolute path, with the separators of any system.
        path = _with_slashes(name, self.tree)
        whole = self._whole(path)
        exists = self.tree.exists(path)
        found = self._below(whole) or (self._below(_real(whole)) if exists else [])
        if found:
            self.paths.update(dict.fromkeys(found))
        elif exists:
            ##= man/spec/validate.md#choosing-files
            ##% `duvet validate` MUST skip a file that is not an input, with a notice, and fail for a path that does not
            ##% exist.
            self.others[name] = None
        else:
            message, hint = "there is no such file or folder", "paths begin in the working directory"
            self.problems.append(rules.FILE_UNREADABLE.problem(message, name, hint=hint))

    def _below(self, whole: str) -> list[str]:
        """The input of that name, or all in the folder of that name."""
        if whole in self._inputs:
            return [self._inputs[whole]]
        ##= man/spec/validate.md#choosing-files
        ##% `duvet validate` MUST check only the configuration and the files and folders that it is given, or all inputs
        ##% of the project.
        start = whole.rstrip("/") + "/"
        return [path for known, path in self._inputs.items() if known.startswith(start)]


def _real(whole: str) -> str:
    """The path without links."""
    return os.path.realpath(whole).replace(os.sep, "/")


Value = TypeVar("Value")


def overlay_project(project: Project, files: Mapping[str, bytes]) -> Project:
    """The project with these files in the place of those on disk."""
    # What is missing of the specifications is downloaded for the project on disk alone.
    project.extraction  # noqa: B018
    return Project(
        project.root,
        project.options,
        environ=project.environ,
        tree=MemoryTree(files, project.tree),
        progress=project.progress,
        memory=_Elsewhere(project.memory, files),
        today=project.today,
    )


class _Elsewhere(Cache):
    """Knows what another memory knows, but for some files, and tells it nothing of these."""

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


# A mend makes its annotation valid, so that a second look finds little to do, and a third one nothing.
_MOST_LOOKS = 5


class FixResult(Struct, frozen=True):
    """What files held, what they are to hold, and what is still wrong then."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    first: Findings
    """What was wrong before."""
    findings: Findings
    citations: int
    """How many annotations were mended."""


def fix_project(project: Project, chosen: Callable[[Findings], Iterable[str]]) -> FixResult:
    """What comes of mending all that can be mended in the inputs that are chosen; nothing is written."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    ids: set[int] = set()
    current, first = project, None
    for _ in range(_MOST_LOOKS):
        places = AnnotationPlaces(current.tree)
        findings = validate(current, places)
        first = first or findings
        edits = _edits(findings, chosen(findings))
        if not edits:
            break
        for path, found in edits.items():
            text = places.text(path)
            before.setdefault(path, text.encode())
            after[path] = apply_edits(text, [edit for _, one in found for edit in one]).encode()
            ids.update(id for id, _ in found)
        current = overlay_project(project, after)
    return FixResult(before, after, first or findings, findings, len(ids))


def _edits(findings: Findings, paths: Iterable[str]) -> dict[str, list[tuple[int, tuple[Edit, ...]]]]:
    """The edits by file, with the annotations that they are for."""
    wanted = frozenset(paths)
    found: dict[str, list[tuple[int, tuple[Edit, ...]]]] = {}
    for one in findings.found:
        if one.problem.fix is not None and one.problem.path in wanted:
            found.setdefault(one.problem.path, []).append((one.id, one.problem.fix.edits))
    return found


def write_fixes(project: Project, found: FixResult) -> tuple[Problem, ...]:
    """Write what was mended, all of it or nothing; what keeps it from being written."""
    problems = [problem for path in found.after if (problem := _obstacle(project, path, found.before[path]))]
    if problems:
        return tuple(problems)
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST write a file completely or not at all, keep its permissions and links, and leave
    ##% alone a file that is read-only or has changed since it was read.
    try:
        with store_together() as write:
            for path, data in found.after.items():
                write(project.disk.at(path), data)
    except OutputError as error:
        return (rules.FILE_UNWRITABLE.problem(error.message, error.path, hint=error.hint),)
    return ()


def _obstacle(project: Project, path: str, before: bytes) -> Problem | None:
    """Why a file must not be written."""
    with suppress(DuvetError):
        if project.disk.read(path) == before:
            if os.access(project.disk.at(path), os.W_OK):
                return None
            return rules.FILE_UNWRITABLE.problem("this file is read-only, so it was not mended", path)
    message = "this file changed while it was checked, so it was not mended"
    return rules.FILE_UNWRITABLE.problem(message, path, hint="run the same command again")
