"""From annotations to matches: the specification, the section and the text that each one means."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from duvet import rules
from duvet.model import Annotation, Kind, Level, Locator, Problem, Section, Specification
from duvet.progress import Progress
from duvet.specs.library import Library
from duvet.trace.failure import Failure
from duvet.trace.match import Matcher
from duvet.trace.places import Places
from duvet.trace.records import EXCEPTION, EXCUSED, KIND_FLAGS, Fit, Match, Piece
from duvet.trace.targets import Spot, Targets
from duvet.tree.protocol import Tree


class Linked(Struct, frozen=True):
    """The outcome for all annotations: matches by specification, and what is wrong."""

    matches: dict[Locator, list[Match]]
    specifications: dict[Locator, Specification]
    first: dict[Locator, int]
    """The first annotation that refers to each specification."""
    problems: list[Problem]
    failures: dict[int, Failure]
    """What there is to say of annotations, by their ids."""
    references: int


def link(
    annotations: tuple[Annotation, ...],
    library: Library,
    tree: Tree,
    base: str,
    progress: Progress,
    matcher_of: Callable[[Section], Matcher] = Matcher,
) -> Linked:
    """Every annotation matched, or its problem; annotations are in their final order."""
    targets, places = Targets(library, tree, base), Places(tree)
    problems: list[Problem] = []
    progress.begin("Loading specifications")
    spots = targets.spots(annotations, places, problems)
    progress.end(f"Loaded {len(targets.specifications)} specifications")
    progress.begin("Mapping sections")
    progress.end(f"Mapped {len(spots)} sections")
    progress.begin("Matching references")
    members = _Members(annotations)
    matches: dict[Locator, list[Match]] = {}
    first: dict[Locator, int] = {}
    for spot in spots:
        locator = spot.specification.locator
        first.setdefault(locator, next(iter(spot.quotes.values()))[0])
        found, failures = _looked_up(spot, members, matcher_of(spot.specification.sections[spot.section]))
        matches.setdefault(locator, []).extend(found)
        for failure, ids in failures:
            targets.failures.update(dict.fromkeys(ids, failure))
            problems += [failure.of(annotations[id], places) for id in ids]
    references = sum([len(match.pieces) * len(match.ids) for found in matches.values() for match in found])
    progress.end(f"Matched {references} references")
    return Linked(matches, targets.specifications, first, problems, targets.failures, references)


def _looked_up(spot: Spot, members: _Members, matcher: Matcher) -> tuple[list[Match], list[tuple[Failure, list[int]]]]:
    """The matches of the quotes, and what there is to say of some of them with who quotes them."""
    matches: list[Match] = []
    failures: list[tuple[Failure, list[int]]] = []
    for quote, ids in spot.quotes.items():
        found = matcher.find(quote)
        if found is None:
            ##= man/spec/trace.md#quotes
            ##% A quote that is found nowhere in its section MUST be reported where it is written.
            failures.append((_not_found(spot), ids))
            continue
        pieces, fit = found
        matches.append(members.match(spot.section, pieces, fit, ids))
        ##= man/spec/trace.md#quotes
        ##% A quote that differs by one byte MUST be accepted, and SHOULD cause a warning.
        if fit is Fit.ONE_EDIT:
            failures.append((_ONE_EDIT, ids))
    return matches, failures


_ONE_EDIT = Failure(
    rules.QUOTE_ONE_EDIT,
    "this quote differs from the specification by one character; it is accepted",
    "quote the section's words as they stand there",
    "text here",
    is_of_quote=True,
)


def _not_found(spot: Spot) -> Failure:
    section = spot.specification.sections[spot.section]
    message = f'could not find text in section "{section.id}" of {spot.specification.locator.name}'
    if any(section.lines):
        hint = "quote the section's words as they stand there; only spacing may differ"
        return Failure(rules.QUOTE_NOT_FOUND, message, hint, "text here", is_of_quote=True)
    return Failure(
        rules.QUOTE_NOT_FOUND, message, "quote nothing to refer to its title", "section is empty", is_of_quote=True
    )


class _Members:
    """What all annotations say by their kinds and levels.

    These stand side by side here: the annotations of one quote lie far apart in memory, and each of them costs a wait.
    """

    def __init__(self, annotations: tuple[Annotation, ...]) -> None:
        self.annotations = annotations
        kinds, levels = bytes([one.kind for one in annotations]), bytes([one.level for one in annotations])
        both = int.from_bytes(levels, "big") << _LEVEL_SHIFT | int.from_bytes(kinds, "big")
        self.codes = both.to_bytes(len(annotations), "big")
        """By annotation its kind, and its level in the higher bits."""

    def match(self, section: int, pieces: tuple[Piece, ...], fit: Fit, ids: list[int]) -> Match:
        """The match of these annotations."""
        codes = self.codes
        flags, level, stating = _meaning(bytes([codes[id] for id in ids]))
        if flags & EXCEPTION and self._is_excused(ids):
            flags |= EXCUSED
        return Match(section, pieces, fit, tuple(ids), flags, level, tuple([ids[place] for place in stating]))

    def _is_excused(self, ids: list[int]) -> bool:
        members = (self.annotations[id] for id in ids)
        return any(one.kind is Kind.EXCEPTION and one.reason.strip() for one in members)


_LEVEL_SHIFT = 3
_KIND = (1 << _LEVEL_SHIFT) - 1


@lru_cache(maxsize=256)
def _meaning(codes: bytes) -> tuple[int, Level, list[int]]:
    """The flags and the level of annotations with these codes, and which of them state a requirement."""
    flags = 0
    for code in set(codes):
        flags |= KIND_FLAGS[code & _KIND]
    stating = [place for place, code in enumerate(codes) if code & _KIND == Kind.SPEC]
    return flags, Level(max(codes) >> _LEVEL_SHIFT), stating
