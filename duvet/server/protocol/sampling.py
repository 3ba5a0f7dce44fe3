"""The client's own model, where it offers one: asked at once in the era of handshakes, with the next round later on."""

from __future__ import annotations

from dataclasses import replace

import mcp_types as types
from blake3 import blake3
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec import structs
from pydantic import ValidationError

from duvet.llm.errors import Fault, ModelError
from duvet.llm.records import ModelRequest, Said
from duvet.server.protocol.parts import Request
from duvet.server.protocol.rounds import WantedError, rounds_of
from duvet.tools.ctx import Caller
from duvet.tools.journal import Journal, Rounds

_NO_ANSWER = {"action": "cancel"}
"""What the protocol lets through, and what no model says."""
_USELESS = "the client's model answers something else than text"


def with_model(caller: Caller, request: Request, params: types.CallToolRequestParams) -> Caller:
    """The caller with the model that it offers, if it does."""
    ##= man/spec/service.md#models
    ##% Where the configuration has a provider of the kind `client`, the model of the client that calls MUST be asked, if
    ##% that client offers it, in the way of its version of the protocol.
    offered = request.session.client_capabilities
    if offered is None or offered.sampling is None:
        return caller
    if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return structs.replace(caller, sampler=_AtOnce(request))
    rounds = rounds_of(params.request_state)
    return structs.replace(caller, sampler=_Later(rounds, params.input_responses or {}), journal=Journal(rounds))


class _AtOnce:
    """Asks while the call waits."""

    def __init__(self, request: Request) -> None:
        self._request = request

    async def __call__(self, request: ModelRequest) -> Said:
        belongs = ServerMessageMetadata(related_request_id=self._request.request_id)
        try:
            result = await self._request.session.send_request(
                _message(request), types.CreateMessageResult, metadata=belongs
            )
        except MCPError as error:
            raise ModelError(
                Fault.REFUSED, "the client's model does not answer", hint="allow it in the client"
            ) from error
        except ValidationError as error:
            raise ModelError(Fault.MALFORMED, _USELESS) from error
        return _said(_text(result))


class _Later:
    """Takes answers from the call itself; where there is none yet, the call ends with the question."""

    def __init__(self, rounds: Rounds, answers: types.InputResponses) -> None:
        self._rounds = rounds
        rounds.said.update({key: _text(answer) for key, answer in answers.items()})

    async def __call__(self, request: ModelRequest) -> Said:
        message = _message(request)
        # The same question has the same answer, however often the call is begun again.
        key = blake3(message.model_dump_json().encode()).hexdigest(length=8)
        if key not in self._rounds.said:
            raise WantedError(key, message, self._rounds)
        self._rounds.asked.append(key)
        return _said(self._rounds.said[key])


async def with_answers(ctx: Request, call_next: CallNext) -> HandlerResult:
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


def _said(text: str | None) -> Said:
    ##= man/spec/service.md#models
    ##% What a client's model answers that is no text MUST fail the step that has asked.
    if text is None:
        raise ModelError(Fault.MALFORMED, _USELESS)
    return Said(text)
