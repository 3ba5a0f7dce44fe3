from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, strategies as st
from msgspec import json
from msgspec.structs import replace

from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import PAGES, Registry
from duvet.tools.tool import (
    MAX_PAGE_BYTES,
    EnabledPack,
    PageRequest,
    ResultPage,
    ToolAnswer,
    ToolError,
    make_result_page,
)
from tests.cli.sample_project import make
from tests.unit.knowledge.pages.page_projects import TRACE, project_in
from tests.unit.tools.tool_calls import Fixed

LETTERS = [*"abcdefghijklmnopqrstuvwxyz"]
ASKED = PageRequest(("list", "letters"), page_size=10)


def part(items: Sequence[str], wish: PageRequest) -> tuple[list[str], ResultPage]:
    return make_result_page(items, wish, key=str, row=str.upper)


def cursor_of(items: Sequence[str], wish: PageRequest) -> str:
    _, page = part(items, wish)
    assert page.next_cursor is not None
    return page.next_cursor


@given(st.lists(st.text(max_size=4)), st.integers(min_value=1, max_value=9), st.integers(min_value=0, max_value=5))
def test_the_parts_of_a_list_are_together_the_list(items: list[str], limit: int, page_size: int) -> None:
    ##= man/spec/mcp.md#answers
    ##% The server MUST continue a list at the given cursor even if entries were added or removed.
    wish = PageRequest(("any",), page_size=page_size, limit=limit if page_size == 0 else None)
    rows, page = make_result_page(items, wish, key=str, row=str)
    while page.next_cursor:
        again, page = make_result_page(items, replace(wish, cursor=page.next_cursor), key=str, row=str)
        assert again
        rows += again
    assert (rows, page.total) == (items, len(items))


def test_a_cursor_outlives_edits_and_one_that_was_made_up_or_is_of_another_question_is_refused() -> None:
    edited = [
        *(("abcdefghijklmnopqrstuvwxyz", "k"), ("klmnopqrstuvwxyz", "k"), ("0abcdefghijklmnopqrstuvwxyz", "k")),
        # Entries around the cursor have gone or come.
        *(("abcdefghijlmnopqrstuvwxyz", "l"), ("abcdefghimnopqrstuvwxyz", "m"), ("abcdefghijnopqrstuvwxyz", "n")),
        *(("abcdefghij0klmnopqrstuvwxyz", "k"), ("0123456789xyz", "x"), ("", "")),
    ]
    cursor = cursor_of(LETTERS, ASKED)
    for items, first in edited:
        rows, _ = part(items, replace(ASKED, cursor=cursor))
        assert rows[:1] == [*first.upper()], items
    message = "the cursor does not belong to this list"
    told = "invalid_request", message, "omit it to start over, or repeat the arguments of the call that returned it"
    altered = [cursor[:at] + ("A" if char != "A" else "B") + cursor[at + 1 :] for at, char in enumerate(cursor)]
    made_up = ["", "x", "eA", "é", "\0", "a b", "A" * 47, "A" * 48, "=" * 8, "A" * 100_000]
    others = [replace(ASKED, cursor=one) for one in (*altered, *made_up)]
    for asked in (*others, replace(ASKED, cursor=cursor, question=("list", "b"))):
        with pytest.raises(ToolError) as caught:
            part(LETTERS, asked)
        assert (caught.value.code, caught.value.message, caught.value.hint) == told


def test_a_list_has_a_page_unless_more_is_asked_for_and_fewer_long_entries() -> None:
    ##= man/spec/mcp.md#answers
    ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the rest.
    for more, count in (({}, 10), ({"limit": 12}, 12), ({"limit": 3}, 3), ({"page_size": 0}, 26)):
        found, page = part(LETTERS, replace(ASKED, **more))
        assert (found, page.total) == ([*map(str.upper, LETTERS[:count])], 26)
    # The limit may change between parts.
    cursor = cursor_of(LETTERS, replace(ASKED, limit=2))
    assert part(LETTERS, replace(ASKED, cursor=cursor, limit=3))[0] == ["C", "D", "E"]
    long = [letter * 3_000 for letter in LETTERS]
    rows, _ = part(long, ASKED)
    assert rows == [row.upper() for row in long[:3]]
    assert len(json.encode(rows)) <= MAX_PAGE_BYTES
    assert len(part(long, replace(ASKED, limit=10))[0]) == 10
    assert len(part(long, replace(ASKED, page_size=0))[0]) == 26
    rows, page = part(["a" * 20_000, "b"], ASKED)
    assert rows == ["A" * 20_000]
    assert part(["a" * 20_000, "b"], replace(ASKED, cursor=page.next_cursor)) == (["B"], ResultPage(2))


def desk_of(folder: Path, files: dict[str, str]) -> Callable[..., Any]:
    project = project_in(make(folder, {**TRACE, **files}))
    desk = ToolDispatcher(Registry([EnabledPack(PAGES)]), Fixed(ProjectSnapshot(project, project.catalogue, 20)))

    def call(tool: str, face: str = "mcp", /, **given: object) -> ToolAnswer:
        return anyio.run(desk.call, tool, given, Caller(face=face))

    return call


def test_a_page_that_was_removed_is_not_found(tmp_path: Path) -> None:
    call = desk_of(tmp_path, {"docs/a.md": "tea", "docs/b.md": "tea [[a]]"})
    call("search", query="tea")
    (tmp_path / "docs/a.md").unlink()
    with pytest.raises(ToolError) as failure:
        call("get_page", slug="a")
    assert (failure.value.code, failure.value.message) == ("not_found", "Page 'a' not found")
    assert [hit.slug for hit in call("search", query="tea").value] == ["b"]


def test_agents_get_lists_in_parts(tmp_path: Path) -> None:
    call = desk_of(tmp_path, {f"docs/{number:02}.md": "---\ncreated: 2026-01-01\n---\n" for number in range(30)})
    first = call("list_pages")
    cursor = first.page.next_cursor
    assert first.next_step == f"20 of 30 shown; for more, set cursor={cursor} or a higher limit."
    rest = call("list_pages", cursor=cursor)
    assert [row.slug for row in (*first.value, *rest.value)] == [f"{number:02}" for number in range(30)]


TEXT = "\u00e9" * 12_000


@pytest.mark.parametrize(
    ("face", "asked", "shown", "rest", "step"),
    [
        *((face, {}, TEXT, None, "") for face in ("rest", "shell", "workflow")),
        ("mcp", {}, TEXT[:5000], 5000, "The text continues; set offset=5000 to read on."),
        ("mcp", {"offset": 10_000}, TEXT[:2000], None, ""),
        ("rest", {"offset": 1, "limit": 7}, TEXT[:7], 8, "The text continues; set offset=8 to read on."),
    ],
)
def test_long_pages_are_divided(tmp_path: Path, face: str, asked: Any, shown: str, rest: Any, step: str) -> None:
    found = desk_of(tmp_path, {"docs/a.md": TEXT})("get_page", face, slug="a", **asked)
    assert (found.value.content, found.value.next_offset, found.warning, found.next_step) == (shown, rest, "", step)


def test_long_lists_and_front_matter_are_cut(tmp_path: Path) -> None:
    ##= man/spec/mcp.md#answers
    ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the rest.
    links = " ".join(f"[[{number}]]" for number in range(150))
    head = f"---\nblob: {'x' * 10_000}\n---\n"
    backlinks = {f"docs/{number}.md": "[[hub]] [[other]]" for number in range(120)}
    call = desk_of(tmp_path, {"docs/hub.md": head + links, "docs/other.md": "", **backlinks})

    def sizes(page: Any) -> list[int]:
        return list(map(len, (page.outlinks, page.backlinks, page.links, page.frontmatter)))

    cut = call("get_page", slug="hub")
    assert sizes(cut.value) == [100, 100, 100, 0]
    counts = ("150 outlinks", "120 backlinks", "150 links")
    told = [f"The answer has 100 of {count}; to get all, set `limit` to any number." for count in counts]
    told.append("The front matter is long and was left out; to get it, set `limit` to any number.")
    assert cut.warning == " ".join(told)
    for whole in (call("get_page", slug="hub", limit=9), call("get_page", "rest", slug="hub")):
        assert (sizes(whole.value), whole.warning) == ([150, 120, 150, 1], "")
    around = call("get_connections", slug="hub")
    graph = around.value
    lists = (graph.outlinks, graph.backlinks, graph.local_graph.nodes, graph.local_graph.edges)
    assert [len(one) for one in lists] == [100] * 4
    cut_graph = (
        "The answer has 100 of 121 pages in the graph; to get all, call get_page for this page with any `limit`."
    )
    assert around.warning.startswith(cut_graph)
    graph = call("get_connections", "rest", slug="hub").value
    assert (len(graph.local_graph.nodes), len(graph.local_graph.edges)) == (121, 240)


def test_a_reading_that_fails_does_not_lose_earlier_ones(tmp_path: Path) -> None:
    make(tmp_path, TRACE)
    readings = []

    def read(context: ProjectSnapshot) -> int:
        readings.append(context.earlier(read))
        if len(readings) == 2:
            raise OSError
        return len(readings)

    first, second, third = (ProjectSnapshot(project, project.catalogue, 20) for project in [project_in(tmp_path)] * 3)
    assert (first.read(read), first.read(read), first.read_count) == (1, 1, 1)
    second.renew(first)
    assert not second.has_read(read)
    third.renew(first)
    assert (third.read(read), readings) == (3, [None, 1, 1])
