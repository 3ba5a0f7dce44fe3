"""The protocol of OpenAI, which most others speak, too."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from duvet.config.service.providers import ProviderKind
from duvet.llm.endpoint import Endpoint
from duvet.llm.http import Http
from duvet.llm.key import USUAL
from duvet.llm.listing import listed
from duvet.llm.provider import chosen, count_in, decoded, malformed, with_text
from duvet.llm.records import ModelRequest, Said, Usage


class _Message(Struct):
    content: str


class _Choice(Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(Struct):
    choices: list[_Choice]
    usage: Any = None


class OpenAi:
    """A provider at a URL."""

    def __init__(self, endpoint: Endpoint, http: Http) -> None:
        self.endpoint = endpoint
        self.http = http

    async def complete(self, model: str, request: ModelRequest) -> Said:
        name = self.endpoint.name
        data = await self.http.post(self.endpoint, "/chat/completions", self._headers, self._body(model, request))
        answer = decoded(name, data, _Completion)
        if not answer.choices:
            raise malformed(name, "without any choice")
        first = answer.choices[0]
        usage = Usage(count_in(answer.usage, "prompt_tokens"), count_in(answer.usage, "completion_tokens"))
        return with_text(
            name, Said(self.endpoint.without_key(first.message.content), usage, first.finish_reason == "length")
        )

    async def models(self, seconds: float) -> tuple[str, ...]:
        return await listed(self.http, self.endpoint, self._headers, seconds)

    @property
    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key
        return {"authorization": f"Bearer {key.reveal()}"} if key else {}

    def _body(self, model: str, request: ModelRequest) -> dict[str, object]:
        said = [{"role": one.role, "content": one.text} for one in request.conversation]
        told = [{"role": "system", "content": request.system}] if request.system else []
        # OpenAI itself refuses the older name for its newer models; others know no newer one.
        is_own = self.endpoint.base == USUAL[ProviderKind.OPENAI].base_url
        limit = {"max_completion_tokens" if is_own else "max_tokens": request.max_tokens}
        return chosen(model=model, messages=[*told, *said], temperature=request.temperature, **limit)
