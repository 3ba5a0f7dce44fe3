"""What a handler may know, and do, while it is called."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct, field

from duvet.tools.context import Context
from duvet.tools.tool import Answer, Scope, Tool

if TYPE_CHECKING:
    from duvet.llm.provider import Sampler
    from duvet.tools.journal import Journal
    from duvet.tools.registry import Registry

Result = TypeVar("Result")
Progress = Callable[[float, float | None, str], Awaitable[None]]
"""Hears how much is done, of how much, and what is being done."""


async def nobody(done: float, total: float | None, message: str) -> None:
    """Hears of progress where no caller wants to."""


class Caller(Struct, frozen=True, kw_only=True):
    """Who calls, and how."""

    scopes: frozenset[Scope] = frozenset(Scope)
    face: str = "library"
    """By which way: `mcp`, `rest`, `shell`, `workflow`."""
    behind: str = ""
    """By which way whoever is behind the caller came, where that is another one."""
    holder: str = ""
    """Whose token it shows, or what stands for anybody's; empty for who calls on this machine, in a process of its own."""
    request: str = ""
    """What the caller knows the call by."""
    progress: Progress = nobody
    sampler: Sampler | None = None
    """Asks the caller's own model, where it offers one."""
    journal: Journal | None = None
    """Keeps what is done, where the caller may have to make the call again."""
    time_limit: float | None = None
    """Seconds that it waits for a tool of a further pack at most."""
    within: tuple[str, ...] = ()
    """The tools whose handlers have led to this call, the first one first."""

    @property
    def audience(self) -> str:
        """The face of those who read the answer."""
        return self.behind or self.face


class Readings(Protocol):
    """Knows the project as it is now."""

    async def context(self) -> Context:
        """One reading of it."""

    async def ask(self, question: Callable[[Context], Result]) -> Result:
        """What one reading answers, of which nothing has changed meanwhile."""

    async def caught_up(self) -> None:
        """Notice what has changed, without waiting for what nobody has asked yet."""


class Calls(Protocol):
    """Calls tools."""

    async def tools(self) -> Registry:
        """The tools that are switched on now."""

    async def call(self, name: str, arguments: Mapping[str, object], caller: Caller) -> Answer:
        """What the tool answers; ToolError where it can't."""


class Ctx(Struct, frozen=True, kw_only=True):
    """One call of a tool, as its handler sees it."""

    tool: str
    caller: Caller
    readings: Readings
    calls: Calls
    services: Mapping[str, Any] = field(default_factory=dict)
    """What the server lends to handlers, by name."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the configuration says to the pack."""

    async def reading(self) -> Context:
        """The project as it is now."""
        return await self.readings.context()

    async def ask(self, question: Callable[[Context], Result]) -> Result:
        """What the project answers."""
        return await self.readings.ask(question)

    async def call(
        self, name: str, arguments: Mapping[str, object] | None = None, *, face: str = "", seconds: float | None = None
    ) -> Answer:
        """What another tool answers to the same caller, who may come by another way and wait for less long."""
        from msgspec.structs import replace

        caller = replace(
            self.caller,
            within=(*self.caller.within, self.tool),
            journal=self.caller.journal and self.caller.journal.below(),
            progress=nobody,
            face=face or self.caller.face,
            behind="" if face else self.caller.behind,
            time_limit=seconds if self.caller.time_limit is None else self.caller.time_limit,
        )
        return await self.calls.call(name, arguments or {}, caller)

    async def pack(self) -> Sequence[Tool]:
        """The tools of the pack that the tool is in, as far as they are switched on."""
        registry = await self.calls.tools()
        own = registry.pack_of(registry.require(self.tool))
        return [tool for tool in registry.usable() if registry.pack_of(tool) is own]

    async def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell the caller how far it is."""
        await self.caller.progress(done, total, message)
