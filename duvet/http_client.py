"""Sends HTTP requests with retries and size limits for responses, and checks which addresses may receive secrets."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from duvet.version import VERSION

if TYPE_CHECKING:
    from httpx2 import AsyncClient

Result = TypeVar("Result")
Failure = TypeVar("Failure", bound=Exception)

USER_AGENT = f"duvet/{VERSION}"


class UnreachableError(Exception):
    pass


class HttpReply(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes = b""
    is_compressed: bool = False  # If it is, the body is empty.
    is_cut: bool = False


class HttpClient:
    """Follows no redirects and sets no time limit."""

    def __init__(self) -> None:
        self._clients: dict[bool, AsyncClient] = {}

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        max_bytes: int,
        max_error_bytes: int | None = None,
    ) -> HttpReply:
        """`max_error_bytes` limits responses whose status is not 200."""
        import httpx2

        try:
            is_local = is_local_address(urlsplit(url))
            if (client := self._clients.get(is_local)) is None:
                usual = {"accept": "application/json", "accept-encoding": "identity", "user-agent": USER_AGENT}
                ##= man/spec/ask.md#keys
                ##% duvet MUST NOT follow the redirects of a provider or a gateway.
                # Never use a proxy for this machine, because the proxy would see the keys.
                client = self._clients[is_local] = httpx2.AsyncClient(
                    headers=usual, timeout=None, follow_redirects=False, trust_env=not is_local
                )
            request = client.build_request(method, url, headers=headers, content=content)
            response = await client.send(request, stream=True)
            try:
                status, most = response.status_code, max_bytes
                if status != 200:
                    most = max_error_bytes or max_bytes
                if response.headers.get("content-encoding", "identity").lower() != "identity":
                    return HttpReply(status, response.headers, is_compressed=True)
                data = bytearray()
                async for chunk in response.aiter_raw():
                    data += chunk
                    if len(data) > most:
                        break
                return HttpReply(status, response.headers, bytes(data), is_cut=len(data) > most)
            finally:
                await response.aclose()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            # The text of the error may contain the URL, and the URL a secret.
            raise UnreachableError(re.sub("(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()) from None

    async def aclose(self) -> None:
        while self._clients:
            await self._clients.popitem()[1].aclose()


class Clock(Protocol):
    def now(self) -> float:
        """Return the seconds since 1970."""

    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        import anyio

        await anyio.sleep(seconds)


async def retry(
    call: Callable[[], Awaitable[Result]],
    failure: type[Failure],
    pause: Callable[[Failure, int], float | None],
    clock: Clock,
) -> Result:
    """`pause` returns the seconds to wait, or None to give up."""
    attempt = 1
    while True:
        try:
            return await call()
        except failure as error:
            seconds = pause(error, attempt)
            if seconds is None:
                raise
        await clock.sleep(seconds)
        attempt += 1


def parse_base_url(base: str) -> SplitResult | None:
    """Return None unless this is an http or https URL without a user, a query or a fragment."""
    try:
        parts = urlsplit(base)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    is_plain = base.isascii() and base.isprintable() and not set(base) & set(" \\?#") and "@" not in parts.netloc
    return parts if is_web and is_plain else None


def is_safe_address(parts: SplitResult) -> bool:
    return parts.scheme == "https" or is_local_address(parts)


def is_local_address(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
