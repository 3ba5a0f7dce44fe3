"""Tools and packs: declarations, results, errors, and lists in pages with cursors."""

from __future__ import annotations

import os
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from blake3 import blake3
from msgspec import Struct, field, json, msgpack, to_builtins

from duvet.errors import DuvetError, FetchError, NoSectionError, NotFoundError, QueryError
from duvet.rules import MODEL_UNAVAILABLE

if TYPE_CHECKING:
    from duvet.tools.context import ProjectSnapshot

# The names of the services in a handler's context.
MODELS_SERVICE = "models"  # The router of models.
RUNS_SERVICE = "runs"  # The log of workflow runs.
RECIPES_SERVICE = "recipes"  # The runner of recipes.
KNOWLEDGE_SERVICE = "knowledge"  # The index.
MAINTENANCE_SERVICE = "maintenance"  # Ingest runs, feedback and backups.

# The interfaces through which calls arrive.
MCP_SOURCE = "mcp"  # Its clients pay for each token.
REST_SOURCE = "rest"
SHELL_SOURCE = "shell"
WORKFLOW_SOURCE = "workflow"

GATEWAY_VARIABLE = "KM_GATEWAY_URL"  # The environment variable with the URL of a server that answers `km-` tools.


class ErrorCode(StrEnum):
    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    INVALID_IDENTIFIER = "invalid_identifier"  # The name of a node is malformed.
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    UPSTREAM_ERROR = "upstream_error"  # A source of the answer, such as the configuration, is broken or unreachable.
    UNSUPPORTED_OPERATION = "unsupported_operation"
    TOOL_FAILED = "tool_failed"  # A tool is defective, or a workflow's tool failed.
    MODEL_FAILED = "model_failed"
    ASSERT_FAILED = "assert_failed"  # A check of a workflow step failed.
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    RECIPE_NOT_FOUND = "recipe_not_found"


class ToolError(Exception):
    def __init__(
        self, code: ErrorCode, message: str, hint: str = "", details: object = None, *, cause: str = ""
    ) -> None:
        """`details` is a plain value for programs; `cause` is the code of the failure that led to this one."""
        super().__init__(message)
        self.code, self.message, self.hint, self.details, self.cause = code, message, hint, details, cause


class PendingError(Exception):
    """Raised when the caller must do something, such as ask its model, and then repeat the call."""


class MissingArgumentError(ToolError):
    def __init__(self, argument: str, hint: str) -> None:
        super().__init__(ErrorCode.INVALID_REQUEST, f"{argument} is missing", hint)
        self.argument = argument


def make_tool_error(error: DuvetError) -> ToolError:
    match error:
        case _ if error.rule_code == MODEL_UNAVAILABLE.code:
            code = ErrorCode.MODEL_FAILED
        case NotFoundError():
            code = ErrorCode.NOT_FOUND
        case QueryError():
            code = ErrorCode.INVALID_REQUEST
        case _:
            code = ErrorCode.UPSTREAM_ERROR
    folder = os.path.dirname(error.path) if os.path.isabs(error.path) else ""
    message = str(error).replace(f"{folder}/", "") if folder else str(error)
    return ToolError(code, message, find_server_hint(error), cause=getattr(error, "code", ""))


def find_server_hint(error: DuvetError) -> str:
    if isinstance(error, NoSectionError):
        id = error.specification or "{spec_id}"
        return f"list the sections with the resource /specifications/{id}/sections or with `duvet show {id}`"
    is_project_error = error.path or isinstance(error, FetchError)
    if not error.hint and is_project_error and not isinstance(error, (NotFoundError, QueryError)):
        return "fix the problem and try again; no restart is needed"
    return error.hint


class Scope(StrEnum):
    READER = "reader"
    MAINTAINER = "maintainer"


class ResultPage(Struct, frozen=True):
    total: int
    next_cursor: str | None = None


class ToolAnswer(Struct, frozen=True, kw_only=True):
    value: object  # A record or a list of records: the whole first block of content.
    next_step: str = ""  # A suggestion, in one line.
    warning: str = ""  # Why the answer may be incomplete, in one line.
    page: ResultPage | None = None  # Set for lists only.


class ArgumentShortcut(Struct, frozen=True):
    flag: str
    argument: str
    key: str  # The list in the object.


class WithheldReason(Struct, frozen=True):
    code: ErrorCode
    message: str
    hint: str


class Tool(Struct, frozen=True, kw_only=True):
    name: str
    title: str
    description: str
    input: type[Struct]  # The record of the arguments, which describes them.
    output: Any  # The type of the answer: a record, or a tuple of records for a list.
    handler: Callable[[Any, Any], Any]
    """Called with the arguments and a `CallContext`; returns a `ToolAnswer` or its value, or an awaitable of either."""
    scope: Scope = Scope.READER
    is_idempotent: bool = True
    replaces: bool = False  # May overwrite existing data.
    labels: Sequence[str] = ()  # Topics, to select tools by.
    safety_notes: Sequence[str] = ()  # Warnings to consider before a call, one sentence each.
    invocation_hints: Sequence[str] = ()  # When and how agents should call the tool, in sentences.
    time_limit: float | None = None  # Time limit of a call in seconds; None means the server's limit.
    aliases: Sequence[str] = ()
    reads: bool | None = None  # True if it changes nothing; None means that this follows from the scope.
    shortcuts: Sequence[ArgumentShortcut] = ()
    withheld: WithheldReason | None = None  # Set if no caller can use the tool; then it is not listed.
    accountable: Sequence[str] = ()  # Arguments without secrets, which the audit log quotes.
    failures: Sequence[ErrorCode] = ()  # Error codes in addition to those that every tool has.
    longest: int | None = None  # Maximum length of a text in the arguments, if not the usual limit.

    record_of: Callable[[Mapping[str, Any]], Any] | None = None
    """Makes the record of the arguments, for a tool that checks them itself; raises QueryError."""

    @property
    def only_reads(self) -> bool:
        return self.scope is Scope.READER if self.reads is None else self.reads

    @property
    def is_list(self) -> bool:
        return getattr(self.output, "__origin__", None) is tuple


class QueryTool(Tool, frozen=True, kw_only=True):
    """The handler runs again if the project changes meanwhile."""

    handler: Callable[[Any, ProjectSnapshot], ToolAnswer]


def declare_tool(
    name: str, title: str, input: type[Struct], output: Any, *, kind: type[Tool] = Tool, **options: Any
) -> Callable[[Callable[[Any, Any], Any]], Tool]:
    def declare(handler: Callable[[Any, Any], Any]) -> Tool:
        # Under `-OO`, there are no docstrings.
        description = " ".join((handler.__doc__ or title).split())
        return kind(
            name=name, title=title, description=description, input=input, output=output, handler=handler, **options
        )

    return declare


declare_query = partial(declare_tool, kind=QueryTool)


class ToolTable(Mapping[str, Tool]):
    def __init__(self, package: str, constants: Mapping[str, str]) -> None:
        """`constants` maps tool names to `module:NAME`, relative to the package."""
        self._package, self._constants = package, constants

    def __getitem__(self, name: str) -> Tool:
        module, _, constant = self._constants[name].partition(":")
        tool: Tool = getattr(import_module(f"{self._package}.{module}"), constant)
        return tool

    def __iter__(self) -> Iterator[str]:
        return iter(self._constants)

    def __len__(self) -> int:
        return len(self._constants)


class PartText(Struct, frozen=True):
    text: str


class PackResource(Struct, frozen=True):
    tool: Tool  # Returns its `PartText`; its name, title and description are those of the resource.
    mime_type: str


class PackPrompt(Struct, frozen=True):
    tool: Tool  # Returns its `PartText`; its name, title, description and arguments are those of the prompt.


class Pack(Struct, frozen=True):
    name: str
    tools: Sequence[Tool] | ToolTable | Callable[[Mapping[str, Any]], Sequence[Tool]]
    """The tools, a table of them (built-in packs), or a function that makes them from the settings of the pack."""
    description: str = ""
    version: str = ""
    resources: Sequence[PackResource] = ()
    prompts: Sequence[PackPrompt] = ()


class EnabledPack(Struct, frozen=True):
    pack: Pack
    writes: bool = True  # True if tools that write are enabled.
    switches: Mapping[str, bool] = field(default_factory=dict)  # Tools by name, each enabled or disabled.
    settings: Mapping[str, Any] = field(default_factory=dict)
    shown: bool | None = True  # True if listed; None if the project decides. Unlisted tools can be called, too.
    is_guest: bool = False  # From another distribution: its handlers may hang, and its answers may be invalid.
    prefix: str = ""  # The prefix of the names of its tools.

    @property
    def name(self) -> str:
        return self.pack.name

    def tools(self) -> Sequence[Tool]:
        ##= man/spec/service.md#packs
        ##% On every interface, the server MUST omit disabled tools and, from a `read-only` pack, the tools that
        ##% change something.
        return [
            tool
            for tool in self._make_tools()
            if self.switches.get(tool.name, True) and (self.writes or tool.only_reads)
        ]

    def list_names(self) -> Iterator[tuple[str, Tool | None]]:
        """Yield None instead of a tool that is imported later."""
        if isinstance(self.pack.tools, ToolTable) and self.writes:
            yield from ((name, None) for name in self.pack.tools if self.switches.get(name, True))
        else:
            yield from ((name, tool) for tool in self.tools() for name in (tool.name, *tool.aliases))

    def every_name(self) -> Sequence[str]:
        tools = self.pack.tools
        return [*tools] if isinstance(tools, ToolTable) else [one.name for one in self._make_tools()]

    def _make_tools(self) -> Iterable[Tool]:
        tools = self.pack.tools
        return tools.values() if isinstance(tools, ToolTable) else tools(self.settings) if callable(tools) else tools


def make_structured_content(answer: ToolAnswer) -> dict[str, Any]:
    value = to_builtins(answer.value)
    if answer.page is None:
        assert isinstance(value, dict)
        return value
    ##= man/spec/mcp.md#answers
    ##% If a tool returns a list, the structured content MUST be an object with `result`, `total` and, if the list
    ##% continues, `next_cursor`.
    return {"result": value, **_format_page(answer.page)}


def split_answer(answer: ToolAnswer) -> dict[str, Any]:
    notes = {"warning": answer.warning, "next_step": answer.next_step}
    page = _format_page(answer.page) if answer.page else {}
    return {"result": answer.value, **page, **{name: text for name, text in notes.items() if text}}


def _format_page(page: ResultPage) -> dict[str, Any]:
    return {"total": page.total, **({"next_cursor": page.next_cursor} if page.next_cursor else {})}


MAX_PAGE_ROWS = 10_000
MAX_PAGE_BYTES = 10_000  # Size of an answer without `limit`, about 4,000 tokens: few tokens are shorter than 2.5 bytes.

# The size of each part of a cursor in bytes, and the number of entries that a cursor remembers.
_CHECK, _POSITION, _ANCHOR, _ANCHORS = 8, 4, 6, 4

_Item = TypeVar("_Item")
_Row = TypeVar("_Row")


class PageRequest(Struct, frozen=True):
    question: tuple[object, ...]  # The question that the list answers. A cursor is valid only for this question.
    cursor: str | None = None
    limit: int | None = None
    page_size: int = 0  # Maximum number of entries without `limit`; 0 means all.


def make_result_page(
    items: Sequence[_Item], request: PageRequest, *, key: Callable[[_Item], str], row: Callable[[_Item], _Row]
) -> tuple[list[_Row], ResultPage]:
    start = _find_start(items, request, key)
    rows = map(row, islice(items, start, None))
    ##= man/spec/mcp.md#answers
    ##% The server MUST limit an answer to about 4,000 tokens unless `limit` asks for more, and say how to get the rest.
    if request.limit is not None or not request.page_size:
        shown = list(islice(rows, request.limit))
    else:
        # Without at least one row, a client would get the same cursor forever.
        shown = list(take_fitting_rows(islice(rows, request.page_size), MAX_PAGE_BYTES, least=1))
    end = start + len(shown)
    if end >= len(items):
        return shown, ResultPage(len(items))
    # The cursor names the last row that was shown and those after it.
    anchors = b"".join(_digest(key(item)) for item in items[end - 1 : end - 1 + _ANCHORS])
    body = end.to_bytes(_POSITION) + anchors
    return shown, ResultPage(len(items), urlsafe_b64encode(_sign(request, body) + body).rstrip(b"=").decode())


def take_fitting_rows(rows: Iterable[_Row], room: int, least: int = 0) -> Iterator[_Row]:
    for number, row in enumerate(rows):
        room -= len(json.encode(row)) + 1
        if room < 0 and number >= least:
            return
        yield row


def _find_start(items: Sequence[_Item], request: PageRequest, key: Callable[[_Item], str]) -> int:
    if request.cursor is None:
        return 0
    try:
        data = b64decode(request.cursor + "=" * (-len(request.cursor) % 4), b"-_", validate=True)
    except ValueError:
        data = b""
    if data[:_CHECK] != _sign(request, data[_CHECK:]):
        hint = "omit it to start over, or repeat the arguments of the call that returned it"
        raise ToolError(ErrorCode.INVALID_REQUEST, "the cursor does not belong to this list", hint)
    body = data[_CHECK:]
    position = int.from_bytes(body[:_POSITION])
    shown, *coming = (body[at : at + _ANCHOR] for at in range(_POSITION, len(body), _ANCHOR))
    if position < len(items) and _digest(key(items[position])) == coming[0]:
        return position
    ##= man/spec/mcp.md#answers
    ##% The server MUST continue a list at the given cursor even if entries were added or removed.
    places = {_digest(key(item)): index for index, item in enumerate(items)}
    after = places[shown] + 1 if shown in places else min(position, len(items))
    return next((places[anchor] for anchor in coming if anchor in places), after)


def _sign(request: PageRequest, body: bytes) -> bytes:
    return blake3(msgpack.encode(request.question) + body).digest(_CHECK)


def _digest(text: str) -> bytes:
    return blake3(text.encode(errors="surrogatepass")).digest(_ANCHOR)
