"""Values that fill the prompts about requirements, sections, triage and review."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from textwrap import wrap
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.settings import SourceRule
from duvet.errors import NotFoundError, QueryError
from duvet.model import Annotation, Kind, Level, Problem, Severity
from duvet.prompts.library import PromptRequest, render_prompt
from duvet.queries.details import make_detail
from duvet.queries.gaps import LEVELS_BY_WORD, Gap, RequirementFilter, find_gaps
from duvet.queries.records import (
    CitationWithCode,
    RequirementDetail,
    RequirementRow,
    SectionDetail,
    make_requirement_row,
)
from duvet.queries.references import RequirementRef, SectionRef
from duvet.sources.comments import SourceStyle
from duvet.sources.editor import format_annotation
from duvet.text import quote_text, shorten_text
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tools.trace.invalid_citations import find_malformed_annotations
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import list_possible_paths
from duvet.trace.names import match_specifications, require_specification, suggest_nearest

_INDENT = " " * 7
"""As deep as an item of a numbered list and a block of code in it."""


class CitationComment(Struct, frozen=True):
    """What to paste into the files of a source."""

    patterns: str
    for_code: str
    """Nothing where the files are tests."""
    for_test: str


def make_comments(rules: Sequence[SourceRule], target: str, quote: str) -> tuple[CitationComment, ...]:
    """The comments for each style of these sources."""
    styles = _styles(rules)
    # Where there is nothing but tests, these hold the code as well.
    only_tests = all(style.kind is Kind.TEST for style in styles)
    return tuple(
        CitationComment(
            ", ".join(f"`{pattern}`" for pattern in patterns),
            _pasted(style, target, quote, Kind.CITATION) if only_tests or style.kind is not Kind.TEST else "",
            _pasted(style, target, quote, Kind.TEST),
        )
        for style, patterns in styles.items()
    )


def _styles(rules: Iterable[SourceRule]) -> dict[SourceStyle, list[str]]:
    """The patterns of the sources of each style."""
    styles: dict[SourceStyle, list[str]] = {}
    for rule in rules:
        styles.setdefault(SourceStyle(rule.meta, rule.content, rule.kind), []).extend(rule.patterns)
    return styles


def _pasted(style: SourceStyle, target: str, quote: str, kind: Kind) -> str:
    return "".join(f"{line}\n" for line in format_annotation(style, _INDENT, target, quote, kind=kind))


_Item = TypeVar("_Item")

MAX_PROMPT_CHARACTERS = 7_000
"""So many bytes of a list leave a prompt below 4,000 tokens, of which one hardly ever has less than 2.5."""
MAX_ITEM_CHARACTERS = 1_000
"""So much of one text among several is shown, and of a line of a section before it is broken."""
MAX_ITEM_WIDTH = 160
"""So much of a line of code is shown."""


def fit_items(
    items: Sequence[_Item], text: Callable[[_Item], str], room: int = MAX_PROMPT_CHARACTERS
) -> Sequence[_Item]:
    """As many of the first items as there is room for; one in any case."""
    ##= man/spec/mcp.md#prompts
    ##% A prompt MUST name the enabled tools and the equivalent commands, and leave out what exceeds about 4,000 tokens.
    for count, item in enumerate(items):
        room -= len(text(item).encode())
        if room < 0:
            return items[: max(count, 1)]
    return items


_AROUND = 3


def find_prompt_requirement(context: ProjectSnapshot, reference: str) -> RequirementRef:
    """The requirement that a reference means; NotFoundError where it means something else."""
    found = context.find(reference)
    if not isinstance(found, RequirementRef):
        hint = "give the first digits of its id, or the path of its resource"
        raise NotFoundError(f"{quote_text(reference)} is no requirement", hint=hint)
    return found


def make_requirement_values(context: ProjectSnapshot, requirement: RequirementRef) -> Mapping[str, object]:
    """The requirement with its citations, what to paste where, and the notes that it is still to do."""
    detail = make_detail(context.material(_AROUND), requirement)
    assert isinstance(detail, RequirementDetail)
    ##= man/spec/mcp.md#prompts
    ##% A prompt about a requirement MUST contain its text, id, target, level, status, and citations with the code
    ##% around them, and show the comments to write.
    citations = [_narrowed(one) for one in detail.citations]
    shown = fit_items(citations, _words_of)
    todos = [f"{one.file_path}, line {one.line_number}" for one in detail.citations if one.type == "todo"]
    return {
        "requirement": detail,
        "citations": shown,
        "left_out": len(citations) - len(shown),
        "comments": make_comments(_rules(context), detail.target, detail.text),
        "todos": fit_items(todos, str),
    }


def _rules(context: ProjectSnapshot) -> tuple[SourceRule, ...]:
    project = context.project
    return (*project.options.sources, *(project.config.sources if project.config else ()))


def _words_of(citation: CitationWithCode) -> str:
    """What the prompt shows of it, with the numbers of its lines."""
    numbered = "".join(f"{'':12}{line}" for line in citation.context_lines)
    return f"{citation.type} in {citation.file_path}, {citation.reason} {citation.feature} {numbered}"


def _narrowed(citation: CitationWithCode) -> CitationWithCode:
    return replace(citation, context_lines=tuple(shorten_text(line, MAX_ITEM_WIDTH) for line in citation.context_lines))


_Test = Callable[[Annotation], bool]


class DoubtfulCitation(Struct, frozen=True):
    """A citation, and what is the matter with it."""

    place: str
    target: str
    """Nothing where it can't be read."""
    quote: str
    """What it quotes, or else all that it says."""
    matter: str
    advice: str

    @property
    def text(self) -> str:
        return self.place + self.target + self.quote + self.matter + self.advice


def make_review_values(context: ProjectSnapshot, given: Mapping[str, str]) -> Mapping[str, object]:
    """The citations that are wrong, and those that somebody should look at."""
    inside = _files(context, given["file"]) if "file" in given else None
    wanted = set(require_specification(context.catalogue, given["spec"])) if "spec" in given else None

    def is_inside(path: str) -> bool:
        return inside is None or path in inside

    def is_meant(one: Annotation) -> bool:
        # A target that leads nowhere may name a specification all the same.
        return is_inside(one.path) and (wanted is None or not wanted.isdisjoint(_specifications(context, one)))

    def found(severity: Severity) -> list[DoubtfulCitation]:
        lost = _unread(context, is_inside, severity) if wanted is None else ()
        return [*lost, *_found(context, is_meant, severity)]

    wrong, doubtful = found(Severity.ERROR), found(Severity.WARNING)
    shown = fit_items(wrong, lambda one: one.text)
    left = fit_items(doubtful, lambda one: one.text) if len(shown) == len(wrong) else []
    return {
        "among": " and ".join(given.values()),
        "wrong": shown,
        "doubtful": left,
        "left_out": len(wrong) + len(doubtful) - len(shown) - len(left),
    }


def _specifications(context: ProjectSnapshot, one: Annotation) -> list[int]:
    return match_specifications(context.catalogue, one.target.partition("#")[0])


def _files(context: ProjectSnapshot, name: str) -> set[str]:
    """The source of that name, or those in the folder of that name."""
    paths = list_possible_paths(name, context.project.root)
    known = context.findings.files
    inside = {path for path in known if any(path == one or path.startswith(f"{one}/") for one in paths)}
    if not inside:
        hint = suggest_nearest(name, list(known)) or "give the path of a source, or of a folder with some"
        raise NotFoundError(f"no source is called {quote_text(name)}", hint=hint)
    return inside


def _unread(
    context: ProjectSnapshot, is_meant: Callable[[str], bool], severity: Severity
) -> Iterator[DoubtfulCitation]:
    """What would be citations, but can't be read."""
    for one in context.once(find_malformed_annotations):
        for problem in one.problems if is_meant(one.path) else ():
            if problem.severity is severity:
                place = f"{one.path}:{problem.place.line}"
                yield DoubtfulCitation(place, "", shorten_text(one.comment, 300), _matter(problem), problem.hint)


def _found(context: ProjectSnapshot, is_meant: _Test, severity: Severity) -> Iterator[DoubtfulCitation]:
    annotations = context.project.trace.annotations
    for one in context.findings.found:
        if one.id >= 0 and one.problem.severity is severity and is_meant(annotations[one.id]):
            yield _doubt(annotations[one.id], _matter(one.problem), one.problem.hint)


def _matter(problem: Problem) -> str:
    return f"{problem.message} [{problem.code}]"


def _doubt(annotation: Annotation, matter: str, advice: str) -> DoubtfulCitation:
    place = f"{annotation.path}:{annotation.line}"
    return DoubtfulCitation(
        place, annotation.target, shorten_text(" ".join(annotation.quote.split()), 300), matter, advice
    )


def make_section_values(context: ProjectSnapshot, given: Mapping[str, str]) -> Mapping[str, object]:
    """The section with its text and its requirements."""
    reference = given["section"]
    found = context.find(reference)
    if not isinstance(found, SectionRef):
        hint = "give it as SPEC#SECTION, or the path of its resource"
        raise NotFoundError(f"{quote_text(reference)} is no section", hint=hint)
    section = make_detail(context.material(), found)
    assert isinstance(section, SectionDetail)
    lines = list(chain.from_iterable(map(_lines, section.content.splitlines())))
    shown = fit_items(lines, lambda line: f"> {line}", MAX_PROMPT_CHARACTERS // 2)
    told = [replace(one, text=shorten_text(one.text, MAX_ITEM_CHARACTERS)) for one in section.requirements]
    requirements = fit_items(
        told, lambda one: f"- `{one.identifier}`, {one.status}: {one.text}", MAX_PROMPT_CHARACTERS // 2
    )
    return {
        "section": section,
        "lines": shown,
        "lines_left_out": len(lines) - len(shown),
        "requirements": requirements,
        "left_out": len(section.requirements) - len(requirements),
    }


def _lines(written: str) -> Iterator[str]:
    """A line as it is, or in several where it is a whole text."""
    return iter(wrap(written, MAX_ITEM_CHARACTERS) if len(written) > MAX_ITEM_CHARACTERS else [written])


def make_triage_values(context: ProjectSnapshot, given: Mapping[str, str]) -> Mapping[str, object]:
    """The requirements that nothing cites, the strongest first."""
    catalogue = context.catalogue
    spec, level = given.get("spec", ""), given.get("level", "")
    wanted = RequirementFilter((spec,) if spec else (), levels=(_level(level),) if level else ())
    found = find_gaps(catalogue, wanted, Gap.CITATION)
    strongest = sorted(found.indexes, key=lambda index: -catalogue.requirements[index].level)
    rows = [_row(catalogue, index) for index in strongest]
    shown = fit_items(rows, lambda row: row.identifier + row.specification + row.section + row.text)
    return {
        "specification": catalogue.specifications[require_specification(catalogue, spec)[0]].name if spec else "",
        "level": level.lower(),
        "requirements": shown,
        "total": len(rows),
        "among": found.among,
        "left_out": len(rows) - len(shown),
    }


def _row(catalogue: Catalogue, index: int) -> RequirementRow:
    row = make_requirement_row(catalogue, catalogue.requirements[index])
    return replace(row, text=shorten_text(row.text, MAX_ITEM_CHARACTERS))


def _level(word: str) -> Level:
    level = LEVELS_BY_WORD.get(word.lower())
    if level is None:
        raise QueryError(f"there is no level {quote_text(word)}", hint=f"give one of {', '.join(LEVELS_BY_WORD)}")
    return level


_Values = Mapping[str, object]
_Given = Mapping[str, str]


def _of_requirement(context: ProjectSnapshot, given: _Given) -> _Values:
    return make_requirement_values(context, find_prompt_requirement(context, given["requirement"]))


_VALUES: Mapping[str, Callable[[ProjectSnapshot, _Given], _Values]] = {
    "implement_requirement": _of_requirement,
    "write_test": _of_requirement,
    "review_citations": make_review_values,
    "triage_uncited": make_triage_values,
    "explain_section": make_section_values,
}


def fill_prompt(asked: PromptRequest, context: ProjectSnapshot, registry: Registry) -> str:
    """The text of a prompt about the project, for who has these tools."""
    return _rendered(asked.name, registry, _VALUES[asked.name](context, asked.given))


def fill_requirement_prompt(
    name: str, requirement: RequirementRef, context: ProjectSnapshot, registry: Registry
) -> str:
    """The text of one of those that are about a requirement."""
    return _rendered(name, registry, make_requirement_values(context, requirement))


def _rendered(name: str, registry: Registry, values: _Values) -> str:
    def by(tool: str, command: str) -> str:
        return f"`{tool}` (`duvet {command}`)" if tool in registry else f"`duvet {command}`"

    return render_prompt(name, {**values, "by": by})
