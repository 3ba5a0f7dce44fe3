"""Fills the prompts with project data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TypeVar

from msgspec import Struct, structs

from duvet.config.settings import SourceRule
from duvet.errors import NotFoundError, QueryError
from duvet.model import Annotation, Kind, Problem, Severity
from duvet.prompts.library import REQUIREMENT_PROMPTS, render_prompt
from duvet.queries import details, gaps, records, references
from duvet.sources import comments, editor
from duvet.text import quote_text, shorten_text, suggest_nearest
from duvet.tools.context import ProjectSnapshot
from duvet.tools.packs import Registry
from duvet.tools.trace.invalid_citations import find_malformed_annotations
from duvet.trace.locations import list_possible_paths, match_specifications, require_specification

_INDENT = " " * 7  # The indent of a code block in an item of a numbered list.
_Item = TypeVar("_Item")

MAX_PROMPT_CHARACTERS = 7_000
"""Maximum size of a list in bytes, to keep prompts below 4,000 tokens; few tokens are shorter than 2.5 bytes."""
MAX_ITEM_CHARACTERS = 1_000  # Maximum length of a text in a list, and of a section's line before wrapping.
MAX_ITEM_WIDTH = 160  # Maximum length of a line of code.
_AROUND = 3


class CitationComment(Struct, frozen=True):
    patterns: str
    for_code: str  # Empty if the files are tests.
    for_test: str


def make_comments(rules: Sequence[SourceRule], target: str, quote: str) -> tuple[CitationComment, ...]:
    styles: dict[comments.SourceStyle, list[str]] = {}
    for rule in rules:
        styles.setdefault(comments.SourceStyle(rule.meta, rule.content, rule.kind), []).extend(rule.patterns)

    def paste(style: comments.SourceStyle, kind: Kind) -> str:
        return "".join(f"{line}\n" for line in editor.format_annotation(style, _INDENT, target, quote, kind=kind))

    # If all sources are tests, they also contain the code.
    only_tests = all(style.kind is Kind.TEST for style in styles)
    return tuple(
        CitationComment(
            ", ".join(f"`{pattern}`" for pattern in patterns),
            paste(style, Kind.CITATION) if only_tests or style.kind is not Kind.TEST else "",
            paste(style, Kind.TEST),
        )
        for style, patterns in styles.items()
    )


def fit_items(
    items: Sequence[_Item], text: Callable[[_Item], str], room: int = MAX_PROMPT_CHARACTERS
) -> Sequence[_Item]:
    for count, item in enumerate(items):
        room -= len(text(item).encode())
        if room < 0:
            return items[: max(count, 1)]
    return items


def make_requirement_values(context: ProjectSnapshot, requirement: references.RequirementRef) -> Mapping[str, object]:
    detail = details.make_detail(context.read_citations(_AROUND), context.project.specification, requirement)
    assert isinstance(detail, details.RequirementDetail)
    ##= man/spec/mcp.md#prompts
    ##% A prompt about a requirement MUST contain its text, its state, its citations with the code around them, and the
    ##% comments to write.
    citations = [
        structs.replace(one, context_lines=tuple(shorten_text(line, MAX_ITEM_WIDTH) for line in one.context_lines))
        for one in detail.citations
    ]
    # Text that is as long as a citation in a prompt, with line numbers.
    shown = fit_items(
        citations,
        lambda one: (
            f"{one.type} in {one.file_path}, {one.reason} {one.feature} "
            + "".join(f"{'':12}{line}" for line in one.context_lines)
        ),
    )
    todos = [f"{one.file_path}, line {one.line_number}" for one in detail.citations if one.type == "todo"]
    project = context.project
    rules = (*project.options.sources, *(project.config.sources if project.config else ()))
    return {
        "requirement": detail,
        "citations": shown,
        "left_out": len(citations) - len(shown),
        "comments": make_comments(rules, detail.target, detail.text),
        "todos": fit_items(todos, str),
    }


class DoubtfulCitation(Struct, frozen=True):
    place: str
    target: str  # Empty if it can't be read.
    quote: str  # The quote, or else the whole comment.
    matter: str
    advice: str

    @property
    def text(self) -> str:
        return self.place + self.target + self.quote + self.matter + self.advice


def make_review_values(context: ProjectSnapshot, given: Mapping[str, str]) -> Mapping[str, object]:
    files: set[str] | None = None
    if name := given.get("file"):
        paths, known = list_possible_paths(name, context.project.root), context.findings.files
        files = {path for path in known if any(path == one or path.startswith(f"{one}/") for one in paths)}
        if not files:
            usage = "use the path of a source file, or of a folder with source files"
            raise NotFoundError(f"no source file {quote_text(name)}", hint=suggest_nearest(name, list(known)) or usage)
    specifications = set(require_specification(context.catalogue, given["spec"])) if "spec" in given else None
    annotations = context.project.trace.annotations

    def is_selected(one: Annotation) -> bool:
        # A target that can't be resolved may still name a specification.
        named = match_specifications(context.catalogue, one.target.partition("#")[0])
        return (files is None or one.path in files) and (specifications is None or not specifications.isdisjoint(named))

    def find(severity: Severity) -> Iterator[DoubtfulCitation]:
        for lost in context.once(find_malformed_annotations) if specifications is None else ():
            for problem in lost.problems if files is None or lost.path in files else ():
                if problem.severity is severity:
                    yield _make_doubtful(f"{lost.path}:{problem.place.line}", "", lost.comment, problem)
        for one in context.findings.found:
            if one.id >= 0 and one.problem.severity is severity and is_selected(annotations[one.id]):
                annotation = annotations[one.id]
                place, quote = f"{annotation.path}:{annotation.line}", " ".join(annotation.quote.split())
                yield _make_doubtful(place, annotation.target, quote, one.problem)

    wrong, doubtful = [*find(Severity.ERROR)], [*find(Severity.WARNING)]
    shown = fit_items(wrong, lambda one: one.text)
    left = fit_items(doubtful, lambda one: one.text) if len(shown) == len(wrong) else []
    return {
        "among": " and ".join(given.values()),
        "wrong": shown,
        "doubtful": left,
        "left_out": len(wrong) + len(doubtful) - len(shown) - len(left),
    }


def _make_doubtful(place: str, target: str, quote: str, problem: Problem) -> DoubtfulCitation:
    matter = f"{problem.message} [{problem.code}]"
    return DoubtfulCitation(place, target, shorten_text(quote, 300), matter, problem.hint)


def make_section_values(context: ProjectSnapshot, given: Mapping[str, str]) -> Mapping[str, object]:
    reference, room = given["section"], MAX_PROMPT_CHARACTERS // 2
    found = context.find(reference, references.Usage.SECTION)
    if not isinstance(found, references.SectionRef):
        raise NotFoundError(f"{quote_text(reference)} is not a section", hint=references.Usage.SECTION)
    section = details.make_detail(context.read_citations(), context.project.specification, found)
    assert isinstance(section, details.SectionDetail)
    lines: list[str] = []
    for line in section.content.splitlines():
        lines += wrap(line, MAX_ITEM_CHARACTERS) if len(line) > MAX_ITEM_CHARACTERS else [line]
    shown = fit_items(lines, lambda line: f"> {line}", room)
    rows = [structs.replace(one, text=shorten_text(one.text, MAX_ITEM_CHARACTERS)) for one in section.requirements]
    requirements = fit_items(
        rows, lambda one: f"- `{one.identifier}`, {', '.join(filter(None, (one.name, one.status)))}: {one.text}", room
    )
    return {
        "section": section,
        "lines": shown,
        "lines_left_out": len(lines) - len(shown),
        "requirements": requirements,
        "left_out": len(section.requirements) - len(requirements),
    }


def make_triage_values(context: ProjectSnapshot, given: Mapping[str, str]) -> Mapping[str, object]:
    catalogue = context.catalogue
    spec, word = given.get("spec", ""), given.get("level", "")
    level = records.parse_level(word) if word else None
    if word and level is None:
        raise QueryError(f"{quote_text(word)} is not a level", hint=f"available: {', '.join(records.LEVELS_BY_WORD)}")
    filter = records.RequirementFilter((spec,) if spec else (), levels=() if level is None else (level,))
    found = gaps.find_gaps(catalogue, filter, gaps.Gap.CITATION)
    strongest = sorted(found.indexes, key=lambda index: -catalogue.requirements[index].level)
    rows = [records.make_requirement_row(catalogue, catalogue.requirements[index]) for index in strongest]
    rows = [structs.replace(row, text=shorten_text(row.text, MAX_ITEM_CHARACTERS)) for row in rows]
    shown = fit_items(rows, lambda row: row.identifier + row.name + row.specification + row.section + row.text)
    return {
        "specification": catalogue.specifications[require_specification(catalogue, spec)[0]].name if spec else "",
        "level": word.lower(),
        "requirements": shown,
        "total": len(rows),
        "among": found.among,
        "left_out": len(rows) - len(shown),
    }


_VALUES: Mapping[str, Callable[[ProjectSnapshot, Mapping[str, str]], Mapping[str, object]]] = {
    "review_citations": make_review_values,
    "triage_uncited": make_triage_values,
    "explain_section": make_section_values,
    "answer_from_pages": lambda context, given: given,
}


def fill_prompt(name: str, given: Mapping[str, str], context: ProjectSnapshot, registry: Registry) -> str:
    if name not in REQUIREMENT_PROMPTS:
        values = _VALUES[name](context, given)
    else:
        found = context.find(given["requirement"], references.Usage.REQUIREMENT)
        if not isinstance(found, references.RequirementRef):
            message = f"{quote_text(given['requirement'])} is not a requirement"
            raise NotFoundError(message, hint=references.Usage.REQUIREMENT)
        values = make_requirement_values(context, found)

    def by(tool: str, command: str) -> str:
        ##= man/spec/mcp.md#prompts
        ##% A prompt MUST NOT name a disabled tool.
        return f"`{tool}` (`duvet {command}`)" if tool in registry else f"`duvet {command}`"

    return render_prompt(name, {**values, "by": by})
