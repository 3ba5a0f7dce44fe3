"""What the tools are called that workflows are."""

from __future__ import annotations

PREFIX, ALIAS_PREFIX = "workflow.", "workflow_"


def tool_name(workflow: str) -> str:
    """The name of the tool that the workflow is."""
    return PREFIX + workflow


def tool_alias(workflow: str) -> str:
    """Its name for clients that refuse dots."""
    return ALIAS_PREFIX + workflow


def called_by(tool: str) -> str:
    """The workflow that a tool of this name is; empty where it can't be one."""
    for prefix in (PREFIX, ALIAS_PREFIX):
        if tool.startswith(prefix):
            return tool.removeprefix(prefix)
    return ""
