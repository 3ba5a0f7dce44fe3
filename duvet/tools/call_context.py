"""The context of one call: caller, progress, nested calls, server facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct, field, structs

from duvet.tools.tool import MODELS_SERVICE, Scope, ToolAnswer

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar

    from duvet.llm.providers import Sampler
    from duvet.llm.records import ModelRequest, ModelResponse
    from duvet.llm.router import StaticRouter
    from duvet.tools.context import ProjectSnapshot
    from duvet.tools.dispatcher import ToolDispatcher
    from duvet.tools.plugins import UnloadedPack

Result = TypeVar("Result")
FACTS_SERVICE = "facts"


class KeptStep(Struct, frozen=True):
    result: Any
    seconds: float
    warnings: Sequence[str] = ()


class CallState(Struct):
    """The state that a client sends back when it repeats a call with the answer of its model."""

    count: int = 0  # The number of rounds so far.
    done: dict[str, KeptStep] = field(default_factory=dict)  # The finished steps, by position.
    said: dict[str, str | None] = field(default_factory=dict)  # Answers of the caller's model; None is an unusable one.
    asked: list[str] = field(default_factory=list)  # The questions since the last finished step.


class CallJournal:
    """Records the finished steps of a handler, so that a repeated call can skip them."""

    def __init__(self, rounds: CallState, place: str = "") -> None:
        self._rounds = rounds
        self._place = place
        self._step = place
        self._calls = 0

    def begin(self, step: str) -> None:
        """`step` must be unique in this journal."""
        self._step = f"{self._place}{step}"
        self._calls = 0

    def recall(self) -> KeptStep | None:
        return self._rounds.done.get(self._step)

    def keep(self, result: object, seconds: float, warnings: Sequence[str] = ()) -> None:
        for place in [place for place in self._rounds.done if place.startswith(f"{self._step}.")]:
            del self._rounds.done[place]
        for question in self._rounds.asked:
            # Another step with the same question needs a separate answer.
            self._rounds.said.pop(question, None)
        self._rounds.asked.clear()
        self._rounds.done[self._step] = KeptStep(result, seconds, warnings)

    def nest(self) -> CallJournal:
        self._calls += 1
        return CallJournal(self._rounds, f"{self._step}.{self._calls}/")


async def ignore_progress(done: float, total: float | None, message: str) -> None:
    pass


class Caller(Struct, frozen=True, kw_only=True):
    scopes: frozenset[Scope] = frozenset(Scope)
    face: str = "library"  # `mcp`, `rest`, `shell` or `workflow`.
    behind: str = ""  # The interface that the client of a forwarding server uses, if it is a different one.
    holder: str = ""  # The name of the token; empty for a local caller, who has the process to itself.
    request: str = ""
    progress: Callable[[float, float | None, str], Awaitable[None]] = ignore_progress
    """Called with the amount done, the total, and the current action."""
    sampler: Sampler | None = None  # Asks the caller's own model, if it offers one.
    journal: CallJournal | None = None  # Set if the caller may have to repeat the call.
    time_limit: float | None = None  # Time limit for a tool of an installed pack, in seconds.
    within: tuple[str, ...] = ()  # The tools whose handlers led to this call, outermost first.

    @property
    def audience(self) -> str:
        return self.behind or self.face


class ProjectReadings(Protocol):
    async def context(self) -> ProjectSnapshot: ...

    async def ask(self, question: Callable[[ProjectSnapshot], Result]) -> Result:
        """Return `question(snapshot)`; call `question` again if the project changes meanwhile."""

    async def catch_up(self) -> None:
        """Wait for a reading that includes all changes so far, if any reading has begun."""


class CallContext(Struct, frozen=True, kw_only=True):
    tool: str
    caller: Caller
    readings: ProjectReadings
    calls: ToolDispatcher
    services: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    own_names: Mapping[str, str] = field(default_factory=dict)  # The tools of a pack with a prefix.

    async def call(
        self, name: str, arguments: Mapping[str, object] | None = None, *, face: str = "", seconds: float | None = None
    ) -> ToolAnswer:
        caller = structs.replace(
            self.caller,
            within=(*self.caller.within, self.tool),
            journal=self.caller.journal and self.caller.journal.nest(),
            progress=ignore_progress,
            face=face or self.caller.face,
            behind="" if face else self.caller.behind,
            time_limit=seconds if self.caller.time_limit is None else self.caller.time_limit,
        )
        return await self.calls.call(self.own_names.get(name, name), arguments or {}, caller)

    async def ask_model(self, request: ModelRequest) -> ModelResponse:
        router: StaticRouter | None = self.services.get(MODELS_SERVICE)
        if router is None:
            from duvet.llm.records import NoModelError

            raise NoModelError()
        if self.caller.sampler is not None:
            router = router.with_sampler(self.caller.sampler)
        if request.model in router.routing:
            request = structs.replace(request, model=None, task=request.model)
        return await router.invoke(request)


async def run_blocking(
    work: Callable[[], Result], *, limiter: CapacityLimiter | None = None, abandon: bool = False
) -> Result:
    from anyio import to_thread

    return await to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=abandon)


def get_loop_limiter(name: str, tokens: int) -> CapacityLimiter:
    from anyio import CapacityLimiter, lowlevel

    variable = _LOOP_VARIABLES.get(name) or _LOOP_VARIABLES.setdefault(name, lowlevel.RunVar(name))
    limiter = variable.get(None)
    if limiter is None:
        limiter = CapacityLimiter(tokens)
        variable.set(limiter)
    return limiter


_LOOP_VARIABLES: dict[str, RunVar[CapacityLimiter | None]] = {}


class ServerInfo(Struct, frozen=True, kw_only=True):
    name: str
    version: str
    mode: str
    enabled_tool_packs: tuple[str, ...]
    tool_count: int
    workflows: tuple[str, ...]
    providers: tuple[str, ...]
    provider_count: int


class ServerFacts(Struct, frozen=True, kw_only=True):
    info: ServerInfo
    unloaded: Sequence[UnloadedPack]
    faulty: Sequence[str]  # Workflows that can't be called.
