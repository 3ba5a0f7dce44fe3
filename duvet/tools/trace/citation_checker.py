"""Reads a citation that isn't in a file yet, checks it, and finds the nearest correction."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from posixpath import join, normpath
from typing import Any, TypeVar

from msgspec import Struct, structs

from duvet import errors, progress, rules
from duvet.model import Annotation, Format, Kind, Locator, Problem, Section, Severity, Specification
from duvet.project import fixes
from duvet.sources import comments, scan
from duvet.specs import library, requirement_files
from duvet.specs.locator import resolve_specification
from duvet.specs.section_names import SectionNames, find_section_index
from duvet.text import WHITESPACE, collapse_whitespace, load_rapidfuzz, shorten_text, trim
from duvet.tools.arguments import is_inside_project
from duvet.tools.context import ProjectSnapshot
from duvet.tools.trace.invalid_citations import URL_NOT_FOUND, describe_citation_error, restore_spelling
from duvet.trace import build, locations, records
from duvet.trace.match import QuoteMatcher
from duvet.trace.names import NO_NAMES, NamedText, RequirementNames
from duvet.trace.nearest import Neighbourhood, TextStretch
from duvet.tree.files import MemoryTree

_MAX_COMPARED = 1000  # Longer quotes are not compared, because that would take too long.
_MAX_COMPARED_EVERYWHERE = 400  # Longer quotes are compared only with the section that they cite.
_Answer = TypeVar("_Answer")
_ENTRY = re.compile(r"(?:\s*#[^\n]*\n|\s*\n)*+\s*(?:\[\[?[A-Za-z]+\]|target\s*=\s*[\"'])")
_PATH = "\0"  # The path for the given citation; no target can name this path.
_MAX_MATCHERS = 512


class SpecCatalogue(library.Library):
    def __init__(self, context: ProjectSnapshot) -> None:
        project = context.project
        ##= man/spec/mcp.md#tools
        ##% Tools MUST NOT download specifications.
        super().__init__(project.tree, project.downloads, None, project.root, forms=project.library.forms)
        self.project = project
        self.cards = cards = context.catalogue.specifications
        self.listed = [index for index, card in enumerate(cards) if card.is_configured] or range(len(cards))
        self.reachable = scan.FilteredTree(self.tree, lambda path, _: not self._may_be_read(path))
        self.known = cache(lambda number: project.specification(cards[number]))
        self._by_name = {card.locator: number for number, card in reversed([*enumerate(cards)])}
        last = sorted(enumerate(cards), key=lambda one: (-len(one[1].locator), -one[0]))
        self.by_path = {self.make_absolute(card.path): number for number, card in last}

        @cache
        def collect_names(number: int) -> RequirementNames:
            sections = {section.id: index for index, section in enumerate(cards[number].sections)}
            return RequirementNames(
                NamedText(card.name, sections[card.section], card.text)
                for card in context.catalogue.requirements
                if card.name and card.specification == number
            )

        self.names = collect_names

    def number_of(self, locator: Locator) -> int | None:
        number = self._by_name.get(locator.name)
        return self.by_path.get(self.make_absolute(self.path(locator))) if number is None else number

    def names_of(self, locator: Locator) -> RequirementNames:
        number = self.number_of(locator)
        return NO_NAMES if number is None else self.names(number)

    def load(self, locator: Locator) -> Specification:
        number = self.number_of(locator)
        path = self.path(locator)
        if number is not None:
            known = self.known(number)
            if locator.format in (Format.AUTO, known.format):
                return known if known.locator == locator else structs.replace(known, locator=locator)
            path = known.path
        elif locator.is_url and not self.tree.is_file(path):
            raise errors.FetchError(f"{locator.name} is not a specification of this project")
        elif not locator.is_url and not self._may_be_read(path):
            raise errors.UnreadableError(f"{path} is not a specification of this project")
        try:
            return self.load_from(path, locator, self.find_form(locator))
        finally:
            # Clients could name any number of specifications.
            self._parsed.clear()

    def _may_be_read(self, path: str) -> bool:
        if self.make_absolute(path) in self.by_path:
            return True
        # A hidden file is not a specification, and may be secret.
        is_hidden = "/." in self.make_absolute(path).removeprefix(self.cwd)
        return not is_hidden and is_inside_project(self.cwd, path)

    def make_absolute(self, path: str) -> str:
        return normpath(join(self.cwd, path))


class _Neighbourhood(Neighbourhood):
    weighs = False
    _quote: str | None = None  # The quote that the cached results belong to.

    def find_near(self, section: int, quote: str) -> TextStretch | None:
        return self._once(quote, section, partial(super().find_near, section, quote))

    def find_likely(self, quote: str) -> list[tuple[float, int]]:
        if len(quote) > _MAX_COMPARED_EVERYWHERE:
            return []
        return self._once(quote, "likely", partial(super().find_likely, quote))

    def find_containing_sections(self, quote: str) -> list[int]:
        return self._once(quote, "holding", partial(super().find_containing_sections, quote))

    def _once(self, quote: str, key: object, compute: Callable[[], _Answer]) -> _Answer:
        if quote != self._quote:
            self._quote, self._answers = quote, dict[object, Any]()
        if key not in self._answers:
            self._answers[key] = compute()
        answer: _Answer = self._answers[key]
        return answer


class _Texts(fixes.SpecificationTexts):
    def __init__(self, context: ProjectSnapshot) -> None:
        super().__init__(context.project)
        self.catalogue = context.catalogue
        self.specifications = context.once(SpecCatalogue)
        self._neighbourhoods: dict[int, Neighbourhood] = {}

    def resolve_target(self, annotation: Annotation) -> fixes.ResolvedTarget | None:
        name, _, section = annotation.target.partition("#")
        try:
            locator = resolve_specification(
                name, annotation.format, self.specifications.cwd, self.specifications.reachable
            )
            specification = self.specifications.load(locator)
        except errors.DuvetError:
            return None
        number = self.specifications.number_of(locator)
        is_known = number is not None and self.specifications.known(number).format == specification.format
        near = self._open_neighbourhood(number) if is_known and number is not None else _Neighbourhood(specification)
        return fixes.resolve_section(near, section)

    def list_others(self, but: Neighbourhood | None = None) -> Iterator[tuple[str, Neighbourhood]]:
        for number in self.specifications.listed:
            near = self._open_neighbourhood(number)
            if near is not but:
                yield self.specifications.cards[number].locator, near

    def _open_neighbourhood(self, number: int) -> Neighbourhood:
        if number not in self._neighbourhoods:
            known = self.specifications.known(number)
            sentences = {
                place: [self.catalogue.requirements[index].text for index in found]
                for place, one in enumerate(known.sections)
                if (found := self.catalogue.stated.get((number, one.id)))
            }
            self._neighbourhoods[number] = _Neighbourhood(known, sentences, names=self.specifications.names(number))
        return self._neighbourhoods[number]


class CitationVerdict(Struct, frozen=True, kw_only=True):
    error: str = ""
    warning: str = ""
    nearest: str = ""
    hint: str = ""


def check_style(
    verdict: CitationVerdict, citation: str, path: str, styles: Sequence[comments.SourceStyle]
) -> CitationVerdict:
    # An entry of a requirement file is not a comment, nor is a bare target.
    first = next(filter(None, map(trim, citation.split("\n"))), "")
    is_plain = _ENTRY.match(citation) or (_BARE.fullmatch(first) and not _NAMING.fullmatch(first))
    if is_plain or any(comments.scan_comments("", citation, style)[0] for style in styles):
        return verdict
    warning = f"duvet does not read this comment style in {path}"
    written = " or ".join(dict.fromkeys(f"`{style.meta}` and `{style.content}`" for style in styles))
    hint = f"Rewrite the comment with {written}, or paste the comment from suggest_citation."
    return structs.replace(verdict, warning="; ".join(filter(None, (verdict.warning, warning))), hint=hint)


class CitationChecker:
    def __init__(self, context: ProjectSnapshot) -> None:
        self.specifications = context.once(SpecCatalogue)
        self.catalogue = context.catalogue
        self.texts = _Texts(context)
        config = context.project.config
        rules = [*context.project.options.sources, *(config.sources if config else ())]
        self.styles = tuple(dict.fromkeys(comments.SourceStyle(rule.meta, rule.content) for rule in rules))
        self._spans: dict[tuple[int, int], list[records.Piece]] = {}
        self._matchers: dict[int, QuoteMatcher] = {}

    def check(self, citation: str, *, with_nearest: bool = True) -> CitationVerdict:
        if _ENTRY.match(citation):
            data = citation.encode(errors="replace")
            annotations, problems = requirement_files.read_requirement_file(_PATH, data)
            # Without a file, paths are relative to the project, as in comments.
            annotations = [structs.replace(one, from_file=False) for one in annotations]
            pasted = PastedText(citation, annotations, problems)
        else:
            pasted = parse_pasted(_PATH, citation, self.styles)
        wrong = [one for one in pasted.problems if one.severity is Severity.ERROR]
        if wrong or not pasted.annotations:
            first = next(iter([*wrong, *pasted.problems]), None)
            reason = first.message if first else "no target found; write it as `spec#section`"
            return CitationVerdict(error=f"{URL_NOT_FOUND}: {reason}", hint=first.hint if first else "")
        warnings: list[str] = []
        for annotation in pasted.annotations:
            verdict = self._check_annotation(annotation, pasted, with_nearest=with_nearest)
            if verdict.error:
                where = f" (line {annotation.line})" if len(pasted.annotations) > 1 else ""
                return structs.replace(verdict, error=shorten_text(verdict.error, 500) + where)
            warnings.append(verdict.warning)
        warnings += (one.message for one in pasted.problems)
        return CitationVerdict(warning="; ".join(dict.fromkeys(filter(None, warnings))))

    def _check_annotation(self, annotation: Annotation, pasted: PastedText, *, with_nearest: bool) -> CitationVerdict:
        specifications = self.specifications
        tree = MemoryTree({_PATH: pasted.text.encode()}, specifications.reachable)
        linked = build.link_annotations(
            (annotation,),
            specifications,
            tree,
            specifications.cwd,
            progress.Progress(),
            self._make_matcher,
            allows_cuts=specifications.project.allows_cuts,
            names_of=specifications.names_of,
        )
        failure = linked.failures.get(0)
        for locator, matches in linked.matches.items():
            for match in matches:
                warnings = [restore_spelling(failure.message, annotation.target)] if failure else []
                warnings += self._find_warnings(annotation, locator, match)
                return CitationVerdict(warning="; ".join(warnings))
        assert failure is not None
        ##= man/spec/mcp.md#tools
        ##% `validate_citation` MUST accept exactly the citations that `duvet report` accepts.
        error = describe_citation_error(Problem(failure.rule.code, failure.message), annotation.target)
        if not with_nearest or len(annotation.quote) > _MAX_COMPARED or len(annotation.target) > _MAX_COMPARED:
            return CitationVerdict(error=error)
        find = _FINDERS.get(failure.rule.code, CitationChecker._find_specification)
        nearest, hint = find(self, annotation)
        return CitationVerdict(error=error, nearest=nearest, hint=shorten_text(collapse_whitespace(hint), 600))

    def _find_quote(self, annotation: Annotation) -> tuple[str, str]:
        answer = fixes.correct_drifted_quote(self.texts, annotation)
        spot = self.texts.resolve_target(annotation)
        if spot is None or spot.section is None:
            # Its file has been removed in the meantime.
            return "", answer.hint
        own = spot.near.find_near(spot.section, annotation.quote)
        text = answer.quote or (own.text if own and not spot.named else answer.target)
        if text is None:
            found = spot.near.find_anywhere(annotation.quote)
            text = found[1].text if found else ""
        return text, answer.hint

    def _find_section(self, annotation: Annotation) -> tuple[str, str]:
        answer = fixes.correct_section(self.texts, annotation)
        spot = self.texts.resolve_target(annotation)
        name, _, section = annotation.target.partition("#")
        nearest = answer.target or ""
        if not nearest and spot and section:
            near = SectionNames(spot.near.specification.sections, spot.near.names).find_nearest(section)
            nearest = f"{name}#{near[0]}" if near else ""
        return nearest, answer.hint

    def _find_specification(self, annotation: Annotation) -> tuple[str, str]:
        specifications = self.specifications
        name, _, section = annotation.target.partition("#")
        number = next(iter(locations.match_specifications(self.catalogue, name, specifications.project.root)), None)
        if number is None:
            names = {index: specifications.cards[index].locator for index in specifications.listed}
            rapidfuzz = load_rapidfuzz()
            found = rapidfuzz.process.extractOne(
                name, names, scorer=rapidfuzz.fuzz.ratio, processor=None, score_cutoff=60
            )
            if not found:
                return "", ""
            number = found[2]
        known, locator = specifications.known(number), specifications.cards[number].locator
        return locator if find_section_index(known, section) is None else f"{locator}#{section}", ""

    def _find_warnings(self, annotation: Annotation, locator: Locator, match: records.Match) -> Iterator[str]:
        number = self.specifications.number_of(locator)
        if number is not None:
            path = self.specifications.cards[number].path
            number = self.specifications.by_path[self.specifications.make_absolute(path)]
            first = self.specifications.cards[number].locator
            if first != locator.name:
                section = annotation.target.partition("#")[2]
                yield f"this target counts as a separate specification; write {first}#{section}"
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            yield "this exception has no reason; add a line `reason=…`"
        spans = [] if number is None else self._find_spans(number, match.section)
        is_required = any(one.start < other.end and other.start < one.end for one in spans for other in match.pieces)
        if match.fit is not records.Fit.TITLE and not is_required and annotation.kind is not Kind.SPEC:
            yield "the section contains this quote, but not in a requirement"

    def _find_spans(self, number: int, index: int) -> list[records.Piece]:
        if (number, index) not in self._spans:
            section = self.specifications.known(number).sections[index]
            matcher = QuoteMatcher(section)
            stated = self.catalogue.stated.get((number, section.id), ())
            places = (matcher.find(self.catalogue.requirements[one].text) for one in stated)
            self._spans[number, index] = [piece for place in places if place is not None for piece in place[0]]
        return self._spans[number, index]

    def _make_matcher(self, section: Section) -> QuoteMatcher:
        # The matcher keeps its section alive, so its id is not reused.
        found = self._matchers.pop(id(section), None) or QuoteMatcher(section)
        self._matchers[id(section)] = found
        if len(self._matchers) > _MAX_MATCHERS:
            del self._matchers[next(iter(self._matchers))]
        return found


_FINDERS: dict[str, Callable[[CitationChecker, Annotation], tuple[str, str]]] = {
    rules.QUOTE_NOT_FOUND.code: CitationChecker._find_quote,
    rules.TARGET_UNKNOWN_SECTION.code: CitationChecker._find_section,
    rules.TARGET_AMBIGUOUS.code: CitationChecker._find_section,
    rules.TARGET_NO_SECTION.code: CitationChecker._find_section,
}


_FIELD = re.compile(r"(?:source|type|level|format|reason|feature|tracking-issue)\s*=")
_SIGNS = r"[^\w\s=]{1,8}? ?"  # The signs that begin a comment in most languages; in some it is a word.
_TARGET = r"(?:[^\s\"'(){};,]*#[^\s\"'(){};,]+|https?://[^\s\"'(){};,]+)"
_NAMING = re.compile(rf"(?P<mark>{_SIGNS}|(?!{_FIELD.pattern})[A-Za-z]{{1,8}} ?)=\s*(?:source\s*=\s*)?{_TARGET}")
_BARE = re.compile(_TARGET)
_ENDS = {"*/": "/*", "-->": "<!--", "--}}": "{{!--", "*)": "(*", "-}": "{-", "]]": "--[["}
_DEFAULT_STYLE = comments.SourceStyle()


class PastedText(Struct, frozen=True):
    text: str  # The same lines in the default style, in which places are counted.
    annotations: list[Annotation]
    problems: list[Problem]


class _Lead(Struct, frozen=True):
    meta: re.Pattern[str]
    content: re.Pattern[str]


def parse_pasted(path: str, text: str, styles: Iterable[comments.SourceStyle]) -> PastedText:
    lines = [trim(line) for line in text.split("\n")]
    known = [
        _Lead(*(re.compile(re.escape(one) if one else "(?!)") for one in (style.meta, style.content)))
        for style in styles
    ]
    named = [lead for lead in known if any(lead.meta.match(line) for line in lines if _NAMING.fullmatch(line))]
    own = _rewrite(lines, named) or _rewrite_any(lines, text, known)
    written = "\n".join(line or "" for line in own)
    return PastedText(written, *comments.scan_comments(path, written, _DEFAULT_STYLE))


def _rewrite_any(lines: Sequence[str], text: str, known: Sequence[_Lead]) -> list[str | None]:
    first = next(filter(None, lines), "")
    if _BARE.fullmatch(first) and not _NAMING.fullmatch(first):
        return _rewrite_plain(lines)
    ends = tuple(end for end, begin in _ENDS.items() if begin in text)
    bare = [line.removesuffix(next(filter(line.endswith, ends), "")).rstrip(WHITESPACE) for line in lines]
    metas = ([lead] for line in lines for lead in known if lead.meta.match(line))
    first_known = next(metas, [lead for lead in known if any(map(lead.content.match, lines))])
    return (
        _rewrite(bare, _find_leads(bare, _NAMING.fullmatch))
        or _rewrite(lines, first_known)
        or _rewrite(bare, _find_leads(bare, re.compile(rf"(?P<mark>{_SIGNS})=").match)[:1])
        or _rewrite(bare, _find_leads(bare, re.compile(rf"(?P<mark>{_SIGNS})[#%](?![#%])").match)[:1])
        or _rewrite_plain(lines)
    )


def _find_leads(lines: Sequence[str], match: Callable[[str], re.Match[str] | None]) -> list[_Lead]:
    leads = []
    for mark in dict.fromkeys(found["mark"] for line in lines if (found := match(line))):
        either = rf"(?:{re.escape(mark)}|\*)" if re.fullmatch(r"[/(]\*+", mark) else re.escape(mark)
        signs = (found[1] for line in lines if (found := re.match(rf"{either}([#%])(?![#%])", line)))
        leads.append(_Lead(re.compile(f"{either}="), re.compile(rf"{either}{next(signs, '#')}(?![#%])")))
    return leads


def _rewrite(lines: Iterable[str], leads: Sequence[_Lead]) -> list[str | None]:
    def rewrite(line: str) -> str | None:
        for lead in leads:
            for begin, plain in ((lead.meta, _DEFAULT_STYLE.meta), (lead.content, _DEFAULT_STYLE.content)):
                if found := begin.match(line):
                    return plain + line[found.end() :]
        return None

    return [rewrite(line) for line in lines] if leads else []


def _rewrite_plain(lines: Iterable[str]) -> list[str | None]:
    found: list[str | None] = []
    for line in filter(None, lines):
        if found and not _FIELD.match(line):
            found.append(f"{_DEFAULT_STYLE.content} {line}")
        else:
            # A target with `=` in it needs its key, as in a comment.
            source = "source=" if "=" in line and not _FIELD.match(line) else ""
            found.append(f"{_DEFAULT_STYLE.meta} {source}{line}")
    return found
