"""The context of one call: caller, progress, nested calls, server facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct, field

from duvet.tools.context import ProjectSnapshot
from duvet.tools.plugins import UnloadedPack
from duvet.tools.tool import Scope, Tool, ToolAnswer

if TYPE_CHECKING:
    from duvet.llm.providers import Sampler
    from duvet.tools.packs import Registry


class KeptStep(Struct, frozen=True):
    """What a step has come to, and how long that took."""

    result: Any
    seconds: float
    warnings: Sequence[str] = ()


class CallState(Struct):
    """What the earlier rounds of a call have brought."""

    count: int = 0
    """How many there were."""
    done: dict[str, KeptStep] = field(default_factory=dict)
    """By its place, each step that is done."""
    said: dict[str, str | None] = field(default_factory=dict)
    """By question, what the caller's model says; None where that is of no use."""
    asked: list[str] = field(default_factory=list)
    """The questions since the last step was done."""


class CallJournal:
    """Where a handler keeps what is done, and what its own calls do. Steps come one after another."""

    def __init__(self, rounds: CallState, place: str = "") -> None:
        self._rounds = rounds
        self._place = place
        self._step = place
        self._calls = 0

    def begin(self, step: str) -> None:
        """From now on, everything belongs to this step; its name is another one where it does something else."""
        self._step = f"{self._place}{step}"
        self._calls = 0

    def recall(self) -> KeptStep | None:
        """What the step has come to in an earlier round."""
        return self._rounds.done.get(self._step)

    def keep(self, result: object, seconds: float, warnings: Sequence[str] = ()) -> None:
        """The step has come to this; what led there is of no interest any more."""
        for place in list(self._below()):
            del self._rounds.done[place]
        for question in self._rounds.asked:
            # Another step may ask the same, and is to have an answer of its own.
            self._rounds.said.pop(question, None)
        self._rounds.asked.clear()
        self._rounds.done[self._step] = KeptStep(result, seconds, warnings)

    def _below(self) -> Iterator[str]:
        return (place for place in self._rounds.done if place.startswith(f"{self._step}."))

    def below(self) -> CallJournal:
        """That of the next call in this step."""
        self._calls += 1
        return CallJournal(self._rounds, f"{self._step}.{self._calls}/")


Result = TypeVar("Result")
ProgressCallback = Callable[[float, float | None, str], Awaitable[None]]
"""Hears how much is done, of how much, and what is being done."""


async def ignore_progress(done: float, total: float | None, message: str) -> None:
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
    progress: ProgressCallback = ignore_progress
    sampler: Sampler | None = None
    """Asks the caller's own model, where it offers one."""
    journal: CallJournal | None = None
    """Keeps what is done, where the caller may have to make the call again."""
    time_limit: float | None = None
    """Seconds that it waits for a tool of a further pack at most."""
    within: tuple[str, ...] = ()
    """The tools whose handlers have led to this call, the first one first."""

    @property
    def audience(self) -> str:
        """The face of those who read the answer."""
        return self.behind or self.face


class ProjectReadings(Protocol):
    """Knows the project as it is now."""

    async def context(self) -> ProjectSnapshot:
        """One reading of it."""

    async def ask(self, question: Callable[[ProjectSnapshot], Result]) -> Result:
        """What one reading answers, of which nothing has changed meanwhile."""

    async def caught_up(self) -> None:
        """Notice what has changed, without waiting for what nobody has asked yet."""


class ToolCalls(Protocol):
    """Calls tools."""

    async def tools(self) -> Registry:
        """The tools that are switched on now."""

    async def call(self, name: str, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """What the tool answers; ToolError where it can't."""


class CallContext(Struct, frozen=True, kw_only=True):
    """One call of a tool, as its handler sees it."""

    tool: str
    caller: Caller
    readings: ProjectReadings
    calls: ToolCalls
    services: Mapping[str, Any] = field(default_factory=dict)
    """What the server lends to handlers, by name."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the configuration says to the pack."""

    async def reading(self) -> ProjectSnapshot:
        """The project as it is now."""
        return await self.readings.context()

    async def ask(self, question: Callable[[ProjectSnapshot], Result]) -> Result:
        """What the project answers."""
        return await self.readings.ask(question)

    async def call(
        self, name: str, arguments: Mapping[str, object] | None = None, *, face: str = "", seconds: float | None = None
    ) -> ToolAnswer:
        """What another tool answers to the same caller, who may come by another way and wait for less long."""
        from msgspec.structs import replace

        caller = replace(
            self.caller,
            within=(*self.caller.within, self.tool),
            journal=self.caller.journal and self.caller.journal.below(),
            progress=ignore_progress,
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


FACTS_SERVICE = "facts"
"""What handlers find them by among the services."""


def get_current_time() -> datetime:
    """The time."""
    return datetime.now(UTC)


class ServerFacts(Struct, frozen=True, kw_only=True):
    """Who serves, how, and with what."""

    name: str
    version: str
    mode: str
    packs: Sequence[str]
    tools: int
    unloaded: Sequence[UnloadedPack] = ()
    providers: Sequence[str] = ()
    workflows: Sequence[str] = ()
    faulty: Sequence[str] = ()
    """The workflows that can't be called."""
    clock: Callable[[], datetime] = get_current_time
