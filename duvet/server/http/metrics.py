"""Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duvet.server.http.guards import send_body
from duvet.store.errors import StoreError
from duvet.tools.audit import CallRecord
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.tool import KNOWLEDGE_SERVICE, ErrorCode, Tool

if TYPE_CHECKING:
    from duvet.knowledge.index import Knowledge, OpenStore


_MOST = 100
"""Reports that are counted."""


class KnowledgeFigures(Struct, frozen=True, kw_only=True):
    """What the last run has left, as each metric has it, without the `km_` before it."""

    ingest_duration_seconds: float = 0
    ingest_artifacts_total: int = 0
    ingest_chunks_total: int = 0
    ingest_last_run_status: bool = False
    ingest_last_run_timestamp: float = 0
    ingest_skips_total: int = 0
    ingest_stale_resolved_total: int = 0
    coverage_last_run_status: bool = False
    coverage_last_run_timestamp: float = 0
    coverage_missing_artifacts_total: int = 0
    coverage_stale_artifacts_total: int = 0
    coverage_history_snapshots: int = 0
    lifecycle_last_run_status: bool = False
    lifecycle_last_run_timestamp: float = 0
    lifecycle_stale_docs_total: int = 0
    lifecycle_isolated_nodes_total: int = 0
    lifecycle_missing_test_subsystems_total: int = 0
    lifecycle_removed_artifacts_total: int = 0
    lifecycle_history_snapshots: int = 0


NO_FIGURES = KnowledgeFigures()


async def read_knowledge_figures(desk: ToolDispatcher) -> KnowledgeFigures | None:
    """How things stand now; None where nobody can ask what is known."""
    from anyio import to_thread

    knowledge: Knowledge | None = desk.environment.services.get(KNOWLEDGE_SERVICE)
    if knowledge is None:
        return None
    try:
        return await to_thread.run_sync(knowledge.ask, _found)
    except StoreError:
        ##= man/spec/gateway.md#telemetry
        ##% `/metrics` MUST show the last ingest run and the reports as `km_ingest_`, `km_coverage_` and `km_lifecycle_`
        ##% gauges, and answer even when the index cannot be read.
        return NO_FIGURES


def _found(known: OpenStore) -> KnowledgeFigures:
    from duvet.knowledge.reports.coverage import PastCoverage
    from duvet.knowledge.reports.history import COVERAGE_NAME, LIFECYCLE_NAME, read_report_history
    from duvet.knowledge.reports.lifecycle import PastLifecycle

    runs = known.store.runs(limit=1)
    if not runs:
        return NO_FIGURES
    run = runs[0]
    files = sum(run.artifact_counts.values())
    covered = read_report_history(known.store, COVERAGE_NAME, PastCoverage, _MOST)
    living = read_report_history(known.store, LIFECYCLE_NAME, PastLifecycle, _MOST)
    gone, stood = (covered[0].summary if covered else None), (living[0].summary if living else None)
    return KnowledgeFigures(
        ingest_duration_seconds=run.duration_seconds,
        ingest_artifacts_total=files,
        ingest_chunks_total=run.chunk_count,
        ingest_last_run_status=run.success,
        ingest_last_run_timestamp=run.started_at,
        ingest_skips_total=max(files - run.changed, 0),
        ingest_stale_resolved_total=len(run.removed),
        coverage_last_run_status=bool(covered) and covered[0].run.run_id == run.run_id,
        coverage_last_run_timestamp=covered[0].generated_at if covered else 0,
        coverage_missing_artifacts_total=gone.missing_artifacts if gone else 0,
        coverage_stale_artifacts_total=gone.removed_artifacts if gone else 0,
        coverage_history_snapshots=len(covered),
        lifecycle_last_run_status=bool(living) and living[0].run.run_id == run.run_id,
        lifecycle_last_run_timestamp=living[0].generated_at if living else 0,
        lifecycle_stale_docs_total=stood.stale_docs if stood else 0,
        lifecycle_isolated_nodes_total=stood.isolated_nodes if stood else 0,
        lifecycle_missing_test_subsystems_total=stood.subsystems_missing_tests if stood else 0,
        lifecycle_removed_artifacts_total=stood.removed_artifacts if stood else 0,
        lifecycle_history_snapshots=len(living),
    )


KNOWLEDGE_PACK = "knowledge"
SUCCESS_LABEL, ERROR_LABEL = "success", "error"
_USUAL = (
    ErrorCode.INVALID_REQUEST,
    ErrorCode.NOT_FOUND,
    ErrorCode.UNAUTHORIZED,
    ErrorCode.FORBIDDEN,
    ErrorCode.UPSTREAM_ERROR,
    ErrorCode.UNSUPPORTED_OPERATION,
    ErrorCode.CANCELLED,
)
"""The codes that every one of these tools may fail with."""
_ALSO = {
    "km-search": ("km_search_requests", "Searches", "status"),
    "km-upload": ("km_mcp_upload", "Files that were copied", "result"),
    "km-storetext": ("km_mcp_storetext", "Texts that were stored", "result"),
}
"""Tools that are counted once more: by which metric."""


class KnowledgeMetrics:
    """Counts calls of these tools, and tells what is known."""

    def __init__(self, registry: CollectorRegistry, buckets: tuple[float, ...]) -> None:
        self._requests = Counter("km_mcp_requests", "Calls of tools", ["tool", "result"], registry=registry)
        self._seconds = Histogram(
            "km_mcp_request_seconds", "How long calls of tools take", ["tool"], buckets=buckets, registry=registry
        )
        self._failures = Counter("km_mcp_failures", "Calls of tools that failed", ["tool", "error"], registry=registry)
        self._also = {
            tool: Counter(name, words, [label], registry=registry) for tool, (name, words, label) in _ALSO.items()
        }
        self._gauges = KnowledgeGauges()
        registry.register(self._gauges)

    def saw(self, call: CallRecord) -> None:
        """Count a call, if it is of one of these tools."""
        if call.pack != KNOWLEDGE_PACK:
            return
        ##= man/spec/gateway.md#telemetry
        ##% `/metrics` MUST count and time the calls of `km-` tools by tool, result and error code, from 0 on and
        ##% without labels that callers choose.
        result = ERROR_LABEL if call.code else SUCCESS_LABEL
        self._requests.labels(call.tool, result).inc()
        self._seconds.labels(call.tool).observe(call.seconds)
        if call.code:
            self._failures.labels(call.tool, call.code).inc()
        if call.tool in self._also:
            self._also[call.tool].labels(result).inc()

    def expect(self, tools: Iterable[Tool]) -> None:
        """These tools may be called."""
        for tool in tools:
            self._seconds.labels(tool.name)
            for result in (SUCCESS_LABEL, ERROR_LABEL):
                self._requests.labels(tool.name, result)
                if tool.name in self._also:
                    self._also[tool.name].labels(result)
            for code in (*_USUAL, *tool.failures):
                self._failures.labels(tool.name, code.value)

    def stands(self, standing: KnowledgeFigures | None) -> None:
        """What is known now; None where there is nothing to ask."""
        self._gauges.standing = standing


class KnowledgeGauges(Collector):
    """Tells what was found out last."""

    def __init__(self) -> None:
        self.standing: KnowledgeFigures | None = None

    def collect(self) -> Iterator[Metric]:
        for name in NO_FIGURES.__struct_fields__ if self.standing else ():
            value = getattr(self.standing, name)
            yield GaugeMetricFamily(f"km_{name}", _WORDS[name], value=float(value))


_WORDS = {
    "ingest_duration_seconds": "How long the last run took",
    "ingest_artifacts_total": "Files that there were in the last run",
    "ingest_chunks_total": "Pieces that there were after the last run",
    "ingest_last_run_status": "Whether the last run has succeeded",
    "ingest_last_run_timestamp": "When the last run began",
    "ingest_skips_total": "Files that were as before in the last run",
    "ingest_stale_resolved_total": "Files that the last run has forgotten",
    "coverage_last_run_status": "Whether there is a report of coverage of the last run",
    "coverage_last_run_timestamp": "When the last report of coverage was made",
    "coverage_missing_artifacts_total": "Files that can't be searched",
    "coverage_stale_artifacts_total": "Files that are gone since the run before",
    "coverage_history_snapshots": "Reports of coverage that are kept",
    "lifecycle_last_run_status": "Whether there is a report of the lifecycle of the last run",
    "lifecycle_last_run_timestamp": "When the last report of the lifecycle was made",
    "lifecycle_stale_docs_total": "Documents that nobody has changed for long",
    "lifecycle_isolated_nodes_total": "Files that lead to nothing else",
    "lifecycle_missing_test_subsystems_total": "Subsystems without tests",
    "lifecycle_removed_artifacts_total": "Files that are gone since the run before",
    "lifecycle_history_snapshots": "Reports of the lifecycle that are kept",
}


METRICS_PATH = "/metrics"
UNKNOWN_LABEL = "unknown"
"""What every tool is called that isn't there."""
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class ServerMetrics:
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
        self._desk: ToolDispatcher | None = None

    def tell_of(self, desk: ToolDispatcher) -> None:
        """From now on, tell what is known there, too."""
        self._desk = desk

    def saw(self, call: CallRecord) -> None:
        """Count a call."""
        ##= man/spec/service.md#operations
        ##% `/metrics` MUST count calls by tool, interface and outcome, and MUST be open only to callers who may call
        ##% tools.
        # Names that clients make up would fill the memory.
        tool = call.tool if call.is_known else UNKNOWN_LABEL
        self._calls.labels(tool, call.face, "error" if call.code else "success").inc()
        self._seconds.labels(tool).observe(call.seconds)
        if call.code:
            self._failures.labels(tool, call.code).inc()
        self._knowledge.saw(call)

    async def catch_up(self) -> None:
        """Look at what is known now, and at which tools there are."""
        if self._desk is not None:
            registry = self._desk.registry
            found = [tool for tool in registry.usable() if registry.pack_of(tool).name == KNOWLEDGE_PACK]
            self._knowledge.expect(found)
            self._knowledge.stands(await read_knowledge_figures(self._desk) if found else None)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        text: bytes = generate_latest(self._collected)
        return text

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.catch_up()
        await send_body(send, 200, self.text(), CONTENT_TYPE_LATEST)

    def began(self) -> None:
        """A request has come."""
        self._at_work.inc()

    def ended(self, path: str, status: int) -> None:
        """It is answered, or will never be."""
        self._at_work.dec()
        self._requests.labels(path, status).inc()


class RequestCount:
    """Counts requests, by paths that are served: names that clients make up would fill the memory."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics, paths: tuple[str, ...]) -> None:
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
