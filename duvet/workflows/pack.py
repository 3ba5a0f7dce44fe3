"""Workflows as tools: each is called like any other."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, to_builtins

from duvet.runs import Run
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.services import RUNS
from duvet.tools.tool import Answer, Pack, Scope, Tool
from duvet.workflows.check import check
from duvet.workflows.doing import nowhere
from duvet.workflows.fault import Fault
from duvet.workflows.inputs import workflow_inputs
from duvet.workflows.known import Known, tools_of
from duvet.workflows.names import tool_alias, tool_name
from duvet.workflows.records import Workflow
from duvet.workflows.through import Through
from duvet.workflows.tool import run_workflow

PACK = "workflows"


class Offered(Struct, frozen=True):
    """Workflows that can be called, and what is wrong with them."""

    pack: Pack
    faults: Mapping[str, list[Fault]]


def offered(workflows: Mapping[str, Workflow], tools: Collection[Tool], models: Collection[str]) -> Offered:
    """The tools that these workflows are, beside others; one with a fault is no tool."""
    known = Known(tools={tool.name: tool for tool in tools}, workflows=workflows, models=models)
    faults = {name: found for name, one in workflows.items() if (found := check(one, known))}
    ##= man/spec/service.md#workflows
    ##% A workflow with a fault MUST NOT be offered as a tool, and `duvet mcp --check` MUST list the faults with their
    ##% places.
    wrong = {name for name, found in faults.items() if any(not fault.is_warning for fault in found)}
    return Offered(Pack(PACK, [_tool(one, known) for name, one in workflows.items() if name not in wrong]), faults)


def _tool(workflow: Workflow, known: Known) -> Tool:
    async def handler(asked: Struct, ctx: Ctx) -> Answer:
        return await _run(workflow, asked, ctx)

    ##= man/spec/service.md#workflows
    ##% A workflow MUST be the tool `workflow.NAME`, found as `workflow_NAME` too, which only those may call who may call
    ##% every tool in it.
    inner = list(known.reached(tools_of(workflow)))
    reads = all(tool.only_reads for tool in inner)
    ##= man/spec/gateway.md#recipes
    ##% Clients MUST be told of `km-recipe-run`, and of a workflow with a tool in it that may replace something, that it may
    ##% replace something.
    replaces = any(tool.replaces for tool in inner)
    return Tool(
        name=tool_name(workflow.name),
        title=workflow.name,
        description=workflow.description,
        input=workflow_inputs(workflow),
        output=Run,
        handler=handler,
        scope=Scope.MAINTAINER if any(tool.scope is Scope.MAINTAINER for tool in inner) else Scope.READER,
        is_idempotent=reads,
        replaces=replaces,
        reads=reads,
        labels=("workflow",),
        aliases=(tool_alias(workflow.name),),
    )


async def _run(workflow: Workflow, asked: Struct, ctx: Ctx) -> Answer:
    log = ctx.services.get(RUNS, nowhere)
    run = await run_workflow(workflow, asked, Through(ctx), ctx.progress, log, ctx.caller.journal)
    if run.error is None:
        return Answer(value=run)
    ##= man/spec/service.md#workflows
    ##% A workflow that fails MUST be answered with an error that has the code of the failure, and the record of the run
    ##% as its details.
    raise ToolError(Code(run.error.code.value), _failed(run), run.error.hint, details=to_builtins(run))


def _failed(run: Run) -> str:
    assert run.error
    where = f" in the step {run.error.step}" if run.error.step else ""
    return f"{run.workflow} failed{where}: {run.error.message}"
