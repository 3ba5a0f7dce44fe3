"""What a call has come to so far, in the hands of the client that is to make it again."""

from __future__ import annotations

import zlib
from base64 import b64decode, b64encode

import mcp_types as types
import msgspec
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from duvet.llm.errors import Fault, ModelError
from duvet.tools.errors import PendingError
from duvet.tools.journal import Rounds

MOST_ROUNDS = 32
_MOST_BYTES = 8 << 20
_MOST_SENT = 500_000
"""A third more once it is sealed, which has to fit into the body of a request."""
_SECONDS = 3600.0
"""The client may have to ask people first."""


class WantedError(PendingError):
    """The client has to ask its model first, and to call again with what that says."""

    def __init__(self, key: str, request: types.CreateMessageRequest, rounds: Rounds) -> None:
        super().__init__()
        self.result = types.InputRequiredResult(input_requests={key: request}, request_state=_handed_out(rounds))


def sealing(audience: str) -> RequestStateBoundary:
    """Seals what clients are given, and lets through what comes back from them as it was, for the same call."""
    ##= man/spec/service.md#models
    ##% What a client hands back of earlier rounds MUST be refused unless it is what this server has given it for a call
    ##% of the same tool with the same arguments.
    return RequestStateBoundary(RequestStateSecurity.ephemeral(ttl=_SECONDS), default_audience=audience)


def rounds_of(state: str | None) -> Rounds:
    """What was handed out, of which the seal is intact."""
    if state is None:
        return Rounds()
    rounds = msgspec.json.decode(zlib.decompress(b64decode(state)), type=Rounds)
    rounds.count += 1
    rounds.asked.clear()
    return rounds


def _handed_out(rounds: Rounds) -> str:
    ##= man/spec/service.md#models
    ##% A call that has come to more than 32 rounds, or whose results are too large to be handed to the client, MUST fail
    ##% with an error that says so.
    if rounds.count >= MOST_ROUNDS:
        message = f"the client's model was asked {MOST_ROUNDS} times in one call, which is the most"
        raise ModelError(Fault.REFUSED, message, hint="ask it in fewer steps, or by several calls")
    data = msgspec.json.encode(rounds)
    state = b64encode(zlib.compress(data)).decode() if len(data) <= _MOST_BYTES else None
    if state is None or len(state) > _MOST_SENT:
        message = "the results before the client's model is asked are too large to be handed to the client"
        raise ModelError(Fault.TOO_LARGE, message, hint="ask for less in the steps before, or ask another model")
    return state
