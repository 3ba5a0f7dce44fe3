"""Metrics for Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from anyio import to_thread
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from starlette.types import Receive, Scope, Send

from duvet.knowledge.index import Knowledge, OpenStore
from duvet.knowledge.reports import COVERAGE_NAME, LIFECYCLE_NAME, PastCoverage, PastLifecycle, read_report_history
from duvet.server.http.guards import send_body
from duvet.store.database import StoreError
from duvet.tools import packs
from duvet.tools.dispatcher import CallRecord, ToolDispatcher
from duvet.tools.tool import KNOWLEDGE_SERVICE, ErrorCode

METRICS_PATH = "/metrics"
_REFUSALS = {401: "unauthorized", 429: "rate_limited"}  # The statuses of refusals before the tool is known.
UNKNOWN_LABEL = "unknown"  # The label of all unknown tools.
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_MAX_REPORTS = 100
_RESULTS = ("success", "error")
_COMMON_FAILURES = (
    *(ErrorCode.INVALID_REQUEST, ErrorCode.NOT_FOUND, ErrorCode.UNAUTHORIZED, ErrorCode.FORBIDDEN),
    *(ErrorCode.UPSTREAM_ERROR, ErrorCode.UNSUPPORTED_OPERATION, ErrorCode.CANCELLED),
)
_EXTRA_COUNTERS = {  # Additional counters of some tools: metric, description and label.
    "km-search": ("km_search_requests", "Searches", "status"),
    "km-upload": ("km_mcp_upload", "Uploaded files", "result"),
    "km-storetext": ("km_mcp_storetext", "Stored texts", "result"),
}
_FIGURES = {  # Gauges of the index, without their prefix `km_`, and their descriptions.
    "ingest_duration_seconds": "Duration of the last ingest run",
    "ingest_artifacts_total": "Files in the last ingest run",
    "ingest_chunks_total": "Chunks in the index after the last ingest run",
    "ingest_last_run_status": "1 if the last ingest run succeeded",
    "ingest_last_run_timestamp": "Start time of the last ingest run",
    "ingest_skips_total": "Unchanged files in the last ingest run",
    "ingest_stale_resolved_total": "Files that the last ingest run removed from the index",
    "coverage_last_run_status": "1 if the last ingest run has a coverage report",
    "coverage_last_run_timestamp": "Time of the last coverage report",
    "coverage_missing_artifacts_total": "Files that can't be searched",
    "coverage_stale_artifacts_total": "Files removed since the previous run",
    "coverage_history_snapshots": "Stored coverage reports",
    "lifecycle_last_run_status": "1 if the last ingest run has a lifecycle report",
    "lifecycle_last_run_timestamp": "Time of the last lifecycle report",
    "lifecycle_stale_docs_total": "Stale documents",
    "lifecycle_isolated_nodes_total": "Isolated files",
    "lifecycle_missing_test_subsystems_total": "Subsystems without tests",
    "lifecycle_removed_artifacts_total": "Files removed since the previous run",
    "lifecycle_history_snapshots": "Stored lifecycle reports",
}


class ServerMetrics:
    def __init__(self, version: str) -> None:
        # The default registry of the package is global to the process.
        own = self._registry = CollectorRegistry()
        ProcessCollector(registry=own)
        Gauge("duvet_info", "Version of the server", ["version"], registry=own).labels(version).set(1)
        self._calls = Counter("duvet_tool_requests", "Tool calls", ["tool", "face", "result"], registry=own)
        self._seconds = Histogram(
            "duvet_tool_request_seconds", "Duration of tool calls", ["tool"], buckets=_BUCKETS, registry=own
        )
        self._failures = Counter("duvet_tool_failures", "Failed tool calls", ["tool", "error"], registry=own)
        self._requests = Counter("duvet_http_requests", "HTTP requests", ["path", "status"], registry=own)
        self.at_work = Gauge("duvet_http_requests_at_work", "HTTP requests in progress", registry=own)
        self._knowledge = KnowledgeMetrics(own)
        self.dispatcher: ToolDispatcher | None = None  # Its tools start at 0, and its index has gauges.

    def record_call(self, call: CallRecord) -> None:
        ##= man/spec/service.md#operations
        ##% `/metrics` MUST count calls by tool, interface and outcome.
        # A label for each name that clients invent would fill the memory.
        tool = call.tool if call.is_known else UNKNOWN_LABEL
        result = _RESULTS[bool(call.code)]
        self._calls.labels(tool, call.face, result).inc()
        self._seconds.labels(tool).observe(call.seconds)
        if call.code:
            self._failures.labels(tool, call.code).inc()
        if call.pack == packs.KNOWLEDGE.name:
            self._knowledge.count(call, result)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.dispatcher is not None:
            await self._knowledge.refresh(self.dispatcher)
        await send_body(send, 200, self.text(), media_type=CONTENT_TYPE_LATEST)

    def text(self) -> bytes:
        return bytes(generate_latest(self._registry))

    def record_request(self, path: str, status: int) -> None:
        self._requests.labels(path, status).inc()
        if path in ("/mcp", "/api/mcp") and status in _REFUSALS:
            self._knowledge.failures.labels(UNKNOWN_LABEL, _REFUSALS[status]).inc()


class KnowledgeMetrics(Collector):
    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter("km_mcp_requests", "Tool calls", ["tool", "result"], registry=registry)
        self._seconds = Histogram(
            "km_mcp_request_seconds", "Duration of tool calls", ["tool"], buckets=_BUCKETS, registry=registry
        )
        self.failures = Counter("km_mcp_failures", "Failed tool calls", ["tool", "error"], registry=registry)
        self._extra = {
            tool: Counter(name, documentation, [label], registry=registry)
            for tool, (name, documentation, label) in _EXTRA_COUNTERS.items()
        }
        self._figures: Mapping[str, float] = {}  # Empty if this server uses no index.
        registry.register(self)

    def count(self, call: CallRecord, result: str) -> None:
        ##= man/spec/gateway.md#metrics
        ##% `/metrics` MUST count and time the calls to `km-` tools by tool, result and error code.
        self._requests.labels(call.tool, result).inc()
        self._seconds.labels(call.tool).observe(call.seconds)
        if call.code:
            self.failures.labels(call.tool, call.code).inc()
        if call.tool in self._extra:
            self._extra[call.tool].labels(result).inc()

    async def refresh(self, dispatcher: ToolDispatcher) -> None:
        registry = dispatcher.registry
        tools = [tool for tool in registry.list_usable() if registry.pack_of(tool).name == packs.KNOWLEDGE.name]
        # Declared counters start at 0.
        for tool in tools:
            self._seconds.labels(tool.name)
            for result in _RESULTS:
                self._requests.labels(tool.name, result)
                if tool.name in self._extra:
                    self._extra[tool.name].labels(result)
            for code in (*_COMMON_FAILURES, *tool.failures):
                self.failures.labels(tool.name, code.value)
        for error in _REFUSALS.values() if tools else ():
            self.failures.labels(UNKNOWN_LABEL, error)
        knowledge: Knowledge | None = dispatcher.environment.services.get(KNOWLEDGE_SERVICE) if tools else None
        self._figures = {}
        if knowledge is not None:
            found: Mapping[str, float] = {}
            ##= man/spec/gateway.md#metrics
            ##% `/metrics` MUST show the last ingest run and the stored reports as gauges, even if the index is unreadable.
            with suppress(StoreError):
                found = await to_thread.run_sync(knowledge.ask, _compute_figures)
            self._figures = {name: found.get(name, 0) for name in _FIGURES}

    def collect(self) -> Iterator[Metric]:
        for name, value in self._figures.items():
            yield GaugeMetricFamily(f"km_{name}", _FIGURES[name], value=float(value))


def _compute_figures(index: OpenStore) -> dict[str, float]:
    runs = index.store.runs(limit=1)
    if not runs:
        return {}
    run = runs[0]
    files = sum(run.artifact_counts.values())
    coverage = read_report_history(index.store, COVERAGE_NAME, PastCoverage, _MAX_REPORTS)
    lifecycle = read_report_history(index.store, LIFECYCLE_NAME, PastLifecycle, _MAX_REPORTS)
    figures: dict[str, float] = {
        "ingest_duration_seconds": run.duration_seconds,
        "ingest_artifacts_total": files,
        "ingest_chunks_total": run.chunk_count,
        "ingest_last_run_status": run.success,
        "ingest_last_run_timestamp": run.started_at,
        "ingest_skips_total": max(files - run.changed, 0),
        "ingest_stale_resolved_total": len(run.removed),
        "coverage_history_snapshots": len(coverage),
        "lifecycle_history_snapshots": len(lifecycle),
    }
    if coverage:
        figures |= {
            "coverage_last_run_status": coverage[0].run.run_id == run.run_id,
            "coverage_last_run_timestamp": coverage[0].generated_at,
            "coverage_missing_artifacts_total": coverage[0].summary.missing_artifacts,
            "coverage_stale_artifacts_total": coverage[0].summary.removed_artifacts,
        }
    if lifecycle:
        figures |= {
            "lifecycle_last_run_status": lifecycle[0].run.run_id == run.run_id,
            "lifecycle_last_run_timestamp": lifecycle[0].generated_at,
            "lifecycle_stale_docs_total": lifecycle[0].summary.stale_docs,
            "lifecycle_isolated_nodes_total": lifecycle[0].summary.isolated_nodes,
            "lifecycle_missing_test_subsystems_total": lifecycle[0].summary.subsystems_missing_tests,
            "lifecycle_removed_artifacts_total": lifecycle[0].summary.removed_artifacts,
        }
    return figures
