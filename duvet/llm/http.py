"""HTTP calls to providers with time limits, size limits and retries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, json

from duvet.llm.endpoint import Endpoint
from duvet.llm.records import Clock, ModelError, ModelFault, TemporaryModelError, shorten_to_line
from duvet.version import VERSION

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Request, Response


MAX_WAIT = 30.0
"""So many seconds are waited at a time, and no more."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0
_SECONDS = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?\Z")


def parse_retry_after(header: str | None, now: float) -> float | None:
    """The seconds that `Retry-After` asks for, as a number or as a date; None where it says nothing sensible."""
    written = (header or "").strip()
    if _SECONDS.match(written):
        return float(written)
    try:
        date = parsedate_to_datetime(written)
        return max((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def compute_pause(attempt: int) -> float:
    """How many seconds to wait before an attempt, the first one after a failure being 1."""
    return float(min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE))


_DAY = 86_400


def make_refusal(endpoint: Endpoint, response: Response, body: bytes, now: float) -> ModelError:
    """Why a provider gives no answer, with what it says of that."""
    status, name = response.status_code, endpoint.name
    words = _with_reason(endpoint, body)
    if status in (401, 403):
        hint = f"check the key that `providers.{name}.apiKey` names"
        return ModelError(ModelFault.UNAUTHORIZED, f"{name} refuses the key ({status}){words}", hint=hint)
    wait = parse_retry_after(response.headers.get("retry-after"), now)
    if status == 429:
        when = f"try again in {wait:.0f} seconds" if wait is not None and wait <= _DAY else "try again later"
        return TemporaryModelError(
            ModelFault.RATE_LIMITED, f"{name} takes no more for now ({status}){words}", hint=when, wait=wait
        )
    if status >= 500:
        return TemporaryModelError(ModelFault.UNAVAILABLE, f"{name} is out of order ({status}){words}", wait=wait)
    if 300 <= status < 400:
        hint = f"give the URL where it is now as `providers.{name}.baseUrl`"
        return ModelError(ModelFault.REFUSED, f"{name} is elsewhere ({status})", hint=hint)
    hint = f"check `baseUrl` and the model of `providers.{name}`"
    return ModelError(ModelFault.REFUSED, f"{name} refuses the request ({status}){words}", hint=hint)


def _with_reason(endpoint: Endpoint, body: bytes) -> str:
    """What the provider says, where it says anything."""
    words = shorten_to_line(endpoint.without_address(_reason(body)))
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


MAX_RESPONSE_BYTES = 4 * 1024 * 1024
"""So large an answer may be."""
_MOST_OF_A_REFUSAL = 64 * 1024


class ProviderClient:
    """Asks providers; its connections stay open until it is closed."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._clients: dict[bool, AsyncClient] = {}

    async def post(self, endpoint: Endpoint, path: str, headers: Mapping[str, str], body: object) -> bytes:
        """The answer to what is sent, tried again where that may help; ModelError where there is none."""
        import anyio

        given = {**headers, "content-type": "application/json"}
        with anyio.move_on_after(endpoint.timeout):
            return await self._tried(endpoint, path, given, _encoded(body))
        raise _too_late(endpoint, endpoint.timeout)

    async def get(
        self, endpoint: Endpoint, url: str, headers: Mapping[str, str], seconds: float, most: int = MAX_RESPONSE_BYTES
    ) -> bytes:
        """What stands behind a URL of the provider, asked for once."""
        import anyio

        with anyio.move_on_after(seconds):
            return await self._answer(endpoint, self._client(endpoint).build_request("GET", url, headers=headers), most)
        raise _too_late(endpoint, seconds)

    async def aclose(self) -> None:
        """Hang up."""
        while self._clients:
            await self._clients.popitem()[1].aclose()

    async def _tried(self, endpoint: Endpoint, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        ##= man/spec/ask.md#calls
        ##% duvet MUST retry temporary failures as often as the configuration says, wait as long as the provider asks
        ##% within reason, and give up when the provider's time limit is over.
        for attempt in range(endpoint.retries + 1):
            request = self._client(endpoint).build_request(
                "POST", f"{endpoint.base}{path}", headers=headers, content=body
            )
            try:
                return await self._answer(endpoint, request, MAX_RESPONSE_BYTES)
            except TemporaryModelError as error:
                wait = compute_pause(attempt + 1) if error.wait is None else error.wait
                if attempt == endpoint.retries or wait > min(MAX_WAIT, endpoint.timeout):
                    raise
            await self.clock.sleep(wait)
        raise AssertionError("the last attempt has an outcome")

    async def _answer(self, endpoint: Endpoint, request: Request, most: int) -> bytes:
        import httpx2

        try:
            response = await self._client(endpoint).send(request, stream=True, follow_redirects=False)
            try:
                return await self._read(endpoint, response, most)
            finally:
                await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            # What the client says of it may quote what was sent.
            words = f"{endpoint.name} can't be reached: {type(error).__name__}"
            raise TemporaryModelError(
                ModelFault.UNAVAILABLE, words, hint=f"is `providers.{endpoint.name}.baseUrl` right, and up?"
            ) from None

    async def _read(self, endpoint: Endpoint, response: Response, most: int) -> bytes:
        encoding = response.headers.get("content-encoding", "identity").lower()
        if response.status_code != 200:
            shown = await _start_of(response) if encoding == "identity" else b""
            raise make_refusal(endpoint, response, shown, self.clock.now())
        ##= man/spec/ask.md#calls
        ##% duvet MUST reject an answer that is larger than 4 MiB, compressed without being asked for, or without text.
        if encoding != "identity":
            raise ModelError(ModelFault.MALFORMED, f"{endpoint.name} answers compressed, which it was not asked for")
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > most:
                raise ModelError(ModelFault.TOO_LARGE, f"{endpoint.name} answers more than {most:,} bytes")
        return bytes(data)

    def _client(self, endpoint: Endpoint) -> AsyncClient:
        import httpx2

        local = endpoint.is_local
        if local not in self._clients:
            headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": f"duvet/{VERSION}"}
            ##= man/spec/ask.md#keys
            ##% duvet MUST reach a provider over HTTPS unless it runs on the same machine, and MUST NOT follow its
            ##% redirects.
            # To this machine nothing goes through a proxy, which would see the key. The call has a limit as a whole.
            self._clients[local] = httpx2.AsyncClient(
                headers=headers, timeout=None, follow_redirects=False, trust_env=not local
            )
        return self._clients[local]


def _encoded(body: object) -> bytes:
    try:
        return json.encode(body)
    except UnicodeEncodeError:
        raise ModelError(ModelFault.REFUSED, "what is asked holds characters that are none") from None


async def _start_of(response: Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) >= _MOST_OF_A_REFUSAL:
            break
    return bytes(data)


def _too_late(endpoint: Endpoint, seconds: float) -> ModelError:
    hint = "`timeout` of the provider says how long an answer may take"
    return ModelError(ModelFault.TIMEOUT, f"{endpoint.name} has not answered within {seconds:g} seconds", hint=hint)
