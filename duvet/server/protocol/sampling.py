"""The client's own model, where it offers one: asked at once in the era of handshakes, with the next round later on."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import msgspec
from blake3 import blake3
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from duvet.llm.errors import Fault, ModelError
from duvet.llm.provider import Sampler
from duvet.llm.records import ModelRequest, Said
from duvet.server.protocol.parts import Request
from duvet.tools.errors import PendingError

_MOST_STATE = 1 << 20


class WantedError(PendingError):
    """The client has to ask its model first, and to call again with what that says."""

    def __init__(self, key: str, request: types.CreateMessageRequest, said: dict[str, str]) -> None:
        super().__init__()
        self.result = types.InputRequiredResult(
            input_requests={key: request}, request_state=msgspec.json.encode(said).decode()
        )


def client_model(request: Request, params: types.CallToolRequestParams) -> Sampler | None:
    """The model of whoever has sent the request; None where it offers none."""
    ##= man/spec/service.md#models
    ##% Where the configuration has a provider of the kind `client`, the model of the client that calls MUST be asked, if
    ##% that client offers it, in the way of its version of the protocol.
    offered = request.session.client_capabilities
    if offered is None or offered.sampling is None:
        return None
    return _Later(params) if request.protocol_version in MODERN_PROTOCOL_VERSIONS else _AtOnce(request)


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
        return _said(result)


class _Later:
    """Takes answers from the call itself; where there is none yet, the call ends with the question."""

    def __init__(self, params: types.CallToolRequestParams) -> None:
        self._said = _state(params.request_state)
        for key, answer in (params.input_responses or {}).items():
            self._said[key] = _said(types.CreateMessageResult.model_validate(_plain(answer))).text

    async def __call__(self, request: ModelRequest) -> Said:
        message = _message(request)
        # The same question has the same answer, however often the call is begun again.
        key = blake3(message.model_dump_json().encode()).hexdigest(length=8)
        if key not in self._said:
            raise WantedError(key, message, self._said)
        return Said(self._said[key])


def _state(text: str | None) -> dict[str, str]:
    """What earlier rounds have brought, as the client hands it back."""
    if text is None:
        return {}
    try:
        return msgspec.json.decode(text[:_MOST_STATE], type=dict[str, str])
    except msgspec.MsgspecError as error:
        raise MCPError(code=types.INVALID_PARAMS, message="Invalid requestState") from error


def _plain(answer: Any) -> dict[str, Any]:
    found: dict[str, Any] = answer.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


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


def _said(result: types.CreateMessageResult) -> Said:
    if not isinstance(result.content, types.TextContent):
        raise ModelError(Fault.MALFORMED, "the client's model answers something else than text")
    return Said(result.content.text)
