"""What a workflow names and nobody knows, and constants of the wrong type"""

from __future__ import annotations

from typing import Any

import pytest

from duvet.workflows.workflow import Capture, Check, Step, WaitStep
from tests.unit.workflows.checking import ask, faults, search
from tests.unit.workflows.made import text, tool

UNKNOWN: list[tuple[Step, str, str, str]] = [
    (tool("s", "serch"), "steps[0].tool", 'there is no tool "serch"', "did you mean search?"),
    (tool("s", "zzz"), "steps[0].tool", 'there is no tool "zzz"', ""),
    (
        tool("s", "workflow.othr"),
        "steps[0].tool",
        'there is no tool "workflow.othr"',
        "did you mean workflow.other or workflow.w?",
    ),
    (
        WaitStep(id="s", tool="serch", until=Check(path="a", exists=True), interval=1),
        "steps[0].wait.tool",
        'there is no tool "serch"',
        "did you mean search?",
    ),
    (
        search(params={"query": "a", "mots": 1}),
        "steps[0].params.mots",
        'search has no argument "mots"',
        "did you mean most?",
    ),
    (
        search(params={"query": "a", "x": 1}),
        "steps[0].params.x",
        'search has no argument "x"',
        "there are query, most, level, paths",
    ),
    (
        tool("s", "workflow.other", params={"of-what": "", "of_what": ""}),
        "steps[0].params.of_what",
        'workflow.other has no argument "of_what"',
        "did you mean of-what?",
    ),
    (ask(model="sumarize"), "steps[0].model", 'there is no model "sumarize"', "did you mean summarize?"),
    (ask(model="local/big"), "steps[0].model", 'there is no model "local/big"', "did you mean local/tiny?"),
    (ask(model="x"), "steps[0].model", 'there is no model "x"', "name a provider, or a task of routing"),
    (
        ask(params={"topP": 1}),
        "steps[0].params.topP",
        'a model has no argument "topP"',
        "there are maxTokens, temperature",
    ),
    (
        search(params={"query": "${vars.qery}"}),
        "steps[0].params.query",
        '"${vars.qery}": there is no vars.qery',
        "did you mean query?",
    ),
    (ask(prompt="a ${steps.b.result}"), "steps[0].prompt", '"${steps.b.result}": there is no steps.b', ""),
    (ask(system="${captures.b}"), "steps[0].system", '"${captures.b}": there is no captures.b', ""),
    (ask(prompt="${env.x}"), "steps[0].prompt", '"${env.x}" begins with none of vars, steps, captures, result', ""),
    (
        ask(prompt="${result.x}"),
        "steps[0].prompt",
        '"${result.x}" is for what is expected and captured',
        "${steps.ID.result} is the result of a step",
    ),
    (
        search(asserts=[Check(path="vars.x", equals="${vars.query}")]),
        "steps[0].assert[0].path",
        '"vars.x": there is no vars.x',
        "there are query",
    ),
    (
        search(capture=[Capture("c", "a..b")]),
        "steps[0].capture[0].path",
        '"a..b" is no path',
        'write it as in result.items[0]["a.b"]',
    ),
]


@pytest.mark.parametrize(("step", "path", "message", "hint"), UNKNOWN, ids=range(len(UNKNOWN)))
def test_what_is_not_known(step: Step, path: str, message: str, hint: str) -> None:
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% The check MUST find unknown names, missing and mistyped arguments, references to later steps, and waits for
    ##% tools that write.
    assert faults(step, variables={"query": text("")}) == [(path, message, hint)]


CONSTANTS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "steps[0].params", "search needs the argument query"),
    ({"query": None}, "steps[0].params", "search needs the argument query"),
    ({"query": 1}, "steps[0].params.query", "expected str, got int"),
    ({"query": "a", "most": 0}, "steps[0].params.most", "expected int >= 1"),
    ({"query": "a", "most": True}, "steps[0].params.most", "expected int, got bool"),
    ({"query": "a", "level": "must"}, "steps[0].params.level", "invalid enum value 'must'"),
    ({"query": "a", "paths": ["a", 1]}, "steps[0].params.paths", "expected str, got int - at $[1]"),
    ({"query": {"a": "b"}}, "steps[0].params.query", "expected str, got object"),
]


@pytest.mark.parametrize(("params", "path", "message"), CONSTANTS, ids=range(len(CONSTANTS)))
def test_constants_of_the_wrong_type(params: dict[str, Any], path: str, message: str) -> None:
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% The check MUST find unknown names, missing and mistyped arguments, references to later steps, and waits for
    ##% tools that write.
    assert faults(search(params=params)) == [(path, message, "")]
    filled = {name: "${vars.x}" for name in ("query", *params)}
    assert faults(search(params=filled), variables={"x": text("")}) == []


def test_constants_of_models() -> None:
    found = faults(ask(params={"maxTokens": 0, "temperature": "hot"}))
    assert found == [
        ("steps[0].params.maxTokens", "expected int >= 1", ""),
        ("steps[0].params.temperature", "expected float, got str", ""),
    ]


def test_what_comes_later_is_not_there_yet() -> None:
    found = faults(
        search("a", params={"query": "${steps.a.result} ${steps.b.result} ${captures.c}"}),
        search("b", params={"query": "${captures.c}"}, capture=[Capture("c", "captures.c")]),
        outputs={"x": "${captures.c} ${steps.a.reslt}"},
    )
    assert found == [
        ("steps[0].params.query", '"${steps.a.result}": that step is not done then', "move the step up"),
        ("steps[0].params.query", '"${steps.b.result}": that step is not done then', "move the step up"),
        ("steps[0].params.query", '"${captures.c}": it is captured later', "move the step up"),
        ("steps[1].params.query", '"${captures.c}": it is captured later', "move the step up"),
        ("steps[1].capture[0].path", '"captures.c": it is captured later', "move the step up"),
        ("outputs.x", '"${steps.a.reslt}": a step has result and status', ""),
    ]
