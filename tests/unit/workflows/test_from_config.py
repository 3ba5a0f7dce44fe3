"""Workflows of a configuration."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from duvet.config.workflow_tables import VariableType as Kind
from duvet.config.workflow_tables import WorkflowSection
from duvet.workflows.workflow import (
    Capture,
    Check,
    ModelStep,
    ToolStep,
    Variable,
    WaitStep,
    Workflow,
    make_configured_workflow,
)

WHOLE = """
{
  "description": "Finds and sums up.",
  "variables": {"query": {"description": "What"}, "most": {"type": "integer", "default": 5}},
  "steps": [
    {
      "id": "find", "tool": "search", "description": "looks", "params": {"query": "${vars.query}"},
      "expect": {"total": 1}, "timeoutSeconds": 9,
      "assert": [
        {"path": "a", "equals": null}, {"path": "b", "notEquals": 1}, {"path": "c", "exists": false}
      ],
      "capture": [{"name": "first", "path": "result[0]"}]
    },
    {"id": "ask", "model": "summarize", "prompt": "Sum up", "system": "Be brief", "params": {"maxTokens": 9}},
    {
      "id": "wait", "timeoutSeconds": 60,
      "wait": {
        "tool": "look", "params": {"a": 1}, "until": {"path": "ok", "equals": true}, "intervalSeconds": 2,
        "timeoutSeconds": 100
      }
    },
    {"id": "again", "wait": {"tool": "look", "until": {"path": "ok", "exists": true}}}
  ],
  "outputs": {"text": "${steps.ask.result.text}"},
  "timeoutSeconds": 100
}
"""


def section_of(*steps: dict[str, Any]) -> WorkflowSection:
    return msgspec.convert({"description": "x", "steps": steps}, WorkflowSection)


def test_a_section_becomes_a_workflow() -> None:
    section = msgspec.json.decode(WHOLE, type=WorkflowSection)
    assert make_configured_workflow("sum", section) == Workflow(
        name="sum",
        description="Finds and sums up.",
        variables={"query": Variable(Kind.STRING, "What"), "most": Variable(Kind.INTEGER, "", 5)},
        steps=(
            ToolStep(
                id="find",
                description="looks",
                tool="search",
                params={"query": "${vars.query}"},
                expect={"total": 1},
                asserts=(
                    Check(path="a", equals=None),
                    Check(path="b", not_equals=1),
                    Check(path="c", exists=False),
                ),
                capture=(Capture("first", "result[0]"),),
                time_limit=9,
            ),
            ModelStep(id="ask", model="summarize", prompt="Sum up", system="Be brief", params={"maxTokens": 9}),
            WaitStep(
                id="wait", tool="look", params={"a": 1}, until=Check(path="ok", equals=True), interval=2, time_limit=60
            ),
            WaitStep(id="again", tool="look", until=Check(path="ok", exists=True), interval=5, time_limit=300),
        ),
        outputs={"text": "${steps.ask.result.text}"},
        time_limit=100,
    )


OK = {"path": "a", "exists": True}
MALFORMED: list[tuple[dict[str, Any], str]] = [
    ({}, "one of `tool`, `model`, `wait` has to be here"),
    (
        {"tool": "a", "model": "b", "wait": {"tool": "c", "until": OK}},
        "only one of `tool`, `model`, `wait` can be here",
    ),
    ({"tool": "a", "prompt": "b"}, "this is for a step with a `model`"),
    ({"wait": {"tool": "a", "until": OK}, "system": "b"}, "this is for a step with a `model`"),
    ({"model": "a"}, "missing field `prompt`"),
    ({"wait": {"tool": "a", "until": OK}, "params": {"b": 1}}, "the arguments of the tool stand in `wait`"),
    ({"wait": {"tool": "a", "until": {"path": "b"}}}, "one of `equals`, `notEquals`, `exists` has to be here"),
    (
        {"tool": "a", "assert": [OK, {"path": "b", "equals": 1, "exists": False}]},
        "only one of `equals`, `notEquals`, `exists` can be here",
    ),
]


@pytest.mark.parametrize(("step", "message"), MALFORMED, ids=range(len(MALFORMED)))
def test_what_can_not_stand_together(step: dict[str, Any], message: str) -> None:
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% duvet MUST check a workflow without running it, and list every problem with the path of its key.
    with pytest.raises(msgspec.ValidationError, match=message):
        section_of({"id": "s", **step})
