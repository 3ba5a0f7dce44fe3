"""Builds a trace: resolves targets and links each annotation to its text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError
from duvet.model import NUMBER_SIGN, Annotation, Format, Kind, Level, Locator, Place, Problem, Section, Specification
from duvet.progress import Progress
from duvet.specs import locator as locators, section_names
from duvet.specs.library import Library, assign_ids
from duvet.text import LineNumbers, is_similar_path, join_names, quote_text, suggest_nearest
from duvet.trace import records
from duvet.trace.catalogue import select_unreferenced_specifications
from duvet.trace.coverage import cover_specification
from duvet.trace.match import QuoteMatcher
from duvet.trace.names import NO_NAMES, NamedText, NamesOf, RequirementNames, is_stated_name
from duvet.tree.files import Tree

if TYPE_CHECKING:
    from duvet.trace.nearest import Neighbourhood

_MOST_NAMES = 8  # The most names of sections in a message.

QuoteKey = str | tuple[str, str]  # A quote, or a quote and the name of the requirement that must contain it.
IdsByQuote = defaultdict[QuoteKey, list[int]]  # Ids of annotations by quote.


class TargetSection(Struct, frozen=True):
    specification: Specification
    section: int
    quotes: IdsByQuote
    named: tuple[NamedText, ...] = ()  # The requirements that the target names by an id; empty for a section.
    equal: tuple[int, ...] = ()  # The sections with the same path, if there are several.
    failure: records.Failure | None = None  # If the number in the target does not exist; `section` has no meaning then.


_TargetKey = str | tuple[str, Format, str, bool]
"""A target; a tuple adds its format, its base and whether it is extracted, if one of these is unusual."""


class TargetResolver:
    def __init__(self, library: Library, tree: Tree, base: str, names_of: NamesOf | None = None) -> None:
        self.library = library
        self.tree = tree
        self.base = base
        self.specifications: dict[Locator, Specification] = {}
        self.failures: dict[int, records.Failure] = {}  # The failures, by annotation id.
        self._located: dict[tuple[str, Format], Locator] = {}
        self._unloaded: dict[Locator, records.Failure] = {}
        self._names: dict[Locator, section_names.SectionNames] = {}
        self.names_of = names_of or self._find_names
        """Returns the ids that a specification gives its requirements; by default, the ids in annotations."""
        self._sections: dict[tuple[Locator, int, tuple[NamedText, ...]], TargetSection] = {}
        self._missing: dict[tuple[Locator, str], TargetSection] = {}
        self._headed: dict[Locator, dict[str, int]] = {}
        self._annotations: Sequence[Annotation] = ()
        self._stated: dict[Locator, RequirementNames] | None = None
        self._unavailable = {locator.name for locator in library.failures}
        self._urls: Iterator[Locator] = iter(())
        """The URLs of all annotations; the first annotation that needs one downloads all of them."""

    def resolve(
        self, annotations: Sequence[Annotation], places: records.AnnotationPlaces, problems: list[Problem]
    ) -> list[TargetSection]:
        self._urls, self._annotations = _locate_urls(annotations), annotations
        by_key: dict[_TargetKey, IdsByQuote] = {}
        failed: list[tuple[records.Failure, IdsByQuote]] = []
        # Looking up a member of an enum in the loop takes longer.
        spec = Kind.SPEC
        for id, annotation in enumerate(annotations):
            key: _TargetKey = annotation.target
            if annotation.from_file or annotation.format:
                is_extracted = annotation.from_file and annotation.kind is spec
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
            quotes[(annotation.quote, annotation.name) if annotation.name else annotation.quote].append(id)
        failures = [(id, failure) for failure, quotes in failed for ids in quotes.values() for id in ids]
        reported: set[records.Failure] = set()
        for id, failure in sorted(failures, key=itemgetter(0)):
            self.failures[id] = failure
            if not failure.is_reported and not (failure.once and failure in reported):
                reported.add(failure)
                problems.append(failure.of(annotations[id], places))
        return [*self._sections.values(), *self._missing.values()]

    def _resolve(
        self, target: str, format: Format, base: str, is_extracted: bool = False
    ) -> TargetSection | records.Failure:
        name, hash_sign, section = target.partition("#")
        try:
            locator = self._locate(name, format, base)
        except DuvetError as error:
            rule = rules.TARGET_BAD_URL if "://" in name else rules.TARGET_UNRESOLVED
            targets = {} if hash_sign else self._named_targets.get(name, {})
            known = (locator.name for locator in self.specifications)
            near = suggest_nearest(name, [one for one in known if is_similar_path(name, one)])
            hint = f"write {' or '.join(targets)}" if targets else near or error.hint
            return records.Failure(rule, error.message, hint, is_reported=name in self._unavailable)
        specification = self._load(locator)
        if specification is None:
            return self._unloaded[locator]
        ##= man/spec/trace.md#targets-and-quotes
        ##% duvet MUST report a target without a section, with an unknown section or with an unknown specification, and
        ##% suggest similar specifications and sections.
        if not hash_sign:
            message = f"reference to {locator.name} is missing a section"
            return records.Failure(rules.TARGET_NO_SECTION, message, f"write {locator.name}#SECTION")
        has_prefixes = specification.format is Format.IETF
        found = section_names.find_section_indexes(specification, section, has_prefixes=has_prefixes)
        index = _find_stated_section(specification, section) if is_extracted else None
        if index is None and len(found) > 1:
            return _make_unclear_failure(specification, section, found)
        if index is None and found:
            (index,) = found
        named: tuple[NamedText, ...] = ()
        if index is None:
            ##= man/spec/names.md#targets
            ##% duvet MUST accept a requirement id in place of the section of a target.
            named = tuple(self.names_of(locator).find(section))
            index, *others = dict.fromkeys([one.section for one in named]) or [None]
            if others:
                return _make_ambiguous_failure(specification, named)
            if index is None:
                if locator not in self._headed:
                    self._headed[locator] = section_names.map_title_ids(specification.form, specification.sections)
                index = self._headed[locator].get(section, self._headed[locator].get(section.casefold()))
            if index is None:
                # The sections with this path, if the number no longer exists because others were removed.
                _, paths = section_names.find_numbered_sections(specification, section, has_prefixes=has_prefixes)
                left = tuple(paths[0]) if len(paths) == 1 else ()
                failure = self._make_unknown_failure(specification, section, left)
                missing = TargetSection(specification, -1, defaultdict(list), (), left, failure)
                return self._missing.setdefault((locator, section), missing) if left else failure
        equal: tuple[int, ...] = ()
        if NUMBER_SIGN in specification.sections[index].qualified:
            equal = specification.by_path[specification.sections[index].anchors]
        return self._sections.setdefault(
            (locator, index, named), TargetSection(specification, index, defaultdict(list), named, equal)
        )

    @cached_property
    def _named_targets(self) -> dict[str, dict[str, None]]:
        found: dict[str, dict[str, None]] = {}
        for one in self._annotations:
            if one.name:
                found.setdefault(one.name, {})[f"{one.target.partition('#')[0]}#{one.name}"] = None
        return found

    def _make_unknown_failure(self, specification: Specification, section: str, left: Sequence[int]) -> records.Failure:
        locator = specification.locator
        names = self.names_of(locator)
        if locator not in self._names:
            self._names[locator] = section_names.SectionNames(specification.sections, names)
        named = [specification.sections[index].name for index in left[:_MOST_NAMES]]
        near = named or self._names[locator].find_nearest(section)
        hint = f"did you mean {' or '.join(f'#{name}' for name in near)}?" if near else ""
        if is_stated_name(specification, section):
            message = f"{quote_text(section)} is the id of a requirement, but {locator.name} is not configured"
            hint = f"add a `[[specification]]` table with `source = {quote_text(locator.name)}`"
            return records.Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)
        what = "section or requirement" if any(names) else "section"
        message = f"missing {what} {quote_text(section)} in {locator.name}"
        return records.Failure(rules.TARGET_UNKNOWN_SECTION, message, hint)

    def _find_names(self, locator: Locator) -> RequirementNames:
        if self._stated is None:
            found: dict[Locator, list[NamedText]] = {}
            for one in self._annotations:
                name, _, section = one.target.partition("#")
                base = one.path if one.from_file else self.base
                with suppress(DuvetError):
                    if one.name and (specification := self._load(self._locate(name, one.format, base))):
                        index = _find_stated_section(specification, section)
                        if index is not None:
                            texts = found.setdefault(specification.locator, [])
                            texts.append(NamedText(one.name, index, one.quote))
            self._stated = {place: RequirementNames(texts) for place, texts in found.items()}
        return self._stated.get(locator, NO_NAMES)

    def _locate(self, name: str, format: Format, base: str) -> Locator:
        locator = self._located.get((name, format))
        if locator is None:
            locator = locators.resolve_specification(name, format, base, self.tree)
            # A name that leads to a file without a base leads to the same file with any base.
            if locator == locators.locate_specification(name, format):
                self._located[name, format] = locator
        return locator

    def _load(self, locator: Locator) -> Specification | None:
        if locator not in self.specifications and locator not in self._unloaded:
            if locator.is_url:
                self.library.prefetch(self._urls)
            try:
                found = self.library.load(locator)
                # The first annotation decides how the path is written.
                is_same = found.locator.written == locator.written
                self.specifications[locator] = found if is_same else replace(found, locator=locator)
            except DuvetError as error:
                is_reported = locator.name in self._unavailable
                self._unloaded[locator] = records.Failure(
                    rules.find_broken_rule(error), str(error), error.hint, once=True, is_reported=is_reported
                )
        return self.specifications.get(locator)


def _find_stated_section(specification: Specification, id: str) -> int | None:
    return specification.by_id.get(id, section_names.find_section_index(specification, id))


def _make_unclear_failure(specification: Specification, name: str, sections: Sequence[int]) -> records.Failure:
    ##= man/spec/trace.md#sections
    ##% If several sections match a target, duvet MUST list their names and propose the section that contains the quote.
    names: list[str] = []
    lines = LineNumbers()
    for one in [specification.sections[index] for index in sections]:
        line = lines.of(specification.data, one.heading[0])
        names.append(f"#{one.name} (line {line})" if NUMBER_SIGN in one.qualified else f"#{one.name}")
    what = f"{len(sections)} sections of {specification.locator.name}: {join_names(names, _MOST_NAMES)}"
    message = f"{quote_text(name)} names {what}"
    return records.Failure(rules.TARGET_AMBIGUOUS, message, "write the name of the section that you mean")


def _make_ambiguous_failure(specification: Specification, named: Sequence[NamedText]) -> records.Failure:
    name = specification.locator.name
    sections = dict.fromkeys(specification.sections[one.section].name for one in named)
    message = f"{quote_text(named[0].name)} is the id of requirements in {len(sections)} sections of {name}"
    hint = f"write {' or '.join(f'{name}#{id}' for id in sections)}"
    return records.Failure(rules.NAME_AMBIGUOUS, message, hint)


def _locate_urls(annotations: Iterable[Annotation]) -> Iterator[Locator]:
    names = (target.partition("#")[0] for target in dict.fromkeys([one.target for one in annotations]))
    for name in dict.fromkeys(names):
        if section_names.is_url(name):
            with suppress(DuvetError):
                yield locators.locate_specification(name)


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
    names_of: NamesOf | None = None,
) -> LinkedAnnotations:
    targets, places = TargetResolver(library, tree, base, names_of), records.AnnotationPlaces(tree)
    problems: list[Problem] = []
    progress.begin("Loading specifications")
    sections = targets.resolve(annotations, places, problems)
    progress.end(f"Loaded {progress.count(len(targets.specifications), 'specification')}")
    progress.begin("Mapping sections")
    progress.end(f"Mapped {progress.count(len(sections), 'section')}")
    progress.begin("Matching references")
    codes = _AnnotationCodes(annotations)
    matches: dict[Locator, list[records.Match]] = {}
    first: dict[Locator, int] = {}
    shared: dict[tuple[Locator, int], QuoteMatcher] = {}
    nears: dict[Locator, Neighbourhood] = {}
    for target in sections:
        locator = target.specification.locator
        first.setdefault(locator, next(iter(target.quotes.values()))[0])
        matchers: list[QuoteMatcher] = []
        if not target.failure:
            place = (locator, target.section)
            matcher = shared.get(place) or matcher_of(target.specification.sections[target.section])
            if target.named:
                # Many targets may name requirements of one section.
                shared[place] = matcher
            ##= man/spec/names.md#targets
            ##% If a target names a requirement id, duvet MUST report a quote that is not a part of that requirement.
            matchers = [matcher.restrict(one.text, one.name) for one in target.named] or [matcher]
        names = targets.names_of(locator) if target.named else NO_NAMES
        find_equal = partial(_find_in_equal_section, target, nears, matcher_of) if target.equal else None
        found, failures = _match_quotes(target, codes, matchers, names, find_equal, allows_cuts=allows_cuts)
        if found or not target.failure:
            matches.setdefault(locator, []).extend(found)
        for failure, ids in failures:
            targets.failures.update(dict.fromkeys(ids, failure))
            problems += [failure.of(annotations[id], places) for id in ids]
    references = sum([len(match.pieces) * len(match.ids) for found in matches.values() for match in found])
    progress.end(f"Matched {progress.count(references, 'reference')}")
    return LinkedAnnotations(matches, targets.specifications, first, problems, targets.failures, references)


def _match_quotes(
    target: TargetSection,
    codes: _AnnotationCodes,
    matchers: Sequence[QuoteMatcher],
    names: RequirementNames,
    find_equal: Callable[[str], tuple[int, records.FoundQuote | None]] | None,
    *,
    allows_cuts: bool,
) -> tuple[list[records.Match], list[tuple[records.Failure, list[int]]]]:
    matches: list[records.Match] = []
    failures: list[tuple[records.Failure, list[int]]] = []
    for key, ids in target.quotes.items():
        quote, name = (key, "") if isinstance(key, str) else key
        found, section = None, target.section
        for matcher in matchers:
            found = matcher.find(quote, name, allows_cuts=allows_cuts)
            if found is not None:
                break
        if found is None and find_equal:
            section, found = find_equal(quote)
        if found is None:
            failures.append((target.failure or _make_quote_failure(target, quote, names), ids))
            continue
        pieces, fit = found
        matches.append(codes.match(section, pieces, fit, ids))
        ##= man/spec/trace.md#targets-and-quotes
        ##% duvet MUST accept a quote with one different, extra or missing byte, and warn about it.
        if fit is records.Fit.ONE_EDIT:
            failures.append((_ONE_EDIT, ids))
        elif target.named and fit is records.Fit.TITLE:
            ##= man/spec/names.md#targets
            ##% duvet MUST warn about a citation without a quote whose target is a requirement id, because such a
            ##% citation covers nothing.
            message = f"this annotation does not quote {target.named[0].name}, so it covers nothing"
            failures.append((records.Failure(rules.NAME_UNQUOTED, message, "quote the requirement"), ids))
    return matches, failures


def _find_in_equal_section(
    target: TargetSection,
    nears: dict[Locator, Neighbourhood],
    matcher_of: Callable[[Section], QuoteMatcher],
    quote: str,
) -> tuple[int, records.FoundQuote | None]:
    from duvet.trace.nearest import Neighbourhood

    specification = target.specification
    near = nears.setdefault(specification.locator, Neighbourhood(specification))
    # The numbers of sections shift when one is inserted, so the quote decides.
    held = set(near.find_containing_sections(quote)).intersection(target.equal) - {target.section}
    if len(held) != 1:
        return target.section, None
    (index,) = held
    return index, matcher_of(specification.sections[index]).find(quote)


def _make_quote_failure(target: TargetSection, quote: str, names: RequirementNames) -> records.Failure:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST report a quote that its section does not contain.
    section, locator = target.specification.sections[target.section], target.specification.locator
    message = f'could not find text in section "{section.name}" of {locator.name}'
    hint, label = "remove the quote to cite the title of the section", "section is empty"
    difference = "spacing and markup" if section.plain else "spacing"
    if target.named:
        name = target.named[0].name
        message = f"{name} of {locator.name} does not contain this text"
        others = list(dict.fromkeys(one.name for one in names.find_containing(quote) if one.name != name))
        hint, label = f"copy the words of {name}; only {difference} may differ", f"not in {name}"
        if others:
            verb = "contains" if len(others) == 1 else "contain"
            hint = f"{' and '.join(others)} {verb} it; write {locator.name}#{others[0]}"
    elif any(section.lines):
        hint, label = f"copy the words of the section; only {difference} may differ", "not in this section"
    return records.Failure(rules.QUOTE_NOT_FOUND, message, hint, label, is_of_quote=True)


_ONE_EDIT = records.Failure(
    rules.QUOTE_ONE_EDIT,
    "this quote differs from the specification by one character",
    "copy the words of the section exactly",
    "one character differs",
    is_of_quote=True,
)


class _AnnotationCodes:
    """The kinds and levels of all annotations in one block, because reading scattered annotations would be slow."""

    def __init__(self, annotations: tuple[Annotation, ...]) -> None:
        self.annotations = annotations
        kinds, levels = bytes([one.kind for one in annotations]), bytes([one.level for one in annotations])
        both = int.from_bytes(levels, "big") << _LEVEL_SHIFT | int.from_bytes(kinds, "big")
        self.codes = both.to_bytes(len(annotations), "big")
        """The kind of each annotation, and its level in the higher bits."""

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
    linked = link_annotations(annotations, library, tree, base, progress, allows_cuts=allows_cuts)
    progress.begin("Sorting references")
    ordered = sorted(linked.matches, key=locators.locator_key)
    named = _name_specifications([linked.specifications[locator] for locator in ordered], linked.matches, configured)
    coverages = tuple(
        cover_specification(specification, linked.matches[locator])
        for locator, specification in zip(ordered, named, strict=True)
    )
    match_of: list[records.Match | None] = [None] * len(annotations)
    for coverage in coverages:
        for match in coverage.matches:
            for id in match.ids:
                match_of[id] = match
    progress.end(f"Sorted {progress.count(linked.references, 'reference')}")
    spellings = [
        make_two_spellings_problem(specification, first, annotations[linked.first[specification.locator]])
        for specification, first in records.find_second_spellings(coverages, base)
    ]
    ##= man/spec/trace.md#commands
    ##% If the configuration is valid, duvet MUST report all problems of a run, sorted by path and place.
    found = {*before, *linked.problems, *spellings}
    return records.add_problems(records.Trace(annotations, tuple(match_of), coverages, (), linked.failures), found)


def _name_specifications(
    cited: Sequence[Specification],
    matches: Mapping[Locator, Sequence[records.Match]],
    configured: Sequence[Specification],
) -> tuple[Specification, ...]:
    wanted = {(one.locator.name, one.format) for one in configured}
    own = {one.locator for one in cited if (one.locator.name, one.format) in wanted}
    others = select_unreferenced_specifications(configured, cited)
    own.update([one.locator for one in others])

    def rank(one: Specification) -> int:
        uses = sum([len(match.ids) - len(match.stating) for match in matches.get(one.locator, ())])
        # A stray citation must not take the id of a configured specification.
        return -uses - (1 << 40 if one.locator in own else 0)

    ids = {one.locator: one for one in assign_ids((*cited, *others), rank=rank)}
    return tuple([replace(ids[one.locator], is_configured=one.locator in own) for one in cited])


def make_two_spellings_problem(specification: Specification, first: Specification, annotation: Annotation) -> Problem:
    locators = specification.locator, first.locator
    names = [one.name + (f" (as {one.format.name.lower()})" if one.format else "") for one in locators]
    return rules.TARGET_TWO_SPELLINGS.problem(
        f"{names[0]} and {names[1]} are the same text, but count as two specifications",
        annotation.path,
        Place(annotation.line),
        hint=f"write {locators[1].name} everywhere"
        if locators[0].name != locators[1].name
        else "use one format everywhere",
    )
