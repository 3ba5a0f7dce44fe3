"""Workflows as tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, to_builtins

from duvet.llm.records import ModelRequest, ModelResponse
from duvet.tools import call_context, packs, tool
from duvet.workflows import check, steps, workflow as records


class CallerBackend:
    def __init__(self, ctx: call_context.CallContext) -> None:
        self._ctx = ctx

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> steps.StepResult:
        answer = await self._ctx.call(name, arguments, face=tool.WORKFLOW_SOURCE, seconds=time_limit)
        value = tool.make_structured_content(answer)
        # A workflow's warnings are part of its record.
        inner = value.get("warnings", ()) if records.find_called_workflow(name) or name == records.RECIPE_TOOL else ()
        return steps.StepResult(value, [*filter(None, [answer.warning]), *inner])

    async def model(self, request: ModelRequest) -> ModelResponse:
        return await self._ctx.ask_model(request)


class WorkflowTools(Struct, frozen=True):
    pack: tool.Pack
    faults: Mapping[str, list[check.WorkflowFault]]


def make_workflow_tools(workflows: Mapping[str, records.Workflow], tools: Collection[tool.Tool]) -> WorkflowTools:
    known = check.WorkflowEnvironment(tools={one.name: one for one in tools}, workflows=workflows)
    faults = {name: found for name, one in workflows.items() if (found := check.check_workflow(one, known))}
    ##= man/spec/service.md#workflows
    ##% The server MUST offer each workflow without errors as the tool `workflow.NAME`.
    faulty = {name for name, found in faults.items() if any(not fault.is_warning for fault in found)}
    return WorkflowTools(
        tool.Pack(
            packs.WORKFLOWS_PACK, [_make_tool(one, known) for name, one in workflows.items() if name not in faulty]
        ),
        faults,
    )


def _make_tool(workflow: records.Workflow, known: check.WorkflowEnvironment) -> tool.Tool:
    async def handler(request: Struct, ctx: call_context.CallContext) -> tool.ToolAnswer:
        from duvet.workflows.engine import run_workflow

        log = ctx.services.get(tool.RUNS_SERVICE, steps.discard_run)
        run = await run_workflow(workflow, request, CallerBackend(ctx), ctx.caller.progress, log, ctx.caller.journal)
        if run.error is None:
            return tool.ToolAnswer(value=run)
        message = run.error.describe(run.workflow)
        raise tool.ToolError(run.error.code, message, run.error.hint, to_builtins(run), cause=run.error.cause)

    ##= man/spec/service.md#workflows
    ##% The server MUST offer a workflow only to callers that may call every tool in the workflow.
    inner = list(known.list_reachable(filter(None, map(check.find_step_tool, workflow.steps))))
    reads = all(one.only_reads for one in inner)
    return tool.Tool(
        name=records.WORKFLOW_PREFIX + workflow.name,
        title=workflow.name,
        description=workflow.description,
        input=records.make_input_record(workflow),
        output=records.WorkflowRun,
        handler=handler,
        scope=tool.Scope.MAINTAINER if any(one.scope is tool.Scope.MAINTAINER for one in inner) else tool.Scope.READER,
        is_idempotent=reads,
        replaces=any(one.replaces for one in inner),
        reads=reads,
        labels=("workflow",),
        aliases=(records.WORKFLOW_ALIAS_PREFIX + workflow.name,),
    )
