"""From a project to everything that is wrong in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.cache.key import key
from duvet.inputs import Inputs
from duvet.model import Annotation
from duvet.project import Project
from duvet.sources.literals import lines_in_literals, may_have_literals
from duvet.sources.style import Style
from duvet.trace.build import second_spellings, two_spellings
from duvet.trace.places import Places
from duvet.trace.records import Trace
from duvet.validation.checks import check, in_string
from duvet.validation.findings import Finding, Findings
from duvet.validation.mends import Mender


class Lines(Struct, frozen=True):
    """The lines of annotations of a file that begin in string literals."""

    inside: list[int]


def validate(project: Project, places: Places | None = None) -> Findings:
    """Every problem of the project, with its answer; the places keep the texts that fixes are made for."""
    trace, inputs = project.trace, project.inputs
    places = places or Places(project.tree)
    mender = Mender(project, places, _styles(inputs))
    by_path = _by_path(trace.annotations)
    known = [*_of_trace(project, places), *_in_literals(project, by_path, places)]
    known += [Finding(found.problem, found.id) for found in check(trace, places)]
    answered = [
        replace(one, problem=mender.mended(trace.annotations[one.id], one.problem)) if one.id >= 0 else one
        for one in known
    ]
    files = {path: 0 for _, paths in inputs.sources for path in paths} | dict.fromkeys(inputs.requirements, 0)
    files |= {path: len(ids) for path, ids in by_path.items()}
    found = tuple(sorted(answered, key=lambda one: one.problem.sort_key))
    return Findings(files, found, project.config.path if project.config else "")


def _styles(inputs: Inputs) -> dict[str, tuple[Style, ...]]:
    return {path: styles for styles, paths in inputs.sources for path in paths}


def _by_path(annotations: Iterable[Annotation]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for id, annotation in enumerate(annotations):
        found.setdefault(annotation.path, []).append(id)
    return found


def _of_trace(project: Project, places: Places) -> Iterator[Finding]:
    """The problems of the trace, and those that it tells once for all annotations that have them."""
    ##= man/spec/validate.md#what-is-checked
    ##% Every problem that `duvet report` finds with an annotation MUST be found.
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
    firsts = {other.locator: first for other, first in second_spellings(trace.coverages, base)}
    for coverage in trace.coverages:
        first = firsts.get(coverage.specification.locator)
        if first is not None:
            for id in sorted(id for match in coverage.matches for id in match.ids):
                yield Finding(two_spellings(coverage.specification, first, trace.annotations[id]), id, once=True)


def _in_literals(project: Project, by_path: dict[str, list[int]], places: Places) -> Iterator[Finding]:
    annotations = project.trace.annotations

    def read(path: str) -> Lines:
        lines = [annotations[id].line for id in by_path[path]]
        return Lines(lines_in_literals(path, places.text(path), lines))

    for styles, paths in project.inputs.sources:
        wanted = [path for path in paths if path in by_path and may_have_literals(path)]
        for path, lines in project.memory.of_files("literals", Lines, wanted, key(styles), read):
            for id in by_path[path] if lines.inside else ():
                if annotations[id].line in lines.inside:
                    yield Finding(in_string(annotations[id], places), id)
