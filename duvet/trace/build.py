"""Builds a trace: resolves targets and links each annotation to its text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from posixpath import join, normpath

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Format, Kind, Level, Locator, Place, Problem, Section, Specification
from duvet.progress import Progress
from duvet.specs.library import Library, assign_ids
from duvet.specs.locator import (
    SectionNames,
    find_section_index,
    is_url,
    locate_specification,
    locator_key,
    resolve_specification,
)
from duvet.text import quote_text
from duvet.trace.coverage import cover_specification
from duvet.trace.match import QuoteMatcher
from duvet.trace.records import (
    EXCEPTION,
    EXCUSED,
    KIND_FLAGS,
    AnnotationPlaces,
    Coverage,
    Failure,
    Fit,
    Match,
    Piece,
    Trace,
)
from duvet.tree.files import Tree

IdsByQuote = defaultdict[str, list[int]]
"""Ids of annotations by quote."""


class TargetSection(Struct, frozen=True):
    """A section, and the ids of the annotations that cite it by quote."""

    specification: Specification
    section: int
    quotes: IdsByQuote


_Key = str | tuple[str, Format, str]
"""A target; with its format and the base of its path if these are not the usual ones."""


class _Found(dict[_Key, IdsByQuote]):
    def __init__(self, find: Callable[[_Key], IdsByQuote]) -> None:
        self.find = find

    def __missing__(self, key: _Key) -> IdsByQuote:
        quotes = self[key] = self.find(key)
        return quotes


class TargetResolver:
    """Resolves each target once."""

    def __init__(self, library: Library, tree: Tree, base: str) -> None:
        self.library = library
        self.tree = tree
        self.base = base
        self.specifications: dict[Locator, Specification] = {}
        self.failures: dict[int, Failure] = {}
        """The failures of annotations by id."""
        self._located: dict[tuple[str, Format], Locator] = {}
        self._unloaded: dict[Locator, Failure] = {}
        self._names: dict[Locator, SectionNames] = {}
        self._spots: dict[tuple[Locator, int], TargetSection] = {}
        self._unavailable = {locator.name for locator in library.failures}
        self._told: set[Failure] = set()
        self._failed: list[tuple[Failure, IdsByQuote]] = []
        self._urls: Iterator[Locator] = iter(())
        """The URLs of all annotations, which the first of them downloads."""

    def spots(
        self, annotations: Sequence[Annotation], places: AnnotationPlaces, problems: list[Problem]
    ) -> list[TargetSection]:
        """Resolve all targets; annotations that lead nowhere become problems and `failures`."""
        self._urls = _urls(annotations)
        found = _Found(self._found)
        for id, annotation in enumerate(annotations):
            key: _Key = annotation.target
            if annotation.from_file or annotation.format:
                key = (annotation.target, annotation.format, annotation.path if annotation.from_file else self.base)
            found[key][annotation.quote].append(id)
        failed = [(id, failure) for failure, quotes in self._failed for ids in quotes.values() for id in ids]
        for id, failure in sorted(failed, key=itemgetter(0)):
            self.failures[id] = failure
            problems += self._problem(failure, annotations[id], places)
        return list(self._spots.values())

    def _found(self, key: _Key) -> IdsByQuote:
        spot = self._spot(*key) if isinstance(key, tuple) else self._spot(key, Format.AUTO, self.base)
        if isinstance(spot, TargetSection):
            return spot.quotes
        quotes: IdsByQuote = defaultdict(list)
        self._failed.append((spot, quotes))
        return quotes

    def _spot(self, target: str, format: Format, base: str) -> TargetSection | Failure:
        name, hash_sign, wanted = target.partition("#")
        try:
            locator = self._located.get((name, format)) or self._locate(name, format, base)
        except DuvetError as error:
            rule = rules.TARGET_BAD_URL if "://" in name else rules.TARGET_UNRESOLVED
            return self._known(Failure(rule, error.message, error.hint), name)
        specification = self._load(locator)
        if specification is None:
            return self._unloaded[locator]
        ##= man/spec/trace.md#targets-and-quotes
        ##% duvet MUST report a target that has no section or leads nowhere, where it is written, and SHOULD suggest
        ##% similar sections.
        if not hash_sign:
            message = f"reference to {locator.name} is missing a section"
            return Failure(rules.TARGET_NO_SECTION, message, f"write {locator.name}#SECTION")
        index = find_section_index(specification, wanted)
        if index is None:
            return self._unknown_section(specification, wanted)
        return self._spots.setdefault((locator, index), TargetSection(specification, index, defaultdict(list)))

    def _locate(self, name: str, format: Format, base: str) -> Locator:
        """The locator; a name that leads to a file by itself does so for every base."""
        locator = resolve_specification(name, format, base, self.tree)
        if locator == locate_specification(name, format):
            self._located[name, format] = locator
        return locator

    def _load(self, locator: Locator) -> Specification | None:
        if locator not in self.specifications and locator not in self._unloaded:
            if locator.is_url:
                self.library.prefetch(self._urls)
            try:
                self.specifications[locator] = self.library.load(locator)
            except DuvetError as error:
                failure = Failure(rules.find_broken_rule(error), str(error), error.hint, once=True)
                self._unloaded[locator] = self._known(failure, locator.name)
        return self.specifications.get(locator)

    def _known(self, failure: Failure, name: str) -> Failure:
        """The failure; one that is already reported where the specification is configured is marked."""
        if name not in self._unavailable:
            return failure
        return replace(failure, is_told=True)

    def _unknown_section(self, specification: Specification, wanted: str) -> Failure:
        locator = specification.locator
        if locator not in self._names:
            self._names[locator] = SectionNames(specification)
        near = self._names[locator].nearest(wanted)
        hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
        message = f"missing section {quote_text(wanted)} in {locator.name}"
        return Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)

    def _problem(self, failure: Failure, annotation: Annotation, places: AnnotationPlaces) -> Iterator[Problem]:
        if failure.is_told or (failure.once and failure in self._told):
            return
        self._told.add(failure)
        yield failure.of(annotation, places)


def _urls(annotations: Iterable[Annotation]) -> Iterator[Locator]:
    names = (target.partition("#")[0] for target in dict.fromkeys([one.target for one in annotations]))
    for name in dict.fromkeys(names):
        if is_url(name):
            with suppress(DuvetError):
                yield locate_specification(name)


class LinkedAnnotations(Struct, frozen=True):
    """The matches of all annotations by specification, and the problems."""

    matches: dict[Locator, list[Match]]
    specifications: dict[Locator, Specification]
    first: dict[Locator, int]
    """The first annotation that refers to each specification."""
    problems: list[Problem]
    failures: dict[int, Failure]
    """By annotation id."""
    references: int


def link_annotations(
    annotations: tuple[Annotation, ...],
    library: Library,
    tree: Tree,
    base: str,
    progress: Progress,
    matcher_of: Callable[[Section], QuoteMatcher] = QuoteMatcher,
) -> LinkedAnnotations:
    """Match every annotation, or report it; annotations are in their final order."""
    targets, places = TargetResolver(library, tree, base), AnnotationPlaces(tree)
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
    return LinkedAnnotations(matches, targets.specifications, first, problems, targets.failures, references)


def _looked_up(
    spot: TargetSection, members: _Members, matcher: QuoteMatcher
) -> tuple[list[Match], list[tuple[Failure, list[int]]]]:
    """The matches of the quotes, and the failures with the annotations that have them."""
    matches: list[Match] = []
    failures: list[tuple[Failure, list[int]]] = []
    for quote, ids in spot.quotes.items():
        found = matcher.find(quote)
        if found is None:
            ##= man/spec/trace.md#targets-and-quotes
            ##% duvet MUST report a quote that its section does not contain.
            failures.append((_not_found(spot), ids))
            continue
        pieces, fit = found
        matches.append(members.match(spot.section, pieces, fit, ids))
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


def _not_found(spot: TargetSection) -> Failure:
    section = spot.specification.sections[spot.section]
    message = f'could not find text in section "{section.id}" of {spot.specification.locator.name}'
    if any(section.lines):
        hint = "quote the section's words as they stand there; only spacing may differ"
        return Failure(rules.QUOTE_NOT_FOUND, message, hint, "text here", is_of_quote=True)
    return Failure(
        rules.QUOTE_NOT_FOUND, message, "quote nothing to refer to its title", "section is empty", is_of_quote=True
    )


class _Members:
    """The kinds and levels of all annotations, in one block of bytes.

    The annotations of one quote are far apart in memory, and reading each of them is slow.
    """

    def __init__(self, annotations: tuple[Annotation, ...]) -> None:
        self.annotations = annotations
        kinds, levels = bytes([one.kind for one in annotations]), bytes([one.level for one in annotations])
        both = int.from_bytes(levels, "big") << _LEVEL_SHIFT | int.from_bytes(kinds, "big")
        self.codes = both.to_bytes(len(annotations), "big")
        """By annotation: its kind, and its level in the higher bits."""

    def match(self, section: int, pieces: tuple[Piece, ...], fit: Fit, ids: list[int]) -> Match:
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


def build_trace(
    annotations: tuple[Annotation, ...],
    library: Library,
    tree: Tree,
    base: str,
    before: Iterable[Problem],
    progress: Progress,
) -> Trace:
    """Resolve, match and cover; problems are added to those found before."""
    linked = link_annotations(annotations, library, tree, base, progress)
    progress.begin("Sorting references")
    coverages = _coverages(linked)
    match_of: list[Match | None] = [None] * len(annotations)
    for coverage in coverages:
        for match in coverage.matches:
            for id in match.ids:
                match_of[id] = match
    progress.end(f"Sorted {linked.references} references")
    ##= man/spec/trace.md#diagnostics
    ##% Once it can read the configuration, duvet MUST report all problems of a run, sorted by path and place.
    found = {*before, *linked.problems, *_two_spellings(annotations, coverages, linked, base)}
    return add_problems(Trace(annotations, tuple(match_of), coverages, (), linked.failures), found)


def add_problems(trace: Trace, problems: Iterable[Problem]) -> Trace:
    return replace(trace, problems=tuple(sorted({*trace.problems, *problems}, key=lambda one: one.sort_key)))


def _coverages(linked: LinkedAnnotations) -> tuple[Coverage, ...]:
    locators = sorted(linked.matches, key=locator_key)
    named = assign_ids(linked.specifications[locator] for locator in locators)
    return tuple(
        cover_specification(specification, linked.matches[locator])
        for locator, specification in zip(locators, named, strict=True)
    )


def _two_spellings(
    annotations: tuple[Annotation, ...], coverages: tuple[Coverage, ...], linked: LinkedAnnotations, base: str
) -> Iterator[Problem]:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet SHOULD warn about two spellings of one specification.
    for specification, first in find_second_spellings(coverages, base):
        yield make_two_spellings_problem(specification, first, annotations[linked.first[specification.locator]])


def make_two_spellings_problem(specification: Specification, first: Specification, annotation: Annotation) -> Problem:
    name = first.locator.name
    return rules.TARGET_TWO_SPELLINGS.problem(
        f"{_described(specification)} and {_described(first)} are one text, but count as two specifications",
        annotation.path,
        Place(annotation.line),
        hint=f"write {name} everywhere" if name != specification.locator.name else "give it one format everywhere",
    )


def find_second_spellings(coverages: Iterable[Coverage], base: str) -> Iterator[tuple[Specification, Specification]]:
    """Each specification whose text has a shorter name, with the specification of that name."""
    known: dict[str, Specification] = {}
    for specification in sorted((one.specification for one in coverages), key=lambda one: len(one.locator.name)):
        first = known.setdefault(normpath(join(base, specification.path)), specification)
        if first is not specification:
            yield specification, first


def _described(specification: Specification) -> str:
    wanted = specification.locator.format
    return specification.locator.name + (f" (as {wanted.name.lower()})" if wanted else "")
