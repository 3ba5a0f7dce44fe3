"""The record of a run, no larger than it may be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import json
from msgspec.structs import replace

from duvet.runs import Run
from duvet.workflows.paths import spelled
from duvet.workflows.plain import size

MOST_BYTES = 200_000
_LONGEST = 500
_HEADS = (500, 0)
"""How much is left of what is cut; nothing where that is still too much."""
_ROOM = 2_000
"""For what is said of it."""
_NAMED = 5

_Parts = Mapping[tuple[str, str], Any]


def clipped(text: str) -> str:
    """The text of a message, which may quote what has no end."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def bounded(run: Run) -> Run:
    """The run with its largest results cut where it is too large."""
    ##= man/spec/workflows.md#bounds
    ##% A record of a run that would have more than 200,000 bytes MUST be cut, the largest results first, and say so.
    found, over = run, size(run) - MOST_BYTES
    for head in _HEADS:
        if size(found) > MOST_BYTES:
            found = _cut(run, over + _ROOM, head)
    if size(found) > MOST_BYTES:
        return replace(found, outputs={}, warnings=[*run.warnings, _told([("outputs",)])])
    return found


def _cut(run: Run, over: int, head: int) -> Run:
    parts = _parts(run)
    sizes = {key: size(value) for key, value in parts.items()}
    cut: dict[tuple[str, str], str] = {}
    for key in sorted(sizes, key=lambda key: -sizes[key]):
        if over <= 0:
            break
        rest = _head(parts[key], head)
        if size(rest) < sizes[key]:
            cut[key] = rest
            over -= sizes[key] - size(rest)
    steps = [replace(step, result=cut.get(("steps", step.id), step.result)) for step in run.steps]
    outputs = {name: cut.get(("outputs", name), value) for name, value in run.outputs.items()}
    return replace(run, steps=steps, outputs=outputs, warnings=[*run.warnings, _told(tuple(cut))])


def _parts(run: Run) -> _Parts:
    results = {("steps", step.id): step.result for step in run.steps if step.result is not None}
    return {**results, **{("outputs", name): value for name, value in run.outputs.items()}}


def _head(value: object, most: int) -> str:
    data = json.encode(value)
    return f"{data[:most].decode(errors='ignore')}… (cut: {len(data):,} bytes)"


def _told(cut: Sequence[tuple[str, ...]]) -> str:
    more = f" and {len(cut) - _NAMED} more" if len(cut) > _NAMED else ""
    named = ", ".join(spelled(key) for key in cut[:_NAMED])
    return f"cut, for a record has {MOST_BYTES:,} bytes at most: {named}{more}"
