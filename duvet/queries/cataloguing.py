"""From a trace to its catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from duvet.model import Annotation, Kind, Specification
from duvet.queries.catalogue import Catalogue, CitationCard, RequirementCard, SectionCard, SpecificationCard
from duvet.specs.names import assign_further_ids
from duvet.text import LineNumbers
from duvet.trace.records import Coverage, Trace
from duvet.trace.requirements import Requirement

_Spot = tuple[int, str]
"""The index of a specification, and the id of a section in it."""

_NOWHERE: _Spot = (-1, "")


def catalogue_of(trace: Trace, requirements: Iterable[Requirement], configured: Iterable[Specification]) -> Catalogue:
    """The catalogue of a trace with its requirements; configured specifications are in it though nothing is cited."""
    cited = [coverage.specification for coverage in trace.coverages]
    others = further(configured, cited)
    citing = {id: number for number, id in enumerate(_citing(trace.annotations))}
    places = {specification.id: index for index, specification in enumerate(cited)}
    numbered = [*_requirement_cards(requirements, places, citing)]
    return Catalogue(
        tuple(map(specification_card, (*cited, *others))),
        tuple(numbered),
        tuple(_citation_cards(trace, citing, numbered)),
        trace.problems,
    )


def further(configured: Iterable[Specification], cited: Sequence[Specification]) -> tuple[Specification, ...]:
    """The configured specifications that nothing refers to, with ids of their own."""
    # A format that is configured is no other specification than the same one found out.
    known = {(one.locator.name, one.format) for one in cited}
    others = {one.locator: one for one in configured if (one.locator.name, one.format) not in known}
    return assign_further_ids(others.values(), cited)


def _citing(annotations: tuple[Annotation, ...]) -> Iterator[int]:
    return (id for id, annotation in enumerate(annotations) if annotation.kind is not Kind.SPEC)


def specification_card(one: Specification) -> SpecificationCard:
    sections = tuple(SectionCard(section.id, section.title) for section in one.sections)
    return SpecificationCard(one.id, one.name, one.url, one.description, one.locator.name, one.path, sections)


def _requirement_cards(
    requirements: Iterable[Requirement], places: dict[str, int], citing: dict[int, int]
) -> Iterator[RequirementCard]:
    lines = LineNumbers()
    for one in requirements:
        yield RequirementCard(
            places[one.specification.id],
            one.section.id,
            one.text,
            one.level,
            one.state,
            lines.of(one.specification.data, one.matches[0].pieces[0].start),
            tuple([citing[id] for id in one.related if id in citing]),
        )


def _citation_cards(trace: Trace, citing: dict[int, int], cards: list[RequirementCard]) -> Iterator[CitationCard]:
    spots = _spots(trace.coverages)
    related: list[list[int]] = [[] for _ in citing]
    for index, card in enumerate(cards):
        for number in card.citations:
            related[number].append(index)
    for id, number in citing.items():
        one = trace.annotations[id]
        specification, section = spots.get(id, _NOWHERE)
        yield CitationCard(
            one.path,
            one.line,
            one.kind,
            one.target,
            one.quote,
            one.reason,
            one.feature,
            one.tracking_issue,
            specification,
            section,
            tuple(related[number]),
            one.source.text,
            one.blob_link,
            trace.failures[id].message if id in trace.failures else "",
        )


def _spots(coverages: tuple[Coverage, ...]) -> dict[int, _Spot]:
    """Where each annotation leads."""
    found: dict[int, _Spot] = {}
    for index, coverage in enumerate(coverages):
        for match in coverage.matches:
            spot = (index, coverage.specification.sections[match.section].id)
            found.update(dict.fromkeys(match.ids, spot))
    return found
