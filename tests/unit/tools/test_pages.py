"""Pages that are removed while they are read, long lists and pages, and what is read again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.pages import PAGES, load_page_index
from duvet.tools.tool import EnabledPack, ToolAnswer, ToolError
from tests.cli.made import make
from tests.unit.knowledge.pages.made import TRACE, project_in
from tests.unit.tools.made import Fixed


def desk_of(folder: Path, files: dict[str, str]) -> tuple[Callable[..., ToolAnswer], ProjectSnapshot]:
    """Calls of the tools of a project with these pages."""
    project = project_in(make(folder, {**TRACE, **files}))
    context = ProjectSnapshot(project, project.catalogue, 20)
    desk = ToolDispatcher(Registry([EnabledPack(PAGES)]), Fixed(context))

    def call(tool: str, face: str = "mcp", /, **given: object) -> ToolAnswer:
        return anyio.run(desk.call, tool, given, Caller(face=face))

    return call, context


def test_a_page_that_was_removed_is_not_found(tmp_path: Path) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% These tools MUST answer `not_found` for an unknown page, with the nearest slug, and refuse an empty required
    ##% argument.
    call, context = desk_of(tmp_path, {"docs/a.md": "tea", "docs/b.md": "tea [[a]]"})
    context.read(load_page_index)
    (tmp_path / "docs/a.md").unlink()
    with pytest.raises(ToolError) as failure:
        call("get_page", slug="a")
    assert (failure.value.code, failure.value.message) == ("not_found", "Page 'a' not found")
    hits: Any = call("search", query="tea").value
    assert [hit.slug for hit in hits] == ["b"]


def test_agents_get_lists_in_parts(tmp_path: Path) -> None:
    call, _ = desk_of(tmp_path, {f"docs/{number:02}.md": "---\ncreated: 2026-01-01\n---\n" for number in range(30)})
    first: Any = call("list_pages")
    cursor = first.page.next_cursor
    assert first.next_step == f"20 of 30 shown; for more give cursor={cursor}, or a higher limit."
    rest: Any = call("list_pages", cursor=cursor)
    assert [row.slug for row in (*first.value, *rest.value)] == [f"{number:02}" for number in range(30)]


TEXT = "\u00e9" * 12_000


@pytest.mark.parametrize(
    ("face", "asked", "shown", "rest"),
    [
        ("rest", {}, TEXT, None),
        ("shell", {}, TEXT, None),
        ("workflow", {}, TEXT, None),
        ("mcp", {}, TEXT[:5000], 5000),
        ("mcp", {"offset": 10_000}, TEXT[:2000], None),
        ("rest", {"offset": 1, "limit": 7}, TEXT[:7], 8),
    ],
)
def test_agents_get_long_pages_in_parts(
    tmp_path: Path, face: str, asked: dict[str, int], shown: str, rest: int | None
) -> None:
    ##= man/spec/pages.md#tools
    ##= type=test
    ##% `get_page` MUST return the whole text of a page, or about 4,000 tokens to MCP clients, unless `limit` is given,
    ##% and say where the rest begins.
    call, _ = desk_of(tmp_path, {"docs/a.md": TEXT})
    found = call("get_page", face, slug="a", **asked)
    page: Any = found.value
    assert (page.content, page.next_offset) == (shown, rest)
    assert found.next_step == (f"The text goes on: give offset={rest}, or a higher limit." if rest else "")


def test_a_reading_that_fails_does_not_lose_earlier_ones(tmp_path: Path) -> None:
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
