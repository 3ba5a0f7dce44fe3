from functools import partial
from typing import Any

from pytest_snapshot.plugin import Snapshot

from tests.unit.tools.tool_calls import FILES, TEA, ask, context_of, describe_calls

LID = "/specifications/pot/sections/lid"
NAMES = [
    "tea.md#cup",
    "tea.md#cupp",
    "src/pot.rs:25",
    "src/pot.rs:27",
    "src/pot.rs:7",
    "9999",
    "1d",
    "tae.md",
    "src/pto.rs",
    "../../etc/passwd:1",
    "\0\x1b",
]
SUGGESTED: list[dict[str, Any]] = [{"line": 1000}, {"line": 4}, {"file": "src/none.rs", "line": 1}]
SUGGESTED += [
    {"type": "exception"},
    {"requirement": "1dd64a535306"},
    {"requirement": "tea"},
    {"requirement": "cupp"},
    {"requirement": "x"},
]
IN_TEA: list[tuple[str, dict[str, Any]]] = [
    *(("get_requirement", {"reference": name}) for name in NAMES),
    *(("get_section", {"reference": name}) for name in ("tea", "cupp", "src/pot.rs", "tea#milk", "../secret.md", "\0")),
    *(("suggest_citation", {"requirement": "2c79658776d2", "file": "src/pot.rs", **given}) for given in SUGGESTED),
]
STATES = ["abc", "00000000", "pot", "zzzz", "src/main.rs:3", f"{LID}/requirements/fe962664"]
CITATIONS = ["src/main.rs:6", "src/main.rs", ":1", "src/mian.rs:3", LID]
IN_COFFEE: list[tuple[str, dict[str, Any]]] = [
    *(("get_requirement_status", {"req_identifier": name}) for name in STATES),
    *(("get_citation_context", {"citation_id": name}) for name in CITATIONS),
    ("coverage_summary", {"spec": "pod"}),
    ("search_requirements", {"query": "hot", "spec": "pod"}),
]


def test_references_that_lead_nowhere_and_citations_that_cannot_be_written_are_refused(answers: Snapshot) -> None:
    found = [describe_calls(partial(ask, TEA), IN_TEA), describe_calls(partial(ask, context_of(FILES)), IN_COFFEE)]
    answers.assert_match("\n".join(found), "refusals.txt")
