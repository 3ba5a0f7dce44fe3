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
from duvet.tools.pages import load_page_index
from duvet.tools.tool import (
    MAX_PAGE_BYTES,
    EnabledPack,
    ErrorCode,
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


EDITS = {
    "nothing": (LETTERS, "k"),
    "all that was shown has gone": (LETTERS[10:], "k"),
    "more has come before": (["0", *LETTERS], "k"),
    "the next one has gone": ([one for one in LETTERS if one != "k"], "l"),
    "those around have gone": ([one for one in LETTERS if one not in "jkl"], "m"),
    "something has come in between": ([*LETTERS[:10], "0", *LETTERS[10:]], "k"),
    "all that came next has gone": ([one for one in LETTERS if one not in "klm"], "n"),
    "little of it is left": ([*"0123456789xyz"], "x"),
    "nothing of it is left": ([], ""),
}


@pytest.mark.parametrize(("items", "first"), EDITS.values(), ids=EDITS)
def test_a_cursor_outlives_edits(items: list[str], first: str) -> None:
    rows, _ = part(items, replace(ASKED, cursor=cursor_of(LETTERS, ASKED)))
    assert rows[:1] == [*first.upper()]


def test_a_cursor_that_was_made_up_changed_or_is_of_another_question_is_refused() -> None:
    told = (
        ErrorCode.INVALID_REQUEST,
        "the cursor does not belong to this list",
        "omit it to start over, or repeat the arguments of the call that returned it",
    )
    cursor = cursor_of(LETTERS, ASKED)
    altered = [cursor[:at] + ("A" if char != "A" else "B") + cursor[at + 1 :] for at, char in enumerate(cursor)]
    made_up = ["", "x", "eA", "é", "\0", "a b", "A" * 47, "A" * 48, "=" * 8, "A" * 100_000]
    others = [replace(ASKED, cursor=one) for one in (*altered, *made_up)]
    for asked in (*others, replace(ASKED, cursor=cursor, question=("list", "b"))):
        with pytest.raises(ToolError) as caught:
            part(LETTERS, asked)
        assert (caught.value.code, caught.value.message, caught.value.hint) == told


@pytest.mark.parametrize(
    ("more", "rows"),
    [({}, "abcdefghij"), ({"limit": 12}, "abcdefghijkl"), ({"limit": 3}, "abc"), ({"page_size": 0}, "".join(LETTERS))],
)
def test_a_list_has_a_page_unless_more_is_asked_for(more: dict[str, int], rows: str) -> None:
    ##= man/spec/mcp.md#answers
    ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the rest.
    found, page = part(LETTERS, replace(ASKED, **more))
    assert ("".join(found), page.total) == (rows.upper(), 26)
    # The limit may change between parts.
    cursor = cursor_of(LETTERS, replace(ASKED, limit=2))
    assert part(LETTERS, replace(ASKED, cursor=cursor, limit=3))[0] == ["C", "D", "E"]


def test_a_list_of_long_entries_has_fewer() -> None:
    long = [letter * 3_000 for letter in LETTERS]
    rows, _ = part(long, ASKED)
    assert rows == [row.upper() for row in long[:3]]
    assert len(json.encode(rows)) <= MAX_PAGE_BYTES
    assert len(part(long, replace(ASKED, limit=10))[0]) == 10
    assert len(part(long, replace(ASKED, page_size=0))[0]) == 26
    rows, page = part(["a" * 20_000, "b"], ASKED)
    assert rows == ["A" * 20_000]
    assert part(["a" * 20_000, "b"], replace(ASKED, cursor=page.next_cursor)) == (["B"], ResultPage(2))


def desk_of(folder: Path, files: dict[str, str]) -> tuple[Callable[..., ToolAnswer], ProjectSnapshot]:
    project = project_in(make(folder, {**TRACE, **files}))
    context = ProjectSnapshot(project, project.catalogue, 20)
    desk = ToolDispatcher(Registry([EnabledPack(PAGES)]), Fixed(context))

    def call(tool: str, face: str = "mcp", /, **given: object) -> ToolAnswer:
        return anyio.run(desk.call, tool, given, Caller(face=face))

    return call, context


def test_a_page_that_was_removed_is_not_found(tmp_path: Path) -> None:
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
    assert first.next_step == f"20 of 30 shown; for more, set cursor={cursor} or a higher limit."
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
def test_long_pages_are_divided(tmp_path: Path, face: str, asked: dict[str, int], shown: str, rest: int | None) -> None:
    call, _ = desk_of(tmp_path, {"docs/a.md": TEXT})
    found = call("get_page", face, slug="a", **asked)
    page: Any = found.value
    assert (page.content, page.next_offset, found.warning) == (shown, rest, "")
    assert found.next_step == (
        f"The text continues; set offset={rest} or {'raise' if asked else 'set'} limit to read on." if rest else ""
    )


def test_long_lists_and_front_matter_are_cut(tmp_path: Path) -> None:
    ##= man/spec/mcp.md#answers
    ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the rest.
    links = " ".join(f"[[{number}]]" for number in range(150))
    head = f"---\nblob: {'x' * 10_000}\n---\n"
    backlinks = {f"docs/{number}.md": "[[hub]] [[other]]" for number in range(120)}
    call, _ = desk_of(tmp_path, {"docs/hub.md": head + links, "docs/other.md": "", **backlinks})

    def sizes(answer: ToolAnswer) -> list[int]:
        page: Any = answer.value
        return list(map(len, (page.outlinks, page.backlinks, page.links, page.frontmatter)))

    cut = call("get_page", slug="hub")
    assert sizes(cut) == [100, 100, 100, 0]
    assert cut.warning == (
        "The answer has 100 of 150 outlinks; to get all, set any limit. The answer has 100 of 120 backlinks; to get all, set any limit. "
        "The answer has 100 of 150 links; to get all, set any limit. "
        "The front matter is long and was left out; to get it, set any limit."
    )
    for whole in (call("get_page", slug="hub", limit=9), call("get_page", "rest", slug="hub")):
        assert (sizes(whole), whole.warning) == ([150, 120, 150, 1], "")
    around = call("get_connections", slug="hub")
    graph: Any = around.value
    lists = (graph.outlinks, graph.backlinks, graph.local_graph.nodes, graph.local_graph.edges)
    assert [len(one) for one in lists] == [100] * 4
    cut_graph = "The answer has 100 of 121 pages in the graph; to get all, call get_page for this page with any limit."
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
