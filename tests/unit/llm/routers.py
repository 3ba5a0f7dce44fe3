"""Routers to providers on loopback, and a clock without real waiting."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import convert

from duvet.config.service_tables import Secret, ServiceConfig
from duvet.llm.records import ModelError, ModelRequest, ModelResponse
from duvet.llm.router import StaticRouter
from tests.unit.llm.provider_server import Reply, Wire, openai_says

KEY = "sk-very-secret-1234"
NOW = 1_700_000_000.0
FINE = openai_says("Hi")


class FakeClock:
    def __init__(self) -> None:
        self.time = NOW
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


class Made:
    def __init__(self, config: Mapping[str, Any], environ: Mapping[str, str], **more: Any) -> None:
        service = convert(dict(config), ServiceConfig, dec_hook=lambda kind, text: Secret(environ[text.strip("${}")]))
        self.clock = FakeClock()
        self.log: list[str] = []
        self.router = StaticRouter(
            service.providers, service.routing, environ, clock=self.clock, log=self.log.append, **more
        )

    async def ask(self, prompt: str = "Hi", **more: Any) -> ModelResponse:
        return await self.router.invoke(ModelRequest(prompt=prompt, **more))

    def models(self) -> list[str]:
        return [one.model for one in self.router.known_models()]


@asynccontextmanager
async def routing(config: Mapping[str, Any], **more: Any) -> AsyncIterator[Made]:
    made = Made(config, {"K": KEY, "SLASH": "ab/cdef"}, **more)
    try:
        yield made
    finally:
        await made.router.aclose()


def make_provider(wire: Wire, kind: str = "openai", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "baseUrl": f"{wire.url}/v1", "defaultModel": "small", **more}


@asynccontextmanager
async def one(wire: Wire, *replies: Reply, kind: str = "openai", **section: Any) -> AsyncIterator[Made]:
    if replies:
        wire.replies.clear()
        wire.plan(*replies)
    async with routing({"providers": {"one": make_provider(wire, kind, **section)}}) as made:
        yield made


async def fails(wire: Wire, *replies: Reply, kind: str = "openai", **section: Any) -> tuple[ModelError, list[float]]:
    """Return the error of a call to a provider with these replies, and the waits before it."""
    async with one(wire, *replies, kind=kind, **section) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask()
        return caught.value, made.clock.waits
