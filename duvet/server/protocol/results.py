"""What a tool answers, as the protocol wants it."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from msgspec import json, to_builtins

from duvet.tools.errors import ToolError
from duvet.tools.tool import Answer, Tool


def result(tool: Tool, answer: Answer) -> types.CallToolResult:
    """The answer: its JSON, the next step in a line, and the same for programs."""
    blocks = [json.encode(answer.value).decode(), *filter(None, [answer.next_step])]
    return types.CallToolResult(
        content=[types.TextContent(text=block) for block in blocks], structured_content=_structured(answer)
    )


def _structured(answer: Answer) -> dict[str, Any]:
    value = to_builtins(answer.value)
    if answer.page is None:
        assert isinstance(value, dict)
        return value
    more = {"next_cursor": answer.page.next_cursor} if answer.page.next_cursor else {}
    return {"result": value, "total": answer.page.total, **more}


def failure(error: ToolError) -> types.CallToolResult:
    """What went wrong, and what to do."""
    value = {"status": "error", "error": {"code": error.code.value, "message": error.message, "hint": error.hint}}
    return types.CallToolResult(
        content=[types.TextContent(text=json.encode(value).decode())], structured_content=value, is_error=True
    )
