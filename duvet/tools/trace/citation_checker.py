"""Checks a citation that isn't in a file yet, and finds what it should say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.errors import DuvetError, FetchError, UnreadableError
from duvet.model import Annotation, Format, Kind, Locator, Problem, Section, Severity, Specification
from duvet.progress import Progress
from duvet.project.fixes import ResolvedTarget, SpecificationTexts, correct_drifted_quote, correct_section
from duvet.sources.comments import SourceStyle
from duvet.sources.pasted_citation import PastedText, parse_pasted
from duvet.sources.scan import FilteredTree
from duvet.specs.library import Library
from duvet.specs.locator import SectionNames, find_section_index, resolve_specification
from duvet.specs.requirement_files import read_requirement_file
from duvet.text import escape_line_ends, shorten_text
from duvet.tools.context import ProjectSnapshot, is_inside_project, make_project_path
from duvet.tools.trace.invalid_citations import URL_NOT_FOUND, describe_citation_error, restore_spelling
from duvet.tools.trace.requirements import group_requirements_by_section
from duvet.trace.build import link_annotations
from duvet.trace.match import QuoteMatcher
from duvet.trace.names import match_specifications
from duvet.trace.nearest import Neighbourhood, TextStretch
from duvet.trace.records import Fit, Match, Piece
from duvet.tree.files import MemoryTree, Tree


class SpecCatalogue(Library):
    """Loads what the catalogue knows, each text once, and otherwise nothing from outside of the project."""

    def __init__(self, context: ProjectSnapshot) -> None:
        project = context.project
        ##= man/spec/mcp.md#tools
        ##% Tools MUST NOT download anything in order to read.
        super().__init__(project.tree, project.downloads, None, project.root)
        self.project = project
        self.cards = context.catalogue.specifications
        self._known: dict[int, Specification] = {}

    @cached_property
    def reachable(self) -> Tree:
        """The files of the project as far as clients may name them."""
        return FilteredTree(self.tree, lambda path, _: not self._may_be_read(path))

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {card.locator: number for number, card in reversed([*enumerate(self.cards)])}

    @cached_property
    def _by_path(self) -> dict[str, int]:
        last = sorted(enumerate(self.cards), key=lambda one: (-len(one[1].locator), -one[0]))
        return {self._whole(card.path): number for number, card in last}

    def number_of(self, locator: Locator) -> int | None:
        """The specification of the catalogue with that name, or else with that text."""
        number = self._by_name.get(locator.name)
        return self._by_path.get(self._whole(self.path(locator))) if number is None else number

    def first_of(self, number: int) -> int:
        """The one with the same text that has the shortest name, of which the others are second spellings."""
        return self._by_path[self._whole(self.cards[number].path)]

    def known(self, number: int) -> Specification:
        """A specification of the catalogue, with its text."""
        if number not in self._known:
            self._known[number] = self.project.specification(self.cards[number])
        return self._known[number]

    def load(self, locator: Locator) -> Specification:
        number = self.number_of(locator)
        if number is None:
            return self._unknown(locator)
        known = self.known(number)
        if locator.format not in (Format.AUTO, known.format):
            return self._unkept(locator, known.path)
        return known if known.locator == locator else replace(known, locator=locator)

    def _unknown(self, locator: Locator) -> Specification:
        path = self.path(locator)
        if locator.is_url and not self.tree.is_file(path):
            raise FetchError(f"{locator.name} is no specification of this project")
        if not locator.is_url and not self._may_be_read(path):
            raise UnreadableError("it is no specification of this project", path=path)
        return self._unkept(locator, path)

    def _unkept(self, locator: Locator, path: str) -> Specification:
        # What anybody may ask for must not pile up.
        try:
            return self.load_from(path, locator)
        finally:
            self._parsed.clear()

    def _may_be_read(self, path: str) -> bool:
        if self._whole(path) in self._by_path:
            return True
        # What is hidden is no specification, but may be a secret.
        is_hidden = "/." in self._whole(path).removeprefix(self.cwd)
        return not is_hidden and is_inside_project(self.cwd, path)

    def _whole(self, path: str) -> str:
        return make_project_path(self.cwd, path)


_LONGEST = 1000
"""What is like a longer quote is not looked for: nobody wants to wait."""
_LONG = 400
"""What is like a longer quote is looked for in its own section alone."""
_LIKENESS = 60
_HINT = 600


class NearestMatch(NamedTuple):
    """A text, a section or a specification, and what to know about it, in a line."""

    text: str = ""
    hint: str = ""


class NearestFinder:
    """Looks for what was meant in the specifications of a project."""

    def __init__(self, context: ProjectSnapshot) -> None:
        self.shelf = context.once(SpecCatalogue)
        self.catalogue = context.catalogue
        self.texts = _Texts(context)
        self._by_code: dict[str, Callable[[Annotation], NearestMatch]] = {
            rules.QUOTE_NOT_FOUND.code: self._quote,
            rules.TARGET_UNKNOWN_SECTION.code: self._section,
            rules.TARGET_NO_SECTION.code: self._section,
        }

    def to(self, code: str, annotation: Annotation) -> NearestMatch:
        """What an annotation with this problem should say."""
        if len(annotation.quote) > _LONGEST or len(annotation.target) > _LONGEST:
            return NearestMatch()
        near = self._by_code.get(code, self._specification)(annotation)
        return NearestMatch(near.text, shorten_text(escape_line_ends(near.hint), _HINT))

    def _quote(self, annotation: Annotation) -> NearestMatch:
        answer = correct_drifted_quote(self.texts, annotation)
        spot = self.texts.spot(annotation)
        if spot is None or spot.section is None:
            # Its file is gone by now.
            return NearestMatch(hint=answer.hint)
        own = spot.near.near(spot.section, annotation.quote)
        text = answer.quote or (own.text if own else answer.target)
        if text is None:
            found = spot.near.anywhere(annotation.quote)
            text = found[1].text if found else ""
        return NearestMatch(text, answer.hint)

    def _section(self, annotation: Annotation) -> NearestMatch:
        answer = correct_section(self.texts, annotation)
        spot = self.texts.spot(annotation)
        name, _, wanted = annotation.target.partition("#")
        near = SectionNames(spot.near.specification.sections).nearest(wanted) if spot and wanted else []
        return NearestMatch(answer.target or (f"{name}#{near[0]}" if near else ""), answer.hint)

    def _specification(self, annotation: Annotation) -> NearestMatch:
        name, _, wanted = annotation.target.partition("#")
        number = next(iter(match_specifications(self.catalogue, name, self.shelf.project.root)), None)
        number = self._called_like(name) if number is None else number
        if number is None:
            return NearestMatch()
        known, locator = self.shelf.known(number), self.shelf.cards[number].locator
        return NearestMatch(locator if find_section_index(known, wanted) is None else f"{locator}#{wanted}")

    def _called_like(self, name: str) -> int | None:
        from rapidfuzz import fuzz, process

        names = [card.locator for card in self.shelf.cards]
        found = process.extractOne(name, names, scorer=fuzz.ratio, processor=None, score_cutoff=_LIKENESS)
        return found[2] if found else None


class _Known(Struct):
    """What has been found out about a quote."""

    quote: str
    stretches: dict[int, TextStretch | None] = {}
    likely: list[tuple[float, int]] | None = None
    holding: list[int] | None = None


class _Neighbourhood(Neighbourhood):
    """Sections that are looked through once for a quote, and for a long one only where it should stand."""

    weighs = False
    _last: _Known | None = None

    def near(self, section: int, quote: str) -> TextStretch | None:
        known = self._of(quote).stretches
        if section not in known:
            known[section] = super().near(section, quote)
        return known[section]

    def likely(self, quote: str) -> list[tuple[float, int]]:
        known = self._of(quote)
        if known.likely is None:
            known.likely = super().likely(quote) if len(quote) <= _LONG else []
        return known.likely

    def holding(self, quote: str) -> list[int]:
        known = self._of(quote)
        if known.holding is None:
            known.holding = super().holding(quote)
        return known.holding

    def _of(self, quote: str) -> _Known:
        """What is known of this quote; that of another is forgotten."""
        if self._last is None or quote != self._last.quote:
            self._last = _Known(quote)
        return self._last


class _Texts(SpecificationTexts):
    """The specifications of a catalogue, and no others to look for text in."""

    def __init__(self, context: ProjectSnapshot) -> None:
        super().__init__(context.project)
        self.shelf = context.once(SpecCatalogue)
        self._indexes = context.once(group_requirements_by_section)
        self._requirements = context.catalogue.requirements
        self._neighbourhoods: dict[int, Neighbourhood] = {}

    def spot(self, annotation: Annotation) -> ResolvedTarget | None:
        name, _, wanted = annotation.target.partition("#")
        try:
            locator = resolve_specification(name, annotation.format, self.shelf.cwd, self.shelf.reachable)
            specification = self.shelf.load(locator)
        except DuvetError:
            return None
        number = self.shelf.number_of(locator)
        is_known = number is not None and self.shelf.known(number).format == specification.format
        near = self._of(number) if is_known and number is not None else _Neighbourhood(specification)
        return ResolvedTarget(near, find_section_index(specification, wanted))

    def others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
        for number, card in enumerate(self.shelf.cards):
            near = self._of(number)
            if near is not but:
                yield card.locator, near

    def _of(self, number: int) -> Neighbourhood:
        if number not in self._neighbourhoods:
            known = self.shelf.known(number)
            self._neighbourhoods[number] = _Neighbourhood(known, self._sentences_of(number, known))
        return self._neighbourhoods[number]

    def _sentences_of(self, number: int, known: Specification) -> dict[int, list[str]]:
        found = ((place, self._indexes.get((number, one.id), ())) for place, one in enumerate(known.sections))
        return {place: [self._requirements[index].text for index in indexes] for place, indexes in found if indexes}


_ENTRY = re.compile(r"(?:\s*#[^\n]*\n|\s*\n)*+\s*(?:\[\[?[A-Za-z]+\]|target\s*=\s*[\"'])")


def parse_given_citations(path: str, text: str, styles: Iterable[SourceStyle]) -> PastedText:
    """The annotations of what was given, whose places are counted in the text that comes with them."""
    if not _ENTRY.match(text):
        return parse_pasted(path, text, styles)
    annotations, problems = read_requirement_file(path, text.encode(errors="replace"))
    # It stands in no folder yet: paths in it start where those of comments do.
    return PastedText(text, [replace(one, from_file=False) for one in annotations], problems)


_PATH = "\0"
"""What the text of a citation is called; no target can name it."""
_CHECKING_LONGEST = 500
"""So many characters of an error are told."""
_KEPT = 512
_NO_TARGET = "no target can be read; it is written `spec#section`"

_Spot = tuple[int, int]
"""The indexes of a specification and of a section in it."""
_Spans = list[Piece]
"""Where the requirements of a section stand."""


class CitationVerdict(Struct, frozen=True, kw_only=True):
    """What there is to say of a citation."""

    error: str = ""
    warning: str = ""
    nearest: str = ""
    hint: str = ""


class CitationChecker:
    """Looks at citations; what is read of the specifications is kept as long as they are what they are."""

    def __init__(self, context: ProjectSnapshot) -> None:
        self.shelf = context.once(SpecCatalogue)
        self.nearest = NearestFinder(context)
        config = context.project.config
        rules = [*context.project.options.sources, *(config.sources if config else ())]
        self.styles = tuple(dict.fromkeys(SourceStyle(rule.meta, rule.content) for rule in rules))
        self._indexes = context.once(group_requirements_by_section)
        self._requirements = context.catalogue.requirements
        self._spans: dict[_Spot, _Spans] = {}
        self._matchers = _Matchers()

    def verdict(self, citation: str, *, looks: bool = True) -> CitationVerdict:
        """What there is to say of all that a text cites: of the first that is wrong, or of all of them.

        It looks for what was meant, unless it is told not to, which takes longer than all the rest.
        """
        found = parse_given_citations(_PATH, citation, self.styles)
        wrong = [one for one in found.problems if one.severity is Severity.ERROR]
        if wrong or not found.annotations:
            return _unreadable([*wrong, *found.problems])
        verdicts = []
        for annotation in found.annotations:
            verdict = self._of(annotation, found, looks=looks)
            if verdict.error:
                where = f" (line {annotation.line})" if len(found.annotations) > 1 else ""
                return replace(verdict, error=shorten_text(verdict.error, _CHECKING_LONGEST) + where)
            verdicts.append(verdict)
        return _together(verdicts, found.problems)

    def _of(self, annotation: Annotation, pasted: PastedText, *, looks: bool) -> CitationVerdict:
        tree = MemoryTree({_PATH: pasted.text.encode()}, self.shelf.reachable)
        linked = link_annotations((annotation,), self.shelf, tree, self.shelf.cwd, Progress(), self._matchers.of)
        failure = linked.failures.get(0)
        found = [(locator, match) for locator, matches in linked.matches.items() for match in matches]
        for locator, match in found:
            warnings = [restore_spelling(failure.message, annotation.target)] if failure else []
            return self._matched(annotation, locator, match, warnings)
        assert failure is not None
        ##= man/spec/mcp.md#tools
        ##% `validate_citation` MUST accept exactly the citations that `duvet report` accepts, in any comment style or
        ##% as an entry of a requirement file, and with code around them.
        error = describe_citation_error(Problem(failure.rule.code, failure.message), annotation.target)
        near = self.nearest.to(failure.rule.code, annotation) if looks else NearestMatch()
        return CitationVerdict(error=error, nearest=near.text, hint=near.hint)

    def _matched(self, annotation: Annotation, locator: Locator, match: Match, warnings: list[str]) -> CitationVerdict:
        number = self.shelf.number_of(locator)
        if number is not None:
            number = self.shelf.first_of(number)
            first = self.shelf.cards[number].locator
            if first != locator.name:
                ##= man/spec/trace.md#targets-and-quotes
                ##% duvet SHOULD warn about two spellings of one specification.
                warnings.append(f"this counts as another specification than {first}: name that one")
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            warnings.append("this exception does not say why: add a line `reason=…`")
        is_required = number is not None and self._is_required((number, match.section), match.pieces)
        if match.fit is not Fit.TITLE and not is_required and annotation.kind is not Kind.SPEC:
            warnings.append("these words stand in the section, but in no requirement")
        return CitationVerdict(warning="; ".join(warnings))

    def _is_required(self, spot: _Spot, pieces: Sequence[Piece]) -> bool:
        """Whether some of these bytes of a section belong to a requirement."""
        if spot not in self._spans:
            self._spans[spot] = self._spans_of(spot)
        return any(one.start < other.end and other.start < one.end for one in self._spans[spot] for other in pieces)

    def _spans_of(self, spot: _Spot) -> _Spans:
        number, index = spot
        section = self.shelf.known(number).sections[index]
        matcher = QuoteMatcher(section)
        indexes = self._indexes.get((number, section.id), [])
        found = (matcher.find(self._requirements[one].text) for one in indexes)
        return [piece for place in found if place is not None for piece in place[0]]


class _Matchers:
    """What looks for quotes, for the last few sections that were asked for: to make one takes longer than to look."""

    def __init__(self) -> None:
        self._known: dict[int, QuoteMatcher] = {}

    def of(self, section: Section) -> QuoteMatcher:
        # A section that is kept here is no other one while it is.
        found = self._known.pop(id(section), None) or QuoteMatcher(section)
        self._known[id(section)] = found
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return found


def get_citation_checker(context: ProjectSnapshot) -> CitationChecker:
    """The one that looks at the citations of this reading of the project."""
    return context.once(CitationChecker)


def _unreadable(problems: Sequence[Problem]) -> CitationVerdict:
    """The verdict on a text in which no citation can be read."""
    reason = problems[0].message if problems else _NO_TARGET
    return CitationVerdict(error=f"{URL_NOT_FOUND}: {reason}", hint=problems[0].hint if problems else "")


def _together(verdicts: Iterable[CitationVerdict], problems: Iterable[Problem]) -> CitationVerdict:
    """The verdict on several citations that are all valid."""
    warnings = [*(one.warning for one in verdicts), *(one.message for one in problems)]
    return CitationVerdict(warning="; ".join(dict.fromkeys(filter(None, warnings))))
