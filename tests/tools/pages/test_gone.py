"""A page that goes while it is read."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from duvet.tools.chosen import Chosen
from duvet.tools.context import Context
from duvet.tools.ctx import Caller
from duvet.tools.desk import Desk
from duvet.tools.errors import ToolError
from duvet.tools.pages.notes import index
from duvet.tools.pages.pack import PAGES
from duvet.tools.registry import Registry
from tests.commands.made import make
from tests.knowledge.pages.made import TRACE, project_in
from tests.tools.made import Fixed


def test_a_page_that_goes(tmp_path: Path) -> None:
    ##= man/spec/pages.md#hostile-input
    ##= type=test
    ##% A page that goes while it is read MUST be answered as one that is not found.
    make(tmp_path, {**TRACE, "docs/a.md": "tea", "docs/b.md": "tea [[a]]"})
    project = project_in(tmp_path)
    context = Context(project, project.catalogue, 50)
    context.read(index)
    (tmp_path / "docs/a.md").unlink()
    desk = Desk(Registry([Chosen(PAGES)]), Fixed(context))
    with pytest.raises(ToolError) as failure:
        anyio.run(desk.call, "get_page", {"slug": "a"}, Caller())
    assert (failure.value.code, failure.value.message) == ("not_found", "Page 'a' not found")
    hits = anyio.run(desk.call, "search", {"query": "tea"}, Caller()).value
    assert [hit.slug for hit in hits] == ["b"]  # type: ignore[attr-defined]


def test_lists_have_parts_for_agents(tmp_path: Path) -> None:
    make(tmp_path, {**TRACE, **{f"docs/{number:02}.md": "---\ncreated: 2026-01-01\n---\n" for number in range(30)}})
    project = project_in(tmp_path)
    desk = Desk(Registry([Chosen(PAGES)]), Fixed(Context(project, project.catalogue, 20)))
    first = anyio.run(desk.call, "list_pages", {}, Caller(face="mcp"))
    assert first.page is not None and first.page.next_cursor is not None
    assert first.next_step == f"20 of 30 shown; for more give cursor={first.page.next_cursor}, or a higher limit."
    rest = anyio.run(desk.call, "list_pages", {"cursor": first.page.next_cursor}, Caller(face="mcp"))
    slugs = [row.slug for row in (*first.value, *rest.value)]  # type: ignore[misc]
    assert slugs == [f"{number:02}" for number in range(30)]
