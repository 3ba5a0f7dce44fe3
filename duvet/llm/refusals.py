"""From a status of HTTP that is no answer to what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, json

from duvet.llm.endpoint import Endpoint
from duvet.llm.errors import Fault, ModelError, PassingError
from duvet.llm.waiting import asked_to_wait
from duvet.llm.words import said

if TYPE_CHECKING:
    from httpx2 import Response

_DAY = 86_400


def refusal(endpoint: Endpoint, response: Response, body: bytes, now: float) -> ModelError:
    """Why a provider gives no answer, with what it says of that."""
    status, name = response.status_code, endpoint.name
    words = _with_reason(endpoint, body)
    if status in (401, 403):
        hint = f"check the key that `providers.{name}.apiKey` names"
        return ModelError(Fault.UNAUTHORIZED, f"{name} refuses the key ({status}){words}", hint=hint)
    wait = asked_to_wait(response.headers.get("retry-after"), now)
    if status == 429:
        when = f"try again in {wait:.0f} seconds" if wait is not None and wait <= _DAY else "try again later"
        return PassingError(Fault.RATE_LIMITED, f"{name} takes no more for now ({status}){words}", hint=when, wait=wait)
    if status >= 500:
        return PassingError(Fault.UNAVAILABLE, f"{name} is out of order ({status}){words}", wait=wait)
    if 300 <= status < 400:
        hint = f"give the URL where it is now as `providers.{name}.baseUrl`"
        return ModelError(Fault.REFUSED, f"{name} is elsewhere ({status})", hint=hint)
    hint = f"check `baseUrl` and the model of `providers.{name}`"
    return ModelError(Fault.REFUSED, f"{name} refuses the request ({status}){words}", hint=hint)


def _with_reason(endpoint: Endpoint, body: bytes) -> str:
    """What the provider says, where it says anything."""
    ##= man/spec/ask.md#calls
    ##% What a provider says of an error MUST be shown on one line of at most 200 characters, without control characters.
    words = said(endpoint.without_address(_reason(body)))
    return f": {words}" if words else ""


def _reason(body: bytes) -> str:
    """The message in what providers answer, each in its own way."""
    try:
        value: Any = json.decode(body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return ""
    error = value.get("error", value) if isinstance(value, dict) else value
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""
