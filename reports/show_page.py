"""What is shown of a page, block by block."""

from __future__ import annotations

from collections.abc import Iterator

from duvet.knowledge.pages.named import Requirement
from duvet.knowledge.pages.rows import PageDetail
from duvet.reports.blocks import Block, Facts, Passage, Rows, Title
from duvet.reports.listing import Column, Listing

_COLUMNS = (
    Column("id", lambda row: row.identifier),
    Column("status", lambda row: row.status),
    Column("target", lambda row: row.target),
    Column("cited at", lambda row: _places(row), wraps=True),
    Column("text", lambda row: row.text, wraps=True),
)


def blocks(page: PageDetail) -> Iterator[Block]:
    """Everything that there is to show."""
    yield Title(page.title)
    facts = (
        ("slug", page.slug),
        ("file", page.path),
        ("created", page.created),
        ("tags", ", ".join(page.tags)),
        ("links to", ", ".join(page.outlinks)),
        ("linked from", ", ".join(page.backlinks)),
    )
    yield Facts(tuple((name, value) for name, value in facts if value))
    if page.content.strip():
        yield Passage(page.content.strip("\n"))
    if page.requirements:
        yield Title("Requirements", rank=2)
        yield Rows(Listing(_COLUMNS, page.requirements))


def _places(requirement: Requirement) -> str:
    return ", ".join(f"{one.file_path}:{one.line_number}" for one in requirement.citations)
