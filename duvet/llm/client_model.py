"""The model of the client that has called."""

from __future__ import annotations

from msgspec.structs import replace

from duvet.llm.provider import Sampler, with_text
from duvet.llm.records import ModelRequest, Said


class ClientModel:
    """A provider that the client is itself: it chooses the model, and may be given a hint."""

    def __init__(self, name: str, sampler: Sampler) -> None:
        self.name = name
        self.sampler = sampler

    async def complete(self, model: str, request: ModelRequest) -> Said:
        return with_text(self.name, await self.sampler(replace(request, model=model or None)))

    async def models(self, seconds: float) -> tuple[str, ...]:
        return ()
