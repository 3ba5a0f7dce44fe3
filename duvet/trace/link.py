"""From annotations to matches: the specification, the section and the text that each one means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from duvet import rules
from duvet.model import Annotation, Kind, Locator, Problem, Specification
from duvet.progress import Progress
from duvet.specs.library import Library
from duvet.trace.match import Matcher
from duvet.trace.places import Places
from duvet.trace.records import EXCUSED, KIND_FLAGS, Fit, Match
from duvet.trace.targets import Failure, Spot, Targets
from duvet.tree.protocol import Tree


class Linked(NamedTuple):
    """The outcome for all annotations: matches by specification, and what is wrong."""

    matches: dict[Locator, list[Match]]
    specifications: dict[Locator, Specification]
    first: dict[Locator, int]
    """The first annotation that refers to each specification."""
    problems: list[Problem]
    references: int


def link(annotations: tuple[Annotation, ...], library: Library, tree: Tree, base: str, progress: Progress) -> Linked:
    """Every annotation matched, or its problem; annotations are in their final order."""
    targets, places = Targets(library, tree, base), Places(tree)
    problems: list[Problem] = []
    progress.begin("Loading specifications")
    spots = targets.spots(annotations, places, problems)
    progress.end(f"Loaded {len(targets.specifications)} specifications")
    progress.begin("Mapping sections")
    progress.end(f"Mapped {len(spots)} sections")
    progress.begin("Matching references")
    matches: dict[Locator, list[Match]] = {}
    first: dict[Locator, int] = {}
    for spot in spots:
        locator = spot.specification.locator
        first.setdefault(locator, next(iter(spot.quotes.values()))[0])
        found = matches.setdefault(locator, [])
        for match, failure, members in _looked_up(spot, annotations):
            found += [match] if match else []
            problems += _told(failure, members, places) if failure else []
    references = sum(len(match.pieces) * len(match.ids) for found in matches.values() for match in found)
    progress.end(f"Matched {references} references")
    return Linked(matches, targets.specifications, first, problems, references)


def _looked_up(
    spot: Spot, annotations: tuple[Annotation, ...]
) -> Iterator[tuple[Match | None, Failure | None, list[Annotation]]]:
    """For each quote its match, what there is to say of it, and who quotes it."""
    matcher = Matcher(spot.specification.sections[spot.section])
    for quote, ids in spot.quotes.items():
        members = [annotations[id] for id in ids]
        found = matcher.find(quote)
        if found is None:
            ##= man/spec/trace.md#quotes
            ##% A quote that is found nowhere in its section MUST be reported where it is written.
            yield None, _not_found(spot), members
            continue
        pieces, fit = found
        match = Match(spot.section, pieces, fit, tuple(ids), _flags(members), max(one.level for one in members))
        ##= man/spec/trace.md#quotes
        ##% A quote that differs by one byte MUST be accepted, and SHOULD cause a warning.
        yield match, _ONE_EDIT if fit is Fit.ONE_EDIT else None, members


def _told(failure: Failure, members: Iterable[Annotation], places: Places) -> Iterator[Problem]:
    for annotation in members:
        yield failure.at(annotation.path, places.of(annotation, annotation.source.quote))


_ONE_EDIT = Failure(
    rules.QUOTE_ONE_EDIT,
    "this quote differs from the specification by one character; it is accepted",
    "quote the section's words as they stand there",
    "text here",
)


def _not_found(spot: Spot) -> Failure:
    section = spot.specification.sections[spot.section]
    message = f'could not find text in section "{section.id}" of {spot.specification.locator.name}'
    if any(section.lines):
        hint = "quote the section's words as they stand there; only spacing may differ"
        return Failure(rules.QUOTE_NOT_FOUND, message, hint, "text here")
    return Failure(rules.QUOTE_NOT_FOUND, message, "quote nothing to refer to its title", "section is empty")


def _flags(members: list[Annotation]) -> int:
    flags = 0
    for annotation in members:
        flags |= KIND_FLAGS[annotation.kind]
        if annotation.kind is Kind.EXCEPTION and annotation.reason.strip():
            flags |= EXCUSED
    return flags
