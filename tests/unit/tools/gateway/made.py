"""Calls that are forwarded, over a real socket."""

from __future__ import annotations

from typing import Any

import anyio
from msgspec import json

from duvet.tools.call_context import Caller
from duvet.tools.dispatcher import ToolDispatcher, ToolEnvironment
from duvet.tools.gateway import GatewayConnection, make_forwarding_pack, parse_gateway
from duvet.tools.packs import Registry
from duvet.tools.tool import EnabledPack, ToolError
from tests.unit.knowledge.stored import plain
from tests.unit.llm.wire import Reply
from tests.unit.tools.made import FILES, Fixed, context_of

READER, ADMIN = "reader-0123456789", "admin-0123456789"
FOUND = {"status": "ok", "results": [{"id": "Subsystem:Kettle", "label": "Kettle", "score": 0.95, "snippet": "Heats"}]}


class Clock:
    """Nobody waits by it."""

    def __init__(self) -> None:
        self.waited: list[float] = []

    def now(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


class Forwarding:
    """A desk whose calls are forwarded to a URL."""

    def __init__(self, url: str, reader: str | None = READER, admin: str | None = ADMIN, seconds: float = 30.0) -> None:
        self.clock = Clock()
        self.registry = Registry(
            [
                EnabledPack(
                    make_forwarding_pack(GatewayConnection(parse_gateway(url, reader, admin), seconds, self.clock))
                )
            ]
        )
        self.reader, self.admin, self.url, self.seconds = reader, admin, url, seconds

    def value(self, tool: str, /, face: str = "mcp", **given: Any) -> Any:
        """What a tool answers."""
        return plain(anyio.run(self._call, tool, given, face).value)

    def refusal(self, tool: str, /, **given: Any) -> tuple[str, str, str]:
        """Why a call fails."""
        try:
            found = anyio.run(self._call, tool, given, "mcp")
        except ToolError as error:
            assert not self.reader or self.reader not in f"{error.message}{error.hint}{error.details}"
            return error.code.value, error.message, error.hint
        raise AssertionError(f"it answered {found}")

    async def _call(self, tool: str, given: dict[str, Any], face: str) -> Any:
        line = GatewayConnection(parse_gateway(self.url, self.reader, self.admin), self.seconds, self.clock)
        desk = ToolDispatcher(
            Registry([EnabledPack(make_forwarding_pack(line))]),
            Fixed(context_of(FILES)),
            ToolEnvironment(closers=[line.aclose]),
        )
        try:
            return await desk.call(tool, given, Caller(face=face))
        finally:
            await desk.aclose()


def says(result: Any, **more: Any) -> Reply:
    """An answer of a tool."""
    return Reply(body=json.encode({"status": "ok", "result": result, **more}))


def refuses(status: int, code: str, message: str, hint: str = "", details: object = None, **headers: str) -> Reply:
    """An error of a server of ours."""
    told = {"status": "error", "error": message, "code": code, "hint": hint}
    more = {} if details is None else {"details": details}
    return Reply(
        status, json.encode({**told, **more}), {name.replace("_", "-"): text for name, text in headers.items()}
    )
