"""What is wrong with workflows, found without running them."""

from __future__ import annotations

from duvet.config.workflow_tables import VariableType as Kind
from duvet.workflows.workflow import Capture, Check, Variable, WaitStep, Workflow
from tests.unit.workflows.checking import ask, faults, search
from tests.unit.workflows.made import text, tool, workflow
from tests.unit.workflows.test_plain import nested


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
    ##% duvet MUST check a workflow without running it, and list every problem with the path of its key.
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


def test_a_wait_for_what_writes() -> None:
    ##= man/spec/workflows.md#checks
    ##= type=test
    ##% The check MUST find unknown names, missing and mistyped arguments, references to later steps, and waits for
    ##% tools that write.
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
    ##= man/spec/workflows.md#limits
    ##= type=test
    ##% The engine MUST refuse a workflow with more than 100 steps, one that calls itself, and one that is nested more
    ##% than five deep.
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
