"""From annotations to a trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from posixpath import join, normpath

from msgspec.structs import replace

from duvet import rules
from duvet.model import Annotation, Place, Problem, Specification
from duvet.progress import Progress
from duvet.specs.library import Library
from duvet.specs.names import assign_ids
from duvet.specs.resolve import locator_key
from duvet.trace.coverage import cover
from duvet.trace.link import Linked, link
from duvet.trace.records import Coverage, Match, Trace
from duvet.tree.protocol import Tree


def build(
    annotations: tuple[Annotation, ...],
    library: Library,
    tree: Tree,
    base: str,
    before: Iterable[Problem],
    progress: Progress,
) -> Trace:
    """Resolve, match and cover. What is wrong stands in the trace beside what was found before."""
    linked = link(annotations, library, tree, base, progress)
    progress.begin("Sorting references")
    coverages = _coverages(linked)
    match_of: list[Match | None] = [None] * len(annotations)
    for coverage in coverages:
        for match in coverage.matches:
            for id in match.ids:
                match_of[id] = match
    progress.end(f"Sorted {linked.references} references")
    ##= man/spec/trace.md#diagnostics
    ##% Once the configuration can be read, all problems of all phases MUST be reported in one run, sorted by path and
    ##% place.
    found = {*before, *linked.problems, *_two_spellings(annotations, coverages, linked, base)}
    return with_problems(Trace(annotations, tuple(match_of), coverages, (), linked.failures), found)


def with_problems(trace: Trace, problems: Iterable[Problem]) -> Trace:
    """The trace with these problems, too."""
    return replace(trace, problems=tuple(sorted({*trace.problems, *problems}, key=lambda one: one.sort_key)))


def _coverages(linked: Linked) -> tuple[Coverage, ...]:
    locators = sorted(linked.matches, key=locator_key)
    named = assign_ids(linked.specifications[locator] for locator in locators)
    return tuple(
        cover(specification, linked.matches[locator]) for locator, specification in zip(locators, named, strict=True)
    )


def _two_spellings(
    annotations: tuple[Annotation, ...], coverages: tuple[Coverage, ...], linked: Linked, base: str
) -> Iterator[Problem]:
    """One text under two names is two specifications in every report, which is hardly ever meant."""
    ##= man/spec/trace.md#targets
    ##% Two spellings of one specification SHOULD cause a warning.
    for specification, first in second_spellings(coverages, base):
        yield two_spellings(specification, first, annotations[linked.first[specification.locator]])


def two_spellings(specification: Specification, first: Specification, annotation: Annotation) -> Problem:
    """The problem of an annotation that names a specification otherwise than is done first."""
    name = first.locator.name
    return rules.TARGET_TWO_SPELLINGS.problem(
        f"{_described(specification)} and {_described(first)} are one text, but count as two specifications",
        annotation.path,
        Place(annotation.line),
        hint=f"write {name} everywhere" if name != specification.locator.name else "give it one format everywhere",
    )


def second_spellings(coverages: Iterable[Coverage], base: str) -> Iterator[tuple[Specification, Specification]]:
    """Each specification whose text has a shorter name, with the one of that name."""
    known: dict[str, Specification] = {}
    for specification in sorted((one.specification for one in coverages), key=lambda one: len(one.locator.name)):
        first = known.setdefault(normpath(join(base, specification.path)), specification)
        if first is not specification:
            yield specification, first


def _described(specification: Specification) -> str:
    wanted = specification.locator.format
    return specification.locator.name + (f" (as {wanted.name.lower()})" if wanted else "")
