"""URLs and keys of model providers, and requests to the providers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from msgspec import DecodeError, Struct, json

from duvet import http_client
from duvet.config import service_tables
from duvet.errors import DuvetError
from duvet.llm.records import ModelError, ModelFault, TemporaryModelError, shorten_to_line, strip_invisible
from duvet.text import format_count

MAX_RESPONSE_BYTES = 4 * 1024 * 1024
_MAX_REFUSAL_BYTES = 64 * 1024
HIDDEN_KEY = "***"
_MIN_HIDDEN = 4  # A shorter key is not replaced, because it could occur in any text.
_MIN_HIDDEN_PART = 8  # A shorter part of a URL is not a secret, and could occur in any text.
_MAX_WAIT = 30.0  # Maximum `Retry-After` in seconds; duvet does not wait longer.
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 8.0
_DAY = 86_400
_SECONDS = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?\Z")


DEFAULT_URLS = {
    service_tables.ProviderKind.OPENAI: "https://api.openai.com/v1",
    service_tables.ProviderKind.ANTHROPIC: "https://api.anthropic.com/v1",
}
KEY_VARIABLES = {
    service_tables.ProviderKind.OPENAI: "OPENAI_API_KEY",
    service_tables.ProviderKind.ANTHROPIC: "ANTHROPIC_API_KEY",
}


def find_provider_key(
    section: service_tables.ProviderSection, environ: Mapping[str, str]
) -> service_tables.Secret | None:
    text = None if section.api_key is None else section.api_key.reveal()
    if text is None and is_default_provider(section):
        ##= man/spec/ask.md#keys
        ##% duvet MUST send the key in `OPENAI_API_KEY` only to OpenAI, and the key in `ANTHROPIC_API_KEY` only to
        ##% Anthropic, unless the `apiKey` of another provider names the variable.
        text = environ.get(KEY_VARIABLES[section.kind])
    text = (text or "").strip()
    return service_tables.Secret(text) if text else None


def is_default_provider(section: service_tables.ProviderSection) -> bool:
    default = DEFAULT_URLS.get(section.kind)
    return default is not None and (section.base_url or default).rstrip("/") == default


class Endpoint(Struct, frozen=True):
    name: str
    base: str
    key: service_tables.Secret | None
    timeout: float
    retries: int

    @property
    def origin(self) -> str:
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    def mask_key(self, text: str) -> str:
        key = self.key.reveal() if self.key else ""
        # Texts are shown without invisible characters, so an interrupted key would become whole again.
        cleaned = strip_invisible(text)
        ##= man/spec/ask.md#keys
        ##% duvet MUST NOT print or log a provider's key.
        return cleaned.replace(key, HIDDEN_KEY) if len(key) >= _MIN_HIDDEN and key in cleaned else text

    def mask_address(self, text: str) -> str:
        url = urlsplit(self.base)
        parts = {
            part for part in (url.netloc, url.hostname or "", *url.path.split("/")) if len(part) >= _MIN_HIDDEN_PART
        }
        pattern = "|".join(map(re.escape, sorted({self.base, self.origin, *parts}, key=len, reverse=True)))
        return re.sub(pattern, HIDDEN_KEY, strip_invisible(self.mask_key(text)), flags=re.IGNORECASE)


def make_endpoint(name: str, section: service_tables.ProviderSection, key: service_tables.Secret | None) -> Endpoint:
    base = (section.base_url or DEFAULT_URLS[section.kind]).rstrip("/")
    parts = http_client.parse_base_url(base)
    # The message doesn't quote the URL: it may contain a password.
    if parts is None:
        hint = "write a complete URL, such as http://localhost:11434/v1; if it contains a key, move the key to `apiKey`"
        raise DuvetError(f"provider `{name}` has an invalid `baseUrl`", hint=hint)
    ##= man/spec/ask.md#keys
    ##% duvet MUST use HTTPS for a provider on another machine unless the provider has `allowHttp: true`.
    if not (http_client.is_safe_address(parts) or section.allow_http):
        hint = f"use https://, or set `providers.{name}.allowHttp` to true if you trust the network"
        raise DuvetError(f"the `baseUrl` of provider `{name}` does not use https://", hint=hint)
    if key is not None and not re.fullmatch(r"[!-~]*", key.reveal()):
        raise DuvetError(f"the key of provider `{name}` contains characters other than visible ASCII")
    return Endpoint(name, base, key, section.timeout, section.retries)


class ProviderClient:
    def __init__(self, clock: http_client.Clock | None = None) -> None:
        self.clock = clock or http_client.SystemClock()
        self._http = http_client.HttpClient()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def post(self, endpoint: Endpoint, path: str, headers: Mapping[str, str], body: object) -> bytes:
        import anyio

        try:
            content = json.encode(body)
        except UnicodeEncodeError:
            raise ModelError(ModelFault.REFUSED, "the request contains invalid Unicode") from None
        headers = {**headers, "content-type": "application/json"}

        def pause(error: TemporaryModelError, attempt: int) -> float | None:
            seconds = min(_FIRST_PAUSE * 2.0 ** (attempt - 1), _MAX_PAUSE) if error.wait is None else error.wait
            is_over = attempt > endpoint.retries or seconds > min(_MAX_WAIT, endpoint.timeout)
            return None if is_over else seconds

        ##= man/spec/ask.md#calls
        ##% duvet MUST repeat a model call after a temporary failure as often as configured, but only within the
        ##% provider's time limit.
        with anyio.move_on_after(endpoint.timeout):
            return await http_client.retry(
                lambda: self._send(endpoint, f"{endpoint.base}{path}", headers, content, MAX_RESPONSE_BYTES),
                TemporaryModelError,
                pause,
                self.clock,
            )
        raise _make_timeout_error(endpoint, endpoint.timeout)

    async def get(
        self, endpoint: Endpoint, url: str, headers: Mapping[str, str], seconds: float, max_bytes: int
    ) -> bytes:
        """Send one request, without retries."""
        import anyio

        with anyio.move_on_after(seconds):
            return await self._send(endpoint, url, headers, None, max_bytes)
        raise _make_timeout_error(endpoint, seconds)

    async def _send(
        self, endpoint: Endpoint, url: str, headers: Mapping[str, str], content: bytes | None, max_bytes: int
    ) -> bytes:
        name, method = endpoint.name, "GET" if content is None else "POST"
        try:
            reply = await self._http.send(
                method, url, headers, content, max_bytes=max_bytes, max_error_bytes=_MAX_REFUSAL_BYTES
            )
        except http_client.UnreachableError as error:
            hint = f"check that `providers.{name}.baseUrl` is right and the provider is running"
            message = f"can't reach provider `{name}`: {error}"
            raise TemporaryModelError(ModelFault.UNAVAILABLE, message, hint=hint) from None
        if reply.status != 200:
            raise _make_refusal(endpoint, reply, self.clock.now())
        if reply.is_compressed:
            message = f"provider `{name}` sent a compressed answer, which duvet does not accept"
            raise ModelError(ModelFault.MALFORMED, message)
        if reply.is_cut:
            raise ModelError(ModelFault.TOO_LARGE, f"provider `{name}` sent more than {max_bytes:,} bytes")
        return reply.body


def _make_refusal(endpoint: Endpoint, reply: http_client.HttpReply, now: float) -> ModelError:
    status, name = reply.status, endpoint.name
    try:
        value: Any = json.decode(reply.body)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    error = value.get("error", value) if isinstance(value, dict) else value
    message = error.get("message") if isinstance(error, dict) else error
    reason = shorten_to_line(endpoint.mask_address(message)) if isinstance(message, str) else ""
    words = f": {reason}" if reason else ""
    if status in (401, 403):
        hint = f"check the key in `providers.{name}.apiKey` or in the environment"
        return ModelError(ModelFault.UNAUTHORIZED, f"provider `{name}` refused access ({status}){words}", hint=hint)
    wait = _parse_retry_after(reply.headers.get("retry-after"), now)
    if status == 429:
        hint = (
            f"try again in {format_count(max(round(wait), 1), 'second')}"
            if wait is not None and wait <= _DAY
            else "try again later"
        )
        message = f"the rate limit of provider `{name}` is reached ({status}){words}"
        return TemporaryModelError(ModelFault.RATE_LIMITED, message, hint=hint, wait=wait)
    if status >= 500:
        return TemporaryModelError(ModelFault.UNAVAILABLE, f"provider `{name}` answered {status}{words}", wait=wait)
    if 300 <= status < 400:
        hint = f"set `providers.{name}.baseUrl` to the new URL"
        return ModelError(ModelFault.REFUSED, f"provider `{name}` redirects to another URL ({status})", hint=hint)
    hint = f"check `providers.{name}.baseUrl` and the name of the model"
    message = f"rejected the request ({status})" if status >= 400 else f"answered {status}"
    return ModelError(ModelFault.REFUSED, f"provider `{name}` {message}{words}", hint=hint)


def _parse_retry_after(header: str | None, now: float) -> float | None:
    text = (header or "").strip()
    if _SECONDS.match(text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return max((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now, 0.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _make_timeout_error(endpoint: Endpoint, seconds: float) -> ModelError:
    hint = f"increase `providers.{endpoint.name}.timeout`"
    return ModelError(ModelFault.TIMEOUT, f"provider `{endpoint.name}` did not answer within {seconds:g} s", hint=hint)
