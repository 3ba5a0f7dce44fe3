"""Forwards calls of knowledge tools to another server."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import anyio
from msgspec import NODEFAULT, UNSET, MsgspecError, Struct, convert, json, structs, to_builtins

from duvet import errors, http_client, text
from duvet.config.service_tables import Secret
from duvet.knowledge.search_query import SearchResponse
from duvet.knowledge.uploads import describe_invisible_file, open_visible_file
from duvet.llm.records import shorten_to_line, strip_invisible
from duvet.tools.call_context import CallContext, run_blocking
from duvet.tools.knowledge.maintenance import MAX_UPLOAD_BYTES, KmUploadInput
from duvet.tools.knowledge.search import add_feedback_hint
from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import (
    GATEWAY_VARIABLE,
    EnabledPack,
    ErrorCode,
    Pack,
    Scope,
    Tool,
    ToolAnswer,
    ToolError,
    WithheldReason,
)

READER_TOKEN, ADMIN_TOKEN = "KM_READER_TOKEN", "KM_ADMIN_TOKEN"
_MAX_WORDS = 1000
_CHECK_SERVER = f"check that {GATEWAY_VARIABLE} is the URL of a running duvet server"
AUDIENCE_HEADER = "x-duvet-audience"  # The header that names the interface of the client behind this server.
MAX_REPLY_BYTES = 32 << 20  # Our own answers have the same limit.
MAX_WORK_SECONDS = 1800.0  # Seconds for a tool that changes something.


class Gateway(Struct, frozen=True):
    base: str
    reader: Secret | None = None
    admin: Secret | None = None

    @property
    def authority(self) -> str:
        return urlsplit(self.base).netloc

    @property
    def tokens(self) -> tuple[str, ...]:
        named = ((READER_TOKEN, self.reader), (ADMIN_TOKEN, self.admin))
        return tuple(name for name, token in named if token is not None)

    def find_token(self, scope: Scope) -> Secret | None:
        ##= man/spec/gateway.md#forwarding
        ##% duvet MUST send the gateway `KM_ADMIN_TOKEN` if the tool is for maintainers or `KM_READER_TOKEN` is
        ##% not set, and otherwise `KM_READER_TOKEN`.
        return self.admin if scope is Scope.MAINTAINER else self.reader or self.admin

    def withheld(self, tool: Tool) -> WithheldReason | None:
        if tool.scope is Scope.READER or self.admin is not None:
            return None
        code = ErrorCode.UNAUTHORIZED if self.reader is None else ErrorCode.FORBIDDEN
        hint = f"set {ADMIN_TOKEN} to the maintainers' token of the gateway"
        return WithheldReason(code, f"{tool.name} requires the scope {tool.scope}", hint)


def parse_gateway(url: str, reader: str | None, admin: str | None) -> Gateway:
    base = url.strip().rstrip("/")
    parts = http_client.parse_base_url(base)
    if parts is None:
        hint = f"set it to https://HOST[:PORT][/PATH]; put tokens into {READER_TOKEN} and {ADMIN_TOKEN}"
        raise errors.QueryError(f"{GATEWAY_VARIABLE} is not the URL of a server", hint=hint)
    ##= man/spec/gateway.md#forwarding
    ##% duvet MUST use HTTPS for a gateway on another machine.
    if not http_client.is_safe_address(parts):
        hint = "use https://; http:// would send the tokens unencrypted to another machine"
        raise errors.QueryError(f"{GATEWAY_VARIABLE} does not use https://", hint=hint)
    tokens = [None if token is None else Secret(token) for token in (reader, admin)]
    return Gateway(base, *tokens)


class TemporaryGatewayError(ToolError):
    pass


def parse_reply(reply: http_client.HttpReply, tool: Tool, gateway: Gateway) -> ToolAnswer:
    try:
        value = json.decode(reply.body)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        value = None
    value = value if isinstance(value, dict) else {}
    if reply.status != 200:
        raise _parse_failure(reply, value, tool, gateway)
    with suppress(MsgspecError, RecursionError):
        if value.get("status") == "ok" and "result" in value:
            return ToolAnswer(
                value=convert(value["result"], tool.output),
                warning=_clean(value.get("warning"), gateway),
                next_step=_clean(value.get("next_step"), gateway),
            )
    message = f"the gateway returned an invalid result for {tool.name}"
    raise ToolError(ErrorCode.UPSTREAM_ERROR, message, "check that the gateway runs this version of duvet")


def _parse_failure(reply: http_client.HttpReply, value: Mapping[str, Any], tool: Tool, gateway: Gateway) -> ToolError:
    error = value.get("error")
    # Over REST, the code and the hint are next to the message.
    parts = error if isinstance(error, dict) else {**value, "message": error}
    code, message, hint = (parts.get(name) for name in ("code", "message", "hint"))
    kind = TemporaryGatewayError if reply.status in (502, 503, 504) else ToolError
    if value.get("status") != "error" or not code or not isinstance(code, str) or not isinstance(message, str):
        if 300 <= reply.status < 400:
            hint = f"set {GATEWAY_VARIABLE} to the final URL; duvet does not follow redirects"
            return ToolError(ErrorCode.UPSTREAM_ERROR, f"the gateway answered with a redirect ({reply.status})", hint)
        return kind(ErrorCode.UPSTREAM_ERROR, f"the gateway answered with status {reply.status}", _CHECK_SERVER)
    if not reply.headers.get("retry-after"):
        kind = ToolError
    known = ErrorCode(code) if code in [*ErrorCode] else ErrorCode.UPSTREAM_ERROR
    if known is ErrorCode.UNAUTHORIZED:
        token = gateway.find_token(tool.scope)
        name = READER_TOKEN if token is gateway.reader else ADMIN_TOKEN
        hint = f"check that {name} is a token of the gateway" if token else f"set {READER_TOKEN} or {ADMIN_TOKEN}"
    details = value.get("details")
    if details is not None:
        details = json.decode(_hide_tokens(json.encode(details).decode(), gateway))
    return kind(known, _clean(message, gateway), _clean(hint, gateway), details)


def _clean(words: object, gateway: Gateway) -> str:
    # Remove tokens before cutting the text, because a cut could leave most of a token.
    return shorten_to_line(_hide_tokens(strip_invisible(words), gateway), _MAX_WORDS) if isinstance(words, str) else ""


def _hide_tokens(words: str, gateway: Gateway) -> str:
    ##= man/spec/gateway.md#access
    ##% Answers and log lines MUST NOT contain tokens.
    for token in (gateway.reader, gateway.admin):
        # A shorter token would match ordinary text.
        if token is not None and len(token.reveal()) >= 4:
            for form in (token.reveal(), json.encode(token.reveal())[1:-1].decode()):
                words = words.replace(form, "***")
    return words


class GatewayConnection:
    def __init__(self, gateway: Gateway, seconds: float, clock: http_client.Clock | None = None) -> None:
        """`seconds` limits each call to a read-only tool, including its retries."""
        self.gateway = gateway
        self.seconds = seconds
        self._clock = clock or http_client.SystemClock()
        self._http = http_client.HttpClient()

    def make_pack(self) -> Pack:
        # `km-help` describes this server.
        tools = [one if one.name == "km-help" else _forward(one, self) for one in EnabledPack(KNOWLEDGE).tools()]
        return structs.replace(KNOWLEDGE, tools=tools)

    async def call(self, tool: Tool, arguments: Mapping[str, Any], ctx: CallContext) -> ToolAnswer:
        seconds = self.seconds if tool.only_reads else max(self.seconds, MAX_WORK_SECONDS)
        body = json.encode({"tool": tool.name, "input": arguments})
        pauses = iter((0.2, 0.6) if tool.only_reads else ())
        with anyio.move_on_after(seconds):
            ##= man/spec/gateway.md#forwarding
            ##% If the gateway is unavailable, duvet MUST repeat a call that changes nothing, and MUST NOT repeat any
            ##% other call.
            return await http_client.retry(
                lambda: self._send(tool, body, ctx),
                TemporaryGatewayError,
                lambda error, attempt: next(pauses, None),
                self._clock,
            )
        hint = "the call may still be running on the gateway; check there before you try again"
        hint = "try again later" if tool.only_reads else hint
        raise ToolError(ErrorCode.UPSTREAM_ERROR, f"the gateway did not answer within {seconds:g} s", hint)

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _send(self, tool: Tool, body: bytes, ctx: CallContext) -> ToolAnswer:
        token = self.gateway.find_token(tool.scope)
        authorization = {} if token is None else {"authorization": f"Bearer {token.reveal()}"}
        headers = {"content-type": "application/json", AUDIENCE_HEADER: ctx.caller.audience, **authorization}
        try:
            url = f"{self.gateway.base}/api/mcp"
            reply = await self._http.send("POST", url, headers, body, max_bytes=MAX_REPLY_BYTES)
        except http_client.UnreachableError as error:
            message = f"can't reach the gateway: {error}"
            raise TemporaryGatewayError(ErrorCode.UPSTREAM_ERROR, message, _CHECK_SERVER) from None
        if reply.is_compressed:
            message = "the gateway sent a compressed answer, which duvet did not ask for"
            raise ToolError(ErrorCode.UPSTREAM_ERROR, message, "check for a proxy between duvet and the gateway")
        if reply.is_cut:
            message = f"the gateway's answer has more than {MAX_REPLY_BYTES:,} bytes"
            raise ToolError(ErrorCode.UPSTREAM_ERROR, message, "ask for less, for example with a lower `limit`")
        return parse_reply(reply, tool, self.gateway)


def _forward(tool: Tool, connection: GatewayConnection) -> Tool:
    async def handle(request: Struct, ctx: CallContext) -> ToolAnswer:
        # An argument that is at its default is not sent, because the gateway may have another default.
        values = ((field, getattr(request, field.name)) for field in structs.fields(request))
        given = {
            field.encode_name: to_builtins(value)
            for field, value in values
            if value is not UNSET and (field.default is NODEFAULT or value != field.default)
        }
        if isinstance(request, KmUploadInput) and request.content is None:
            given |= await run_blocking(lambda: _read_upload(request.source_path))
        answer = await connection.call(tool, given, ctx)
        if tool.name == "km-search" and isinstance(answer.value, SearchResponse):
            return structs.replace(answer, value=await add_feedback_hint(answer.value, ctx))
        return answer

    return structs.replace(tool, handler=handle, withheld=connection.gateway.withheld(tool))


def _read_upload(source: str) -> dict[str, str]:
    ##= man/spec/gateway.md#forwarding
    ##% If duvet forwards a `km-upload` call, it MUST read the file on its own machine and send the content. duvet MUST
    ##% refuse to send the gateway a file that may contain secrets.
    data = b""
    try:
        file = open_visible_file(os.getcwd(), source)
        reason = "" if file else describe_invisible_file("the project")
        if file:
            with file:
                data = file.read(MAX_UPLOAD_BYTES + 1)
        if len(data) > MAX_UPLOAD_BYTES:
            reason = f"it has more than {MAX_UPLOAD_BYTES:,} bytes"
    except (OSError, ValueError, errors.NotRegularError):
        reason = "it can't be read"
    if reason:
        message = f"can't send {text.quote_text(text.shorten_text(source))} to the gateway: {reason}"
        hint = "pass the path of another file in the project on this machine"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, hint)
    return {"source_path": os.path.basename(os.path.abspath(source)), "content": b64encode(data).decode()}
