"""From annotations to matches: the specification, the section and the text that each one means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Kind, Level, Locator, Problem, Specification
from duvet.sources.tree import Tree
from duvet.specs.library import Library
from duvet.specs.resolve import resolve
from duvet.specs.sections import find_section, nearest_sections
from duvet.text import quoted
from duvet.trace.match import Matcher
from duvet.trace.places import Places
from duvet.trace.records import EXCUSED, KIND_FLAGS, Fit, Match


class Spot(NamedTuple):
    """A section that annotations refer to."""

    specification: Specification
    section: int


class Failure(NamedTuple):
    """Why a target leads nowhere; `once` where one report is enough for every annotation."""

    rule: rules.Rule
    message: str
    hint: str = ""
    once: bool = False


class Linked(NamedTuple):
    """The outcome for all annotations: matches by specification, and what is wrong."""

    matches: dict[Locator, list[Match]]
    specifications: dict[Locator, Specification]
    problems: list[Problem]
    sections: int


class Linker:
    """Resolves targets and finds quotes; each target and each quote is looked up once."""

    def __init__(self, library: Library, tree: Tree, base: str) -> None:
        self.library = library
        self.tree = tree
        self.base = base
        self.places = Places(tree)
        self.problems: list[Problem] = []
        self.specifications: dict[Locator, Specification] = {}
        self._loaded: dict[Locator, Specification | Failure] = {}
        self._spots: dict[object, Spot | Failure] = {}
        self._reported: set[Failure] = set()

    def spots(self, annotations: Iterable[Annotation]) -> dict[tuple[Locator, int], dict[str, list[int]]]:
        """The ids of the annotations by section and quote; those that lead nowhere become problems."""
        groups: dict[tuple[Locator, int], dict[str, list[int]]] = {}
        known: dict[object, dict[str, list[int]] | None] = {}
        for index, annotation in enumerate(annotations):
            key = self._key(annotation)
            if key not in known:
                spot = self._spots[key] = self._spot(annotation)
                known[key] = (
                    None
                    if isinstance(spot, Failure)
                    else groups.setdefault((spot.specification.locator, spot.section), {})
                )
            quotes = known[key]
            if quotes is None:
                self._fail(annotation, self._spots[key])
            else:
                quotes.setdefault(annotation.quote, []).append(index)
        return groups

    def _key(self, annotation: Annotation) -> object:
        if annotation.from_file:
            return (annotation.target, annotation.format, annotation.path)
        return (annotation.target, annotation.format)

    def _spot(self, annotation: Annotation) -> Spot | Failure:
        name, hash_sign, wanted = annotation.target.partition("#")
        base = annotation.path if annotation.from_file else self.base
        try:
            locator = resolve(name, annotation.format, base, self.tree)
        except DuvetError as error:
            rule = rules.TARGET_BAD_URL if "://" in name else rules.TARGET_UNRESOLVED
            return Failure(rule, error.message, error.hint)
        specification = self._load(locator)
        if isinstance(specification, Failure):
            return specification
        if not hash_sign:
            return Failure(
                rules.TARGET_NO_SECTION,
                f"reference to {locator.name} is missing a section",
                f"write {locator.name}#SECTION",
            )
        section = find_section(specification, wanted)
        if section is None:
            return _unknown_section(specification, wanted)
        return Spot(specification, specification.sections.index(section))

    def _load(self, locator: Locator) -> Specification | Failure:
        if locator not in self._loaded:
            try:
                self._loaded[locator] = self.specifications[locator] = self.library.load(locator)
            except DuvetError as error:
                rule = rules.SPECIFICATION_UNFETCHED if locator.is_url else rules.FILE_UNREADABLE
                self._loaded[locator] = Failure(rule, str(error), error.hint, once=True)
        return self._loaded[locator]

    def _fail(self, annotation: Annotation, spot: Spot | Failure) -> None:
        assert isinstance(spot, Failure)
        if spot.once and spot in self._reported:
            return
        self._reported.add(spot)
        place = self.places.of(annotation, annotation.source.target)
        self.problems.append(
            spot.rule.problem(spot.message, annotation.path, place, label="referenced here", hint=spot.hint)
        )


def _unknown_section(specification: Specification, wanted: str) -> Failure:
    near = nearest_sections(specification, wanted)
    hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
    message = f"missing section {quoted(wanted)} in {specification.locator.name}"
    return Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)


def link(annotations: tuple[Annotation, ...], library: Library, tree: Tree, base: str) -> Linked:
    """Every annotation matched, or its problem; annotations are in their final order."""
    linker = Linker(library, tree, base)
    matches: dict[Locator, list[Match]] = {}
    groups = linker.spots(annotations)
    for (locator, index), quotes in groups.items():
        specification = linker.specifications[locator]
        found = matches.setdefault(locator, [])
        matcher = Matcher(specification.sections[index])
        for quote, ids in quotes.items():
            place = matcher.find(quote)
            if place is None:
                linker.problems += [_not_found(linker, annotations[id], specification, index) for id in ids]
                continue
            pieces, fit = place
            if fit is Fit.ONE_EDIT:
                linker.problems += [_one_edit(linker, annotations[id]) for id in ids]
            members = [annotations[id] for id in ids]
            found.append(Match(index, pieces, fit, tuple(ids), _flags(members), max(a.level for a in members)))
    return Linked(matches, linker.specifications, linker.problems, len(groups))


def _flags(members: list[Annotation]) -> int:
    flags = 0
    for annotation in members:
        flags |= KIND_FLAGS[annotation.kind]
        if annotation.kind is Kind.EXCEPTION and annotation.reason.strip():
            flags |= EXCUSED
    return flags


def _not_found(linker: Linker, annotation: Annotation, specification: Specification, index: int) -> Problem:
    section = specification.sections[index]
    empty = not any(line.strip() for line in section.lines)
    return rules.QUOTE_NOT_FOUND.problem(
        f'could not find text in section "{section.id}" of {specification.locator.name}',
        annotation.path,
        linker.places.of(annotation, annotation.source.quote),
        label="section is empty" if empty else "text here",
        hint="" if empty else "quote the section's words as they stand there; only spacing may differ",
    )


def _one_edit(linker: Linker, annotation: Annotation) -> Problem:
    return rules.QUOTE_ONE_EDIT.problem(
        "this quote differs from the specification by one character; it is accepted",
        annotation.path,
        linker.places.of(annotation, annotation.source.quote),
        label="text here",
        hint="quote the section's words as they stand there",
    )

