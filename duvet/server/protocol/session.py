"""Sessions of MCP clients, and requests to their models."""

from __future__ import annotations

import logging
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, get_args

import mcp_types as types
import msgspec
from blake3 import blake3
from mcp.server.connection import allowed_log_levels
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from duvet.errors import DuvetError
from duvet.llm.records import MAX_ANSWER_TOKENS, ModelError, ModelFault, ModelRequest, ProviderAnswer
from duvet.server.live_project import current_caller
from duvet.tools.call_context import Caller, CallJournal, CallState
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.tool import (
    MCP_SOURCE,
    EnabledPack,
    ErrorCode,
    PartText,
    PendingError,
    Tool,
    ToolError,
    make_tool_error,
)

ServerRequest = ServerRequestContext[Any, Any]  # A request without its parameters.
PROTOCOL_LOGGER = logging.getLogger("duvet.server")  # The log of failures that clients don't see, on standard error.
_SEVERITIES = {level: number for number, level in enumerate(get_args(types.LoggingLevel))}
_LEVEL_KEY = "duvet/level"
MAX_ROUNDS = 32
_MAX_STATE_BYTES = 8 << 20
_MAX_ENCODED_LENGTH = 500_000  # Sealing adds a third to the size, and the result must fit into a request body.
STATE_SECONDS = 3600.0  # The client may ask its user first.
_NOT_TEXT = "the client's model returned something other than text"


def refuse_cursor(params: types.PaginatedRequestParams) -> None:
    if params.cursor is not None:
        raise MCPError(
            code=types.INVALID_PARAMS, message="Invalid cursor", data={"hint": "omit it: the list has only one page"}
        )


async def guard_request(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        # The SDK's own message for invalid parameters reveals nothing.
        raise
    except (ToolError, DuvetError) as error:
        failure = error if isinstance(error, ToolError) else make_tool_error(error)
        is_invalid = failure.code in (ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND)
        data = {"code": failure.code.value, **({"hint": failure.hint} if failure.hint else {})}
        number = types.INVALID_PARAMS if is_invalid else types.INTERNAL_ERROR
        raise MCPError(code=number, message=failure.message, data=data) from error
    except Exception as error:
        ##= man/spec/mcp.md#answers
        ##% After an unexpected exception, the server MUST answer only `Internal error` with the code -32603.
        PROTOCOL_LOGGER.exception("%s failed", ctx.method)
        raise MCPError(code=types.INTERNAL_ERROR, message="Internal error") from error


async def set_log_level(request: ServerRequest, params: types.SetLevelRequestParams) -> types.EmptyResult:
    request.session._connection.state[_LEVEL_KEY] = params.level
    return types.EmptyResult()


async def log_request(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    if ctx.request_id is None or not wants_level(ctx, "info"):
        return await call_next(ctx)
    begun = perf_counter()
    name = (ctx.params or {}).get("name")
    fields = {"method": ctx.method, **({"name": name} if isinstance(name, str) else {})}
    try:
        result = await call_next(ctx)
    except MCPError as error:
        await send_log_message(ctx, "info", {**fields, "failed": error.error.message})
        raise
    await send_log_message(ctx, "debug", {**fields, "milliseconds": round((perf_counter() - begun) * 1000, 1)})
    return result


def wants_level(request: ServerRequest, level: types.LoggingLevel) -> bool:
    if request.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return level in allowed_log_levels(request.protocol_version, request.meta)
    lowest = request.session._connection.state.get(_LEVEL_KEY, "warning")
    return _SEVERITIES[level] >= _SEVERITIES[lowest]


async def send_log_message(request: ServerRequest, level: types.LoggingLevel, data: Any) -> None:
    if wants_level(request, level):
        params = types.LoggingMessageNotificationParams(level=level, data=data, logger="duvet")
        await request.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=request.request_id
        )


def make_caller(request: ServerRequest) -> Caller:
    async def report_progress(done: float, total: float | None, message: str) -> None:
        await request.session.report_progress(done, total, message or None)

    return msgspec.structs.replace(
        current_caller(), face=MCP_SOURCE, request=str(request.request_id), progress=report_progress
    )


async def call_part(
    dispatcher: ToolDispatcher, tool: Tool, pack: EnabledPack, arguments: Mapping[str, object], request: ServerRequest
) -> str:
    try:
        answer = await dispatcher.call_tool(tool, arguments, make_caller(request), pack)
    except ToolError as error:
        code = types.INVALID_PARAMS if error.code is ErrorCode.INVALID_REQUEST else types.INTERNAL_ERROR
        raise MCPError(code, error.message, {"hint": error.hint} if error.hint else None) from error
    assert isinstance(answer.value, PartText)
    return answer.value.text


class ModelWantedError(PendingError):
    """Raised to make the client ask its model, and repeat the call with the answer."""

    def __init__(self, key: str, request: types.CreateMessageRequest, rounds: CallState) -> None:
        super().__init__()
        if rounds.count >= MAX_ROUNDS:
            message = f"a call can ask the client's model at most {MAX_ROUNDS} times"
            hint = "use fewer steps that ask the model, or split the work into several calls"
            raise ModelError(ModelFault.REFUSED, message, hint=hint)
        data = msgspec.json.encode(rounds)
        state = b64encode(zlib.compress(data)).decode() if len(data) <= _MAX_STATE_BYTES else None
        if state is None or len(state) > _MAX_ENCODED_LENGTH:
            message = "the results so far are too large to send to the client"
            hint = "reduce the results of earlier steps, or use the model of another provider"
            raise ModelError(ModelFault.TOO_LARGE, message, hint=hint)
        self.result = types.InputRequiredResult(input_requests={key: request}, request_state=state)


def attach_client_model(caller: Caller, request: ServerRequest, params: types.CallToolRequestParams) -> Caller:
    ##= man/spec/service.md#models-of-clients
    ##% For a provider of the kind `client`, the server MUST call the model of the calling client, if that client offers
    ##% one.
    offered = request.session.client_capabilities
    if offered is None or offered.sampling is None:
        return caller
    if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return msgspec.structs.replace(caller, sampler=partial(_ask_client, request))
    rounds = CallState()
    if params.request_state is not None:
        # The seal has been verified.
        rounds = msgspec.json.decode(zlib.decompress(b64decode(params.request_state)), type=CallState)
        rounds.count += 1
        rounds.asked.clear()
    rounds.said.update({key: _get_text(answer) for key, answer in (params.input_responses or {}).items()})
    return msgspec.structs.replace(caller, sampler=partial(_recall_answer, rounds), journal=CallJournal(rounds))


async def _ask_client(request: ServerRequest, question: ModelRequest) -> ProviderAnswer:
    metadata = ServerMessageMetadata(related_request_id=request.request_id)
    try:
        result = await request.session.send_request(
            _make_message(question), types.CreateMessageResult, metadata=metadata
        )
    except MCPError as error:
        raise ModelError(
            ModelFault.REFUSED,
            "the client's model did not answer",
            hint="in the client's settings, allow the server to use the model (sampling)",
        ) from error
    except ValidationError as error:
        raise ModelError(ModelFault.MALFORMED, _NOT_TEXT) from error
    return _make_answer(_get_text(result))


async def _recall_answer(rounds: CallState, question: ModelRequest) -> ProviderAnswer:
    message = _make_message(question)
    # Repeated calls ask the same questions, which have the same answers.
    key = blake3(message.model_dump_json().encode()).hexdigest(length=8)
    if key not in rounds.said:
        raise ModelWantedError(key, message, rounds)
    rounds.asked.append(key)
    return _make_answer(rounds.said[key])


async def deliver_model_answers(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    """Replace model answers that aren't text, so that only the step that asked fails, not the call."""
    answers = (ctx.params or {}).get("inputResponses")
    if ctx.method == "tools/call" and isinstance(answers, dict):
        # A valid answer that no model would give.
        usable = {key: {"action": "cancel"} for key in answers}
        for key, answer in answers.items():
            with suppress(ValidationError):
                if _get_text(types.CreateMessageResult.model_validate(answer, by_name=False)) is not None:
                    usable[key] = answer
        ctx = replace(ctx, params={**(ctx.params or {}), "inputResponses": usable})
    return await call_next(ctx)


def _make_message(request: ModelRequest) -> types.CreateMessageRequest:
    hints = types.ModelPreferences(hints=[types.ModelHint(name=request.model)]) if request.model else None
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=[types.SamplingMessage(role="user", content=types.TextContent(text=request.prompt))],
            system_prompt=request.system or None,
            max_tokens=request.max_tokens or MAX_ANSWER_TOKENS,
            temperature=request.temperature,
            model_preferences=hints,
        )
    )


def _get_text(answer: types.InputResponse) -> str | None:
    if isinstance(answer, types.CreateMessageResult) and isinstance(answer.content, types.TextContent):
        return answer.content.text
    return None


def _make_answer(text: str | None) -> ProviderAnswer:
    if text is None:
        raise ModelError(ModelFault.MALFORMED, _NOT_TEXT)
    return ProviderAnswer(text)
