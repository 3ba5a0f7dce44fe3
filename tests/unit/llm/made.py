"""Routers for tests, and what they need."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duvet.config.project_file import build_table
from duvet.config.schema import ServiceConfig
from duvet.config.settings import Secret
from duvet.llm.providers import Sampler
from duvet.llm.records import ModelError, ModelRequest, ModelResponse
from duvet.llm.router import StaticRouter
from duvet.tree.cache import BlobStore
from tests.unit.llm.wire import Wire, openai_says

KEY = "sk-very-secret-1234"
NOW = 1_700_000_000.0
FINE = openai_says("Hi")


class FakeClock:
    """Time that passes where somebody waits."""

    def __init__(self) -> None:
        self.time = NOW
        self.waits: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds


class Made:
    """A router, and what it has told and waited for."""

    def __init__(
        self,
        config: Mapping[str, Any],
        environ: Mapping[str, str] | None = None,
        *,
        blobs: BlobStore | None = None,
        sampler: Sampler | None = None,
    ) -> None:
        environ = environ or {}
        service = build_table(dict(config), ServiceConfig, lambda kind, text: Secret(environ[text.strip("${}")]))
        self.clock = FakeClock()
        self.log: list[str] = []
        self.router = StaticRouter(
            service.providers,
            service.routing,
            environ,
            clock=self.clock,
            blobs=blobs,
            log=self.log.append,
            sampler=sampler,
        )

    async def ask(self, prompt: str = "Hi", **more: Any) -> ModelResponse:
        return await self.router.invoke(ModelRequest(prompt=prompt, **more))


@asynccontextmanager
async def routing(
    config: Mapping[str, Any], environ: Mapping[str, str] | None = None, **more: Any
) -> AsyncIterator[Made]:
    """A router that hangs up in the end."""
    made = Made(config, environ, **more)
    try:
        yield made
    finally:
        await made.router.aclose()


def at(wire: Wire, kind: str = "openai", **more: Any) -> dict[str, Any]:
    """The section of a provider on loopback."""
    return {"kind": kind, "baseUrl": f"{wire.url}/v1", "defaultModel": "small", **more}


async def fails(section: dict[str, Any], environ: dict[str, str] | None = None) -> tuple[ModelError, list[float]]:
    """Why there is no answer, and what was waited for until then."""
    async with routing({"providers": {"one": section}}, environ) as made:
        with pytest.raises(ModelError) as caught:
            await made.ask()
        return caught.value, made.clock.waits
