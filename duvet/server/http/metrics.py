"""What Prometheus may collect."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.http.answers import answer_with
from duvet.server.http.knowledge_metrics import PACK, KnowledgeMetrics
from duvet.server.http.standing import standing
from duvet.tools.desk import Desk
from duvet.tools.seen import Seen

PATH = "/metrics"
UNKNOWN = "unknown"
"""What every tool is called that isn't there."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """Counts calls of tools and requests."""

    def __init__(self, version: str) -> None:
        # One of our own: that of the package lasts as long as the process.
        self._collected = CollectorRegistry()
        ProcessCollector(registry=self._collected)
        own = self._collected
        Gauge("duvet_info", "The version that runs", ["version"], registry=own).labels(version).set(1)
        self._calls = Counter("duvet_tool_requests", "Calls of tools", ["tool", "face", "result"], registry=own)
        self._seconds = Histogram(
            "duvet_tool_request_seconds", "How long calls of tools take", ["tool"], buckets=_SECONDS, registry=own
        )
        self._failures = Counter("duvet_tool_failures", "Calls of tools that failed", ["tool", "error"], registry=own)
        self._requests = Counter("duvet_http_requests", "Requests over HTTP", ["path", "status"], registry=own)
        self._at_work = Gauge("duvet_http_requests_at_work", "Requests that are being answered", registry=own)
        self._knowledge = KnowledgeMetrics(own, _SECONDS)
        self._desk: Desk | None = None

    def tell_of(self, desk: Desk) -> None:
        """From now on, tell what is known there, too."""
        self._desk = desk

    def saw(self, call: Seen) -> None:
        """Count a call."""
        ##= man/spec/service.md#operations
        ##% Every call of a tool MUST be counted, by its tool, by the way it came and by what came of it.
        # Names that clients make up would fill the memory.
        tool = call.tool if call.is_known else UNKNOWN
        self._calls.labels(tool, call.face, "error" if call.code else "success").inc()
        self._seconds.labels(tool).observe(call.seconds)
        if call.code:
            self._failures.labels(tool, call.code).inc()
        self._knowledge.saw(call)

    async def catch_up(self) -> None:
        """Look at what is known now, and at which tools there are."""
        if self._desk is not None:
            registry = self._desk.registry
            found = [tool for tool in registry.usable() if registry.pack_of(tool).name == PACK]
            self._knowledge.expect(found)
            self._knowledge.stands(await standing(self._desk) if found else None)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        text: bytes = generate_latest(self._collected)
        return text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.catch_up()
        await answer_with(send, 200, self.text(), CONTENT_TYPE_LATEST)

    def began(self) -> None:
        """A request has come."""
        self._at_work.inc()

    def ended(self, path: str, status: int) -> None:
        """It is answered, or will never be."""
        self._at_work.dec()
        self._requests.labels(path, status).inc()


class RequestCount:
    """Counts requests, by paths that are served: names that clients make up would fill the memory."""

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: tuple[str, ...]) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 0

        async def heard(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        self._metrics.began()
        try:
            await self._app(scope, receive, heard)
        finally:
            self._metrics.ended(scope["path"] if scope["path"] in self._paths else "other", status)
