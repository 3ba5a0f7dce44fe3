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
_MOST_BYTES = 8 << 20
_MOST_SENT = 500_000
"""A third more once it is sealed, which has to fit into the body of a request."""
_SECONDS = 3600.0
"""The client may have to ask people first."""


class ModelWantedError(PendingError):
    """The client has to ask its model first, and to call again with what that says."""

    def __init__(self, key: str, request: types.CreateMessageRequest, rounds: CallState) -> None:
        super().__init__()
        self.result = types.InputRequiredResult(input_requests={key: request}, request_state=_handed_out(rounds))


def make_state_seal(audience: str) -> RequestStateBoundary:
    """Seals what clients are given, and lets through what comes back from them as it was, for the same call."""
    ##= man/spec/service.md#models-of-clients
    ##% The server MUST refuse state from a client that it did not issue for the same call, and fail a call after 32
    ##% rounds or with results that are too large for the client.
    return RequestStateBoundary(RequestStateSecurity.ephemeral(ttl=_SECONDS), default_audience=audience)


def read_rounds(state: str | None) -> CallState:
    """What was handed out, of which the seal is intact."""
    if state is None:
        return CallState()
    rounds = msgspec.json.decode(zlib.decompress(b64decode(state)), type=CallState)
    rounds.count += 1
    rounds.asked.clear()
    return rounds


def _handed_out(rounds: CallState) -> str:
    if rounds.count >= MAX_ROUNDS:
        message = f"the client's model was asked {MAX_ROUNDS} times in one call, which is the most"
        raise ModelError(ModelFault.REFUSED, message, hint="ask it in fewer steps, or by several calls")
    data = msgspec.json.encode(rounds)
    state = b64encode(zlib.compress(data)).decode() if len(data) <= _MOST_BYTES else None
    if state is None or len(state) > _MOST_SENT:
        message = "the results before the client's model is asked are too large to be handed to the client"
        raise ModelError(ModelFault.TOO_LARGE, message, hint="ask for less in the steps before, or ask another model")
    return state


_NO_ANSWER = {"action": "cancel"}
"""What the protocol lets through, and what no model says."""
_USELESS = "the client's model answers something else than text"


def attach_client_model(caller: Caller, request: ServerRequest, params: types.CallToolRequestParams) -> Caller:
    """The caller with the model that it offers, if it does."""
    ##= man/spec/service.md#models-of-clients
    ##% With a provider of the kind `client`, the server MUST ask the model of the calling client if that client offers
    ##% it, and fail the step for an answer that is not text.
    offered = request.session.client_capabilities
    if offered is None or offered.sampling is None:
        return caller
    if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return structs.replace(caller, sampler=_AtOnce(request))
    rounds = read_rounds(params.request_state)
    return structs.replace(caller, sampler=_Later(rounds, params.input_responses or {}), journal=CallJournal(rounds))


class _AtOnce:
    """Asks while the call waits."""

    def __init__(self, request: ServerRequest) -> None:
        self._request = request

    async def __call__(self, request: ModelRequest) -> ProviderAnswer:
        belongs = ServerMessageMetadata(related_request_id=self._request.request_id)
        try:
            result = await self._request.session.send_request(
                _message(request), types.CreateMessageResult, metadata=belongs
            )
        except MCPError as error:
            raise ModelError(
                ModelFault.REFUSED, "the client's model does not answer", hint="allow it in the client"
            ) from error
        except ValidationError as error:
            raise ModelError(ModelFault.MALFORMED, _USELESS) from error
        return _said(_text(result))


class _Later:
    """Takes answers from the call itself; where there is none yet, the call ends with the question."""

    def __init__(self, rounds: CallState, answers: types.InputResponses) -> None:
        self._rounds = rounds
        rounds.said.update({key: _text(answer) for key, answer in answers.items()})

    async def __call__(self, request: ModelRequest) -> ProviderAnswer:
        message = _message(request)
        # The same question has the same answer, however often the call is begun again.
        key = blake3(message.model_dump_json().encode()).hexdigest(length=8)
        if key not in self._rounds.said:
            raise ModelWantedError(key, message, self._rounds)
        self._rounds.asked.append(key)
        return _said(self._rounds.said[key])


async def deliver_model_answers(ctx: ServerRequest, call_next: CallNext) -> HandlerResult:
    """Let what a client's model says come to whoever has asked, even where it can't be used."""
    answers = (ctx.params or {}).get("inputResponses")
    if ctx.method == "tools/call" and isinstance(answers, dict):
        fitting = {key: answer if _is_text(answer) else _NO_ANSWER for key, answer in answers.items()}
        ctx = replace(ctx, params={**(ctx.params or {}), "inputResponses": fitting})
    return await call_next(ctx)


def _is_text(answer: object) -> bool:
    try:
        return _text(types.CreateMessageResult.model_validate(answer, by_name=False)) is not None
    except ValidationError:
        return False


def _message(request: ModelRequest) -> types.CreateMessageRequest:
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


def _text(answer: types.InputResponse) -> str | None:
    if isinstance(answer, types.CreateMessageResult) and isinstance(answer.content, types.TextContent):
        return answer.content.text
    return None


def _said(text: str | None) -> ProviderAnswer:
    if text is None:
        raise ModelError(ModelFault.MALFORMED, _USELESS)
    return ProviderAnswer(text)
