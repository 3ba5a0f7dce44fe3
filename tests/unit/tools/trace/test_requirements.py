"""The tools that list, find and show requirements, with the exact answers that agents get."""

from __future__ import annotations

import pytest
from msgspec import json

from duvet.tools.context import ProjectSnapshot
from duvet.tools.tool import MAX_PAGE_BYTES
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.tools.tool_calls import TEA, answer, context_of, refusal, value

HANDLING, HOT = "fe96266417b9", "8715a7930e03"
IN_SECTION = "/specifications/rfc2324/sections/section-2.1/requirements"
IN_DELIVERY = "/specifications/rfc2324/sections/section-2.1.1/requirements"
IN_LID = "/specifications/pot/sections/lid/requirements"
RFC = "https://www.rfc-editor.org/rfc/rfc2324"


def row(path: str, text: str) -> dict[str, str]:
    return {"identifier": path.rpartition("/")[2], "full_path": path, "text": text}


def test_lists_of_requirements(context: ProjectSnapshot) -> None:
    assert answer(context, "search_requirements", query="error handling") == (
        [
            row(f"{IN_DELIVERY}/57d939cc91fa", "Errors in handling MUST be told."),
            row(f"{IN_SECTION}/{HANDLING}", "The system MUST support error handling for invalid inputs."),
        ],
        "",
    )
    assert answer(context, "list_uncited_requirements") == (
        [
            row(f"{IN_SECTION}/ea1dc3965b66", "A server SHOULD brew coffee."),
            row(f"{IN_SECTION}/f57473c2f832", "Milk MAY be added."),
            row(f"{IN_DELIVERY}/57d939cc91fa", "Errors in handling MUST be told."),
            row(f"{IN_LID}/b1537a2b0abf", "The lid SHOULD shine."),
            row(f"{IN_LID}/{HOT}", "Coffee MUST be hot."),
        ],
        "suggest_citation returns the comment that cites a requirement.",
    )


def test_list_invalid_citations(context: ProjectSnapshot) -> None:
    found, next_step = answer(context, "list_invalid_citations")
    assert found == [
        {"file_path": "src/main.rs", "line_number": line, "comment_text": comment, "error": error}
        for line, comment, error in [
            (23, "//= invalid", 'URL not found: Could not resolve file "invalid"'),
            (25, f"//= {RFC}#section-9", f'Section not found: missing section "section-9" in {RFC}'),
            (
                27,
                f"//= {RFC}#section-2.1\n//# Tea MUST be cold.",
                f'Requirement not found: could not find text in section "section-2.1" of {RFC}',
            ),
            (30, "//= docs/pod.md#lid", 'Specification not found: Could not resolve file "docs/pod.md"'),
            (32, "//= docs/pot.md#lid\n//= colour=black", "URL not found: invalid metadata field"),
        ]
    ]
    assert next_step == "After a fix, check the citation with validate_citation."


def test_get_prioritized_requirements(context: ProjectSnapshot) -> None:
    assert value(context, "get_prioritized_requirements") == [
        {"full_path": path, "level": level, "status": status, "todo_count": todos}
        for path, level, status, todos in [
            (f"{IN_DELIVERY}/{HOT}", "MUST", "partially_implemented", 0),
            (f"{IN_LID}/027a9befbcd1", "MUST", "partially_implemented", 0),
            (f"{IN_DELIVERY}/57d939cc91fa", "MUST", "not_started", 0),
            (f"{IN_LID}/{HOT}", "MUST", "not_started", 0),
            (f"{IN_SECTION}/{HANDLING}", "MUST", "fully_implemented", 0),
            (f"{IN_LID}/b1537a2b0abf", "SHOULD", "not_started", 1),
            (f"{IN_SECTION}/ea1dc3965b66", "SHOULD", "not_started", 0),
            (f"{IN_SECTION}/f57473c2f832", "MAY", "not_started", 0),
        ]
    ]


COMMON = "The search ignored common words: the; put them in double quotes to find them as a phrase."


SOME = "No requirement contains every word; the results contain some of them."


def texts_found(context: ProjectSnapshot, query: str, **wanted: str) -> tuple[list[str], str]:
    rows, words = answer(context, "search_requirements", query=query, **wanted)
    return [row["text"] for row in rows], words


@pytest.mark.parametrize(
    ("query", "texts", "words"),
    [
        ("hot tea", ["Coffee MUST be hot."] * 2, SOME),
        ("the", [], f"{COMMON} Nothing found."),
        ("sugar", [], "Nothing found."),
        ("potts", [], "Nothing found; did you mean pot?"),
        ("src/main.rs:6", ["The system MUST support error handling for invalid inputs."], ""),
        ("nowhere.md#lid", [], 'Nothing found; unknown specification "nowhere.md"; available: rfc2324, pot'),
    ],
)
def test_the_second_block_of_a_search_says_what_was_found_how(
    context: ProjectSnapshot, query: str, texts: list[str], words: str
) -> None:
    assert texts_found(context, query) == (texts, words)


def test_a_search_can_be_filtered_and_continued(context: ProjectSnapshot) -> None:
    for query, wanted, texts in (
        ("lid", {}, ["The lid MUST fit.", "The lid SHOULD shine.", "Coffee MUST be hot."]),
        ("lid", {"level": "MUST"}, ["The lid MUST fit.", "Coffee MUST be hot."]),
        ("hot", {"status": "needs tests"}, ["Coffee MUST be hot."]),
        ("hot", {"spec": "docs/pot.md"}, ["Coffee MUST be hot."]),
    ):
        assert texts_found(context, query, **wanted)[0] == texts
    _, words = texts_found(context, "hot " + "a" * 3_000)
    assert words.startswith("The search used only the first 2,000 characters of the query.")
    rows, words = answer(context, "search_requirements", query="lid", limit=2)
    cursor = words.partition("cursor=")[2].partition(",")[0]
    assert words == f"2 of 3 shown; for more, set cursor={cursor}, or raise limit."
    whole = value(context, "search_requirements", query="lid")
    assert [*rows, *value(context, "search_requirements", query="lid", cursor=cursor)] == whole
    refused = refusal(context, "search_requirements", query="pot", cursor=cursor)
    assert refused[:2] == ("invalid_request", "the cursor does not belong to this list")


NOTHING = "No code cites it: implement it, and paste the comment from suggest_citation."
DELIVERED, COVERED = f"{IN_DELIVERY}/{HOT}", f"{IN_LID}/{HOT}"
CITE_IT = "Code cites it, but not all of it is cited in tests: write a test, and paste the comment from suggest_citation with type=test."
NEEDS_TESTS = ({"status": "needs tests"}, CITE_IT)
FITS = ({"status": "in progress"}, "get_requirement shows what cites it so far.")
PLACES = ({"full_path": DELIVERED, "status": "needs tests"}, {"full_path": COVERED, "status": "uncited"})


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        (HANDLING[:8], ({"status": "done"}, "")),
        (HOT, ({"status": "uncited", "places": PLACES}, NOTHING)),
        (DELIVERED, NEEDS_TESTS),
        (f"duvet://{DELIVERED}", NEEDS_TESTS),
        (COVERED, ({"status": "uncited"}, NOTHING)),
        (f"duvet://{COVERED}", ({"status": "uncited"}, NOTHING)),
        ("027a", FITS),
        ("027A9BEFBCD1", FITS),
        (" 027a9befbcd1\n", FITS),
    ],
)
def test_the_status_of_several_places_is_the_worst_and_a_path_means_one(
    context: ProjectSnapshot, identifier: str, expected: object
) -> None:
    ##= man/spec/show.md#details
    ##% For a requirement that occurs in several places, duvet MUST show the worst of its states and list all places.
    assert answer(context, "get_requirement_status", req_identifier=identifier) == expected


REASON = "//= reason=Our cups are drawn on paper."
EXCEPTED = ("//= tea.md#cup", "//= type=exception", REASON, "//# A cup MUST NOT leak.")
CUP = {
    "identifier": "2c79658776d2",
    "id": "2c79658776d24d5cab51b05446c1c5afe7af9c4150b85147d135e9350628bfc5",
    "full_path": "/specifications/tea/sections/cup/requirements/2c79658776d2",
    "text": "A cup MUST NOT leak.",
    "level": "MUST",
    "status": "excepted",
    "reason": "Exceptions with a reason cover it.",
    "section": "cup",
    "section_title": "Cup",
    "target": "tea.md#cup",
    "file_path": "tea.md",
    "line_number": 12,
    "neighbours": (
        {"identifier": "1dd64a535306", "level": "MUST", "status": "to do", "text": "The pot MUST be warm."},
    ),
    "citation_count": 1,
    "citations": {
        "exception": [
            {
                "id": "src/pot.rs:14",
                "comment_text": "\n".join(EXCEPTED),
                "reason": "Our cups are drawn on paper.",
                "context_lines": ("}", "", *EXCEPTED, "", "//= tea.md#cup"),
            }
        ]
    },
}


@pytest.mark.parametrize("reference", ["2c79", "2C79658776D2", CUP["full_path"], "src/pot.rs:14", CUP["id"]])
def test_a_requirement_is_found_by_any_reference(reference: str) -> None:
    assert answer(TEA, "get_requirement", reference=reference) == (CUP, "")


def test_a_requirement_in_several_places_has_the_worst_status_and_names_all() -> None:
    found, step = answer(TEA, "get_requirement", reference="1dd64a535306")
    in_pot, in_cup = (f"/specifications/tea/sections/{name}/requirements/1dd64a535306" for name in ("pot", "cup"))
    assert (found["full_path"], found["status"]) == (in_cup, "to do")
    assert found["places"] == ({"full_path": in_pot, "status": "done"}, {"full_path": in_cup, "status": "to do"})
    assert {kind: [one["id"] for one in cited] for kind, cited in found["citations"].items()} == {
        "citation": ["src/pot.rs:3"],
        "test": ["tests/test_pot.py:2"],
        "todo": ["src/pot.rs:19"],
    }
    assert step == "Implement it; suggest_citation returns the comment to paste."


@pytest.mark.parametrize("count", [30, 150, 2000])
def test_of_many_citations_as_many_are_shown_as_fit(count: int) -> None:
    cited = "//= tea.md#cup\n//# A cup MUST NOT leak.\n\nfn use_it();\n\n"
    told, step = answer(context_of({**TEA_PROJECT, "src/many.rs": cited * count}), "get_requirement", reference="2c79")
    assert len(json.encode(told)) < MAX_PAGE_BYTES * 1.1
    shown = sum(map(len, told["citations"].values()))
    assert (told["citation_count"], shown > min(count, 80)) == (count + 1, True)
    rest = f"{shown} of {count + 1} citations shown; for all, read duvet://{CUP['full_path']}/citations."
    assert step == (rest if shown <= count else "")
