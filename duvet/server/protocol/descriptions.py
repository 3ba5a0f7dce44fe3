"""How a tool is described to clients."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from msgspec import json

from duvet.tools.tool import Tool


def description(tool: Tool) -> types.Tool:
    """The tool as `tools/list` shows it."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=_schema(tool.input),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.only_reads,
            destructive_hint=False,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=False,
        ),
    )


def _schema(kind: Any) -> dict[str, Any]:
    (schema,), components = json.schema_components([kind], ref_template="#/$defs/{name}")
    found: dict[str, Any] = components[schema["$ref"].rpartition("/")[2]]
    return found
