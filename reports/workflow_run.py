"""What came of a workflow, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import json

from duvet.reports.blocks import Block, Facts, Passage, Rows, Title
from duvet.reports.json_document import document
from duvet.reports.listing import Column, Listing, Look
from duvet.reports.show_text import render as rendered
from duvet.runs import Failure, Run, StepRun

_STEPS = (
    Column("step", lambda step: step.id),
    Column("status", lambda step: step.status),
    Column("time", lambda step: _time(step)),
    Column("message", lambda step: step.message, wraps=True),
)


def render_text(run: Run, look: Look = Look()) -> bytes:  # noqa: B008 - immutable
    """The steps with what became of each, why it has failed, and the outputs."""
    ##= man/spec/workflows.md#reports
    ##% People MUST be shown what became of each step, why a run has failed with what to do, its warnings, and its
    ##% outputs.
    return rendered(_blocks(run), look)


def render_json(run: Run) -> bytes:
    """The whole record."""
    ##= man/spec/workflows.md#reports
    ##% Programs MUST be given the whole record of a run as JSON.
    return document(run)


def _blocks(run: Run) -> Iterator[Block]:
    yield Title(run.workflow, (run.status, _seconds(run.duration_seconds)))
    yield Rows(Listing(_STEPS, run.steps))
    if run.error:
        yield Title("Why it has failed", rank=2)
        yield Facts(_why(run.error))
    if run.warnings:
        yield Title("Warnings", rank=2)
        yield from (Passage(warning) for warning in run.warnings)
    if run.outputs:
        yield Title("Outputs", rank=2)
        yield from _outputs(run)


def _why(failure: Failure) -> list[tuple[str, str | None]]:
    return [
        ("step", failure.step),
        ("code", failure.code),
        ("cause", failure.cause),
        ("message", failure.message),
        ("hint", failure.hint),
    ]


def _outputs(run: Run) -> Iterator[Block]:
    """Short ones side by side, texts of several lines below their names."""
    texts = {name: value for name, value in run.outputs.items() if isinstance(value, str) and "\n" in value}
    yield Facts([(name, _short(value)) for name, value in run.outputs.items() if name not in texts])
    for name, value in texts.items():
        yield Title(name, rank=3)
        yield Passage(value)


def _short(value: object) -> str:
    return value if isinstance(value, str) and value else json.encode(value).decode()


def _time(step: StepRun) -> str:
    return "" if step.status == "skipped" else _seconds(step.duration_seconds)


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s"
