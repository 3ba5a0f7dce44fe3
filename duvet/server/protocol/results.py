"""What a tool answers, as the protocol wants it."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from msgspec import json, to_builtins

from duvet.tools.errors import ToolError
from duvet.tools.tool import Answer


def result(answer: Answer) -> types.CallToolResult:
    """The answer: its JSON, the next step in a line, and the same for programs."""
    ##= man/spec/mcp.md#tools
    ##% The first block of a result MUST be the JSON of the answer and nothing else; a second one MAY name the next step.
    notes = " ".join(filter(None, [answer.warning, answer.next_step]))
    blocks = [json.encode(answer.value).decode(), *filter(None, [notes])]
    return types.CallToolResult(
        content=[types.TextContent(text=block) for block in blocks], structured_content=_structured(answer)
    )


def _structured(answer: Answer) -> dict[str, Any]:
    value = to_builtins(answer.value)
    if answer.page is None:
        assert isinstance(value, dict)
        return value
    ##= man/spec/mcp.md#tools
    ##% The structured content of a list MUST be an object with the list as `result`, how many there are in all as
    ##% `total`, and `next_cursor` where the list goes on.
    more = {"next_cursor": answer.page.next_cursor} if answer.page.next_cursor else {}
    return {"result": value, "total": answer.page.total, **more}


def failure(error: ToolError) -> types.CallToolResult:
    """What went wrong, and what to do."""
    ##= man/spec/mcp.md#errors
    ##% A tool that fails MUST answer with `isError` and one block of JSON, whose `status` is `error` and whose `error`
    ##% has a `code`, a `message` and a `hint`.
    value = {"status": "error", "error": {"code": error.code.value, "message": error.message, "hint": error.hint}}
    # No structured content: clients hold it against the schema of answers, and this is none.
    return types.CallToolResult(content=[types.TextContent(text=json.encode(value).decode())], is_error=True)
