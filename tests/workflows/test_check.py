"""What is wrong with workflows, found without running them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta, Struct

from duvet.config.service.workflows import VariableType as Kind
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Scope, Tool
from duvet.workflows.check import check
from duvet.workflows.known import Known
from duvet.workflows.records import Capture, Check, ModelStep, Step, Variable, WaitStep, Workflow
from tests.workflows.made import text, tool, workflow
from tests.workflows.test_plain import nested


class Search(Struct, frozen=True, kw_only=True):
    query: str
    most: Annotated[int, Meta(ge=1, le=100)] | None = None
    level: Literal["MUST", "MAY"] | None = None
    paths: tuple[str, ...] = ()


def handler(context: Context, asked: object) -> Answer:
    raise AssertionError(asked)


def made_tool(name: str, scope: Scope = Scope.READER) -> Tool:
    return Tool(name=name, title=name, description=name, input=Search, output=Search, handler=handler, scope=scope)


TOOLS = {one.name: one for one in (made_tool("search"), made_tool("write", Scope.MAINTAINER))}
OTHER = workflow(tool("s", "write"), name="other", variables={"of-what": Variable(Kind.STRING)})
MODELS = ("openai", "local/tiny", "summarize")


def faults(*steps: Step, others: Sequence[Workflow] = (OTHER,), **more: Any) -> list[tuple[str, str, str]]:
    flow = workflow(*steps, **more)
    known = Known(tools=TOOLS, workflows={one.name: one for one in (*others, flow)}, models=MODELS)
    return [(one.path, one.message, "warning" if one.is_warning else one.hint) for one in check(flow, known)]


def search(id: str = "s", **more: Any) -> Step:
    return tool(id, "search", **{"params": {"query": "a"}, **more})


def ask(**more: Any) -> ModelStep:
    return ModelStep(**{"id": "ask", "model": "summarize", "prompt": "?", **more})


def test_nothing_is_wrong() -> None:
    first = search(
        "a-b",
        params={"query": "${vars.q} $${x}", "most": "${vars.n}", "level": "MUST", "paths": ["a"]},
        expect={"total": 1, "result[0]['x.y']": "${vars.q}"},
        asserts=[Check(path="vars.q", equals="${result.total}"), Check(path="steps.a.result", exists=False)],
        capture=[Capture("c", "result[0]")],
    )
    steps = (
        search("a"),
        first,
        ask(prompt="${captures.c} ${steps.a-b.status}", params={"maxTokens": 9}, model="openai/any"),
        ask(id="b", model="local/tiny", system="${vars}"),
        WaitStep(id="w", tool="search", params={"query": "a"}, until=Check(path="total", equals=1), interval=1),
        tool("o", "workflow.other", params={"of-what": "tea"}),
        tool("p", "workflow_other", params={"of-what": "${captures.c}"}),
    )
    variables = {"q": text("x"), "n": Variable(Kind.INTEGER), "all": Variable(Kind.ARRAY, "", [1])}
    assert faults(*steps, variables=variables, outputs={"a": ["${steps.p.result.outputs}", "$${"]}) == []


def test_everything_that_is_wrong_is_listed() -> None:
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% A workflow MUST be checked without running it, and everything that is wrong listed, each with the path of its
    ##% key.
    found = faults(
        search("a", params={"quer": "${vars.x}"}),
        tool("a", "serch", expect={"a b": "${"}),
        variables={"n": Variable(Kind.INTEGER, "", "5")},
        outputs={"o": "${steps.b.result}"},
    )
    assert [path for path, _, _ in found] == [
        "variables.n.default",
        "steps[1].id",
        "steps[0].params.quer",
        "steps[0].params",
        "steps[0].params.quer",
        "steps[1].tool",
        'steps[1].expect["a b"]',
        'steps[1].expect["a b"]',
        "outputs.o",
    ]


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
    ##% A tool, an argument, a variable, a step, a capture or a model that is not known MUST be named, with the nearest
    ##% one where there is one.
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
    ##% An argument that its tool needs and is not given, and a constant of the wrong type, MUST be named.
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
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% A reference to a step that comes later, to the step itself or to what a later step captures MUST be named.
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


def test_a_wait_for_what_writes() -> None:
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% A wait for a tool that writes MUST be a warning.
    until = Check(path="a", exists=True)
    found = faults(
        WaitStep(id="a", tool="write", params={"query": "a"}, until=until, interval=1),
        WaitStep(id="b", tool="workflow.other", params={"of-what": "a"}, until=until, interval=1),
        WaitStep(id="c", tool="workflow.w", until=until, interval=1),
    )
    message = " writes, and is called again and again"
    assert found == [
        ("steps[0].wait.tool", f"write{message}", "warning"),
        ("steps[1].wait.tool", f"workflow.other{message}", "warning"),
        ("steps[2].wait.tool", f"workflow.w{message}", "warning"),
        ("steps[2].wait.tool", "w calls itself: w > w", ""),
    ]
    reading = WaitStep(id="a", tool="workflow.b", until=until, interval=1)
    assert faults(reading, others=(calling("b", "c"), calling("c", "b"))) == []


def calling(name: str, *called: str) -> Workflow:
    return workflow(*(tool(f"s{number}", f"workflow.{one}") for number, one in enumerate(called)), name=name)


def test_workflows_that_call_themselves() -> None:
    ##= man/spec/workflows.md#bounds
    ##= type=test
    ##% A workflow that calls itself, be it through others, or that stands more than five deep in others, MUST be
    ##% refused.
    assert faults(tool("a", "workflow.w")) == [("steps[0].tool", "w calls itself: w > w", "")]
    others = (calling("b", "c"), calling("c", "d", "w"), calling("d", "d"))
    assert faults(tool("a", "workflow_b"), others=others) == [("steps[0].tool", "w calls itself: w > b > c > w", "")]
    assert faults(tool("a", "workflow.d"), others=others) == []
    chain = [calling(f"n{number}", f"n{number + 1}") for number in range(9)]
    message = "workflows stand in each other 6 deep, 5 is the most: w > n1 > n2 > n3 > n4 > n5"
    assert faults(tool("a", "workflow.n1"), others=[*chain, calling("n9")]) == [("steps[0].tool", message, "")]
    # Ten to the power of a hundred ways are not walked.
    wide = [calling(f"n{number}", *[f"n{number + 1}"] * 100) for number in range(3)]
    assert faults(tool("a", "workflow.n0"), others=[*wide, calling("n3")]) == []


def test_what_is_too_much() -> None:
    steps = [search(f"s{number}") for number in range(101)]
    assert faults(*steps) == [
        ("steps", "there are 101 steps; 100 is the most", "let one workflow call another"),
    ]
    deep = "it is nested deeper than 64 levels, or holds too many values"
    found = faults(
        search(
            params={"query": nested(5_000)}, expect={"a": nested(5_000)}, asserts=[Check(path="a", equals=nested(99))]
        ),
        ask(prompt="x" * 1_000_000),
        WaitStep(
            id="w", tool="search", until=Check(path="a", not_equals=nested(99)), interval=1, params={"a": nested(99)}
        ),
        variables={"v": Variable(Kind.ARRAY, "", nested(99))},
        outputs={"o": nested(99)},
    )
    assert found == [
        ("variables.v.default", deep, ""),
        ("steps[0].params", deep, ""),
        ("steps[0].expect", deep, ""),
        ("steps[0].assert[0]", deep, ""),
        ("steps[1].prompt", "it has more than 1,000,000 bytes", ""),
        ("steps[2].wait.params", deep, ""),
        ("steps[2].wait.until", deep, ""),
        ("outputs", deep, ""),
    ]


def test_a_reference_is_told_once() -> None:
    found = faults(ask(prompt="${captures.x}" * 5_000))
    assert found == [("steps[0].prompt", '"${captures.x}": there is no captures.x', "")]


def test_names_without_end_are_cut() -> None:
    long = "x" * 100_000
    found = faults(
        tool("a", long), ask(model=long, prompt=f"${{vars.{long}}}"), search("c", params={long: 1, "query": ""})
    )
    assert [len(message) < 300 for _, message, _ in found] == [True] * 4
