"""How a tool is described to clients."""

from __future__ import annotations

from typing import Any

import mcp_types as types

from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import Tool


def description(tool: Tool) -> types.Tool:
    """The tool as `tools/list` shows it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.only_reads,
            destructive_hint=tool.replaces,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
        _meta=_more(tool) or None,
    )


def _more(tool: Tool) -> dict[str, Any]:
    """What else its pack says of it."""
    said = {"labels": tool.labels, "safetyNotes": tool.safety_notes, "invocationHints": tool.invocation_hints}
    return {f"duvet/{name}": list(words) for name, words in said.items() if words}
