"""`get_requirement`"""

from __future__ import annotations

import pytest
from msgspec import json

from duvet.tools.pagination import MAX_PAGE_BYTES
from duvet.tools.tool import ErrorCode, ToolError
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.tools.made import answer, context_of, value

TEA = context_of(TEA_PROJECT)
CUP = {
    "identifier": "2c79658776d2",
    "id": "2c79658776d24d5cab51b05446c1c5afe7af9c4150b85147d135e9350628bfc5",
    "full_path": "/specifications/tea/sections/cup/requirements/2c79658776d2",
    "text": "A cup MUST NOT leak.",
    "level": "MUST",
    "status": "done",
    "state": "exception",
    "reason": "It is excepted, with a reason, and is not counted as done.",
    "section": "cup",
    "section_title": "Cup",
    "target": "tea.md#cup",
    "file_path": "tea.md",
    "line_number": 12,
    "neighbours": (
        {"identifier": "1dd64a535306", "level": "MUST", "status": "not started", "text": "The pot MUST be warm."},
    ),
    "citation_count": 1,
    "citations": {
        "exception": [
            {
                "id": "src/pot.rs:14",
                "comment_text": "//= tea.md#cup\n//= type=exception\n//= reason=Our cups are drawn on paper.\n"
                "//# A cup MUST NOT leak.",
                "reason": "Our cups are drawn on paper.",
                "context_lines": (
                    "}",
                    "",
                    "//= tea.md#cup",
                    "//= type=exception",
                    "//= reason=Our cups are drawn on paper.",
                    "//# A cup MUST NOT leak.",
                    "",
                    "//= tea.md#cup",
                ),
            }
        ]
    },
}


@pytest.mark.parametrize(
    "reference", ["2c79", "2C79658776D2", "/specifications/tea/sections/cup/requirements/2c79658776d2", "src/pot.rs:14"]
)
def test_a_requirement_is_found_by_any_reference(reference: str) -> None:
    assert value(TEA, "get_requirement", reference=reference) == CUP
    assert answer(TEA, "get_requirement", reference=reference)[1] == ""


def test_of_several_places_the_worst_is_told_and_all_are_named() -> None:
    found = value(TEA, "get_requirement", reference="1dd64a535306")
    assert (found["full_path"], found["status"]) == (
        "/specifications/tea/sections/cup/requirements/1dd64a535306",
        "not started",
    )
    assert found["places"] == (
        {"full_path": "/specifications/tea/sections/pot/requirements/1dd64a535306", "status": "done"},
        {"full_path": "/specifications/tea/sections/cup/requirements/1dd64a535306", "status": "not started"},
    )
    assert {kind: [one["id"] for one in cited] for kind, cited in found["citations"].items()} == {
        "citation": ["src/pot.rs:3"],
        "test": ["tests/test_pot.py:2"],
        "todo": ["src/pot.rs:19"],
    }
    assert answer(TEA, "get_requirement", reference="1dd64a535306")[1] == (
        "Implement it; suggest_citation writes the comment."
    )


def test_no_answer_is_too_long() -> None:
    cited = "//= tea.md#cup\n//# A cup MUST NOT leak.\n\nfn use_it();\n\n"
    for count in (30, 150, 2000):
        context = context_of({**TEA_PROJECT, "src/many.rs": cited * count})
        told, step = answer(context, "get_requirement", reference="2c79658776d2")
        ##= man/spec/mcp.md#tools
        ##= type=test
        ##% The server MUST limit lists, texts and the details of a requirement to about 4,000 tokens unless `limit`
        ##% asks for more, and say how to get the rest.
        assert len(json.encode(told)) < MAX_PAGE_BYTES * 1.1
        shown = [one for cited in told["citations"].values() for one in cited]
        assert told["citation_count"] == count + 1
        if len(shown) <= count:
            path = "duvet:///specifications/tea/sections/cup/requirements/2c79658776d2/citations"
            assert step == f"{len(shown)} of {count + 1} citations shown; for all read {path}."
        assert len(shown) > min(count, 80)


@pytest.mark.parametrize(
    ("reference", "code", "message", "hint"),
    [
        ("tea.md#cup", ErrorCode.INVALID_REQUEST, "this names no requirement", "give an id; get_section lists them"),
        (
            "src/pot.rs:25",
            ErrorCode.NOT_FOUND,
            "the citation at src/pot.rs:25 is of no requirement",
            "get_section has the requirements of tea.md#sugar",
        ),
        (
            "src/pot.rs:27",
            ErrorCode.NOT_FOUND,
            'the citation at src/pot.rs:27 is invalid: missing section "milk" in tea.md',
            "mend it first: validate_citation tells what it should say",
        ),
        (
            "src/pot.rs:7",
            ErrorCode.NOT_FOUND,
            "2 requirements are cited there",
            None,
        ),
        ("9999", ErrorCode.NOT_FOUND, 'there is no requirement "9999"', None),
        ("1d", ErrorCode.NOT_FOUND, '"1d" is too short for an id', "give at least 4 digits"),
        ("../../etc/passwd:1", ErrorCode.NOT_FOUND, 'nothing is called "../../etc/passwd:1"', None),
        ("\0\x1b", ErrorCode.NOT_FOUND, 'nothing is called "\\0\\u{1b}"', None),
    ],
)
def test_what_is_no_requirement_is_refused(reference: str, code: ErrorCode, message: str, hint: str | None) -> None:
    with pytest.raises(ToolError) as caught:
        answer(TEA, "get_requirement", reference=reference)
    assert (caught.value.code, caught.value.message) == (code, message)
    assert hint is None or caught.value.hint == hint
