"""The server that every transport runs."""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server

from duvet.server.identity import Identity
from duvet.server.live import Live
from duvet.server.protocol.calls import Calls
from duvet.tools.registry import Registry


class DuvetServer(Server[Any]):
    """A server of the SDK that says what it can do whoever asks, and hands every question on."""

    def __init__(self, identity: Identity, instructions: str, live: Live, registry: Registry) -> None:
        calls = Calls(registry, live)
        super().__init__(
            identity.name,
            version=identity.version,
            title=identity.title,
            description=identity.description,
            instructions=instructions,
            on_list_tools=calls.list,
            on_call_tool=calls.call,
        )
        self.live = live

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        # The manager of HTTP sessions asks without options.
        return super().get_capabilities(
            NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True),
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
