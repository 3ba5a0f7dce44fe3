"""From annotations to matches: the specification, the section and the text that each one means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Kind, Locator, Problem, Specification
from duvet.progress import Progress
from duvet.sources.tree import Tree
from duvet.specs.library import Library
from duvet.specs.resolve import resolve
from duvet.specs.sections import nearest_sections, section_index
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
    label: str = "referenced here"
    once: bool = False


class Linked(NamedTuple):
    """The outcome for all annotations: matches by specification, and what is wrong."""

    matches: dict[Locator, list[Match]]
    specifications: dict[Locator, Specification]
    problems: list[Problem]
    references: int


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
        self._unavailable = {locator.name for locator in library.failures}

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
            return self._known(Failure(rule, error.message, error.hint), name)
        specification = self._load(locator)
        if isinstance(specification, Failure):
            return specification
        ##= man/spec/trace.md#targets
        ##% A target without a section MUST be reported.
        if not hash_sign:
            return Failure(
                rules.TARGET_NO_SECTION,
                f"reference to {locator.name} is missing a section",
                f"write {locator.name}#SECTION",
            )
        index = section_index(specification, wanted)
        return _unknown_section(specification, wanted) if index is None else Spot(specification, index)

    def _load(self, locator: Locator) -> Specification | Failure:
        if locator not in self._loaded:
            try:
                self._loaded[locator] = self.specifications[locator] = self.library.load(locator)
            except DuvetError as error:
                failure = Failure(rules.broken_by(error), str(error), error.hint, once=True)
                self._loaded[locator] = self._known(failure, locator.name)
        return self._loaded[locator]

    def _known(self, failure: Failure, name: str) -> Failure:
        """The failure, marked as reported where the specification of that name is configured."""
        if name not in self._unavailable:
            return failure
        told = failure._replace(once=True)
        self._reported.add(told)
        return told

    def _fail(self, annotation: Annotation, spot: Spot | Failure) -> None:
        assert isinstance(spot, Failure)
        if spot.once and spot in self._reported:
            return
        self._reported.add(spot)
        ##= man/spec/trace.md#targets
        ##% A target that leads nowhere MUST be reported where it is written.
        place = self.places.of(annotation, annotation.source.target)
        self.problems.append(spot.rule.problem(spot.message, annotation.path, place, label=spot.label, hint=spot.hint))


def _unknown_section(specification: Specification, wanted: str) -> Failure:
    ##= man/spec/trace.md#targets
    ##% A section that does not exist SHOULD be reported with the names that are most like it.
    near = nearest_sections(specification, wanted)
    hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
    message = f"missing section {quoted(wanted)} in {specification.locator.name}"
    return Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)


def link(annotations: tuple[Annotation, ...], library: Library, tree: Tree, base: str, progress: Progress) -> Linked:
    """Every annotation matched, or its problem; annotations are in their final order."""
    linker = Linker(library, tree, base)
    progress.begin("Loading specifications")
    groups = linker.spots(annotations)
    progress.end(f"Loaded {len(linker.specifications)} specifications")
    progress.begin("Mapping sections")
    progress.end(f"Mapped {len(groups)} sections")
    progress.begin("Matching references")
    matches: dict[Locator, list[Match]] = {}
    for (locator, index), quotes in groups.items():
        section = _Quoted(linker, annotations, linker.specifications[locator], index)
        matches.setdefault(locator, []).extend(section.matches(quotes))
    references = sum(len(match.pieces) * len(match.ids) for found in matches.values() for match in found)
    progress.end(f"Matched {references} references")
    return Linked(matches, linker.specifications, linker.problems, references)


class _Quoted:
    """The quotes of one section."""

    def __init__(
        self, linker: Linker, annotations: tuple[Annotation, ...], specification: Specification, index: int
    ) -> None:
        self.linker = linker
        self.annotations = annotations
        self.specification = specification
        self.index = index
        self.section = specification.sections[index]

    def matches(self, quotes: dict[str, list[int]]) -> Iterator[Match]:
        """A match for each quote that stands in the section; a problem for each that does not."""
        matcher = Matcher(self.section)
        for quote, ids in quotes.items():
            members = [self.annotations[id] for id in ids]
            found = matcher.find(quote)
            if found is None:
                ##= man/spec/trace.md#quotes
                ##% A quote that is found nowhere in its section MUST be reported where it is written.
                self._report(members, self._not_found())
                continue
            pieces, fit = found
            ##= man/spec/trace.md#quotes
            ##% A quote that differs by one byte MUST be accepted, and SHOULD cause a warning.
            if fit is Fit.ONE_EDIT:
                self._report(members, _ONE_EDIT)
            yield Match(self.index, pieces, fit, tuple(ids), _flags(members), max(one.level for one in members))

    def _report(self, members: list[Annotation], failure: Failure) -> None:
        for annotation in members:
            place = self.linker.places.of(annotation, annotation.source.quote)
            problem = failure.rule.problem(
                failure.message, annotation.path, place, label=failure.label, hint=failure.hint
            )
            self.linker.problems.append(problem)

    def _not_found(self) -> Failure:
        message = f'could not find text in section "{self.section.id}" of {self.specification.locator.name}'
        if any(self.section.lines):
            hint = "quote the section's words as they stand there; only spacing may differ"
            return Failure(rules.QUOTE_NOT_FOUND, message, hint, "text here")
        return Failure(rules.QUOTE_NOT_FOUND, message, "quote nothing to refer to its title", "section is empty")


_ONE_EDIT = Failure(
    rules.QUOTE_ONE_EDIT,
    "this quote differs from the specification by one character; it is accepted",
    "quote the section's words as they stand there",
    "text here",
)


def _flags(members: list[Annotation]) -> int:
    flags = 0
    for annotation in members:
        flags |= KIND_FLAGS[annotation.kind]
        if annotation.kind is Kind.EXCEPTION and annotation.reason.strip():
            flags |= EXCUSED
    return flags
