"""From the targets of annotations to sections of specifications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import Annotation, Format, Locator, Problem, Specification
from duvet.specs.library import Library
from duvet.specs.resolve import locate, resolve
from duvet.specs.sections import SectionNames, section_index
from duvet.specs.urls import is_url
from duvet.text import quoted
from duvet.trace.failure import Failure
from duvet.trace.places import Places
from duvet.tree.protocol import Tree

Quotes = defaultdict[str, list[int]]
"""Ids of annotations by what they quote."""


class Spot(Struct, frozen=True):
    """A section that annotations refer to, and their ids by quote."""

    specification: Specification
    section: int
    quotes: Quotes


_Key = str | tuple[str, Format, str]
"""A target; with its format and the base of its path where these are not the usual ones."""


class _Found(dict[_Key, Quotes]):
    """What refers to each target; a new one is looked up."""

    def __init__(self, find: Callable[[_Key], Quotes]) -> None:
        self.find = find

    def __missing__(self, key: _Key) -> Quotes:
        quotes = self[key] = self.find(key)
        return quotes


class Targets:
    """Resolves targets, each once."""

    def __init__(self, library: Library, tree: Tree, base: str) -> None:
        self.library = library
        self.tree = tree
        self.base = base
        self.specifications: dict[Locator, Specification] = {}
        self.failures: dict[int, Failure] = {}
        """Why annotations lead nowhere, by their ids."""
        self._located: dict[tuple[str, Format], Locator] = {}
        self._unloaded: dict[Locator, Failure] = {}
        self._names: dict[Locator, SectionNames] = {}
        self._spots: dict[tuple[Locator, int], Spot] = {}
        self._unavailable = {locator.name for locator in library.failures}
        self._told: set[Failure] = set()
        self._failed: list[tuple[Failure, Quotes]] = []
        self._urls: Iterator[Locator] = iter(())
        """Of all annotations; nobody looks for them before the first one is met."""

    def spots(self, annotations: Sequence[Annotation], places: Places, problems: list[Problem]) -> list[Spot]:
        """The sections with what refers to them; annotations that lead nowhere become problems and `failures`."""
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

    def _found(self, key: _Key) -> Quotes:
        spot = self._spot(*key) if isinstance(key, tuple) else self._spot(key, Format.AUTO, self.base)
        if isinstance(spot, Spot):
            return spot.quotes
        quotes: Quotes = defaultdict(list)
        self._failed.append((spot, quotes))
        return quotes

    def _spot(self, target: str, format: Format, base: str) -> Spot | Failure:
        name, hash_sign, wanted = target.partition("#")
        try:
            locator = self._located.get((name, format)) or self._locate(name, format, base)
        except DuvetError as error:
            rule = rules.TARGET_BAD_URL if "://" in name else rules.TARGET_UNRESOLVED
            return self._known(Failure(rule, error.message, error.hint), name)
        specification = self._load(locator)
        if specification is None:
            return self._unloaded[locator]
        ##= man/spec/trace.md#targets
        ##% A target without a section MUST be reported.
        if not hash_sign:
            message = f"reference to {locator.name} is missing a section"
            return Failure(rules.TARGET_NO_SECTION, message, f"write {locator.name}#SECTION")
        index = section_index(specification, wanted)
        if index is None:
            return self._unknown_section(specification, wanted)
        return self._spots.setdefault((locator, index), Spot(specification, index, defaultdict(list)))

    def _locate(self, name: str, format: Format, base: str) -> Locator:
        """The locator; where the name leads to a file by itself, it does so for every base."""
        locator = resolve(name, format, base, self.tree)
        if locator == locate(name, format):
            self._located[name, format] = locator
        return locator

    def _load(self, locator: Locator) -> Specification | None:
        if locator not in self.specifications and locator not in self._unloaded:
            if locator.is_url:
                self.library.prefetch(self._urls)
            try:
                self.specifications[locator] = self.library.load(locator)
            except DuvetError as error:
                failure = Failure(rules.broken_by(error), str(error), error.hint, once=True)
                self._unloaded[locator] = self._known(failure, locator.name)
        return self.specifications.get(locator)

    def _known(self, failure: Failure, name: str) -> Failure:
        """The failure, which has been told where the specification of that name is configured."""
        if name not in self._unavailable:
            return failure
        return replace(failure, is_told=True)

    def _unknown_section(self, specification: Specification, wanted: str) -> Failure:
        locator = specification.locator
        if locator not in self._names:
            self._names[locator] = SectionNames(specification)
        ##= man/spec/trace.md#targets
        ##% A section that does not exist SHOULD be reported with the names that are most like it.
        near = self._names[locator].nearest(wanted)
        hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
        message = f"missing section {quoted(wanted)} in {locator.name}"
        return Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)

    def _problem(self, failure: Failure, annotation: Annotation, places: Places) -> Iterator[Problem]:
        if failure.is_told or (failure.once and failure in self._told):
            return
        self._told.add(failure)
        ##= man/spec/trace.md#targets
        ##% A target that leads nowhere MUST be reported where it is written.
        yield failure.of(annotation, places)


def _urls(annotations: Iterable[Annotation]) -> Iterator[Locator]:
    """The specifications behind URLs; what is wrong with a URL is told where it is written."""
    names = (target.partition("#")[0] for target in dict.fromkeys([one.target for one in annotations]))
    for name in dict.fromkeys(names):
        if is_url(name):
            with suppress(DuvetError):
                yield locate(name)
