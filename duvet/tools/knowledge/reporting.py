"""What the tools that report have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from duvet.knowledge.reports.facts import ProjectFacts
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.facts import FACTS, Facts, now
from duvet.tools.knowledge.known import NOTHING


def clock(ctx: Ctx) -> float:
    """The time, in seconds."""
    facts: Facts | None = ctx.services.get(FACTS)
    return (facts.clock if facts else now)().timestamp()


def require_run(facts: ProjectFacts) -> ProjectFacts:
    """The same; ToolError where they come from no run."""
    if facts.run is None:
        raise ToolError(Code.UPSTREAM_ERROR, NOTHING, "have the project taken in, and ask again")
    return facts


def cut(whole: Struct, shown: Struct) -> str:
    """What to say where lists of a report are cut."""
    lengths = dict(_lists(whole))
    found = [f"{count} of {lengths[name]} {name}" for name, count in _lists(shown) if count < lengths[name]]
    return f"Lists are cut, to {', '.join(found)}; limit gives as many as it says." if found else ""


def _lists(report: Struct) -> Iterator[tuple[str, int]]:
    for name in report.__struct_fields__:
        value = getattr(report, name)
        if isinstance(value, tuple):
            yield name, len(value)
        elif isinstance(value, Mapping):
            yield name, sum(map(len, value.values()))
