"""What Prometheus may collect of the tools about what is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from duvet.server.http.standing import NOTHING, Standing
from duvet.tools.errors import Code
from duvet.tools.seen import Seen
from duvet.tools.tool import Tool

PACK = "knowledge"
SUCCESS, ERROR = "success", "error"
_USUAL = (
    Code.INVALID_REQUEST,
    Code.NOT_FOUND,
    Code.UNAUTHORIZED,
    Code.FORBIDDEN,
    Code.UPSTREAM_ERROR,
    Code.UNSUPPORTED_OPERATION,
    Code.CANCELLED,
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
        self._gauges = Gauges()
        registry.register(self._gauges)

    def saw(self, call: Seen) -> None:
        """Count a call, if it is of one of these tools."""
        if call.pack != PACK:
            return
        ##= man/spec/gateway.md#telemetry
        ##% Every call of a tool of the pack `knowledge` MUST be counted as `km_mcp_requests_total` by its tool and by its
        ##% result, `success` or `error`, MUST be timed as `km_mcp_request_seconds` by its tool, and MUST be counted as
        ##% `km_mcp_failures_total` by its tool and by the code of its error where it fails.
        result = ERROR if call.code else SUCCESS
        self._requests.labels(call.tool, result).inc()
        self._seconds.labels(call.tool).observe(call.seconds)
        if call.code:
            self._failures.labels(call.tool, call.code).inc()
        ##= man/spec/gateway.md#telemetry
        ##% `km-search`, `km-upload` and `km-storetext` MUST be counted as `km_search_requests_total`, `km_mcp_upload_total`
        ##% and `km_mcp_storetext_total`, too, by what came of them.
        if call.tool in self._also:
            self._also[call.tool].labels(result).inc()

    def expect(self, tools: Iterable[Tool]) -> None:
        """These tools may be called."""
        ##= man/spec/gateway.md#telemetry
        ##% These MUST stand at 0 for each tool that can be called before it is, and MUST have no labels whose values come
        ##% from callers.
        for tool in tools:
            self._seconds.labels(tool.name)
            for result in (SUCCESS, ERROR):
                self._requests.labels(tool.name, result)
                if tool.name in self._also:
                    self._also[tool.name].labels(result)
            for code in (*_USUAL, *tool.failures):
                self._failures.labels(tool.name, code.value)

    def stands(self, standing: Standing | None) -> None:
        """What is known now; None where there is nothing to ask."""
        self._gauges.standing = standing


class Gauges(Collector):
    """Tells what was found out last."""

    def __init__(self) -> None:
        self.standing: Standing | None = None

    def collect(self) -> Iterator[Metric]:
        for name in NOTHING.__struct_fields__ if self.standing else ():
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
