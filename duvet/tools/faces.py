"""The ways by which tools are called."""

from __future__ import annotations

MCP = "mcp"
"""The one whose readers pay for each word."""
REST = "rest"
SHELL = "shell"
WORKFLOW = "workflow"
