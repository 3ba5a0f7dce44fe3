"""Providers: OpenAI-compatible, Anthropic, and the client's own model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from msgspec import DecodeError, Struct, ValidationError, json
from msgspec.structs import replace

from duvet.config.service_tables import ProviderKind, ProviderSection
from duvet.errors import DuvetError
from duvet.llm.endpoint import PROVIDER_DEFAULTS, Endpoint, ProviderKey, is_default_provider, make_endpoint
from duvet.llm.http import ProviderClient
from duvet.llm.records import MAX_LINE_CHARACTERS, ModelError, ModelFault, ModelRequest, ProviderAnswer, TokenUsage

AnswerType = TypeVar("AnswerType", bound=Struct)


class Provider(Protocol):
    """Somebody who answers for models."""

    async def complete(self, model: str, request: ModelRequest) -> ProviderAnswer:
        """What that model answers; ModelError where it doesn't."""

    async def models(self, seconds: float) -> tuple[str, ...]:
        """The models that it says it has, none where nobody can ask it; ModelError where it doesn't say."""


class Sampler(Protocol):
    """The model of a client, for as long as a call of that client lasts."""

    async def __call__(self, request: ModelRequest) -> ProviderAnswer:
        """What it answers; ModelError where it doesn't."""


def decode_provider_answer(name: str, data: bytes, kind: type[AnswerType]) -> AnswerType:
    """What a provider answers, as the protocol has it; ModelError where it doesn't fit."""
    ##= man/spec/ask.md#calls
    ##% duvet MUST reject an answer that is larger than 4 MiB, compressed without being asked for, or without text.
    try:
        return json.decode(data, type=kind)
    except ValidationError as error:
        raise make_malformed_error(name, f"not what the protocol has: {error}") from None
    except (DecodeError, UnicodeDecodeError, RecursionError):
        raise make_malformed_error(name, "what is no JSON") from None


def make_malformed_error(name: str, what: str) -> ModelError:
    """The error about an answer that can't be used."""
    return ModelError(ModelFault.MALFORMED, f"{name} answers {what}", hint="does `kind` say which protocol it speaks?")


def require_answer_text(name: str, said: ProviderAnswer) -> ProviderAnswer:
    """The answer, which has to hold something."""
    if not said.text.strip():
        raise ModelError(ModelFault.MALFORMED, f"{name} answers nothing", hint="try again, or allow it more tokens")
    return said


def read_token_count(usage: Any, name: str) -> int | None:
    """A number of tokens, where there is one."""
    count = usage.get(name) if isinstance(usage, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) and count >= 0 else None


def drop_unset(**values: object) -> dict[str, object]:
    """What is to be sent: those values that are given."""
    return {name: value for name, value in values.items() if value not in (None, "")}


_MOST_BYTES = 1024 * 1024
_MOST_MODELS = 1000


class _Model(Struct):
    id: str


class _Models(Struct):
    data: list[_Model]


async def list_provider_models(
    http: ProviderClient, endpoint: Endpoint, headers: Mapping[str, str], seconds: float
) -> tuple[str, ...]:
    """The names of its models, of those that are fit to be shown."""
    data = await http.get(endpoint, f"{endpoint.base}/models", headers, seconds, _MOST_BYTES)
    names = dict.fromkeys(
        endpoint.without_key(one.id) for one in decode_provider_answer(endpoint.name, data, _Models).data
    )
    fit = [name for name in names if name.isprintable() and 0 < len(name) <= MAX_LINE_CHARACTERS and " " not in name]
    return tuple(fit[:_MOST_MODELS])


ANTHROPIC_VERSION = "2023-06-01"
"""The version of the protocol."""


class _Block(Struct):
    type: str
    text: str = ""


class _Completion(Struct):
    content: list[_Block]
    stop_reason: str | None = None
    usage: Any = None


class AnthropicProvider:
    """A provider at a URL."""

    def __init__(self, endpoint: Endpoint, http: ProviderClient) -> None:
        self.endpoint = endpoint
        self.http = http

    async def complete(self, model: str, request: ModelRequest) -> ProviderAnswer:
        body = drop_unset(
            model=model,
            system=request.system,
            messages=[{"role": one.role, "content": one.text} for one in request.conversation],
            max_tokens=request.max_tokens,
            temperature=request.temperature,
        )
        data = await self.http.post(self.endpoint, "/messages", self._headers, body)
        answer = decode_provider_answer(self.endpoint.name, data, _Completion)
        text = self.endpoint.without_key("".join(block.text for block in answer.content if block.type == "text"))
        usage = TokenUsage(
            read_token_count(answer.usage, "input_tokens"), read_token_count(answer.usage, "output_tokens")
        )
        return require_answer_text(self.endpoint.name, ProviderAnswer(text, usage, answer.stop_reason == "max_tokens"))

    async def models(self, seconds: float) -> tuple[str, ...]:
        return await list_provider_models(self.http, self.endpoint, self._headers, seconds)

    @property
    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key
        return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key.reveal()} if key else {})}


class _Message(Struct):
    content: str


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


class _OpenaiCompletion(Struct):
    choices: list[_Choice]
    usage: Any = None


class OpenAiProvider:
    """A provider at a URL."""

    def __init__(self, endpoint: Endpoint, http: ProviderClient) -> None:
        self.endpoint = endpoint
        self.http = http

    async def complete(self, model: str, request: ModelRequest) -> ProviderAnswer:
        name = self.endpoint.name
        data = await self.http.post(self.endpoint, "/chat/completions", self._headers, self._body(model, request))
        answer = decode_provider_answer(name, data, _OpenaiCompletion)
        if not answer.choices:
            raise make_malformed_error(name, "without any choice")
        first = answer.choices[0]
        usage = TokenUsage(
            read_token_count(answer.usage, "prompt_tokens"), read_token_count(answer.usage, "completion_tokens")
        )
        return require_answer_text(
            name,
            ProviderAnswer(self.endpoint.without_key(first.message.content), usage, first.finish_reason == "length"),
        )

    async def models(self, seconds: float) -> tuple[str, ...]:
        return await list_provider_models(self.http, self.endpoint, self._headers, seconds)

    @property
    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key
        return {"authorization": f"Bearer {key.reveal()}"} if key else {}

    def _body(self, model: str, request: ModelRequest) -> dict[str, object]:
        said = [{"role": one.role, "content": one.text} for one in request.conversation]
        told = [{"role": "system", "content": request.system}] if request.system else []
        # OpenAI itself refuses the older name for its newer models; others know no newer one.
        is_own = self.endpoint.base == PROVIDER_DEFAULTS[ProviderKind.OPENAI].base_url
        limit = {"max_completion_tokens" if is_own else "max_tokens": request.max_tokens}
        return drop_unset(model=model, messages=[*told, *said], temperature=request.temperature, **limit)


class ClientModel:
    """A provider that the client is itself: it chooses the model, and may be given a hint."""

    def __init__(self, name: str, sampler: Sampler) -> None:
        self.name = name
        self.sampler = sampler

    async def complete(self, model: str, request: ModelRequest) -> ProviderAnswer:
        return require_answer_text(self.name, await self.sampler(replace(request, model=model or None)))

    async def models(self, seconds: float) -> tuple[str, ...]:
        return ()


class Backend(Struct, frozen=True):
    """A provider as it is configured."""

    name: str
    section: ProviderSection
    provider: Provider | None = None
    endpoint: Endpoint | None = None
    trouble: str = ""
    """Why nothing can be asked there."""
    hint: str = ""


def make_backends(
    providers: Mapping[str, ProviderSection],
    keys: Mapping[str, ProviderKey],
    http: ProviderClient,
    sampler: Sampler | None,
) -> dict[str, Backend]:
    """The providers by name, in their order."""
    return {name: _backend(name, section, keys.get(name), http, sampler) for name, section in providers.items()}


def _backend(
    name: str, section: ProviderSection, key: ProviderKey | None, http: ProviderClient, sampler: Sampler | None
) -> Backend:
    if not section.enabled:
        return Backend(name, section, trouble="it is disabled", hint=f"`providers.{name}.enabled` switches it on")
    if section.kind is ProviderKind.CLIENT:
        if sampler is None:
            return Backend(name, section, trouble="no client offers its model")
        return Backend(name, section, ClientModel(name, sampler))
    if key is None and is_default_provider(section):
        variable = PROVIDER_DEFAULTS[section.kind].variable
        hint = f"set {variable}, or name another variable as `providers.{name}.apiKey`"
        return Backend(name, section, trouble="it has no key", hint=hint)
    try:
        endpoint = make_endpoint(name, section, key)
    except DuvetError as error:
        return Backend(name, section, trouble=error.message, hint=error.hint)
    speaks = AnthropicProvider if section.kind is ProviderKind.ANTHROPIC else OpenAiProvider
    return Backend(name, section, speaks(endpoint, http), endpoint)
