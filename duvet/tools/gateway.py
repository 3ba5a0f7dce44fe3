"""Forwards calls of knowledge tools to another server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from msgspec import NODEFAULT, UNSET, MsgspecError, Struct, convert, json, to_builtins
from msgspec.structs import fields, replace

from duvet.config.settings import Secret
from duvet.errors import QueryError
from duvet.http_client import (
    Clock,
    HttpClient,
    HttpReply,
    SystemClock,
    UnreachableError,
    is_local_address,
    is_safe_address,
    parse_base_url,
    retry,
)
from duvet.llm.records import shorten_to_line, strip_invisible
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge.pack import KNOWLEDGE
from duvet.tools.tool import ErrorCode, Pack, Scope, Tool, ToolAnswer, ToolError, WithheldReason

GATEWAY_VARIABLE = "KM_GATEWAY_URL"
READER_TOKEN, ADMIN_TOKEN = "KM_READER_TOKEN", "KM_ADMIN_TOKEN"
_SHAPE = f"give it as https://HOST[:PORT][/PATH]; secrets are told by {READER_TOKEN} and {ADMIN_TOKEN}"


class Gateway(Struct, frozen=True, kw_only=True):
    """Where it is, and the tokens that there are for it."""

    base: str
    reader: Secret | None = None
    admin: Secret | None = None

    @property
    def authority(self) -> str:
        """Its host and port."""
        return urlsplit(self.base).netloc

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return is_local_address(urlsplit(self.base))

    @property
    def tokens(self) -> tuple[str, ...]:
        """The names of the tokens that there are."""
        named = ((READER_TOKEN, self.reader), (ADMIN_TOKEN, self.admin))
        return tuple(name for name, token in named if token is not None)

    def token(self, scope: Scope) -> Secret | None:
        """What is shown where a tool of this scope is called."""
        ##= man/spec/gateway.md#forwarding
        ##% duvet MUST forward a call with the reader's or else the admin's token, and neither list nor forward
        ##% maintainers' tools without the admin's token.
        return self.admin if scope is Scope.MAINTAINER else self.reader or self.admin

    def shown(self, scope: Scope) -> str:
        """The name of that token; empty where there is none."""
        token = self.token(scope)
        return "" if token is None else READER_TOKEN if token is self.reader else ADMIN_TOKEN

    def withheld(self, tool: Tool) -> WithheldReason | None:
        """Why nobody here can have a tool called there."""
        if tool.scope is Scope.READER or self.admin is not None:
            return None
        code = ErrorCode.UNAUTHORIZED if self.reader is None else ErrorCode.FORBIDDEN
        return WithheldReason(
            code, f"{tool.name} needs the scope {tool.scope}", f"set {ADMIN_TOKEN} beside {GATEWAY_VARIABLE}"
        )


def parse_gateway(url: str, reader: str | None, admin: str | None) -> Gateway:
    """The gateway behind a URL; QueryError where it can't be one."""
    base = url.strip().rstrip("/")
    parts = parse_base_url(base)
    if parts is None:
        raise QueryError(f"{GATEWAY_VARIABLE} is not the address of a server", hint=_SHAPE)
    ##= man/spec/gateway.md#forwarding
    ##% duvet MUST reach a gateway over HTTPS with a valid certificate unless it is on the same machine, follow no
    ##% redirects, and refuse a `KM_GATEWAY_URL` with credentials.
    if not is_safe_address(parts):
        raise QueryError(
            f"{GATEWAY_VARIABLE} is not https",
            hint="http:// is for servers on this machine: others would see the tokens",
        )
    return Gateway(base=base, reader=_secret(reader), admin=_secret(admin))


def _secret(token: str | None) -> Secret | None:
    return None if token is None else Secret(token)


HIDDEN_TOKEN = "***"
_SHORTEST = 4
"""A shorter secret stands in any text."""
_LONGEST = 1000
_PASSING = (502, 503, 504)
_ELSE = "is it a duvet server, and of this version?"


class TemporaryGatewayError(ToolError):
    """A failure that may be over in a moment."""


def parse_reply(reply: HttpReply, tool: Tool, gateway: Gateway) -> ToolAnswer:
    """What the tool has answered there; ToolError where it has failed, or where this is no answer of it."""
    value = _object(reply.body)
    if reply.status != 200:
        raise _failure(reply, value, tool, gateway)
    if value.get("status") != "ok" or "result" not in value:
        raise _nonsense(tool)
    try:
        found = convert(value["result"], tool.output)
    except (MsgspecError, RecursionError):
        raise _nonsense(tool) from None
    return ToolAnswer(
        value=found, warning=_words(value.get("warning"), gateway), next_step=_words(value.get("next_step"), gateway)
    )


def _failure(reply: HttpReply, value: Mapping[str, Any], tool: Tool, gateway: Gateway) -> ToolError:
    """What it refuses, in its words where it speaks as a server of ours."""
    code, message, hint = _told(value)
    if not code:
        return _stranger(reply.status)
    ##= man/spec/gateway.md#forwarding
    ##% duvet MUST pass on errors of the gateway, and answer `upstream_error` for anything that is not an answer of the
    ##% tool or is larger than 32 MiB.
    kind = TemporaryGatewayError if reply.status in _PASSING and reply.headers.get("retry-after") else ToolError
    known = ErrorCode(code) if code in [*ErrorCode] else ErrorCode.UPSTREAM_ERROR
    if known is ErrorCode.UNAUTHORIZED:
        shown = gateway.shown(tool.scope)
        hint = f"is {shown} what that server wants to be shown?" if shown else f"set {READER_TOKEN} or {ADMIN_TOKEN}"
    return kind(known, _words(message, gateway), _words(hint, gateway), _details(value, gateway))


def _told(value: Mapping[str, Any]) -> tuple[str, str, str]:
    """The code, message and hint, beside each other or within `error`."""
    error = value.get("error")
    within = error if isinstance(error, dict) else {**value, "message": error}
    code, message, hint = (within.get(name) for name in ("code", "message", "hint"))
    if value.get("status") != "error" or not isinstance(code, str) or not isinstance(message, str):
        return "", "", ""
    return code, message, hint if isinstance(hint, str) else ""


def _stranger(status: int) -> ToolError:
    if 300 <= status < 400:
        hint = f"it is not followed: set {GATEWAY_VARIABLE} to where the server is"
        return ToolError(ErrorCode.UPSTREAM_ERROR, f"the gateway redirects elsewhere ({status})", hint)
    kind = TemporaryGatewayError if status in _PASSING else ToolError
    return kind(
        ErrorCode.UPSTREAM_ERROR,
        f"the gateway answers with the status {status}",
        f"is {GATEWAY_VARIABLE} right, and the server up?",
    )


def _details(value: Mapping[str, Any], gateway: Gateway) -> object:
    """What it tells programs of a failure."""
    found = value.get("details")
    if found is None:
        return None
    text = json.encode(found).decode()
    return json.decode(_hidden(text, gateway))


def _object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.decode(body)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _words(text: object, gateway: Gateway) -> str:
    # What is cut first may leave most of a token.
    return shorten_to_line(_hidden(strip_invisible(text), gateway), _LONGEST) if isinstance(text, str) else ""


def _hidden(text: str, gateway: Gateway) -> str:
    """The text without the tokens that were shown there."""
    ##= man/spec/gateway.md#access
    ##% Answers and log lines MUST NOT contain tokens nor, apart from `stored_path` and the reason why an index cannot
    ##% be read, the folder of the project or the text of exceptions.
    for token in (gateway.reader, gateway.admin):
        if token is not None and len(token.reveal()) >= _SHORTEST:
            for form in (token.reveal(), json.encode(token.reveal())[1:-1].decode()):
                text = text.replace(form, HIDDEN_TOKEN)
    return text


def _nonsense(tool: Tool) -> ToolError:
    return ToolError(ErrorCode.UPSTREAM_ERROR, f"the gateway answers something else than {tool.name} does", _ELSE)


GATEWAY_PATH = "/api/mcp"
AUDIENCE_HEADER = "x-duvet-audience"
"""The header that says for whom an answer is."""
MAX_REPLY_BYTES = 32 << 20
"""So large an answer may be: so large one of our own may be, too."""
MAX_WORK_SECONDS = 1800.0
"""Seconds that a tool may take that changes something."""
_PAUSES = (0.2, 0.6)


class GatewayConnection:
    """Has tools called there; its connections stay open until it is closed."""

    def __init__(self, gateway: Gateway, seconds: float, clock: Clock | None = None) -> None:
        """So many seconds a tool may take that only reads, with all that is tried again."""
        self.gateway = gateway
        self.seconds = seconds
        self._clock = clock or SystemClock()
        self._http = HttpClient()

    async def call(self, tool: Tool, given: Mapping[str, Any], ctx: CallContext) -> ToolAnswer:
        """Return the answer of the gateway; raises ToolErrors."""
        import anyio

        seconds = self.seconds if tool.only_reads else max(self.seconds, MAX_WORK_SECONDS)
        pauses = iter(_PAUSES if tool.only_reads else ())
        body = json.encode({"tool": tool.name, "input": given})
        ##= man/spec/gateway.md#forwarding
        ##% duvet MUST retry a reading call twice when the gateway is unavailable, send any other call once, and give up
        ##% after `server.toolTimeout` or, for changes, 30 minutes.
        with anyio.move_on_after(seconds):
            return await retry(
                lambda: self._send(tool, body, ctx),
                TemporaryGatewayError,
                lambda error, attempt: next(pauses, None),
                self._clock,
            )
        hint = "try again later" if tool.only_reads else "the server may still be at it: ask it before you try again"
        raise ToolError(ErrorCode.UPSTREAM_ERROR, f"the gateway has not answered within {seconds:g} seconds", hint)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _send(self, tool: Tool, body: bytes, ctx: CallContext) -> ToolAnswer:
        token = self.gateway.token(tool.scope)
        headers = {"content-type": "application/json", AUDIENCE_HEADER: ctx.caller.audience}
        if token is not None:
            headers["authorization"] = f"Bearer {token.reveal()}"
        url = f"{self.gateway.base}{GATEWAY_PATH}"
        try:
            reply = await self._http.send("POST", url, headers, body, max_bytes=MAX_REPLY_BYTES)
        except UnreachableError as error:
            raise TemporaryGatewayError(
                ErrorCode.UPSTREAM_ERROR,
                f"the gateway can't be reached: {error}",
                f"is {GATEWAY_VARIABLE} right, and the server up?",
            ) from None
        if reply.is_compressed:
            message = "the gateway answers compressed, which it was not asked for"
            raise ToolError(ErrorCode.UPSTREAM_ERROR, message, "does something stand between it and here?")
        if reply.is_cut:
            message = f"the gateway answers more than {MAX_REPLY_BYTES:,} bytes"
            raise ToolError(ErrorCode.UPSTREAM_ERROR, message, "ask for less, such as by `limit`")
        return parse_reply(reply, tool, self.gateway)


KM_SEARCH_NAME = "km-search"
LOCAL_TOOLS = ("km-help",)
"""What is answered here: it tells of what there is here."""


def make_forwarding_pack(line: GatewayConnection) -> Pack:
    """The same pack, called there."""
    return replace(KNOWLEDGE, tools=partial(_tools, line))


def _tools(line: GatewayConnection, settings: Mapping[str, Any]) -> Sequence[Tool]:
    found = KNOWLEDGE.tools
    ##= man/spec/gateway.md#forwarding
    ##% With `KM_GATEWAY_URL`, the shell and `duvet mcp` over standard input and output MUST enable the pack `knowledge`
    ##% unless it is disabled, forward the calls of its tools except `km-help` to that server, and refuse
    ##% `duvet recipe run`.
    every = found(settings) if callable(found) else found
    return [tool if tool.name in LOCAL_TOOLS else _forwarded(tool, line) for tool in every]


def _forwarded(tool: Tool, line: GatewayConnection) -> Tool:
    async def handle(asked: Struct, ctx: CallContext) -> ToolAnswer:
        found = await line.call(tool, _given(asked), ctx)
        return await _prompting(found, ctx) if tool.name == KM_SEARCH_NAME else found

    return replace(tool, handler=handle, withheld=line.gateway.withheld(tool))


async def _prompting(found: ToolAnswer, ctx: CallContext) -> ToolAnswer:
    from duvet.knowledge.retrieval.query import SearchResponse
    from duvet.tools.knowledge.search import add_feedback_hint

    return (
        replace(found, value=await add_feedback_hint(found.value, ctx))
        if isinstance(found.value, SearchResponse)
        else found
    )


def _given(asked: Struct) -> dict[str, Any]:
    """What was said of the arguments: what wasn't is for that server to decide."""
    values = ((field, getattr(asked, field.name)) for field in fields(asked))
    return {
        field.encode_name: to_builtins(value)
        for field, value in values
        if value is not UNSET and (field.default is NODEFAULT or value != field.default)
    }
