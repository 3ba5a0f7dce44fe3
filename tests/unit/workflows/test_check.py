"""Problems of workflows that are found without running them."""

from __future__ import annotations

from typing import Any

import pytest

from duvet.config.service_tables import CaptureSection, VariableType as Kind
from duvet.workflows.workflow import Check, Step, Variable, Workflow
from tests.unit.workflows.test_references import nested
from tests.unit.workflows.workflow_backend import ask, faults, search, text, tool, waiting, workflow


def calling(name: str, *called: str) -> Workflow:
    return workflow(*(tool(f"s{number}", f"workflow.{one}") for number, one in enumerate(called)), name=name)


def test_a_valid_workflow_has_no_faults() -> None:
    first = search(
        "a-b",
        params={"query": "${vars.q} $${x}", "most": "${vars.n}", "level": "MUST", "paths": ["a"]},
        expect={"total": 1, "result[0]['x.y']": "${vars.q}"},
        asserts=[Check(path="vars.q", equals="${result.total}"), Check(path="steps.a.result", exists=False)],
        capture=[CaptureSection(name="c", path="result[0]")],
    )
    steps = (
        search("a"),
        first,
        ask(prompt="${captures.c} ${steps.a-b.status}", params={"maxTokens": 9}, model="openai/any"),
        ask(id="b", model="local/tiny", system="${vars}"),
        waiting("search", Check(path="total", equals=1), id="w", params={"query": "a"}),
        tool("o", "workflow.other", params={"of-what": "tea"}),
        tool("p", "workflow_other", params={"of-what": "${captures.c}"}),
    )
    variables = {"q": text("x"), "n": Variable(Kind.INTEGER), "all": Variable(Kind.ARRAY, "", [1])}
    assert faults(*steps, variables=variables, outputs={"a": ["${steps.p.result.outputs}", "$${"]}) == []


def test_all_faults_are_listed() -> None:
    ##= man/spec/workflows.md#commands
    ##% `duvet workflow check` MUST list every problem with the path of its key, without running a step.
    found = faults(
        search("a", params={"quer": "${vars.x}"}),
        tool("a", "serch", expect={"a b": "${"}),
        variables={"n": Variable(Kind.INTEGER, "", "5")},
        outputs={"o": "${steps.b.result}"},
    )
    assert [path for path, _, _ in found] == [
        *("variables.n.default", "steps[1].id", "steps[0].params.quer", "steps[0].params", "steps[0].params.quer"),
        *("steps[1].tool", 'steps[1].expect["a b"]', 'steps[1].expect["a b"]', "outputs.o"),
    ]


FLOWS, ARGUMENTS = "did you mean workflow.other or workflow.w?", "available: query, most, level, paths"
BOTH = tool("s", "workflow.other", params={"of-what": "", "of_what": ""})
NO_QUERY = '"${vars.qery}": vars.qery does not exist'
EXPECTED, RESULT = (
    '"${result.x}" can be used only in `expect`, `assert`, `until` and `capture`',
    "use ${steps.ID.result} for the result of an earlier step",
)
COMPARED = search(asserts=[Check(path="vars.x", equals="${vars.query}")])
WRITE = 'write it like result.items[0]["a.b"]'
UNKNOWN: list[tuple[Step, str, str, str]] = [
    (tool("s", "serch"), "tool", 'unknown tool "serch"', "did you mean search?"),
    (tool("s", "zzz"), "tool", 'unknown tool "zzz"', ""),
    (tool("s", "workflow.othr"), "tool", 'unknown tool "workflow.othr"', FLOWS),
    (waiting("serch", Check(path="a", exists=True)), "wait.tool", 'unknown tool "serch"', "did you mean search?"),
    (search(params={"query": "a", "mots": 1}), "params.mots", 'search has no argument "mots"', "did you mean most?"),
    (search(params={"query": "a", "x": 1}), "params.x", 'search has no argument "x"', ARGUMENTS),
    (BOTH, "params.of_what", 'workflow.other has no argument "of_what"', "did you mean of-what?"),
    (ask(model="sumarize"), "model", 'unknown model "sumarize"', "did you mean summarize?"),
    (ask(model="local/big"), "model", 'unknown model "local/big"', "did you mean local/tiny?"),
    (ask(model="x"), "model", 'unknown model "x"', "use a provider, PROVIDER/MODEL, or a task of `routing`"),
    (ask(params={"topP": 1}), "params.topP", 'a model has no argument "topP"', "available: maxTokens, temperature"),
    (ask(params={"maxTokens": 0}), "params.maxTokens", "expected integer >= 1", ""),
    (ask(params={"temperature": "hot"}), "params.temperature", "expected number, got string", ""),
    (search(params={"query": "${vars.qery}"}), "params.query", NO_QUERY, "did you mean query?"),
    (ask(prompt="a ${steps.b.result}"), "prompt", '"${steps.b.result}": steps.b does not exist', ""),
    (ask(system="${captures.b}"), "system", '"${captures.b}": captures.b does not exist', ""),
    (ask(prompt="${captures.x}" * 5_000), "prompt", '"${captures.x}": captures.x does not exist', ""),
    (ask(prompt="${env.x}"), "prompt", '"${env.x}" must begin with one of vars, steps, captures, result', ""),
    (ask(prompt="${result.x}"), "prompt", EXPECTED, RESULT),
    (COMPARED, "assert[0].path", '"vars.x": vars.x does not exist', "available: query"),
    (search(capture=[CaptureSection(name="c", path="a..b")]), "capture[0].path", 'invalid path "a..b"', WRITE),
    (tool("s", "workflow.w"), "tool", "w calls itself: w > w", ""),
]


@pytest.mark.parametrize(("step", "path", "message", "hint"), UNKNOWN, ids=range(len(UNKNOWN)))
def test_an_unknown_name_is_reported_at_its_key(step: Step, path: str, message: str, hint: str) -> None:
    assert faults(step, variables={"query": text("")}) == [(f"steps[0].{path}", message, hint)]


CONSTANTS: list[tuple[dict[str, Any], str, str]] = [
    ({}, "", "search requires the argument query"),
    ({"query": None}, "", "search requires the argument query"),
    ({"query": 1}, ".query", "expected string, got integer"),
    ({"query": "a", "most": 0}, ".most", "expected integer >= 1"),
    ({"query": "a", "most": True}, ".most", "expected integer, got boolean"),
    ({"query": "a", "level": "must"}, ".level", "invalid enum value 'must'"),
    ({"query": "a", "paths": ["a", 1]}, ".paths", "expected string, got integer - at $[1]"),
    ({"query": {"a": "b"}}, ".query", "expected string, got object"),
]


@pytest.mark.parametrize(("params", "path", "message"), CONSTANTS, ids=range(len(CONSTANTS)))
def test_a_constant_of_the_wrong_type_is_reported_and_a_reference_is_not(
    params: dict[str, Any], path: str, message: str
) -> None:
    assert faults(search(params=params)) == [(f"steps[0].params{path}", message, "")]
    filled = {name: "${vars.x}" for name in ("query", *params)}
    assert faults(search(params=filled), variables={"x": text("")}) == []


def test_a_reference_to_a_later_step_is_reported() -> None:
    found = faults(
        search("a", params={"query": "${steps.a.result} ${steps.b.result} ${captures.c}"}),
        search("b", params={"query": "${captures.c}"}, capture=[CaptureSection(name="c", path="captures.c")]),
        outputs={"x": "${captures.c} ${steps.a.reslt}"},
    )
    later, captured = "this step runs later", "a later step captures it"
    up = "move that step up"
    assert found == [
        ("steps[0].params.query", f'"${{steps.a.result}}": {later}', up),
        ("steps[0].params.query", f'"${{steps.b.result}}": {later}', up),
        ("steps[0].params.query", f'"${{captures.c}}": {captured}', up),
        ("steps[1].params.query", f'"${{captures.c}}": {captured}', up),
        ("steps[1].capture[0].path", f'"captures.c": {captured}', up),
        ("outputs.x", '"${steps.a.reslt}": a step has only `result` and `status`', ""),
    ]


def test_a_wait_for_a_tool_that_writes_is_a_warning() -> None:
    until = Check(path="a", exists=True)
    found = faults(
        waiting("write", until, id="a", params={"query": "a"}),
        waiting("workflow.other", until, id="b", params={"of-what": "a"}),
        waiting("workflow.w", until, id="c"),
    )
    message = " writes, and this wait calls it repeatedly"
    assert found == [
        ("steps[0].wait.tool", f"write{message}", "warning"),
        ("steps[1].wait.tool", f"workflow.other{message}", "warning"),
        ("steps[2].wait.tool", f"workflow.w{message}", "warning"),
        ("steps[2].wait.tool", "w calls itself: w > w", ""),
    ]
    assert faults(waiting("workflow.b", until), others=(calling("b", "c"), calling("c", "b"))) == []


def test_workflows_that_call_themselves_are_reported() -> None:
    others = (calling("b", "c"), calling("c", "d", "w"), calling("d", "d"))
    assert faults(tool("a", "workflow_b"), others=others) == [("steps[0].tool", "w calls itself: w > b > c > w", "")]
    assert faults(tool("a", "workflow.d"), others=others) == []
    chain = [calling(f"n{number}", f"n{number + 1}") for number in range(9)]
    message = "workflows are nested 6 levels deep; the limit is 5: w > n1 > n2 > n3 > n4 > n5"
    assert faults(tool("a", "workflow.n1"), others=[*chain, calling("n9")]) == [("steps[0].tool", message, "")]
    # Not every one of 100⁴ paths is followed.
    wide = [calling(f"n{number}", *[f"n{number + 1}"] * 100) for number in range(3)]
    assert faults(tool("a", "workflow.n0"), others=[*wide, calling("n3")]) == []


def test_too_many_steps_and_too_large_values_are_reported() -> None:
    assert faults(*(search(f"s{number}") for number in range(101))) == [
        ("steps", "the workflow has 101 steps; the limit is 100", "move some steps to another workflow, and call it")
    ]
    deep = nested(99)
    found = faults(
        search(params={"query": nested(5_000)}, expect={"a": nested(5_000)}, asserts=[Check(path="a", equals=deep)]),
        ask(prompt="x" * 1_000_000),
        waiting("search", Check(path="a", not_equals=deep), id="w", params={"a": deep}),
        variables={"v": Variable(Kind.ARRAY, "", deep)},
        outputs={"o": deep},
    )
    too_deep = "it is nested deeper than 64 levels, or contains too many values"
    inside = ("params", "expect", "assert[0]")
    assert found == [
        ("variables.v.default", too_deep, ""),
        *((f"steps[0].{key}", too_deep, "") for key in inside),
        ("steps[1].prompt", "it is larger than 1,000,000 bytes", ""),
        *((f"steps[2].wait.{key}", too_deep, "") for key in ("params", "until")),
        ("outputs", too_deep, ""),
    ]


def test_long_names_are_cut() -> None:
    long = "x" * 100_000
    found = faults(
        tool("a", long), ask(model=long, prompt=f"${{vars.{long}}}"), search("c", params={long: 1, "query": ""})
    )
    assert [len(message) < 300 for _, message, _ in found] == [True] * 4
