from typing import Any

from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import CaptureSection, VariableType as Kind
from duvet.workflows.workflow import Check, Variable, Workflow
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


UNTIL = Check(path="a", exists=True)
COMPARED = search(asserts=[Check(path="vars.x", equals="${vars.query}")])
DEEP: Any = nested(99)
CHAIN = [calling(f"n{number}", f"n{number + 1}") for number in range(9)]
# Not every one of 100⁴ paths is followed.
WIDE = [calling(f"n{number}", *[f"n{number + 1}"] * 100) for number in range(3)]
CIRCLES = (calling("b", "c"), calling("c", "d", "w"), calling("d", "d"))
STEPS = [
    tool("s", "serch"),
    tool("s", "zzz"),
    tool("s", "workflow.othr"),
    waiting("serch", UNTIL),
    search(params={"query": "a", "mots": 1}),
    search(params={"query": "a", "x": 1}),
    tool("s", "workflow.other", params={"of-what": "", "of_what": ""}),
    *(ask(params=params) for params in ({"topP": 1}, {"maxTokens": 0}, {"temperature": "hot"})),
    search(params={"query": "${vars.qery}"}),
    ask(prompt="a ${steps.b.result}"),
    ask(system="${captures.b}"),
    *(ask(prompt=prompt) for prompt in ("${captures.x}" * 5_000, "${env.x}", "${result.x}")),
    COMPARED,
    search(capture=[CaptureSection(name="c", path="a..b")]),
    tool("s", "workflow.w"),
]
PARAMS: list[dict[str, Any]] = [
    *({}, {"query": None}, {"query": 1}, {"query": "a", "most": 0}, {"query": "a", "most": True}),
    *({"query": "a", "level": "must"}, {"query": "a", "paths": ["a", 1]}, {"query": {"a": "b"}}),
]


def check_faulty_workflows() -> dict[str, list[tuple[str, str, str]]]:
    return {
        "several": faults(
            search("a", params={"quer": "${vars.x}"}),
            tool("a", "serch", expect={"a b": "${"}),
            variables={"n": Variable(Kind.INTEGER, "", "5")},
            outputs={"o": "${steps.b.result}"},
        ),
        **{f"step {number}": faults(step, variables={"query": text("")}) for number, step in enumerate(STEPS)},
        **{f"params {params}": faults(search(params=params)) for params in PARAMS},
        "later steps": faults(
            search("a", params={"query": "${steps.a.result} ${steps.b.result} ${captures.c}"}),
            search("b", params={"query": "${captures.c}"}, capture=[CaptureSection(name="c", path="captures.c")]),
            outputs={"x": "${captures.c} ${steps.a.reslt}"},
        ),
        "waits for tools that write": faults(
            waiting("write", UNTIL, id="a", params={"query": "a"}),
            waiting("workflow.other", UNTIL, id="b", params={"of-what": "a"}),
            waiting("workflow.w", UNTIL, id="c"),
        ),
        "a circle": faults(tool("a", "workflow_b"), others=CIRCLES),
        "a deep chain": faults(tool("a", "workflow.n1"), others=[*CHAIN, calling("n9")]),
        "too many steps": faults(*(search(f"s{number}") for number in range(101))),
        "too large values": faults(
            search(
                params={"query": nested(5_000)}, expect={"a": nested(5_000)}, asserts=[Check(path="a", equals=DEEP)]
            ),
            ask(prompt="x" * 1_000_000),
            waiting("search", Check(path="a", not_equals=DEEP), id="w", params={"a": DEEP}),
            variables={"v": Variable(Kind.ARRAY, "", DEEP)},
            outputs={"o": DEEP},
        ),
    }


def test_faults_are_reported_at_their_keys(problem_files: Snapshot) -> None:
    ##= man/spec/workflows.md#commands
    ##% `duvet workflow check` MUST list every problem with the path of its key, without running a step.
    lines: list[str] = []
    for name, found in check_faulty_workflows().items():
        lines += [f"# {name}", *("; ".join(filter(None, fault)) for fault in found), ""]
    problem_files.assert_match("\n".join(lines), "workflows.txt")


def test_references_of_any_type_and_circles_among_others_are_no_faults() -> None:
    for params in PARAMS:
        filled = {name: "${vars.x}" for name in ("query", *params)}
        assert faults(search(params=filled), variables={"x": text("")}) == []
    assert faults(waiting("workflow.b", UNTIL), others=(calling("b", "c"), calling("c", "b"))) == []
    assert faults(tool("a", "workflow.d"), others=CIRCLES) == []
    assert faults(tool("a", "workflow.n0"), others=[*WIDE, calling("n3")]) == []
    # Long names are cut.
    long = "x" * 100_000
    found = faults(
        tool("a", long), ask(model=long, prompt=f"${{vars.{long}}}"), search("c", params={long: 1, "query": ""})
    )
    assert [len(message) < 300 for _, message, _ in found] == [True] * 3
