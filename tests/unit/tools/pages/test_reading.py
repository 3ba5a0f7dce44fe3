"""Pages that go while they are read, long ones, and what is read again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import PAGES, Registry
from duvet.tools.pages import load_page_index
from duvet.tools.tool import EnabledPack, ToolError
from tests.cli.made import make
from tests.unit.knowledge.pages.made import TRACE, project_in
from tests.unit.tools.made import Fixed


def test_a_page_that_goes(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% These tools MUST answer `not_found` for an unknown page, with the nearest slug, and refuse an empty required
    ##% argument.
    make(tmp_path, {**TRACE, "docs/a.md": "tea", "docs/b.md": "tea [[a]]"})
    project = project_in(tmp_path)
    context = ProjectSnapshot(project, project.catalogue, 50)
    context.read(load_page_index)
    (tmp_path / "docs/a.md").unlink()
    desk = ToolDispatcher(Registry([EnabledPack(PAGES)]), Fixed(context))
    with pytest.raises(ToolError) as failure:
        anyio.run(desk.call, "get_page", {"slug": "a"}, Caller())
    assert (failure.value.code, failure.value.message) == ("not_found", "Page 'a' not found")
    hits = anyio.run(desk.call, "search", {"query": "tea"}, Caller()).value
    assert [hit.slug for hit in hits] == ["b"]  # type: ignore[attr-defined]


def test_lists_have_parts_for_agents(tmp_path: Path) -> None:
    make(tmp_path, {**TRACE, **{f"docs/{number:02}.md": "---\ncreated: 2026-01-01\n---\n" for number in range(30)}})
    project = project_in(tmp_path)
    desk = ToolDispatcher(Registry([EnabledPack(PAGES)]), Fixed(ProjectSnapshot(project, project.catalogue, 20)))
    first = anyio.run(desk.call, "list_pages", {}, Caller(face="mcp"))
    assert first.page is not None and first.page.next_cursor is not None
    assert first.next_step == f"20 of 30 shown; for more give cursor={first.page.next_cursor}, or a higher limit."
    rest = anyio.run(desk.call, "list_pages", {"cursor": first.page.next_cursor}, Caller(face="mcp"))
    slugs = [row.slug for row in (*first.value, *rest.value)]  # type: ignore[misc]
    assert slugs == [f"{number:02}" for number in range(30)]


def test_long_pages_have_parts_for_agents(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_page` MUST return the whole text of a page, or about 4,000 tokens to MCP clients, unless `limit` is given,
    ##% and say where the rest begins.
    text = "\u00e9" * 12_000
    make(tmp_path, {**TRACE, "docs/a.md": text})
    project = project_in(tmp_path)
    desk = ToolDispatcher(Registry([EnabledPack(PAGES)]), Fixed(ProjectSnapshot(project, project.catalogue, 20)))
    for face in ("rest", "shell", "workflow"):
        assert anyio.run(desk.call, "get_page", {"slug": "a"}, Caller(face=face)).value.content == text  # type: ignore[attr-defined]
    first = anyio.run(desk.call, "get_page", {"slug": "a"}, Caller(face="mcp"))
    assert first.next_step == "The text goes on: give offset=5000, or a higher limit."
    page: Any = first.value
    assert (page.content, page.next_offset) == (text[:5000], 5000)
    rest: Any = anyio.run(desk.call, "get_page", {"slug": "a", "offset": 10_000}, Caller(face="mcp")).value
    assert (rest.content, rest.next_offset) == (text[:2000], None)
    some: Any = anyio.run(desk.call, "get_page", {"slug": "a", "offset": 1, "limit": 7}, Caller(face="rest")).value
    assert (some.content, some.next_offset) == (text[:7], 8)


def test_what_fails_to_be_read_again_keeps_nothing_else_from_it(tmp_path: Path) -> None:
    make(tmp_path, TRACE)
    readings = []

    def read(context: ProjectSnapshot) -> int:
        readings.append(context.earlier(read))
        if len(readings) == 2:
            raise OSError
        return len(readings)

    first, second, third = (ProjectSnapshot(project, project.catalogue, 20) for project in [project_in(tmp_path)] * 3)
    assert (first.read(read), first.read(read), first.reads) == (1, 1, 1)
    second.renew(first)
    assert not second.has_read(read)
    third.renew(first)
    assert (third.read(read), readings) == (3, [None, 1, 1])
