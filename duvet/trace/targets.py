"""From the targets of annotations to sections of specifications."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Locator, Place, Problem, Specification
from duvet.specs.library import Library
from duvet.specs.resolve import locate, resolve
from duvet.specs.sections import nearest_sections, section_index
from duvet.specs.urls import is_url
from duvet.text import quoted
from duvet.trace.places import Places
from duvet.tree.protocol import Tree


class Spot(NamedTuple):
    """A section that annotations refer to, and their ids by quote."""

    specification: Specification
    section: int
    quotes: dict[str, list[int]]


class Failure(NamedTuple):
    """Why an annotation leads nowhere; `once` where one report is enough for all that do."""

    rule: rules.Rule
    message: str
    hint: str = ""
    label: str = "referenced here"
    once: bool = False

    def at(self, path: str, place: Place) -> Problem:
        """The problem of an annotation there."""
        return self.rule.problem(self.message, path, place, label=self.label, hint=self.hint)


class Targets:
    """Resolves targets, each once."""

    def __init__(self, library: Library, tree: Tree, base: str) -> None:
        self.library = library
        self.tree = tree
        self.base = base
        self.specifications: dict[Locator, Specification] = {}
        self._failures: dict[Locator, Failure] = {}
        self._spots: dict[tuple[Locator, int], Spot] = {}
        self._unavailable = {locator.name for locator in library.failures}
        self._told: set[Failure] = set()

    def spots(self, annotations: Iterable[Annotation], places: Places, problems: list[Problem]) -> list[Spot]:
        """The sections with what refers to them; annotations that lead nowhere become problems."""
        self.library.prefetch(_urls(annotations))
        found: dict[object, Spot | Failure] = {}
        for id, annotation in enumerate(annotations):
            key = (annotation.target, annotation.format, annotation.path if annotation.from_file else "")
            if key not in found:
                found[key] = self._spot(annotation)
            spot = found[key]
            if isinstance(spot, Spot):
                spot.quotes.setdefault(annotation.quote, []).append(id)
            else:
                problems += self._problem(spot, annotation, places)
        return list(self._spots.values())

    def _spot(self, annotation: Annotation) -> Spot | Failure:
        name, hash_sign, wanted = annotation.target.partition("#")
        base = annotation.path if annotation.from_file else self.base
        try:
            locator = resolve(name, annotation.format, base, self.tree)
        except DuvetError as error:
            rule = rules.TARGET_BAD_URL if "://" in name else rules.TARGET_UNRESOLVED
            return self._known(Failure(rule, error.message, error.hint), name)
        specification = self._load(locator)
        if specification is None:
            return self._failures[locator]
        ##= man/spec/trace.md#targets
        ##% A target without a section MUST be reported.
        if not hash_sign:
            message = f"reference to {locator.name} is missing a section"
            return Failure(rules.TARGET_NO_SECTION, message, f"write {locator.name}#SECTION")
        index = section_index(specification, wanted)
        if index is None:
            return _unknown_section(specification, wanted)
        return self._spots.setdefault((locator, index), Spot(specification, index, {}))

    def _load(self, locator: Locator) -> Specification | None:
        if locator not in self.specifications and locator not in self._failures:
            try:
                self.specifications[locator] = self.library.load(locator)
            except DuvetError as error:
                failure = Failure(rules.broken_by(error), str(error), error.hint, once=True)
                self._failures[locator] = self._known(failure, locator.name)
        return self.specifications.get(locator)

    def _known(self, failure: Failure, name: str) -> Failure:
        """The failure, marked as told where the specification of that name is configured."""
        if name not in self._unavailable:
            return failure
        told = failure._replace(once=True)
        self._told.add(told)
        return told

    def _problem(self, failure: Failure, annotation: Annotation, places: Places) -> Iterator[Problem]:
        if failure.once and failure in self._told:
            return
        self._told.add(failure)
        ##= man/spec/trace.md#targets
        ##% A target that leads nowhere MUST be reported where it is written.
        yield failure.at(annotation.path, places.of(annotation, annotation.source.target))


def _urls(annotations: Iterable[Annotation]) -> Iterator[Locator]:
    """The specifications behind URLs; what is wrong with a URL is told where it is written."""
    names = (target.partition("#")[0] for target in dict.fromkeys([one.target for one in annotations]))
    for name in dict.fromkeys(names):
        if is_url(name):
            with suppress(DuvetError):
                yield locate(name)


def _unknown_section(specification: Specification, wanted: str) -> Failure:
    ##= man/spec/trace.md#targets
    ##% A section that does not exist SHOULD be reported with the names that are most like it.
    near = nearest_sections(specification, wanted)
    hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
    message = f"missing section {quoted(wanted)} in {specification.locator.name}"
    return Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)
