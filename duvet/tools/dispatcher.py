"""Dispatches tool calls from every interface: finds the tool, runs it within its limits, and records the call. Also the audit log."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from duvet.errors import DuvetError
from duvet.text import collapse_whitespace, shorten_text
from duvet.tools import call_context, packs
from duvet.tools.arguments import MAX_OWN_RESULT_BYTES, check_answer, check_input, check_scope
from duvet.tools.tool import (
    EnabledPack,
    ErrorCode,
    PendingError,
    QueryTool,
    Tool,
    ToolAnswer,
    ToolError,
    make_tool_error,
)

if TYPE_CHECKING:
    from duvet.knowledge import feedback
    from duvet.store.location import StorePaths
    from duvet.tools.plugin_runner import PluginRunner

MAX_CALL_DEPTH = 8  # Maximum nesting of tools that call tools.
_MAX_NAME = 1000  # Characters of an unknown tool's name that are inspected.

_MAX_ARGUMENTS = 12
_MAX_QUOTED = 300  # Characters of a quoted argument or warning.
_MAX_READ = 1000  # Characters of an argument that are inspected.
_SUCCESS = "success"


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    tool: str  # The tool's name; for an unknown tool, the escaped name from the request.
    pack: str = ""
    face: str
    request: str
    scope: str = ""
    arguments: str  # Their names and sizes, never their texts.
    seconds: float = 0
    code: str = ""  # The code of the failure; empty after success.
    reason: str = ""  # The type of an unforeseen exception.
    bytes_in: int = 0
    bytes_out: int = 0
    warning: str = ""  # The warning, or only its length if it may quote the project.
    is_known: bool = True
    has_failed: bool = False  # True even for an answer that reports a failure.
    changes: bool = False  # True for a tool that changes something.
    holder: str = ""  # The name of the caller's token; empty for a caller on this machine.
    scopes: tuple[str, ...] = ()
    given: Mapping[str, object] = {}  # The arguments without secrets, for a tool that changes something.


CallObserver = Callable[[CallRecord], None]


def format_warning(pack: str, warning: str) -> str:
    # The warnings of this pack quote no text.
    if not warning or pack == packs.KNOWLEDGE.name:
        return shorten_text(collapse_whitespace(warning), _MAX_QUOTED)
    # The warning may quote files of the project.
    return f"str({len(warning)})"


def summarize_arguments(arguments: Mapping[str, object]) -> str:
    # Texts may be secret, so only their sizes are shown.
    words = []
    for name, value in list(arguments.items())[:_MAX_ARGUMENTS]:
        plain = shorten_text(name)
        words.append(f"{plain if plain.isidentifier() else ascii(plain)}={_describe_size(value)}")
    return " ".join(words) + (" ..." if len(arguments) > _MAX_ARGUMENTS else "")


def select_plain_arguments(arguments: Mapping[str, object], names: Collection[str]) -> Mapping[str, object]:
    ##= man/spec/gateway.md#audit
    ##% The audit log MUST NOT contain tokens, or the text of files, notes and uploads.
    found: dict[str, object] = {}
    for name, value in arguments.items():
        if name in names:
            if isinstance(value, str):
                found[name] = shorten_text(value[:_MAX_READ], _MAX_QUOTED)
            else:
                found[name] = value if isinstance(value, bool | int | float | None) else _describe_size(value)
    return found


def _describe_size(value: object) -> str:
    match value:
        case bool() | None:
            return str(value).lower()
        case int() | float():
            return shorten_text(f"{value:g}")
        case str():
            return f"str({len(value)})"
        case list() | tuple() | dict():
            return f"{'object' if isinstance(value, dict) else 'array'}({len(value)})"
    return type(value).__name__


class AuditLog(msgspec.Struct, frozen=True):
    places: Callable[[], StorePaths]
    now: Callable[[], datetime]
    on_entry: Callable[[feedback.AuditEntry], None]
    on_failure: Callable[[str], None]  # Called with the reason if an entry was not written in time.
    patience: float = 10.0  # Time limit for writing an entry, in seconds; appending waits for half of it.

    async def record_call(self, call: CallRecord) -> None:
        # A refused caller has changed nothing, and must not be able to fill the disk.
        if not call.changes or call.code in (ErrorCode.FORBIDDEN, ErrorCode.UNAUTHORIZED):
            return
        from duvet.knowledge import feedback

        entry = feedback.AuditEntry(
            timestamp=self.now().isoformat(timespec="milliseconds"),
            tool=call.tool,
            outcome=call.code or ("failure" if call.has_failed else _SUCCESS),
            face=call.face,
            who=call.holder or "local",
            scopes=call.scopes,
            request=call.request,
            duration_seconds=round(call.seconds, 3),
            arguments=call.arguments,
            parameters=call.given,
        )
        self.on_entry(entry)
        if entry.outcome != _SUCCESS and not call.holder and not os.path.isdir(self.places().folder):
            return
        # With a separate limiter, slow writes don't use up the threads of other work.
        limiter = call_context.get_loop_limiter("duvet_accounting_turn", 4)
        ##= man/spec/gateway.md#audit
        ##% Before answering a permitted call to a tool that changes something, the server MUST write the time, the
        ##% tool, the outcome and the caller to `audit.jsonl`.
        with anyio.move_on_after(self.patience) as scope:
            try:
                write = partial(feedback.append_record, self.places(), entry)
                await call_context.run_blocking(write, limiter=limiter, abandon=True)
            except DuvetError as error:
                self.on_failure(error.message)
        if scope.cancelled_caught:
            self.on_failure(f"writing takes longer than {self.patience:g} seconds")


CloseCallback = Callable[[], Awaitable[None]]


class ToolEnvironment(msgspec.Struct, frozen=True, kw_only=True):
    services: Mapping[str, Any] = msgspec.field(default_factory=dict)
    observers: Sequence[CallObserver] = ()  # Called with the record of each finished call.
    record_change: Callable[[CallRecord], Awaitable[None]] | None = (
        None  # Stores the record of a change before the caller gets the answer.
    )
    measures: Callable[[], bool] = lambda: True  # Whether the sizes of successful calls are needed.
    time_limit: float = 30.0  # Seconds for a tool of an installed pack that sets no limit.
    clock: Callable[[], float] = time.perf_counter
    is_relevant: Callable[[str], bool] = lambda pack: False  # True if the project has content for an optional pack.
    closers: Sequence[CloseCallback] = ()
    patience: float = 0.5  # Time limit for all closers together, in seconds.
    report_exception: Callable[[str, BaseException], None] = lambda tool, error: None
    """Called with the name of an installed pack's tool and the exception that it raised."""


class ToolDispatcher:
    def __init__(
        self,
        registry: packs.Registry,
        readings: call_context.ProjectReadings,
        environment: ToolEnvironment | None = None,
    ) -> None:
        self.registry = registry
        self.environment = environment or ToolEnvironment()
        self._readings = readings

    @cached_property
    def _guests(self) -> PluginRunner:
        from duvet.tools.plugin_runner import PluginRunner

        return PluginRunner(self.environment.clock)

    async def tools(self) -> packs.Registry:
        await self._readings.catch_up()
        return self.registry

    async def call(self, name: str, arguments: Mapping[str, object], caller: call_context.Caller) -> ToolAnswer:
        ##= man/spec/service.md#calls
        ##% A tool MUST return the same answer through MCP, `/api/mcp` and `duvet call`.
        return await self.call_tool(await self.require(name, arguments, caller), arguments, caller)

    async def require(self, name: str, arguments: Mapping[str, object], caller: call_context.Caller) -> Tool:
        await self._readings.catch_up()
        try:
            return self.registry.require(name)
        except ToolError as error:
            record = CallRecord(
                tool=shorten_text(name[:_MAX_NAME].encode("unicode_escape").decode()),
                face=caller.face,
                request=caller.request,
                arguments=summarize_arguments(arguments),
                code=error.code.value,
                bytes_in=_measure_json(arguments),
                is_known=False,
            )
            for observer in self.environment.observers:
                observer(record)
            raise

    async def call_tool(
        self,
        tool: Tool,
        arguments: Mapping[str, object],
        caller: call_context.Caller,
        part_of: EnabledPack | None = None,
    ) -> ToolAnswer:
        """`part_of` is the pack of a resource or a prompt, whose tool is not in the registry."""
        begun, owner = self.environment.clock(), part_of or self.registry.pack_of(tool)
        answer, failure = None, None
        try:
            answer = await self._run(tool, owner, arguments, caller)
            return answer
        except BaseException as error:
            failure = error
            raise
        finally:
            seconds = self.environment.clock() - begun
            if self.environment.observers or self.environment.record_change:
                changes = not tool.only_reads
                code, reason = ("", "") if failure is None else _classify_failure(failure)
                # Encoding an answer again only to measure it would take longer than many calls.
                measured = failure is not None or changes or self.environment.measures()
                # Calls of this pack are logged at any level.
                logged = measured or owner.name == packs.KNOWLEDGE.name
                record = CallRecord(
                    tool=tool.name,
                    pack=owner.name,
                    face=caller.face,
                    request=caller.request,
                    scope=tool.scope.value,
                    arguments=summarize_arguments(arguments) if logged else "",
                    seconds=seconds,
                    code=code,
                    reason=reason,
                    bytes_in=_measure_json(arguments) if measured else 0,
                    bytes_out=_measure_json(answer.value) if measured and answer else 0,
                    warning=format_warning(owner.name, answer.warning) if logged and answer else "",
                    changes=changes,
                    has_failed=failure is not None or getattr(answer and answer.value, "status", "") == "failure",
                    holder=caller.holder,
                    scopes=tuple(sorted(caller.scopes)) if changes else (),
                    given=select_plain_arguments(arguments, tool.accountable) if changes else {},
                )
                for observer in self.environment.observers:
                    observer(record)
                if changes and self.environment.record_change:
                    # The change has been made, even if the call is cancelled.
                    with anyio.CancelScope(shield=True):
                        await self.environment.record_change(record)

    async def aclose(self) -> None:
        async def run(close: CloseCallback) -> None:
            # A resource that can't be closed ends with the process.
            with suppress(Exception):
                await close()

        with anyio.move_on_after(self.environment.patience, shield=True):
            async with anyio.create_task_group() as tasks:
                for close in self.environment.closers:
                    tasks.start_soon(run, close)

    async def _run(
        self, tool: Tool, pack: EnabledPack, arguments: Mapping[str, object], caller: call_context.Caller
    ) -> ToolAnswer:
        check_scope(tool, caller.scopes)
        if len(caller.within) >= MAX_CALL_DEPTH:
            message = f"the call to {tool.name} is nested too deeply; the limit is {MAX_CALL_DEPTH} levels"
            raise ToolError(ErrorCode.INVALID_REQUEST, message)
        try:
            if isinstance(tool, QueryTool) and not pack.is_guest:
                checked = check_input(tool, arguments)
                return await self._readings.ask(lambda project: project.answer(tool, checked))
            ctx = call_context.CallContext(
                tool=tool.name,
                caller=caller,
                readings=self._readings,
                calls=self,
                services=self.environment.services,
                settings=pack.settings,
                # A pack's own code calls its tools without their prefix.
                own_names={name.removeprefix(pack.prefix): name for name in pack.every_name()} if pack.prefix else {},
            )
            if pack.is_guest:
                return await self._guests.run(pack.name, tool, arguments, ctx, self.environment.time_limit)
            value = tool.handler(check_input(tool, arguments), ctx)
            return check_answer(tool, await value if inspect.isawaitable(value) else value, MAX_OWN_RESULT_BYTES)
        except DuvetError as error:
            raise make_tool_error(error) from error
        except Exception as error:
            if not pack.is_guest or isinstance(error, (ToolError, PendingError)):
                raise
            ##= man/spec/service.md#packs
            ##% If a tool of an installed pack raises an exception, the server MUST answer with an error without the
            ##% text of the exception.
            self.environment.report_exception(tool.name, error)
            raise ToolError(ErrorCode.TOOL_FAILED, f"{tool.name} failed", "see the exception in duvet's log") from error


def _measure_json(value: object) -> int:
    try:
        return len(msgspec.json.encode(value))
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return 0


def _classify_failure(failure: BaseException) -> tuple[str, str]:
    match failure:
        case PendingError():
            return "", ""
        case ToolError():
            cause = failure.__cause__
            return failure.code.value, "" if cause is None or isinstance(cause, DuvetError) else type(cause).__name__
        case Exception():
            return "internal", type(failure).__name__
    return "cancelled", ""
