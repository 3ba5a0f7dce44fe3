"""Workflows as tools: each is called like any other."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, to_builtins

from duvet.llm.errors import NoModelError
from duvet.llm.records import MOST_TOKENS, ModelRequest
from duvet.llm.router import StaticRouter
from duvet.runs import Run
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.services import MODELS, RUNS
from duvet.tools.tool import Answer, Pack, Scope, Tool
from duvet.workflows.check import check
from duvet.workflows.doing import ModelAsked, ModelSaid, nowhere
from duvet.workflows.fault import Fault
from duvet.workflows.inputs import workflow_inputs
from duvet.workflows.known import Known, tools_of
from duvet.workflows.names import tool_alias, tool_name
from duvet.workflows.records import Workflow
from duvet.workflows.tool import run_workflow

PACK = "workflows"
FACE = "workflow"


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
    return Tool(
        name=tool_name(workflow.name),
        title=workflow.name,
        description=workflow.description,
        input=workflow_inputs(workflow),
        output=Run,
        handler=handler,
        scope=Scope.MAINTAINER if any(tool.scope is Scope.MAINTAINER for tool in inner) else Scope.READER,
        is_idempotent=reads,
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


class Through:
    """Lets a workflow call tools and models as its own caller."""

    def __init__(self, ctx: Ctx) -> None:
        self._ctx = ctx

    async def tool(self, name: str, arguments: Mapping[str, object], time_limit: float | None) -> object:
        from duvet.tools.results import structured

        return structured(await self._ctx.call(name, arguments, face=FACE, seconds=time_limit))

    async def model(self, asked: ModelAsked) -> ModelSaid:
        router: StaticRouter | None = self._ctx.services.get(MODELS)
        if router is None:
            raise NoModelError()
        if self._ctx.caller.sampler is not None:
            router = router.with_sampler(self._ctx.caller.sampler)
        response = await router.invoke(_request(asked, router.routing))
        return ModelSaid(text=response.text, model=response.name, warnings=response.warnings)


def _request(asked: ModelAsked, tasks: Collection[str]) -> ModelRequest:
    is_task = asked.model in tasks
    return ModelRequest(
        prompt=asked.prompt,
        system=asked.system or "",
        model=None if is_task else asked.model,
        task=asked.model if is_task else None,
        temperature=asked.temperature,
        max_tokens=MOST_TOKENS if asked.max_tokens is None else asked.max_tokens,
    )
