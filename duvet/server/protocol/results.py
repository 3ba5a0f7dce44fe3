"""What a tool answers, as the protocol wants it."""

from __future__ import annotations

import mcp_types as types
from msgspec import json

from duvet.tools.errors import ToolError
from duvet.tools.results import structured
from duvet.tools.tool import Answer


def result(answer: Answer) -> types.CallToolResult:
    """The answer: its JSON, the next step in a line, and the same for programs."""
    ##= man/spec/mcp.md#tools
    ##% The first block of a result MUST be the JSON of the answer and nothing else; a second one MAY name the next step.
    notes = " ".join(filter(None, [answer.warning, answer.next_step]))
    blocks = [json.encode(answer.value).decode(), *filter(None, [notes])]
    return types.CallToolResult(
        content=[types.TextContent(text=block) for block in blocks], structured_content=structured(answer)
    )


def failure(error: ToolError) -> types.CallToolResult:
    """What went wrong, and what to do."""
    ##= man/spec/mcp.md#errors
    ##% A tool that fails MUST answer with `isError` and one block of JSON, whose `status` is `error` and whose `error`
    ##% has a `code`, a `message` and a `hint`.
    details = {} if error.details is None else {"details": error.details}
    told = {"code": error.code.value, "message": error.message, "hint": error.hint, **details}
    value = {"status": "error", "error": told}
    # No structured content: clients hold it against the schema of answers, and this is none.
    return types.CallToolResult(content=[types.TextContent(text=json.encode(value).decode())], is_error=True)
