"""Requests to the client's own model."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode
from dataclasses import replace

import mcp_types as types
import msgspec
from blake3 import blake3
from mcp.server.context import CallNext, HandlerResult
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import structs
from pydantic import ValidationError

from duvet.llm.records import ModelError, ModelFault, ModelRequest, ProviderAnswer
from duvet.server.protocol.session import ServerRequest
from duvet.tools.call_context import Caller, CallJournal, CallState
from duvet.tools.tool import PendingError

MAX_ROUNDS = 32
_MAX_STATE_BYTES = 8 << 20
_MAX_ENCODED_LENGTH = 500_000
"""Sealing adds a third, and the result has to fit into the body of a request."""
_STATE_SECONDS = 3600.0
"""The client may have to ask its user first."""
_CANCELLED = {"action": "cancel"}
"""An answer that the protocol accepts, and that no model gives."""
_NOT_TEXT = "the client's model answers something else than text"


class ModelWantedError(PendingError):
    """The client has to ask its model, and to repeat the call with the answer."""

    def __init__(self, key: str, request: types.CreateMessageRequest, rounds: CallState) -> None:
        super().__init__()
        self.result = types.InputRequiredResult(input_requests={key: request}, request_state=_encode_rounds(rounds))


def make_state_seal(audience: str) -> RequestStateBoundary:
    """Return middleware that seals the state given to clients, and accepts it only unchanged and for the same call."""
    ##= man/spec/service.md#models-of-clients
    ##% The server MUST refuse state from a client that it did not issue for the same call, and fail a call after 32
    ##% rounds or with results that are too large for the client.
    return RequestStateBoundary(RequestStateSecurity.ephemeral(ttl=_STATE_SECONDS), default_audience=audience)


def read_rounds(state: str | None) -> CallState:
    """Decode the state of the earlier rounds, whose seal has been checked."""
    if state is None:
        return CallState()
    rounds = msgspec.json.decode(zlib.decompress(b64decode(state)), type=CallState)
    rounds.count += 1
    rounds.asked.clear()
    return rounds


def _encode_rounds(rounds: CallState) -> str:
    if rounds.count >= MAX_ROUNDS:
        message = f"the client's model was asked {MAX_ROUNDS} times in one call, which is the most"
        raise ModelError(ModelFault.REFUSED, message, hint="ask it in fewer steps, or by several calls")
    data = msgspec.json.encode(rounds)
    state = b64encode(zlib.compress(data)).decode() if len(data) <= _MAX_STATE_BYTES else None
    if state is None or len(state) > _MAX_ENCODED_LENGTH:
        message = "the results before the client's model is asked are too large to be handed to the client"
        raise ModelError(ModelFault.TOO_LARGE, message, hint="ask for less in the steps before, or ask another model")
    return state


def attach_client_model(caller: Caller, request: ServerRequest, params: types.CallToolRequestParams) -> Caller:
    """Return the caller with its own model, if the client offers one."""
    ##= man/spec/service.md#models-of-clients
    ##% With a provider of the kind `client`, the server MUST ask the model of the calling client if that client offers
    ##% it, and fail the step for an answer that is not text.
    offered = request.session.client_capabilities
    if offered is None or offered.sampling is None:
        return caller
    if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return structs.replace(caller, sampler=_DirectSampler(request))
    rounds = read_rounds(params.request_state)
    return structs.replace(
        caller, sampler=_DeferredSampler(rounds, params.input_responses or {}), journal=CallJournal(rounds)
    )


class _DirectSampler:
    """Asks the client's model while the call waits."""

    def __init__(self, request: ServerRequest) -> None:
        self._request = request

    async def __call__(self, request: ModelRequest) -> ProviderAnswer:
        metadata = ServerMessageMetadata(related_request_id=self._request.request_id)
        try:
            result = await self._request.session.send_request(
                _make_message(request), types.CreateMessageResult, metadata=metadata
            )
        except MCPError as error:
            raise ModelError(
                ModelFault.REFUSED, "the client's model does not answer", hint="allow it in the client"
            ) from error
        except ValidationError as error:
            raise ModelError(ModelFault.MALFORMED, _NOT_TEXT) from error
        return _make_answer(_get_text(result))


class _DeferredSampler:
    """Takes answers from the call itself; without an answer, the call ends with the question."""

    def __init__(self, rounds: CallState, answers: types.InputResponses) -> None:
        self._rounds = rounds
        rounds.said.update({key: _get_text(answer) for key, answer in answers.items()})

    async def __call__(self, request: ModelRequest) -> ProviderAnswer:
        message = _make_message(request)
        # Repeated calls ask the same questions, which have the same answers.
        key = blake3(message.model_dump_json().encode()).hexdigest(length=8)
        if key not in self._rounds.said:
            raise ModelWantedError(key, message, self._rounds)
        self._rounds.asked.append(key)
        return _make_answer(self._rounds.said[key])


async def deliver_model_answers(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    """Replace answers that aren't text, so that the step that asked fails instead of the whole call."""
    answers = (ctx.params or {}).get("inputResponses")
    if ctx.method == "tools/call" and isinstance(answers, dict):
        answers = {key: answer if _is_text(answer) else _CANCELLED for key, answer in answers.items()}
        ctx = replace(ctx, params={**(ctx.params or {}), "inputResponses": answers})
    return await call_next(ctx)


def _is_text(answer: object) -> bool:
    try:
        return _get_text(types.CreateMessageResult.model_validate(answer, by_name=False)) is not None
    except ValidationError:
        return False


def _make_message(request: ModelRequest) -> types.CreateMessageRequest:
    hints = types.ModelPreferences(hints=[types.ModelHint(name=request.model)]) if request.model else None
    messages = [
        types.SamplingMessage(role=one.role, content=types.TextContent(text=one.text)) for one in request.conversation
    ]
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(
            messages=messages,
            system_prompt=request.system or None,
            max_tokens=request.max_tokens,
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
