"""OpenAI-compatible providers, Anthropic, and the MCP client's own model."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from msgspec import DecodeError, Struct, ValidationError, json, structs

from duvet.config.service_tables import ProviderKind, ProviderSection, Secret
from duvet.errors import DuvetError
from duvet.llm import endpoint as endpoints
from duvet.llm.records import MAX_LINE_CHARACTERS, ModelError, ModelFault, ModelRequest, ProviderAnswer, TokenUsage

AnswerType = TypeVar("AnswerType", bound=Struct)
ANTHROPIC_VERSION = "2023-06-01"
_MAX_LIST_BYTES = 1024 * 1024
_MAX_MODELS = 1000
# Some models' templates open the block in the prompt, and an answer that was cut off may not close it.
_THOUGHT = re.compile(r"\A\s*(?:<think>.*?(?:</think>\s*|\Z)|(?:(?!<think>).)*?</think>\s*)", re.DOTALL)
Sampler = Callable[[ModelRequest], Awaitable[ProviderAnswer]]  # Asks an MCP client's model during its call.


class _Model(Struct):
    id: str


class _ModelList(Struct):
    data: list[_Model]


class _HttpProvider:
    def __init__(self, endpoint: endpoints.Endpoint, http: endpoints.ProviderClient) -> None:
        self.endpoint = endpoint
        self.http = http

    @property
    def _headers(self) -> dict[str, str]:
        raise NotImplementedError

    async def _post(self, path: str, kind: type[AnswerType], **values: object) -> AnswerType:
        body = {name: value for name, value in values.items() if value not in (None, "")}
        return self._decode(await self.http.post(self.endpoint, path, self._headers, body), kind)

    async def models(self, seconds: float) -> tuple[str, ...]:
        url = f"{self.endpoint.base}/models"
        data = await self.http.get(self.endpoint, url, self._headers, seconds, _MAX_LIST_BYTES)
        names = dict.fromkeys(self.endpoint.mask_key(one.id) for one in self._decode(data, _ModelList).data)
        valid = [one for one in names if one.isprintable() and 0 < len(one) <= MAX_LINE_CHARACTERS and " " not in one]
        return tuple(valid[:_MAX_MODELS])

    def _decode(self, data: bytes, kind: type[AnswerType]) -> AnswerType:
        try:
            return json.decode(data, type=kind)
        except ValidationError as error:
            raise self._make_malformed_error(f"an unexpected answer: {error}") from None
        except (DecodeError, UnicodeDecodeError, RecursionError):
            raise self._make_malformed_error("an answer that is not JSON") from None

    def _make_malformed_error(self, what: str) -> ModelError:
        hint = f"check `providers.{self.endpoint.name}.kind`, which selects the protocol"
        return ModelError(ModelFault.MALFORMED, f"provider `{self.endpoint.name}` sent {what}", hint=hint)

    def _answer(self, text: str, usage: TokenUsage, *, is_cut: bool) -> ProviderAnswer:
        ##= man/spec/ask.md#calls
        ##% duvet MUST remove a `<think>` block at the beginning of a provider's answer.
        text = _THOUGHT.sub("", text, count=1)
        return ProviderAnswer(self.endpoint.mask_key(text), usage, is_cut)


class _Block(Struct):
    type: str
    text: str = ""


class _AnthropicAnswer(Struct):
    content: list[_Block]
    stop_reason: str | None = None
    usage: Any = None


class AnthropicProvider(_HttpProvider):
    @property
    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key
        return {"anthropic-version": ANTHROPIC_VERSION, **({"x-api-key": key.reveal()} if key else {})}

    async def complete(self, model: str, request: ModelRequest) -> ProviderAnswer:
        answer = await self._post(
            "/messages",
            _AnthropicAnswer,
            model=model,
            system=request.system,
            messages=[{"role": "user", "content": request.prompt}],
            max_tokens=request.max_tokens,
            temperature=request.temperature,
        )
        text = "".join(block.text for block in answer.content if block.type == "text")
        usage = _read_usage(answer.usage, "input_tokens", "output_tokens")
        return self._answer(text, usage, is_cut=answer.stop_reason == "max_tokens")


class _Message(Struct):
    content: str


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


class _OpenAiAnswer(Struct):
    choices: list[_Choice]
    usage: Any = None


class OpenAiProvider(_HttpProvider):
    @property
    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key
        return {"authorization": f"Bearer {key.reveal()}"} if key else {}

    async def complete(self, model: str, request: ModelRequest) -> ProviderAnswer:
        messages = [{"role": "system", "content": request.system}] if request.system else []
        messages.append({"role": "user", "content": request.prompt})
        # OpenAI refuses the older name for its newer models; other providers know only the older name.
        is_openai = self.endpoint.base == endpoints.DEFAULT_URLS[ProviderKind.OPENAI]
        limit = {"max_completion_tokens" if is_openai else "max_tokens": request.max_tokens}
        body = {"model": model, "messages": messages, "temperature": request.temperature, **limit}
        answer = await self._post("/chat/completions", _OpenAiAnswer, **body)
        if not answer.choices:
            raise self._make_malformed_error("an answer without choices")
        first = answer.choices[0]
        usage = _read_usage(answer.usage, "prompt_tokens", "completion_tokens")
        return self._answer(first.message.content, usage, is_cut=first.finish_reason == "length")


def _read_usage(usage: Any, *names: str) -> TokenUsage:
    counts = [usage.get(name) if isinstance(usage, dict) else None for name in names]
    return TokenUsage(*(count if type(count) is int and count >= 0 else None for count in counts))


class Backend(Struct, frozen=True):
    name: str
    section: ProviderSection
    complete: Callable[[str, ModelRequest], Awaitable[ProviderAnswer]] | None = None  # None for an unusable provider.
    models: Callable[[float], Awaitable[tuple[str, ...]]] | None = None  # Takes a time limit; raises ModelError.
    endpoint: endpoints.Endpoint | None = None
    trouble: str = ""
    hint: str = ""

    @property
    def is_discovered(self) -> bool:
        return self.endpoint is not None and (self.section.discover or self.section.llms_txt)


def make_backend(
    name: str,
    section: ProviderSection,
    key: Secret | None,
    http: endpoints.ProviderClient,
    sampler: Sampler | None = None,
) -> Backend:
    if not section.enabled:
        hint = f"set `providers.{name}.enabled` to true"
        return Backend(name, section, trouble="the provider is disabled", hint=hint)
    if section.kind is ProviderKind.CLIENT:
        if sampler is None:
            return Backend(name, section, trouble="no MCP client offers a model")
        # The client takes the name of a model only as a hint.
        return Backend(name, section, lambda model, request: sampler(structs.replace(request, model=model or None)))
    if key is None and endpoints.is_default_provider(section):
        variable = endpoints.KEY_VARIABLES[section.kind]
        hint = f"set {variable}, or set `providers.{name}.apiKey` to another variable, such as `$API_KEY`"
        return Backend(name, section, trouble="the provider has no key", hint=hint)
    try:
        endpoint = endpoints.make_endpoint(name, section, key)
    except DuvetError as error:
        return Backend(name, section, trouble=error.message, hint=error.hint)
    provider = (AnthropicProvider if section.kind is ProviderKind.ANTHROPIC else OpenAiProvider)(endpoint, http)
    return Backend(name, section, provider.complete, provider.models, endpoint)
