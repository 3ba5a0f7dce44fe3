"""What is shown of a thing, block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from duvet.queries.details import (
    Citation,
    Detail,
    FileDetail,
    Numbers,
    RequirementDetail,
    SectionDetail,
    SpecificationDetail,
)
from duvet.queries.rows import RequirementRow
from duvet.reports import columns
from duvet.reports.blocks import Block, Code, Facts, Passage, Rows, Title, Words
from duvet.reports.listing import Column, Listing
from duvet.reports.not_applicable import why
from duvet.text import plural

_COLUMNS = (columns.ID, columns.LEVEL, columns.STATUS, columns.TEXT)
_PLACES = (
    columns.STATUS,
    Column("target", lambda row: row.target),
    Column("place", lambda row: f"{row.file_path}:{row.line_number}"),
    Column("path", lambda row: row.full_path),
)
_SECTIONS = (
    Column("section", lambda row: row.id),
    Column("done", lambda row: _share(row.numbers)),
    Column("needs tests", lambda row: _count(row.numbers.needs_tests)),
    Column("in progress", lambda row: _count(row.numbers.in_progress)),
    Column("not started", lambda row: _count(row.numbers.not_started)),
    Column("title", lambda row: row.title, wraps=True),
)
_TYPES = {"citation": "implementation", "todo": "to do"}


def blocks(detail: Detail) -> Iterator[Block]:
    """Everything that there is to show."""
    match detail:
        case RequirementDetail():
            return _requirement(detail)
        case SectionDetail():
            return _section(detail)
        case SpecificationDetail():
            return _specification(detail)
    return _file(detail)


def _requirement(detail: RequirementDetail) -> Iterator[Block]:
    yield Title(detail.identifier, tuple(filter(None, (detail.level, detail.status))))
    yield Words(detail.text)
    yield Facts(
        [
            ("status", f"{detail.status} ({detail.state}): {detail.status_reason}"),
            ("excuse", why(detail.excuse) if detail.excuse else None),
            ("specification", detail.specification_name),
            ("section", detail.section_title),
            ("target", detail.target),
            ("place", f"{detail.file_path}:{detail.line_number}"),
            ("link", detail.url),
            ("path", detail.full_path),
            ("id", detail.id),
        ]
    )
    if len(detail.places) > 1:
        yield from _listed("It stands in several places, and this is the worst of them", detail.places, _PLACES)
    yield from _citations(detail.citations)
    yield from _listed("In the same section", detail.neighbours)
    yield from _listed("Cited together with it", detail.cited_together)


def _listed(title: str, rows: tuple[RequirementRow, ...], shown: tuple[Column, ...] = _COLUMNS) -> Iterator[Block]:
    if rows:
        yield Title(title, rank=2)
        yield Rows(Listing(shown, rows))


def _citations(citations: Iterable[Citation]) -> Iterator[Block]:
    for kind, group in groupby(citations, lambda one: one.type):
        found = list(group)
        yield Title(f"{type_words(kind)} ({len(found)})", rank=2)
        for one in found:
            yield Title(one.id, rank=3)
            yield Facts(_said(one))
            yield from _code(one)


def type_words(kind: str) -> str:
    """What people call a type of annotations."""
    return _TYPES.get(kind, kind)


def _said(one: Citation) -> list[tuple[str, str | None]]:
    tracked = one.tracking_issue
    if tracked and one.issue_url and one.issue_url != tracked:
        tracked = f"{tracked} ({one.issue_url})"
    missing = "no reason given" if one.type == "exception" else None
    return [
        ("wrong", one.error),
        ("odd", one.warning),
        ("reason", one.reason or missing),
        ("feature", one.feature),
        ("issue", tracked),
        ("link", one.url),
    ]


def _code(one: Citation) -> Iterator[Block]:
    if one.context_lines:
        last = one.line_number + one.comment_text.count("\n")
        yield Code(one.file_path, one.context_start, one.context_lines, one.line_number, last)


def _section(detail: SectionDetail) -> Iterator[Block]:
    yield Title(detail.title, (detail.target,))
    yield Facts(
        [
            ("specification", detail.specification_name),
            ("place", f"{detail.file_path}:{detail.line_number}"),
            ("link", detail.url),
            ("path", detail.full_path),
            ("done", _done(detail.numbers)),
        ]
    )
    if detail.content:
        yield Passage(detail.content)
    yield from _listed("Requirements", detail.requirements)
    yield from _citations(detail.citations)


def _specification(detail: SpecificationDetail) -> Iterator[Block]:
    yield Title(detail.name, (detail.id,))
    yield Facts(
        [
            ("about", detail.description),
            ("url", detail.url),
            ("target", f"{detail.target}#SECTION"),
            ("file", detail.file_path),
            ("path", detail.full_path),
            ("done", _done(detail.numbers)),
            *((one.level or "other", _done(one)) for one in detail.levels),
        ]
    )
    if detail.sections:
        yield Title("Sections", rank=2)
        yield Rows(Listing(_SECTIONS, detail.sections))


def _file(detail: FileDetail) -> Iterator[Block]:
    yield Title(detail.file_path, (plural(len(detail.citations), "annotation"),))
    yield Facts([("link", detail.url)])
    for one in detail.citations:
        yield Title(one.id, (type_words(one.type), "valid" if one.valid else "not valid"), rank=2)
        yield Facts([("target", one.target), ("section", one.section_title), ("quote", one.quote), *_said(one)])
        yield from _code(one)
        if one.requirements:
            yield Rows(Listing(_COLUMNS, one.requirements))


def _done(numbers: Numbers) -> str:
    left = [
        f"{count} {words}"
        for count, words in (
            (numbers.needs_tests, "needs tests" if numbers.needs_tests == 1 else "need tests"),
            (numbers.in_progress, "in progress"),
            (numbers.not_started, "not started"),
            (numbers.excepted, "excepted"),
            (numbers.not_applicable, "not applicable"),
        )
        if count
    ]
    share = "" if numbers.percent is None else f" ({numbers.percent} %)"
    return ", ".join([f"{_share(numbers) or '0/0'}{share}", *left])


def _share(numbers: Numbers) -> str:
    return f"{numbers.done}/{numbers.applicable}" if numbers.requirements else ""


def _count(number: int) -> str:
    return str(number) if number else ""
