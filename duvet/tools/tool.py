"""Tools and packs: declarations, results and errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct, field, to_builtins
from msgspec.structs import replace

from duvet.errors import DuvetError, FetchError, NotFoundError, QueryError
from duvet.queries.records import NO_REQUIREMENTS, describe_error_count, describe_incompleteness, list_errors
from duvet.text import escape_line_ends, shorten_text
from duvet.tools.context import ProjectSnapshot
from duvet.trace.names import NoSectionError


class ErrorCode(StrEnum):
    """What kind of failure it is."""

    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    INVALID_IDENTIFIER = "invalid_identifier"
    """A name of a node in the graph that can't be one."""
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    UPSTREAM_ERROR = "upstream_error"
    """What the answer would be taken from is wrong or out of reach, such as the configuration of the project."""
    UNSUPPORTED_OPERATION = "unsupported_operation"
    TOOL_FAILED = "tool_failed"
    """A step of a workflow has called a tool that failed."""
    MODEL_FAILED = "model_failed"
    ASSERT_FAILED = "assert_failed"
    """Something doesn't hold that a workflow expects."""
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    RECIPE_NOT_FOUND = "recipe_not_found"


class ToolError(Exception):
    """A failure that whoever called can do something about."""

    def __init__(self, code: ErrorCode, message: str, hint: str = "", details: object = None) -> None:
        """The details are for programs: a plain value."""
        super().__init__(message)
        self.details = details
        self.code = code
        self.message = message
        self.hint = hint


class PendingError(Exception):
    """The caller has to do something first, and to call again then."""


class MissingArgumentError(ToolError):
    """An argument is missing that a tool needs."""

    def __init__(self, argument: str, hint: str) -> None:
        super().__init__(ErrorCode.INVALID_REQUEST, f"{argument} is missing", hint)
        self.argument = argument


def make_tool_error(error: DuvetError) -> ToolError:
    """The same failure as a tool tells it."""
    match error:
        case NotFoundError():
            code = ErrorCode.NOT_FOUND
        case QueryError():
            code = ErrorCode.INVALID_REQUEST
        case _:
            code = ErrorCode.UPSTREAM_ERROR
    folder = os.path.dirname(error.path) if os.path.isabs(error.path) else ""
    return ToolError(code, str(error).replace(f"{folder}/", "") if folder else str(error), find_server_hint(error))


def find_server_hint(error: DuvetError) -> str:
    """What whoever asks a server can do about it."""
    if isinstance(error, NoSectionError):
        ##= man/spec/mcp.md#errors
        ##% A tool that fails MUST return `isError` and a JSON block whose `error` has a `code`, a `message` and a
        ##% `hint` without commands; an unknown tool MUST be the protocol error -32602.
        return f"/specifications/{error.specification or '{spec_id}'}/sections lists the sections"
    ##= man/spec/mcp.md#freshness
    ##% While the project cannot be read, the server MUST answer each request with the reason, and recover without a
    ##% restart.
    again = "put that right and ask again: what is on disk then is read"
    return error.hint or (again if _is_of_project(error) else "")


def _is_of_project(error: DuvetError) -> bool:
    """Whether files are wrong or out of reach."""
    is_asked_wrong = isinstance(error, (NotFoundError, QueryError))
    return not is_asked_wrong and (bool(error.path) or isinstance(error, FetchError))


class Scope(StrEnum):
    """Who may call a tool."""

    READER = "reader"
    MAINTAINER = "maintainer"


class ResultPage(Struct, frozen=True):
    """Which part of a list an answer holds."""

    total: int
    next_cursor: str | None = None


class ToolAnswer(Struct, frozen=True, kw_only=True):
    """What a tool found."""

    value: object
    """A record, or a list of them: what the first block of content holds, and nothing else."""
    next_step: str = ""
    """What to do with it, in a line."""
    warning: str = ""
    """What keeps it from being the whole truth, in a line."""
    page: ResultPage | None = None
    """Of a list alone."""


class ArgumentShortcut(Struct, frozen=True):
    """An option of the command line that adds to a list in an argument which is an object."""

    flag: str
    argument: str
    key: str
    """The list in the object."""


class WithheldReason(Struct, frozen=True):
    """Why nobody can call a tool here."""

    code: ErrorCode
    message: str
    hint: str


class Tool(Struct, frozen=True, kw_only=True):
    """One operation."""

    name: str
    title: str
    description: str
    input: type[Struct]
    """The record of its arguments, which are described there."""
    output: Any
    """The type of what it answers: a record, or a tuple of them."""
    handler: Callable[[Any, Any], Any]
    """Takes the arguments and a `Ctx`, and answers an `Answer`, or what is in one; it may be asynchronous."""
    scope: Scope = Scope.READER
    is_idempotent: bool = True
    """Whether a call that is made twice leaves what one leaves."""
    replaces: bool = False
    """Whether it may replace what somebody else has made."""
    labels: Sequence[str] = ()
    """What it is about, in words to choose tools by."""
    safety_notes: Sequence[str] = ()
    """What to think of before it is called, a sentence each."""
    invocation_hints: Sequence[str] = ()
    """When and how agents do well to call it, a sentence each."""
    time_limit: float | None = None
    """Seconds that a call may take; None leaves that to the server."""
    aliases: Sequence[str] = ()
    """Other names that it is found by."""
    reads: bool | None = None
    """Whether it changes nothing; None where its scope says so: what readers may call changes nothing."""
    shortcuts: Sequence[ArgumentShortcut] = ()
    """Options of the command line for what would have to be written as an object."""
    withheld: WithheldReason | None = None
    """Why nobody can call it here, where that is so; it is shown to nobody then."""
    accountable: Sequence[str] = ()
    """Arguments that tell nothing secret: they stand in the account of what was changed, as they were given."""
    failures: Sequence[ErrorCode] = ()
    """How it may fail beside what every tool may fail with."""
    longest: int | None = None
    """Characters that a text among its arguments may have, where that is another number than usual."""

    record_of: Callable[[Mapping[str, Any]], Any] | None = None
    """Makes the record of the arguments, where a tool refuses wrong ones in words of its own, with a QueryError."""

    @property
    def only_reads(self) -> bool:
        return self.scope is Scope.READER if self.reads is None else self.reads

    @property
    def is_list(self) -> bool:
        """Whether it answers a list, which is paged."""
        return getattr(self.output, "__origin__", None) is tuple


class QueryTool(Tool, frozen=True, kw_only=True):
    """A tool that only looks at the project: its handler is given one reading, and asked again if that is outdated."""

    handler: Callable[[Any, ProjectSnapshot], ToolAnswer]


class Pack(Struct, frozen=True):
    """Tools that are switched on and off together."""

    name: str
    tools: Sequence[Tool] | Callable[[Mapping[str, Any]], Sequence[Tool]]
    """The tools, or what makes them from the settings of the pack."""
    description: str = ""
    version: str = ""


class EnabledPack(Struct, frozen=True):
    """A pack, and what is wanted of it."""

    pack: Pack
    writes: bool = True
    """Whether tools that write are switched on, too."""
    switches: Mapping[str, bool] = field(default_factory=dict)
    """Tools by name, each switched on or off."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What the pack itself wants to know."""
    shown: bool | None = True
    """Whether it counts as switched on; None where the project decides. It can be called in any case."""
    is_guest: bool = False
    """Whether it comes from elsewhere: what it does is not trusted to end, nor to fit."""

    @property
    def name(self) -> str:
        return self.pack.name

    def tools(self) -> Sequence[Tool]:
        """The tools that are switched on."""
        ##= man/spec/service.md#packs
        ##% The server MUST leave out disabled tools and, in a `read-only` pack, the tools that write, on every
        ##% interface.
        return [
            tool for tool in self._every() if self.switches.get(tool.name, True) and (self.writes or tool.only_reads)
        ]

    def every_name(self) -> Sequence[str]:
        """What its tools are called, whether they are switched on or off."""
        return [tool.name for tool in self._every()]

    def _every(self) -> Sequence[Tool]:
        made = self.pack.tools
        return made(self.settings) if callable(made) else made


def make_structured_content(answer: ToolAnswer) -> dict[str, Any]:
    """The answer as an object: itself, or the list that it is as `result`."""
    value = to_builtins(answer.value)
    if answer.page is None:
        assert isinstance(value, dict)
        return value
    ##= man/spec/mcp.md#tools
    ##% Structured content MUST conform to the output schema of its tool, and wrap a list in an object with `result`,
    ##% `total` and `next_cursor`.
    return {"result": value, **_page(answer.page)}


def split_answer(answer: ToolAnswer) -> dict[str, Any]:
    """What an answer consists of: the result first, and what there is to say of it."""
    notes = {"warning": answer.warning, "next_step": answer.next_step}
    said = {name: words for name, words in notes.items() if words}
    return {"result": answer.value, **(_page(answer.page) if answer.page else {}), **said}


def _page(page: ResultPage) -> dict[str, Any]:
    return {"total": page.total, **({"next_cursor": page.next_cursor} if page.next_cursor else {})}


MODELS_SERVICE = "models"
"""What handlers find the router of models by."""
RUNS_SERVICE = "runs"
"""What they find by that takes the record of each run of a workflow."""
RECIPES_SERVICE = "recipes"
"""What they find by that runs recipes."""
KNOWLEDGE_SERVICE = "knowledge"
"""What they find by that holds all that was taken in of the project."""
UPKEEP_SERVICE = "upkeep"
"""What they find by that takes it in, keeps votes on it and makes backups of it."""


MCP_SOURCE = "mcp"
"""The one whose readers pay for each word."""
REST_SOURCE = "rest"
SHELL_SOURCE = "shell"
WORKFLOW_SOURCE = "workflow"


def with_error_warning(context: ProjectSnapshot, ask: Callable[[], ToolAnswer]) -> ToolAnswer:
    """The answer, with what keeps it from being whole; ToolError where errors leave nothing to answer from."""
    warning = context.once(_warning)
    if not warning:
        return ask()
    try:
        answer = ask()
    except (NotFoundError, ToolError) as error:
        if isinstance(error, NotFoundError) or error.code is ErrorCode.NOT_FOUND:
            check_requirements_known(context)
        raise
    if answer.page is not None and not answer.page.total:
        check_requirements_known(context)
    ##= man/spec/mcp.md#tools
    ##% While the project has errors, an answer MUST mention them in its second block, or be an `upstream_error` if they
    ##% leave no requirements.
    return replace(answer, warning=warning)


def check_requirements_known(context: ProjectSnapshot) -> None:
    """ToolError where errors keep all requirements from being known."""
    catalogue = context.catalogue
    if list_errors(catalogue) and not catalogue.requirements:
        raise ToolError(
            ErrorCode.UPSTREAM_ERROR, NO_REQUIREMENTS, f"{describe_error_count(catalogue)}; {_first(context)}"
        )


def _warning(context: ProjectSnapshot) -> str:
    words = describe_incompleteness(context.catalogue)
    return f"{words}; {_first(context)}; list_invalid_citations lists those of citations." if words else ""


def _first(context: ProjectSnapshot) -> str:
    problem = list_errors(context.catalogue)[0]
    path = os.path.basename(problem.path) if os.path.isabs(problem.path) else problem.path
    place = f"{path}:{problem.place.line}" if problem.place.line else path
    return f"the first is at {place}: {shorten_text(escape_line_ends(problem.message))}"
