"""An answer as one plain value, for faces that send no blocks."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from duvet.tools.tool import Answer, Page


def structured(answer: Answer) -> dict[str, Any]:
    """The answer as an object: itself, or the list that it is as `result`."""
    value = to_builtins(answer.value)
    if answer.page is None:
        assert isinstance(value, dict)
        return value
    ##= man/spec/mcp.md#tools
    ##% The structured content of a list MUST be an object with the list as `result`, how many there are in all as
    ##% `total`, and `next_cursor` where the list goes on.
    return {"result": value, **_page(answer.page)}


def parts_of(answer: Answer) -> dict[str, Any]:
    """What an answer consists of: the result first, and what there is to say of it."""
    notes = {"warning": answer.warning, "next_step": answer.next_step}
    said = {name: words for name, words in notes.items() if words}
    return {"result": answer.value, **(_page(answer.page) if answer.page else {}), **said}


def _page(page: Page) -> dict[str, Any]:
    return {"total": page.total, **({"next_cursor": page.next_cursor} if page.next_cursor else {})}
