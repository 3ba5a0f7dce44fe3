"""Details of a requirement, section, specification, file or page, as text or Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from duvet.queries import details, records
from duvet.reports import cells, tables
from duvet.reports.summary import describe_exemption
from duvet.text import format_count, quote_phrase
from duvet.trace.catalogue import State
from duvet.trace.records import format_state

if TYPE_CHECKING:
    from duvet.knowledge.pages.catalogue import PageDetail


class TitleBlock(Struct, frozen=True):
    text: str
    remarks: tuple[str, ...] = ()
    rank: int = 1  # 1 for the title, 2 and 3 for headings below it.


class FactsBlock(Struct, frozen=True):
    pairs: Sequence[tuple[str, str | None]]

    @property
    def known(self) -> list[tuple[str, str]]:
        return [(name, value) for name, value in self.pairs if value]


class WordsBlock(Struct, frozen=True):
    text: str


class PassageBlock(Struct, frozen=True):
    """Text that keeps its line breaks and indentation."""

    text: str


class CodeBlock(Struct, frozen=True):
    path: str
    start: int
    lines: Sequence[str]
    first: int
    last: int


Block = TitleBlock | FactsBlock | WordsBlock | PassageBlock | CodeBlock | tables.Listing


def _make_count_column(name: str) -> tables.Column:
    return tables.Column(name.replace("_", " "), lambda row: str(getattr(row.numbers, name) or ""))


_COLUMNS = (tables.ID_COLUMN, tables.NAME_COLUMN, tables.LEVEL_COLUMN, tables.STATUS_COLUMN, tables.TEXT_COLUMN)
_PLACES = (
    tables.STATUS_COLUMN,
    tables.Column("target", lambda row: row.target),
    tables.Column("location", lambda row: f"{row.file_path}:{row.line_number}"),
    tables.Column("resource", lambda row: row.full_path),
)
_SECTIONS = (
    tables.Column("section", lambda row: row.id),
    tables.Column("done", lambda row: _format_share(row.numbers)),
    *map(_make_count_column, ("needs_tests", "needs_code", "in_progress", "to_do", "uncited", "excepted")),
    tables.Column("title", lambda row: row.title, wraps=True),
)


def make_detail_blocks(detail: details.Detail) -> Iterator[Block]:
    match detail:
        case details.RequirementDetail():
            return _make_requirement_blocks(detail)
        case details.SectionDetail():
            return _make_section_blocks(detail)
        case details.SpecificationDetail():
            return _make_specification_blocks(detail)
    return _make_file_blocks(detail)


def _make_requirement_blocks(detail: details.RequirementDetail) -> Iterator[Block]:
    yield TitleBlock(detail.identifier, tuple(filter(None, (detail.name, detail.level, detail.status))))
    yield WordsBlock(detail.text)
    yield FactsBlock(
        [
            ("status", f"{detail.status}: {detail.status_reason}"),
            *_list_missing_words(detail),
            ("reason", describe_exemption(detail.excuse) if detail.excuse else None),
            ("specification", detail.specification_name),
            ("section", detail.section_title),
            ("target", detail.target),
            ("location", f"{detail.file_path}:{detail.line_number}"),
            ("link", detail.url),
            ("resource", detail.full_path),
            ("id", detail.id),
            ("name", detail.name),
        ]
    )
    if len(detail.places) > 1:
        yield from _list_rows("Occurs in several places (the worst state is shown above)", detail.places, _PLACES)
    yield from _make_citation_blocks(detail.citations)
    yield from _list_rows("Nearby in the same section", detail.neighbours)
    yield from _list_rows("Cited by the same annotations", detail.cited_together)


def _list_missing_words(detail: details.RequirementDetail) -> Iterator[tuple[str, str]]:
    for name, words in (("not implemented", detail.not_implemented), ("not tested", detail.not_tested)):
        if words != (detail.text,):
            yield name, ", ".join(map(quote_phrase, words))
        elif detail.status == State.IN_PROGRESS.words:
            yield name, "all of it"


def _list_rows(
    title: str, rows: tuple[records.RequirementRow, ...], shown: tuple[tables.Column, ...] = _COLUMNS
) -> Iterator[Block]:
    if rows:
        yield TitleBlock(title, rank=2)
        yield tables.Listing(shown, rows)


def _make_citation_blocks(citations: Iterable[details.CitationWithCode]) -> Iterator[Block]:
    for kind, group in groupby(citations, lambda one: one.type):
        found = list(group)
        yield TitleBlock(f"{describe_type(kind)} ({len(found)})", rank=2)
        for one in found:
            yield TitleBlock(one.id, rank=3)
            yield FactsBlock(_list_facts(one))
            yield from _make_code_block(one)


def describe_type(kind: str) -> str:
    return "implementation" if kind == "citation" else kind


def _list_facts(one: details.CitationWithCode) -> list[tuple[str, str | None]]:
    tracked = one.tracking_issue
    if tracked and one.issue_url and one.issue_url != tracked:
        tracked = f"{tracked} ({one.issue_url})"
    missing = "no reason given" if one.type == "exception" else None
    return [
        ("error", one.error),
        ("warning", one.warning),
        ("reason", one.reason or missing),
        ("feature", one.feature),
        ("issue", tracked),
        ("link", one.url),
    ]


def _make_code_block(one: details.CitationWithCode) -> Iterator[Block]:
    if one.context_lines:
        last = one.line_number + one.comment_text.count("\n")
        yield CodeBlock(one.file_path, one.context_start, one.context_lines, one.line_number, last)


def _make_section_blocks(detail: details.SectionDetail) -> Iterator[Block]:
    yield TitleBlock(detail.title, (detail.target,))
    yield FactsBlock(
        [
            ("specification", detail.specification_name),
            ("location", f"{detail.file_path}:{detail.line_number}"),
            ("link", detail.url),
            ("resource", detail.full_path),
            ("done", _describe_coverage(detail.numbers)),
        ]
    )
    if detail.content:
        yield PassageBlock(detail.content)
    yield from _list_rows("Requirements", detail.requirements)
    yield from _make_citation_blocks(detail.citations)


def _make_specification_blocks(detail: details.SpecificationDetail) -> Iterator[Block]:
    yield TitleBlock(detail.name, (detail.id,))
    yield FactsBlock(
        [
            ("description", detail.description),
            ("url", detail.url),
            ("target", f"{detail.target}#SECTION"),
            ("file", detail.file_path),
            ("resource", detail.full_path),
            ("done", _describe_coverage(detail.numbers)),
            *((one.level or "other", _describe_coverage(one)) for one in detail.levels),
        ]
    )
    if detail.sections:
        yield TitleBlock("Sections", rank=2)
        columns = tuple(one for one in _SECTIONS if any(map(one.value, detail.sections)))
        yield tables.Listing(columns, detail.sections)


def _make_file_blocks(detail: details.FileDetail) -> Iterator[Block]:
    yield TitleBlock(detail.file_path, (format_count(len(detail.citations), "annotation"),))
    yield FactsBlock([("link", detail.url)])
    for one in detail.citations:
        yield TitleBlock(one.id, (describe_type(one.type), "valid" if one.valid else "invalid"), rank=2)
        yield FactsBlock(
            [("target", one.target), ("section", one.section_title), ("quote", one.quote), *_list_facts(one)]
        )
        yield from _make_code_block(one)
        if one.requirements:
            yield tables.Listing(_COLUMNS, one.requirements)


def _describe_coverage(numbers: details.RequirementCounts) -> str:
    counts = [(state, getattr(numbers, state.name.lower())) for state in State if state is not State.DONE]
    left = [f"{count:,} {format_state(state, count)}" for state, count in counts if count]
    share = "" if numbers.percent is None else f" ({numbers.percent} %)"
    return ", ".join([f"{_format_share(numbers) or '0/0'}{share}", *left])


def _format_share(numbers: details.RequirementCounts) -> str:
    return f"{numbers.done}/{numbers.applicable}" if numbers.requirements else ""


_TICKS = re.compile("`+")
_LINK = re.compile(r"https?://[^\s<>]+\Z")


def render_blocks_markdown(blocks: Iterable[Block]) -> bytes:
    return "\n".join(filter(None, map(_render_block, blocks))).encode(errors="replace")


def _render_block(block: Block) -> str:
    match block:
        case TitleBlock(text, remarks, rank):
            remark_text = "".join(f" · {tables.escape_markdown(one)}" for one in remarks)
            return f"{'#' * (rank + 1)} {tables.escape_markdown(text)}{remark_text}\n"
        case FactsBlock():
            return "".join(f"- {tables.escape_markdown(name)}: {_format_value(value)}\n" for name, value in block.known)
        case WordsBlock(text):
            return f"> {tables.escape_markdown(text)}\n"
        case PassageBlock(text):
            return _fence_code("text", text.split("\n"))
        case CodeBlock(path, _, lines):
            name = path.rpartition("/")[2]
            return _fence_code(name.rpartition(".")[2] if "." in name else "", lines)
        case tables.Listing():
            return tables.render_listing(block, tables.ListFormat.MARKDOWN).decode()


def _format_value(value: str) -> str:
    return f"<{value}>" if _LINK.match(value) and value.isprintable() else tables.escape_markdown(value)


def _fence_code(language: str, lines: Iterable[str]) -> str:
    shown = [cells.escape_cell(line) for line in lines]
    fence = "`" * max([3, *(len(ticks) + 1 for line in shown for ticks in _TICKS.findall(line))])
    word = language if language.isalnum() else ""
    return "\n".join([f"{fence}{word}", *shown, fence, ""])


_PAGE_COLUMNS = (
    tables.Column("id", lambda row: row.identifier),
    tables.NAME_COLUMN,
    tables.STATUS_COLUMN,
    tables.Column("target", lambda row: row.target),
    tables.Column(
        "cited at", lambda row: ", ".join(f"{one.file_path}:{one.line_number}" for one in row.citations), wraps=True
    ),
    tables.Column("text", lambda row: row.text, wraps=True),
)


def make_page_blocks(page: PageDetail) -> Iterator[Block]:
    yield TitleBlock(page.title)
    yield FactsBlock(
        [
            ("slug", page.slug),
            ("file", page.path),
            ("created", page.created),
            ("tags", ", ".join(page.tags)),
            ("aliases", ", ".join(page.aliases)),
            ("links to", ", ".join(page.outlinks)),
            ("linked from", ", ".join(page.backlinks)),
        ]
    )
    if page.content.strip():
        yield PassageBlock(page.content.strip("\n"))
    if page.requirements:
        yield TitleBlock("Requirements", rank=2)
        yield tables.Listing(_PAGE_COLUMNS, page.requirements)


_INDENT = "  "
_BOLD, _FAINT = cells.HighlightMarks("\x1b[1m", "\x1b[0m"), cells.HighlightMarks("\x1b[2m", "\x1b[0m")
_CYAN = cells.HighlightMarks("\x1b[36m", "\x1b[0m")
_COLOURS = {
    **cells.STATE_MARKS,
    "valid": cells.STATE_MARKS[State.DONE.words],
    "invalid": cells.STATE_MARKS[State.UNCITED.words],
}


def render_blocks_text(blocks: Iterable[Block], look: cells.TableLook) -> bytes:
    lines: list[str] = []
    for block in blocks:
        for line in _Writer(look).lines(block):
            # Never print two blank lines in a row.
            if line or (lines and lines[-1]):
                lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")


class _Writer:
    def __init__(self, look: cells.TableLook) -> None:
        self.look = look

    def lines(self, block: Block) -> Iterator[str]:
        match block:
            case TitleBlock():
                if block.rank < 3:
                    yield ""
                remarks = [self._paint(cells.escape_cell(one), _COLOURS.get(one)) for one in block.remarks]
                name = self._paint(cells.escape_cell(block.text), _CYAN if block.rank == 3 else _BOLD)
                yield "  ".join([name, *remarks])
            case FactsBlock():
                yield from self._render_facts(block)
            case WordsBlock(text):
                yield ""
                yield from self._wrap(text, _INDENT, _BOLD)
                yield ""
            case PassageBlock(text):
                yield ""
                for line in text.split("\n"):
                    own = line[: len(line) - len(line.lstrip(" "))]
                    yield from self._wrap(line[len(own) :], f"{_INDENT}{own}")
                yield ""
            case CodeBlock():
                yield from self._render_code(block)
            case tables.Listing():
                shown = tables.render_list_table(block, replace(self.look, width=self.look.width - len(_INDENT)))
                yield from (f"{_INDENT}{line}" for line in shown.splitlines())

    def _render_facts(self, facts: FactsBlock) -> Iterator[str]:
        names = max((cells.measure_width(cells.escape_cell(name)) for name, _ in facts.known), default=0)
        for name, value in facts.known:
            head = f"{_INDENT}{cells.align_left(cells.escape_cell(name), names)}{_INDENT}"
            room = max(self.look.width - cells.measure_width(head), 20)
            text = cells.escape_cell(value)
            for number, (start, end) in enumerate(cells.wrap_cells(text, room)):
                before = " " * cells.measure_width(head) if number else self._paint(head, _FAINT)
                yield f"{before}{text[start:end]}"

    def _wrap(self, text: str, indent: str, marks: cells.HighlightMarks | None = None) -> Iterator[str]:
        shown = cells.escape_cell(text)
        for start, end in cells.wrap_cells(shown, max(self.look.width - cells.measure_width(indent), 20)):
            yield f"{indent}{self._paint(shown[start:end], marks)}".rstrip()

    def _render_code(self, code: CodeBlock) -> Iterator[str]:
        digits = len(str(code.start + len(code.lines) - 1))
        room = self.look.width - len(_INDENT) - digits - 3
        for number, line in enumerate(code.lines, code.start):
            text = cells.escape_cell(line)
            if cells.measure_width(text) > room:
                text = cells.fit_cells(text, room - 1) + cells.CUT_MARK
            own = code.first <= number <= code.last
            gutter = self._paint(f"{number:>{digits}} {'>' if own else '|'}", _FAINT)
            yield f"{_INDENT}{gutter} {self._paint(text, _CYAN if own else None)}".rstrip()
        yield ""

    def _paint(self, text: str, marks: cells.HighlightMarks | None) -> str:
        return cells.paint_text(text, marks) if self.look.colour else text
