"""The protocol of Anthropic."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from duvet.llm.endpoint import Endpoint
from duvet.llm.http import Http
from duvet.llm.listing import listed
from duvet.llm.provider import chosen, count_in, decoded, with_text
from duvet.llm.records import ModelRequest, Said, Usage

VERSION = "2023-06-01"
"""The version of the protocol."""


class _Block(Struct):
    type: str
    text: str = ""


class _Completion(Struct):
    content: list[_Block]
    stop_reason: str | None = None
    usage: Any = None


class Anthropic:
    """A provider at a URL."""

    def __init__(self, endpoint: Endpoint, http: Http) -> None:
        self.endpoint = endpoint
        self.http = http

    async def complete(self, model: str, request: ModelRequest) -> Said:
        body = chosen(
            model=model,
            system=request.system,
            messages=[{"role": one.role, "content": one.text} for one in request.conversation],
            max_tokens=request.max_tokens,
            temperature=request.temperature,
        )
        data = await self.http.post(self.endpoint, "/messages", self._headers, body)
        answer = decoded(self.endpoint.name, data, _Completion)
        text = self.endpoint.without_key("".join(block.text for block in answer.content if block.type == "text"))
        usage = Usage(count_in(answer.usage, "input_tokens"), count_in(answer.usage, "output_tokens"))
        return with_text(self.endpoint.name, Said(text, usage, answer.stop_reason == "max_tokens"))

    async def models(self, seconds: float) -> tuple[str, ...]:
        return await listed(self.http, self.endpoint, self._headers, seconds)

    @property
    def _headers(self) -> dict[str, str]:
        key = self.endpoint.key
        return {"anthropic-version": VERSION, **({"x-api-key": key.reveal()} if key else {})}
