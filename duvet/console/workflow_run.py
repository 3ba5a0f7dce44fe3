"""Results of workflow runs, for people and programs."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import json

from duvet.reports.detail import Block, FactsBlock, ListBlock, PassageBlock, TitleBlock
from duvet.reports.detail import render_blocks_text as rendered
from duvet.reports.tables import Column, Listing, TableLook, encode_json
from duvet.workflows.workflow import StepRun, WorkflowFailure, WorkflowRun

_STEPS = (
    Column("step", lambda step: step.id),
    Column("status", lambda step: step.status),
    Column("time", lambda step: _time(step)),
    Column("message", lambda step: step.message, wraps=True),
)


def render_run_text(run: WorkflowRun, look: TableLook = TableLook()) -> bytes:  # noqa: B008 - immutable
    """The steps with what became of each, why it has failed, and the outputs."""
    ##= man/spec/workflows.md#output
    ##% `duvet workflow run` MUST show people the steps, warnings, outputs and the reason of a failure, even when
    ##% interrupted, and give programs the whole record as JSON.
    return rendered(_blocks(run), look)


def render_run_json(run: WorkflowRun) -> bytes:
    """The whole record."""
    return encode_json(run)


def _blocks(run: WorkflowRun) -> Iterator[Block]:
    yield TitleBlock(run.workflow, (run.status, _seconds(run.duration_seconds)))
    yield ListBlock(Listing(_STEPS, run.steps))
    if run.error:
        yield TitleBlock("Why it has failed", rank=2)
        yield FactsBlock(_why(run.error))
    if run.warnings:
        yield TitleBlock("Warnings", rank=2)
        yield from (PassageBlock(warning) for warning in run.warnings)
    if run.outputs:
        yield TitleBlock("Outputs", rank=2)
        yield from _outputs(run)


def _why(failure: WorkflowFailure) -> list[tuple[str, str | None]]:
    return [
        ("step", failure.step),
        ("code", failure.code),
        ("cause", failure.cause),
        ("message", failure.message),
        ("hint", failure.hint),
    ]


def _outputs(run: WorkflowRun) -> Iterator[Block]:
    """Short ones side by side, texts of several lines below their names."""
    texts = {name: value for name, value in run.outputs.items() if isinstance(value, str) and "\n" in value}
    yield FactsBlock([(name, _short(value)) for name, value in run.outputs.items() if name not in texts])
    for name, value in texts.items():
        yield TitleBlock(name, rank=3)
        yield PassageBlock(value)


def _short(value: object) -> str:
    return value if isinstance(value, str) and value else json.encode(value).decode()


def _time(step: StepRun) -> str:
    return "" if step.status == "skipped" else _seconds(step.duration_seconds)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s"
