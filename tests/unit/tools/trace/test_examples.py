"""The examples of the server's description, each with its literal shape."""

from __future__ import annotations

from duvet.tools.context import ProjectSnapshot
from tests.unit.tools.made import answer, value

HANDLING = "fe96266417b9"
IN_SECTION = "/specifications/rfc2324/sections/section-2.1/requirements"
IN_DELIVERY = "/specifications/rfc2324/sections/section-2.1.1/requirements"
IN_LID = "/specifications/pot/sections/lid/requirements"


def test_search_requirements(context: ProjectSnapshot) -> None:
    assert answer(context, "search_requirements", query="error handling") == (
        [
            {
                "identifier": "57d939cc91fa",
                "full_path": f"{IN_DELIVERY}/57d939cc91fa",
                "text": "Errors in handling MUST be told.",
            },
            {
                "identifier": HANDLING,
                "full_path": f"{IN_SECTION}/{HANDLING}",
                "text": "The system MUST support error handling for invalid inputs.",
            },
        ],
        "",
    )


def test_get_requirement_status(context: ProjectSnapshot) -> None:
    assert answer(context, "get_requirement_status", req_identifier=HANDLING[:8]) == ({"status": "done"}, "")


def test_list_uncited_requirements(context: ProjectSnapshot) -> None:
    found, next_step = answer(context, "list_uncited_requirements")
    assert found == [
        {"identifier": id, "full_path": f"{path}/{id}", "text": text}
        for path, id, text in [
            (IN_SECTION, "ea1dc3965b66", "A server SHOULD brew coffee."),
            (IN_SECTION, "f57473c2f832", "Milk MAY be added."),
            (IN_DELIVERY, "57d939cc91fa", "Errors in handling MUST be told."),
            (IN_LID, "b1537a2b0abf", "The lid SHOULD shine."),
            (IN_LID, "8715a7930e03", "Coffee MUST be hot."),
        ]
    ]
    assert next_step == "suggest_citation writes the comment for one of them."


def test_list_invalid_citations(context: ProjectSnapshot) -> None:
    found, next_step = answer(context, "list_invalid_citations")
    rfc = "https://www.rfc-editor.org/rfc/rfc2324"
    assert found == [
        {"file_path": "src/main.rs", "line_number": line, "comment_text": comment, "error": error}
        for line, comment, error in [
            (23, "//= invalid", 'URL not found: Could not resolve file "invalid"'),
            (25, f"//= {rfc}#section-9", f'Section not found: missing section "section-9" in {rfc}'),
            (
                27,
                f"//= {rfc}#section-2.1\n//# Tea MUST be cold.",
                f'Requirement not found: could not find text in section "section-2.1" of {rfc}',
            ),
            (30, "//= docs/pod.md#lid", 'Specification not found: Could not resolve file "docs/pod.md"'),
            (32, "//= docs/pot.md#lid\n//= colour=black", "URL not found: invalid metadata field"),
        ]
    ]
    assert next_step == "validate_citation tells whether a corrected one is right."


def test_get_citation_context(context: ProjectSnapshot) -> None:
    assert answer(context, "get_citation_context", citation_id="src/main.rs:15", context_lines=2) == (
        {
            "file_path": "src/main.rs",
            "line_number": 15,
            "context": (
                "fn checks() {}",
                "",
                "    //= https://www.rfc-editor.org/rfc/rfc2324#section-2.1.1",
                "    //# Coffee MUST be hot.",
                "    fn heat() {}",
            ),
        },
        "",
    )


def test_resolve_spec_id(context: ProjectSnapshot) -> None:
    url = "https://www.rfc-editor.org/rfc/rfc2324"
    assert answer(context, "resolve_spec_id", url=url) == ({"spec_id": "rfc2324"}, "")


def test_get_prioritized_requirements(context: ProjectSnapshot) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% `get_prioritized_requirements` MUST rank all requirements, including those that are done.
    found = value(context, "get_prioritized_requirements")
    assert found == [
        {"full_path": path, "level": level, "status": status, "todo_count": todos}
        for path, level, status, todos in [
            (f"{IN_DELIVERY}/8715a7930e03", "MUST", "partially_implemented", 0),
            (f"{IN_LID}/027a9befbcd1", "MUST", "partially_implemented", 0),
            (f"{IN_DELIVERY}/57d939cc91fa", "MUST", "not_started", 0),
            (f"{IN_LID}/8715a7930e03", "MUST", "not_started", 0),
            (f"{IN_SECTION}/{HANDLING}", "MUST", "fully_implemented", 0),
            (f"{IN_LID}/b1537a2b0abf", "SHOULD", "not_started", 1),
            (f"{IN_SECTION}/ea1dc3965b66", "SHOULD", "not_started", 0),
            (f"{IN_SECTION}/f57473c2f832", "MAY", "not_started", 0),
        ]
    ]
