"""Runs workflows and recipes from the shell, and prints the results for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import json

from duvet.console import command, streams
from duvet.console.application import invoke_tool
from duvet.reports.detail import Block, FactsBlock, PassageBlock, TitleBlock
from duvet.reports.tables import Column, Listing
from duvet.server.application import Application
from duvet.tools.tool import RUNS_SERVICE, Tool, ToolError
from duvet.workflows.workflow import WorkflowRun

_STEPS = (
    Column("step", lambda step: step.id),
    Column("status", lambda step: step.status),
    Column("time", lambda step: "" if step.status == "skipped" else f"{step.duration_seconds:.1f} s"),
    Column("message", lambda step: step.message, wraps=True),
)


def call_workflow_tool(application: Application, tool: Tool, arguments: Mapping[str, object]) -> WorkflowRun:
    runs: list[WorkflowRun] = []
    on_terminal = command.wants_bar(command.current_settings())
    try:
        invoke_tool(application, tool, arguments, prints_progress=on_terminal, services={RUNS_SERVICE: runs.append})
    except (ToolError, KeyboardInterrupt):
        if not runs or runs[-1].error is None:
            raise
    # The records of workflows that the run called come before its own record.
    return runs[-1]


def print_run(run: WorkflowRun, format: str | None, record: object = None) -> int:
    streams.print_detail(record or run, make_run_blocks(run), format if format == "json" else "text")
    if run.cancellation:
        raise KeyboardInterrupt
    return streams.OK if run.status == "success" else streams.FAILED


def make_run_blocks(run: WorkflowRun) -> Iterator[Block]:
    yield TitleBlock(run.workflow, (run.status, f"{run.duration_seconds:.1f} s"))
    yield Listing(_STEPS, run.steps)
    if failure := run.error:
        yield TitleBlock("Error", rank=2)
        yield FactsBlock([(name, getattr(failure, name)) for name in ("step", "code", "cause", "message", "hint")])
    if run.warnings:
        yield TitleBlock("Warnings", rank=2)
        yield from (PassageBlock(warning) for warning in run.warnings)
    if run.outputs:
        yield TitleBlock("Outputs", rank=2)
        # A text of several lines is shown below its name.
        texts = {name: value for name, value in run.outputs.items() if isinstance(value, str) and "\n" in value}
        short = {name: value for name, value in run.outputs.items() if name not in texts}
        yield FactsBlock(
            [
                (name, value if isinstance(value, str) and value else json.encode(value).decode())
                for name, value in short.items()
            ]
        )
        for name, value in texts.items():
            yield TitleBlock(name, rank=3)
            yield PassageBlock(value)
