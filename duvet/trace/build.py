"""Builds a trace: resolves targets and links each annotation to its text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    find_section_indexes,
    is_url,
    locate_specification,
    locator_key,
    resolve_specification,
)
from duvet.text import join_names, quote_text
from duvet.trace import records
from duvet.trace.catalogue import select_unreferenced_specifications
from duvet.trace.coverage import cover_specification
from duvet.trace.match import QuoteMatcher
from duvet.tree.files import Tree

_MOST_NAMES = 8  # The most names of sections in a message.

IdsByQuote = defaultdict[str, list[int]]  # Ids of annotations by quote.


class TargetSection(Struct, frozen=True):
    """A section, and the ids of the annotations that cite it by quote."""

    specification: Specification
    section: int
    quotes: IdsByQuote


_TargetKey = str | tuple[str, Format, str, bool]
"""A target; with its format, the base of its path, and whether it is extracted, if these are not the usual ones."""


class TargetResolver:
    def __init__(self, library: Library, tree: Tree, base: str) -> None:
        self.library = library
        self.tree = tree
        self.base = base
        self.specifications: dict[Locator, Specification] = {}
        self.failures: dict[int, records.Failure] = {}
        """The failures of annotations by id."""
        self._located: dict[tuple[str, Format], Locator] = {}
        self._unloaded: dict[Locator, records.Failure] = {}
        self._names: dict[Locator, SectionNames] = {}
        self._sections: dict[tuple[Locator, int], TargetSection] = {}
        self._unavailable = {locator.name for locator in library.failures}
        self._urls: Iterator[Locator] = iter(())
        """The URLs of all annotations, which the first of them downloads."""

    def resolve(
        self, annotations: Sequence[Annotation], places: records.AnnotationPlaces, problems: list[Problem]
    ) -> list[TargetSection]:
        """Resolve all targets; annotations that lead nowhere become problems and `failures`."""
        self._urls = _urls(annotations)
        by_key: dict[_TargetKey, IdsByQuote] = {}
        failed: list[tuple[records.Failure, IdsByQuote]] = []
        for id, annotation in enumerate(annotations):
            key: _TargetKey = annotation.target
            if annotation.from_file or annotation.format:
                is_extracted = annotation.from_file and annotation.kind is Kind.SPEC
                base = annotation.path if annotation.from_file else self.base
                key = (annotation.target, annotation.format, base, is_extracted)
            quotes = by_key.get(key)
            if quotes is None:
                found = self._resolve(*key) if isinstance(key, tuple) else self._resolve(key, Format.AUTO, self.base)
                if isinstance(found, TargetSection):
                    quotes = found.quotes
                else:
                    quotes = defaultdict(list)
                    failed.append((found, quotes))
                by_key[key] = quotes
            quotes[annotation.quote].append(id)
        failures = [(id, failure) for failure, quotes in failed for ids in quotes.values() for id in ids]
        reported: set[records.Failure] = set()
        for id, failure in sorted(failures, key=itemgetter(0)):
            self.failures[id] = failure
            if not failure.is_reported and not (failure.once and failure in reported):
                reported.add(failure)
                problems.append(failure.of(annotations[id], places))
        return list(self._sections.values())

    def _resolve(
        self, target: str, format: Format, base: str, is_extracted: bool = False
    ) -> TargetSection | records.Failure:
        name, hash_sign, section = target.partition("#")
        try:
            locator = self._located.get((name, format)) or self._locate(name, format, base)
        except DuvetError as error:
            rule = rules.TARGET_BAD_URL if "://" in name else rules.TARGET_UNRESOLVED
            return records.Failure(rule, error.message, error.hint, is_reported=name in self._unavailable)
        specification = self._load(locator)
        if specification is None:
            return self._unloaded[locator]
        ##= man/spec/trace.md#targets-and-quotes
        ##% duvet MUST report a target that has no section or leads nowhere, where it is written, and SHOULD suggest
        ##% similar sections.
        if not hash_sign:
            message = f"reference to {locator.name} is missing a section"
            return records.Failure(rules.TARGET_NO_SECTION, message, f"write {locator.name}#SECTION")
        found = find_section_indexes(specification, section, has_prefixes=specification.format is Format.IETF)
        ##= man/spec/trace.md#sections
        ##% An entry for a requirement in a requirement file MUST belong to the section with exactly the id in its target.
        index = specification.by_id.get(section) if is_extracted else None
        if index is None and len(found) > 1:
            ##= man/spec/trace.md#sections
            ##% duvet MUST report a target that several sections match, list their names, and propose the section that
            ##% contains the quote as a fix.
            names = join_names([f"#{specification.sections[one].name}" for one in found], _MOST_NAMES)
            message = f"{quote_text(section)} names {len(found)} sections of {locator.name}: {names}"
            return records.Failure(rules.TARGET_AMBIGUOUS, message, "write the name of the section that you mean")
        if index is None and found:
            (index,) = found
        if index is None:
            if locator not in self._names:
                self._names[locator] = SectionNames(specification.sections)
            near = self._names[locator].nearest(section)
            hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
            message = f"missing section {quote_text(section)} in {locator.name}"
            return records.Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)
        return self._sections.setdefault((locator, index), TargetSection(specification, index, defaultdict(list)))

    def _locate(self, name: str, format: Format, base: str) -> Locator:
        locator = resolve_specification(name, format, base, self.tree)
        # A name that leads to a file by itself does so for every base.
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
                is_reported = locator.name in self._unavailable
                self._unloaded[locator] = records.Failure(
                    rules.find_broken_rule(error), str(error), error.hint, once=True, is_reported=is_reported
                )
        return self.specifications.get(locator)


def _urls(annotations: Iterable[Annotation]) -> Iterator[Locator]:
    names = (target.partition("#")[0] for target in dict.fromkeys([one.target for one in annotations]))
    for name in dict.fromkeys(names):
        if is_url(name):
            with suppress(DuvetError):
                yield locate_specification(name)


class LinkedAnnotations(Struct, frozen=True):
    matches: dict[Locator, list[records.Match]]
    specifications: dict[Locator, Specification]
    first: dict[Locator, int]  # The first annotation that refers to each specification.
    problems: list[Problem]
    failures: dict[int, records.Failure]  # By annotation id.
    references: int


def link_annotations(
    annotations: tuple[Annotation, ...],
    library: Library,
    tree: Tree,
    base: str,
    progress: Progress,
    matcher_of: Callable[[Section], QuoteMatcher] = QuoteMatcher,
    *,
    allows_cuts: bool = True,
) -> LinkedAnnotations:
    """Match every annotation, or report it; annotations are in their final order.

    With `allows_cuts`, as in awslabs duvet, a quote with one wrong character may end where the sentence goes on.
    """
    targets, places = TargetResolver(library, tree, base), records.AnnotationPlaces(tree)
    problems: list[Problem] = []
    progress.begin("Loading specifications")
    sections = targets.resolve(annotations, places, problems)
    progress.end(f"Loaded {len(targets.specifications)} specifications")
    progress.begin("Mapping sections")
    progress.end(f"Mapped {len(sections)} sections")
    progress.begin("Matching references")
    codes = _AnnotationCodes(annotations)
    matches: dict[Locator, list[records.Match]] = {}
    first: dict[Locator, int] = {}
    for target in sections:
        locator = target.specification.locator
        first.setdefault(locator, next(iter(target.quotes.values()))[0])
        matcher = matcher_of(target.specification.sections[target.section])
        found, failures = _match_quotes(target, codes, matcher, allows_cuts=allows_cuts)
        matches.setdefault(locator, []).extend(found)
        for failure, ids in failures:
            targets.failures.update(dict.fromkeys(ids, failure))
            problems += [failure.of(annotations[id], places) for id in ids]
    references = sum([len(match.pieces) * len(match.ids) for found in matches.values() for match in found])
    progress.end(f"Matched {references} references")
    return LinkedAnnotations(matches, targets.specifications, first, problems, targets.failures, references)


def _match_quotes(
    target: TargetSection, codes: _AnnotationCodes, matcher: QuoteMatcher, *, allows_cuts: bool
) -> tuple[list[records.Match], list[tuple[records.Failure, list[int]]]]:
    """Return the matches of the quotes, and each failure with its annotations."""
    matches: list[records.Match] = []
    failures: list[tuple[records.Failure, list[int]]] = []
    for quote, ids in target.quotes.items():
        found = matcher.find(quote)
        is_cut = not allows_cuts and found is not None and found[1] is records.Fit.ONE_EDIT and matcher.is_cut(quote)
        if found is None or is_cut:
            ##= man/spec/trace.md#targets-and-quotes
            ##% duvet MUST report a quote that its section does not contain.
            section = target.specification.sections[target.section]
            message = f'could not find text in section "{section.id}" of {target.specification.locator.name}'
            hint, label = "remove the quote to cite the title of the section", "section is empty"
            if any(section.lines):
                hint, label = "copy the words of the section; only spacing may differ", "not in this section"
            failures.append((records.Failure(rules.QUOTE_NOT_FOUND, message, hint, label, is_of_quote=True), ids))
            continue
        pieces, fit = found
        matches.append(codes.match(target.section, pieces, fit, ids))
        if fit is records.Fit.ONE_EDIT:
            failures.append((_ONE_EDIT, ids))
    return matches, failures


_ONE_EDIT = records.Failure(
    rules.QUOTE_ONE_EDIT,
    "this quote differs from the specification by one character",
    "copy the words of the section exactly",
    "one character differs",
    is_of_quote=True,
)


class _AnnotationCodes:
    """The kinds and levels of all annotations, in one block of bytes.

    The annotations of one quote are far apart in memory, and reading each of them is slow.
    """

    def __init__(self, annotations: tuple[Annotation, ...]) -> None:
        self.annotations = annotations
        kinds, levels = bytes([one.kind for one in annotations]), bytes([one.level for one in annotations])
        both = int.from_bytes(levels, "big") << _LEVEL_SHIFT | int.from_bytes(kinds, "big")
        self.codes = both.to_bytes(len(annotations), "big")
        """By annotation: its kind, and its level in the higher bits."""

    def match(self, section: int, pieces: tuple[records.Piece, ...], fit: records.Fit, ids: list[int]) -> records.Match:
        codes = self.codes
        flags, level, stating = _summarize_codes(bytes([codes[id] for id in ids]))
        if flags & records.EXCEPTION:
            members = (self.annotations[id] for id in ids)
            if any(one.kind is Kind.EXCEPTION and one.reason.strip() for one in members):
                flags |= records.EXCUSED
        return records.Match(section, pieces, fit, tuple(ids), flags, level, tuple([ids[place] for place in stating]))


_LEVEL_SHIFT = 3
_KIND = (1 << _LEVEL_SHIFT) - 1


@lru_cache(maxsize=256)
def _summarize_codes(codes: bytes) -> tuple[int, Level, list[int]]:
    """Return the flags and the level of annotations with these codes, and those that state a requirement."""
    flags = 0
    for code in set(codes):
        flags |= records.KIND_FLAGS[code & _KIND]
    stating = [place for place, code in enumerate(codes) if code & _KIND == Kind.SPEC]
    return flags, Level(max(codes) >> _LEVEL_SHIFT), stating


def build_trace(
    annotations: tuple[Annotation, ...],
    library: Library,
    tree: Tree,
    base: str,
    before: Iterable[Problem],
    progress: Progress,
    *,
    allows_cuts: bool = True,
    configured: Sequence[Specification] = (),
) -> records.Trace:
    """Resolve targets, match quotes and compute coverage; `before` are the problems found before."""
    linked = link_annotations(annotations, library, tree, base, progress, allows_cuts=allows_cuts)
    progress.begin("Sorting references")
    locators = sorted(linked.matches, key=locator_key)
    named = _name_specifications([linked.specifications[locator] for locator in locators], linked.matches, configured)
    coverages = tuple(
        cover_specification(specification, linked.matches[locator])
        for locator, specification in zip(locators, named, strict=True)
    )
    match_of: list[records.Match | None] = [None] * len(annotations)
    for coverage in coverages:
        for match in coverage.matches:
            for id in match.ids:
                match_of[id] = match
    progress.end(f"Sorted {linked.references} references")
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet SHOULD warn about two spellings of one specification.
    spellings = [
        make_two_spellings_problem(specification, first, annotations[linked.first[specification.locator]])
        for specification, first in find_second_spellings(coverages, base)
    ]
    ##= man/spec/trace.md#diagnostics
    ##% Once it can read the configuration, duvet MUST report all problems of a run, sorted by path and place.
    found = {*before, *linked.problems, *spellings}
    return add_problems(records.Trace(annotations, tuple(match_of), coverages, (), linked.failures), found)


def _name_specifications(
    cited: Sequence[Specification],
    matches: Mapping[Locator, Sequence[records.Match]],
    configured: Sequence[Specification],
) -> tuple[Specification, ...]:
    """Give each cited specification its id, in their order."""
    ##= man/spec/trace.md#specifications
    ##% Of specifications with the same name, duvet MUST give a configured one the id without a number, or else the one
    ##% that most annotations cite.
    wanted = {(one.locator.name, one.format) for one in configured}
    own = {one.locator for one in cited if (one.locator.name, one.format) in wanted}
    others = select_unreferenced_specifications(configured, cited)
    own.update(one.locator for one in others)

    def rank(one: Specification) -> int:
        uses = sum(len(match.ids) - len(match.stating) for match in matches.get(one.locator, ()))
        return -uses - (_ALWAYS_MORE if one.locator in own else 0)

    ids = {one.locator: one for one in assign_ids((*cited, *others), rank=rank)}
    return tuple([replace(ids[one.locator], is_configured=one.locator in own) for one in cited])


_ALWAYS_MORE = 1 << 40


def add_problems(trace: records.Trace, problems: Iterable[Problem]) -> records.Trace:
    return replace(trace, problems=tuple(sorted({*trace.problems, *problems}, key=lambda one: one.sort_key)))


def make_two_spellings_problem(specification: Specification, first: Specification, annotation: Annotation) -> Problem:
    name = first.locator.name
    return rules.TARGET_TWO_SPELLINGS.problem(
        f"{_described(specification)} and {_described(first)} are the same text, but count as two specifications",
        annotation.path,
        Place(annotation.line),
        hint=f"write {name} everywhere" if name != specification.locator.name else "use one format everywhere",
    )


def find_second_spellings(
    coverages: Iterable[records.Coverage], base: str
) -> Iterator[tuple[Specification, Specification]]:
    """Yield each specification whose text has a shorter name too, with the specification of that name."""
    known: dict[str, Specification] = {}
    for specification in sorted((one.specification for one in coverages), key=lambda one: len(one.locator.name)):
        first = known.setdefault(normpath(join(base, specification.path)), specification)
        if first is not specification:
            yield specification, first


def _described(specification: Specification) -> str:
    format = specification.locator.format
    return specification.locator.name + (f" (as {format.name.lower()})" if format else "")
