"""How a tool is described to clients."""

from __future__ import annotations

import mcp_types as types

from duvet.server.protocol.schemas import list_of, schema_of
from duvet.tools.tool import Tool


def description(tool: Tool) -> types.Tool:
    """The tool as `tools/list` shows it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.input),
        output_schema=list_of(tool.output) if tool.is_list else schema_of(tool.output),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.only_reads,
            destructive_hint=False,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )
