"""Calls to providers over HTTP: within their time, of a bounded size, tried again where that may help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import json

from duvet.llm.clock import Clock
from duvet.llm.endpoint import Endpoint
from duvet.llm.errors import Fault, ModelError, PassingError
from duvet.llm.refusals import refusal
from duvet.llm.waiting import LONGEST_WAIT, pause_before
from duvet.version import VERSION

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Request, Response

MOST_BYTES = 4 * 1024 * 1024
"""So large an answer may be."""
_MOST_OF_A_REFUSAL = 64 * 1024


class Http:
    """Asks providers; its connections stay open until it is closed."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._clients: dict[bool, AsyncClient] = {}

    async def post(self, endpoint: Endpoint, path: str, headers: Mapping[str, str], body: object) -> bytes:
        """The answer to what is sent, tried again where that may help; ModelError where there is none."""
        import anyio

        given = {**headers, "content-type": "application/json"}
        ##= man/spec/ask.md#calls
        ##% A call MUST be over within the time limit of its provider, with all that is tried again.
        with anyio.move_on_after(endpoint.timeout):
            return await self._tried(endpoint, path, given, _encoded(body))
        raise _too_late(endpoint, endpoint.timeout)

    async def get(
        self, endpoint: Endpoint, url: str, headers: Mapping[str, str], seconds: float, most: int = MOST_BYTES
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
        ##% What a provider refuses for now, and what fails on the way, MUST be tried again as often as the configuration
        ##% says.
        for attempt in range(endpoint.retries + 1):
            request = self._client(endpoint).build_request(
                "POST", f"{endpoint.base}{path}", headers=headers, content=body
            )
            try:
                return await self._answer(endpoint, request, MOST_BYTES)
            except PassingError as error:
                wait = pause_before(attempt + 1) if error.wait is None else error.wait
                ##= man/spec/ask.md#calls
                ##% The time that a provider asks to wait MUST be waited where it is not too long, and MUST be an error
                ##% where it is.
                if attempt == endpoint.retries or wait > min(LONGEST_WAIT, endpoint.timeout):
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
            raise PassingError(
                Fault.UNAVAILABLE, words, hint=f"is `providers.{endpoint.name}.baseUrl` right, and up?"
            ) from None

    async def _read(self, endpoint: Endpoint, response: Response, most: int) -> bytes:
        encoding = response.headers.get("content-encoding", "identity").lower()
        if response.status_code != 200:
            shown = await _start_of(response) if encoding == "identity" else b""
            raise refusal(endpoint, response, shown, self.clock.now())
        ##= man/spec/ask.md#calls
        ##% An answer that is larger than 4 MiB, or is compressed although that was not asked for, MUST be an error.
        if encoding != "identity":
            raise ModelError(Fault.MALFORMED, f"{endpoint.name} answers compressed, which it was not asked for")
        data = bytearray()
        async for chunk in response.aiter_raw():
            data += chunk
            if len(data) > most:
                raise ModelError(Fault.TOO_LARGE, f"{endpoint.name} answers more than {most:,} bytes")
        return bytes(data)

    def _client(self, endpoint: Endpoint) -> AsyncClient:
        import httpx2

        local = endpoint.is_local
        if local not in self._clients:
            headers = {"accept": "application/json", "accept-encoding": "identity", "user-agent": f"duvet/{VERSION}"}
            ##= man/spec/ask.md#keys
            ##% duvet MUST NOT follow where a provider redirects to.
            # To this machine nothing goes through a proxy, which would see the key. The call has a limit as a whole.
            self._clients[local] = httpx2.AsyncClient(
                headers=headers, timeout=None, follow_redirects=False, trust_env=not local
            )
        return self._clients[local]


def _encoded(body: object) -> bytes:
    try:
        return json.encode(body)
    except UnicodeEncodeError:
        raise ModelError(Fault.REFUSED, "what is asked holds characters that are none") from None


async def _start_of(response: Response) -> bytes:
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) >= _MOST_OF_A_REFUSAL:
            break
    return bytes(data)


def _too_late(endpoint: Endpoint, seconds: float) -> ModelError:
    hint = "`timeout` of the provider says how long an answer may take"
    return ModelError(Fault.TIMEOUT, f"{endpoint.name} has not answered within {seconds:g} seconds", hint=hint)
