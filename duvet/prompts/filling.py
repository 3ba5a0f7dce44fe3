"""Prompts about a project, filled with what it is like at the moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from duvet.prompts.arguments import Asked
from duvet.prompts.library import rendered
from duvet.prompts.requirement import requirement_values, the_requirement
from duvet.prompts.review import review_values
from duvet.prompts.section import section_values
from duvet.prompts.triage import triage_values
from duvet.queries.references import Requirements
from duvet.tools.context import Context
from duvet.tools.registry import Registry

_Values = Mapping[str, object]
_Given = Mapping[str, str]


def _of_requirement(context: Context, given: _Given) -> _Values:
    return requirement_values(context, the_requirement(context, given["requirement"]))


_VALUES: Mapping[str, Callable[[Context, _Given], _Values]] = {
    "implement_requirement": _of_requirement,
    "write_test": _of_requirement,
    "review_citations": review_values,
    "triage_uncited": triage_values,
    "explain_section": section_values,
}


def filled(asked: Asked, context: Context, registry: Registry) -> str:
    """The text of a prompt about the project, for who has these tools."""
    return _rendered(asked.name, registry, _VALUES[asked.name](context, asked.given))


def filled_about(name: str, requirement: Requirements, context: Context, registry: Registry) -> str:
    """The text of one of those that are about a requirement."""
    return _rendered(name, registry, requirement_values(context, requirement))


def _rendered(name: str, registry: Registry, values: _Values) -> str:
    def by(tool: str, command: str) -> str:
        ##= man/spec/mcp.md#prompts
        ##% A prompt MUST name the tools to use that are switched on, and the commands that do the same.
        return f"`{tool}` (`duvet {command}`)" if tool in registry else f"`duvet {command}`"

    return rendered(name, {**values, "by": by})
