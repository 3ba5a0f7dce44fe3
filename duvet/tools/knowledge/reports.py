"""`km-coverage-summary`, `km-lifecycle-report` and `km-ingest-status`, and the usage notes of `km-help`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, structs

from duvet.knowledge import reports
from duvet.knowledge.index import OpenStore
from duvet.store import database, records
from duvet.templates import KNOWLEDGE_TEMPLATE, environment
from duvet.text import shorten_text
from duvet.tools.arguments import input_schema, make_argument_lines, output_schema
from duvet.tools.call_context import CallContext
from duvet.tools.knowledge import index
from duvet.tools.tool import ErrorCode, Scope, Tool, ToolAnswer, ToolError


class ReportInput(Struct, frozen=True, forbid_unknown_fields=True):
    history: index.HistoryCount = 0
    limit: index.EntryCount | None = None


async def _make_report(
    arguments: ReportInput,
    ctx: CallContext,
    make: Callable[[reports.ProjectFacts, float], reports.CoverageReport | reports.LifecycleReport],
    name: str,
    past: type[Any],
    shares: Mapping[str, int],
    *,
    graph: bool = False,
) -> ToolAnswer:
    # Without `limit`, a list or table with the share n gets 1/n of an answer.
    now = index.require_maintenance(ctx).now().timestamp()

    def question(known: OpenStore) -> Struct:
        facts = reports.load_facts(known.store, known.rules.ingest, graph=graph)
        if facts.run is None:
            raise ToolError(ErrorCode.UPSTREAM_ERROR, index.NOTHING_INGESTED, index.INGEST_HINT)
        report = make(facts, now)
        count = min(arguments.history, index.MAX_HISTORY)
        history = tuple(reports.read_report_history(known.store, name, past, count))
        return structs.replace(report, history=history) if count else report

    whole = await index.ask_knowledge(ctx, question)
    shown: dict[str, Any] = {}
    cuts = []
    for field, share in shares.items():
        value = getattr(whole, field)
        tables = value if isinstance(value, Mapping) else {field: value}
        cut = {
            key: index.limit_rows(rows, arguments.limit, ctx.caller.audience, share * len(tables))
            for key, rows in tables.items()
        }
        shown[field] = cut if tables is value else cut[field]
        count, total = (sum(map(len, one.values())) for one in (cut, tables))
        if count < total:
            cuts.append(f"{count} of {total} {field}")
    more = "set" if arguments.limit is None else "raise"
    warning = f"Lists are cut: {', '.join(cuts)} shown; for more, {more} limit." if cuts else ""
    return ToolAnswer(value=structs.replace(whole, **shown), warning=warning)


@index.declare_knowledge_tool("km-coverage-summary", "Index coverage", ReportInput, reports.CoverageReport)
async def report_coverage(arguments: ReportInput, ctx: CallContext) -> ToolAnswer:
    """Report what the index contains: the kinds and ages of files, the number of chunks, files that can't be searched
    and why, and removed files."""
    # Half of an answer is for all files, a quarter each for missing and removed files.
    shares = {"artifacts": 2, "missing_artifacts": 4, "removed_artifacts": 4}
    make, past = reports.make_coverage_report, reports.PastCoverage
    return await _make_report(arguments, ctx, make, reports.COVERAGE_NAME, past, shares)


@index.declare_knowledge_tool(
    "km-lifecycle-report", "Lifecycle report", ReportInput, reports.LifecycleReport, scope=Scope.MAINTAINER, reads=True
)
async def report_lifecycle(arguments: ReportInput, ctx: CallContext) -> ToolAnswer:
    """Report stale documents, isolated files, subsystems without tests, removed files, and requirements that only stale
    files cite."""
    lists = ("isolated", "stale_docs", "missing_tests", "removed_artifacts", "stale_requirements")
    shares = dict.fromkeys(lists, len(lists))
    make, past = reports.make_lifecycle_report, reports.PastLifecycle
    return await _make_report(arguments, ctx, make, reports.LIFECYCLE_NAME, past, shares, graph=True)


class KmIngestStatusInput(Struct, frozen=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description="Only runs with this profile, such as `local`")] | None = None
    history: Annotated[
        int, index.describe_limit("Number of runs to list, newest first", index.MAX_HISTORY, least=0)
    ] = 0


_OPTIONAL = {"profile": str, **{one.name: one.type for one in structs.fields(reports.RunRow)}}
_OPTIONAL |= {"run": reports.RunRow, "history": tuple[reports.RunRow, ...]}
KmIngestStatusOutput = defstruct(
    "KmIngestStatusOutput",
    [("status", str), *((name, kind | UnsetType, UNSET) for name, kind in _OPTIONAL.items())],
    frozen=True,
    kw_only=True,
)
"""The fields of the run, and the run itself as `run`; without a run, the requested profile."""


@index.declare_knowledge_tool(
    "km-ingest-status", "Ingest status", KmIngestStatusInput, KmIngestStatusOutput, scope=Scope.MAINTAINER, reads=True
)
async def show_ingest_status(arguments: KmIngestStatusInput, ctx: CallContext) -> ToolAnswer:
    """Report the last ingest run: its outcome, time, profile, file and chunk counts, and commit."""
    profile = (arguments.profile or "").strip() or None
    limit = max(min(arguments.history, index.MAX_HISTORY), 1)
    runs: Sequence[records.IngestRun] = ()
    try:
        runs = await index.ask_knowledge(ctx, lambda known: known.store.runs(profile, limit))
    except ToolError as error:
        # Without a store, there was no run.
        if error.code is not ErrorCode.UPSTREAM_ERROR or not isinstance(error.__cause__, database.StoreMissingError):
            raise
    ##= man/spec/knowledge.md#reports
    ##% `km-ingest-status` MUST return the outcome of the last ingest run or, with `profile`, of the last run with that
    ##% profile.
    if not runs:
        return ToolAnswer(value=KmIngestStatusOutput(status="not_found", profile=UNSET if profile is None else profile))
    last = reports.make_run_row(runs[0])
    flat = {name: value for name, value in structs.asdict(last).items() if value != ""}
    past = tuple(map(reports.make_run_row, runs)) if arguments.history else UNSET
    warning = "" if last.success else "This run failed and did not change the index."
    return ToolAnswer(value=KmIngestStatusOutput(status="ok", run=last, history=past, **flat), warning=warning)


class ToolUsage(Struct, frozen=True):
    description: str
    details: str


def _describe_usage(tool: Tool) -> ToolUsage:
    lines = [
        f"{one.name} ({one.terms}){': ' if one.description else ''}{one.description}"
        for one in make_argument_lines(input_schema(tool))
    ]
    return ToolUsage(tool.description, "\n".join([*lines, f"Scope: {tool.scope}."]))


class KmHelpInput(Struct, frozen=True, forbid_unknown_fields=True):
    tool: Annotated[str, Meta(description="The name of a tool, such as km-search [default: all]")] = ""
    include_spec: Annotated[bool, Meta(description="Also return the full reference of all km- tools")] = False


class KmHelpOutput(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    tools: dict[str, ToolUsage] | UnsetType = UNSET
    tool: str | UnsetType = UNSET
    usage: ToolUsage | UnsetType = UNSET
    spec: str | UnsetType = UNSET


@index.declare_knowledge_tool("km-help", "Help", KmHelpInput, KmHelpOutput)
async def show_help(request: KmHelpInput, ctx: CallContext) -> ToolAnswer:
    """Return usage notes for one km- tool or for all of them; include_spec adds the full reference of all km- tools."""
    registry = await ctx.calls.tools()
    own = registry.pack_of(registry.require(ctx.tool))
    tools = {tool.name: tool for tool in registry.list_usable() if registry.pack_of(tool) is own}
    spec: str | UnsetType = UNSET
    if request.include_spec:
        described = [
            {
                "tool": tool,
                "arguments": list(make_argument_lines(input_schema(tool))),
                "answers": list(output_schema(tool)["properties"]),
            }
            for tool in tools.values()
        ]
        spec = environment().get_template(KNOWLEDGE_TEMPLATE).render(tools=described)
    name = request.tool.strip()
    if not name:
        usages = {name: _describe_usage(tool) for name, tool in tools.items()}
        return ToolAnswer(value=KmHelpOutput(tools=usages, spec=spec))
    if name not in tools:
        message = f"Unknown tool '{shorten_text(name)}'. Available tools: {', '.join(sorted(tools))}"
        raise ToolError(ErrorCode.INVALID_REQUEST, message, "use one of these names, or omit tool for all")
    return ToolAnswer(value=KmHelpOutput(tool=name, usage=_describe_usage(tools[name]), spec=spec))
