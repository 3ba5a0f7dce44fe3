"""Refusals of the trace tools, with reasons and hints."""

from __future__ import annotations

import pytest

from duvet.tools.context import ProjectSnapshot
from tests.unit.tools.tool_calls import FILES, TEA, context_of, refusal

COFFEE = context_of(FILES)
REQUIREMENT, SECTION = (TEA, "get_requirement", "reference"), (TEA, "get_section", "reference")
STATUS, CITATION = (COFFEE, "get_requirement_status", "req_identifier"), (COFFEE, "get_citation_context", "citation_id")
NOT_FOUND, INVALID = "not_found", "invalid_request"
CHANGED_ID = "requirement ids change when the text changes; try `duvet search`"
NAMES = "use a specification, SPEC#SECTION, a file, FILE:LINE or the first digits of an id"
ID_OR_PATH = "use the first 4 or more digits of its id, or its full_path; find them with search_requirements"
HAS_SUGAR = "find the requirements of tea.md#sugar with get_section"
NO_MILK = 'missing section "milk" in tea.md'
FIX_IT = "fix it first; validate_citation shows the nearest correction"
IDS = "use one of these ids: 1dd64a535306, a5415b83517f"
LISTED = "list the sections with /specifications/tea/sections"
NEAR = "nearest: src/main.rs:3, src/main.rs:9, src/main.rs:15"
FILE_LINE = "write it like src/main.rs:42"
LID = "/specifications/pot/sections/lid"
USE_PATH = "use /specifications/rfc2324/sections/section-2.1/requirements/fe96266417b9"
REFERENCES = [
    (REQUIREMENT, "tea.md#cup", INVALID, "the reference is not a requirement", "use an id from get_section"),
    (REQUIREMENT, "src/pot.rs:25", NOT_FOUND, "the citation at src/pot.rs:25 quotes no requirement", HAS_SUGAR),
    (REQUIREMENT, "src/pot.rs:27", NOT_FOUND, f"the citation at src/pot.rs:27 is invalid: {NO_MILK}", FIX_IT),
    (REQUIREMENT, "src/pot.rs:7", NOT_FOUND, "the citation cites 2 requirements", IDS),
    (REQUIREMENT, "9999", NOT_FOUND, 'no requirement matches "9999"', CHANGED_ID),
    (REQUIREMENT, "1d", NOT_FOUND, '"1d" is too short for an id', "give at least 4 digits"),
    (REQUIREMENT, "../../etc/passwd:1", NOT_FOUND, 'nothing matches "../../etc/passwd:1"', NAMES),
    (REQUIREMENT, "\0\x1b", NOT_FOUND, 'nothing matches "\\0\\u{1b}"', NAMES),
    (SECTION, "tea", INVALID, "the reference is not a section", "available in tea: #tea, #pot, #cup, #sugar"),
    (SECTION, "src/pot.rs", INVALID, "the reference is not a section", "use spec#section"),
    (SECTION, "tea#milk", NOT_FOUND, 'unknown section "milk" of tea.md', LISTED),
    (SECTION, "../secret.md", NOT_FOUND, 'nothing matches "../secret.md"', NAMES),
    (SECTION, "\0", NOT_FOUND, 'nothing matches "\\0"', NAMES),
    (STATUS, "abc", NOT_FOUND, '"abc" is too short for an id', "give at least 4 digits"),
    (STATUS, "00000000", NOT_FOUND, 'no requirement matches "00000000"', CHANGED_ID),
    (STATUS, "pot", NOT_FOUND, '"pot" is not a requirement', ID_OR_PATH),
    (STATUS, "zzzz", NOT_FOUND, '"zzzz" is not a requirement', ID_OR_PATH),
    (STATUS, "src/main.rs:3", NOT_FOUND, '"src/main.rs:3" is not a requirement', ID_OR_PATH),
    (STATUS, f"{LID}/requirements/fe962664", NOT_FOUND, 'requirement "fe962664" is not in section "lid"', USE_PATH),
    (CITATION, "src/main.rs:6", NOT_FOUND, "no citation at src/main.rs:6", NEAR),
    (CITATION, "src/main.rs", INVALID, '"src/main.rs" is not in the form `file:line`', FILE_LINE),
    (CITATION, ":1", INVALID, '":1" is not in the form `file:line`', FILE_LINE),
    (CITATION, "src/mian.rs:3", NOT_FOUND, 'no citations in "src/mian.rs"', "did you mean src/main.rs?"),
    (
        CITATION,
        LID,
        NOT_FOUND,
        f'"{LID}" is not a citation',
        "find the citations of a requirement with get_requirement",
    ),
    ((COFFEE, "coverage_summary", "spec"), "pod", NOT_FOUND, 'unknown specification "pod"', "did you mean pot?"),
    ((COFFEE, "search_requirements", "spec"), "pod", NOT_FOUND, 'unknown specification "pod"', "did you mean pot?"),
]


@pytest.mark.parametrize(("asked", "reference", "code", "message", "hint"), REFERENCES, ids=range(len(REFERENCES)))
def test_a_reference_that_leads_nowhere_is_refused(
    asked: tuple[ProjectSnapshot, str, str], reference: str, code: str, message: str, hint: str
) -> None:
    context, tool, name = asked
    more = {"query": "hot"} if tool == "search_requirements" else {}
    assert refusal(context, tool, **{name: reference, **more}) == (code, message, hint)


PLACES = """\
use one of these paths:
/specifications/tea/sections/pot/requirements/1dd64a535306  The pot MUST be warm.
/specifications/tea/sections/cup/requirements/1dd64a535306  The pot MUST be warm."""
WHY = "set `reason` to the reason why the requirement is not met"
UNWRITTEN = "src/none.rs does not exist, so it has no line 1"
NO_TARGET = "only requirements and sections can be cited"


@pytest.mark.parametrize(
    ("asked", "code", "message", "hint"),
    [
        ({"line": 1000}, INVALID, "line 1000 does not exist; the file has 36 lines", "choose another line"),
        ({"line": 4}, INVALID, "this line is inside the annotation at src/pot.rs:3", "choose line 3 or line 5"),
        ({"file": "src/none.rs", "line": 1}, INVALID, UNWRITTEN, "omit line, or create the file first"),
        ({"type": "exception"}, INVALID, "an exception needs a reason", WHY),
        ({"requirement": "1dd64a535306"}, NOT_FOUND, "requirement 1dd64a535306 occurs in 2 places", PLACES),
        ({"requirement": "tea"}, NOT_FOUND, NO_TARGET, "give a requirement id or SPEC#SECTION"),
    ],
)
def test_a_citation_that_cannot_be_written_is_not_suggested(
    asked: dict[str, object], code: str, message: str, hint: str
) -> None:
    given = {"requirement": "2c79658776d2", "file": "src/pot.rs", **asked}
    assert refusal(TEA, "suggest_citation", **given) == (code, message, hint)
