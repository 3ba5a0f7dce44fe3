"""What awslabs duvet lets pass: reasons that are missing, annotations that are repeated or contradict one another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from duvet import rules
from duvet.model import Annotation, Kind, Note, Place, Problem
from duvet.trace.places import Places
from duvet.trace.records import CITATION, EXCEPTION, TEST, Trace

_DONE = {Kind.CITATION: CITATION, Kind.TEST: TEST}

_FEW_LINES = 2


class Found(NamedTuple):
    """A problem, and the annotation that it is about."""

    id: int
    problem: Problem


def check(trace: Trace, places: Places) -> Iterator[Found]:
    """Every problem that only these checks find, but for those that need the text around annotations."""
    yield from _without_reason(trace, places)
    yield from _repeated(trace, places)
    yield from _excepted(trace, places)


def _without_reason(trace: Trace, places: Places) -> Iterator[Found]:
    ##= man/spec/validate.md#what-is-checked
    ##% An exception without a reason MUST be an error.
    for id, annotation in enumerate(trace.annotations):
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            hint = "write down why, in a line `reason=…` below the target"
            message = "this exception does not say why"
            yield Found(id, _problem(rules.EXCEPTION_NO_REASON, message, annotation, places, hint))


def _repeated(trace: Trace, places: Places) -> Iterator[Found]:
    ##= man/spec/validate.md#what-is-checked
    ##% Two annotations at one place in a file with one type, target and quote SHOULD cause a warning that points at both.
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
            yield Found(id, problem)


def _are_close(one: Annotation, other: Annotation, places: Places) -> bool:
    """Whether hardly any code stands between them: farther apart they are about different code."""
    between = places.text(one.path)[one.source.text_end : other.source.text_start]
    return between.count("\n") - 1 <= _FEW_LINES


def _excepted(trace: Trace, places: Places) -> Iterator[Found]:
    ##= man/spec/validate.md#what-is-checked
    ##% Code or a test for text that is excepted SHOULD cause a warning that names the exception.
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
        yield Found(id, _problem(rules.CITATION_EXCEPTED, message, annotation, places, hint))


def in_string(annotation: Annotation, places: Places) -> Problem:
    """The problem that an annotation is no comment."""
    message = "this annotation stands in a string, so it is none of the code's own comments"
    hint = "exclude the file from the sources, or move the annotation into a comment"
    return _problem(rules.CITATION_IN_STRING, message, annotation, places, hint)


def _problem(
    rule: rules.Rule, message: str, one: Annotation, places: Places, hint: str, notes: tuple[Note, ...] = ()
) -> Problem:
    place: Place = places.of(one, one.source.target)
    return rule.problem(message, one.path, place, label="here", hint=hint, notes=notes)
