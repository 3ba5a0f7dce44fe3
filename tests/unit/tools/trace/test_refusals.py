"""Refusals of the trace tools, with reasons and hints."""

from __future__ import annotations

from typing import Any

from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.tools.context import ProjectSnapshot
from tests.unit.tools.tool_calls import FILES, TEA, context_of, refusal

COFFEE = context_of(FILES)
LID = "/specifications/pot/sections/lid"
REFERENCES: dict[tuple[str, str], tuple[ProjectSnapshot, list[str]]] = {
    ("get_requirement", "reference"): (
        TEA,
        [
            *("tea.md#cup", "src/pot.rs:25", "src/pot.rs:27", "src/pot.rs:7"),
            *("9999", "1d", "../../etc/passwd:1", "\0\x1b"),
        ],
    ),
    ("get_section", "reference"): (TEA, ["tea", "src/pot.rs", "tea#milk", "../secret.md", "\0"]),
    ("get_requirement_status", "req_identifier"): (
        COFFEE,
        ["abc", "00000000", "pot", "zzzz", "src/main.rs:3", f"{LID}/requirements/fe962664"],
    ),
    ("get_citation_context", "citation_id"): (COFFEE, ["src/main.rs:6", "src/main.rs", ":1", "src/mian.rs:3", LID]),
    ("coverage_summary", "spec"): (COFFEE, ["pod"]),
    ("search_requirements", "spec"): (COFFEE, ["pod"]),
}
UNWRITTEN: list[dict[str, Any]] = [
    {"line": 1000},
    {"line": 4},
    {"file": "src/none.rs", "line": 1},
    {"type": "exception"},
    {"requirement": "1dd64a535306"},
    {"requirement": "tea"},
]


def test_references_that_lead_nowhere_and_citations_that_cannot_be_written_are_refused(problem_files: Snapshot) -> None:
    lines = []
    for (tool, name), (context, references) in REFERENCES.items():
        more = {"query": "hot"} if tool == "search_requirements" else {}
        for reference in references:
            told = refusal(context, tool, **{name: reference, **more})
            lines.append(f"{tool} {json.encode(reference).decode()}: {'; '.join(told)}")
    for given in UNWRITTEN:
        told = refusal(TEA, "suggest_citation", **{"requirement": "2c79658776d2", "file": "src/pot.rs", **given})
        lines.append(f"suggest_citation {json.encode(given).decode()}: {'; '.join(told)}")
    problem_files.assert_match("\n".join(lines), "refusals.txt")
