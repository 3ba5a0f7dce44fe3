"""`get_requirement_status`"""

from __future__ import annotations

import pytest

from duvet.tools.context import ProjectSnapshot
from tests.unit.tools.made import answer, refusal

TOOL = "get_requirement_status"
WHOLE = "8715a7930e03"
HOT_DELIVERED = f"/specifications/rfc2324/sections/section-2.1.1/requirements/{WHOLE}"
HOT_LID = f"/specifications/pot/sections/lid/requirements/{WHOLE}"

NOTHING = "Nothing implements it: suggest_citation writes the comment for the code that will."
NO_TEST = 'It is implemented; cite it in a test, with suggest_citation and the type "test".'


def test_a_requirement_in_several_places_has_the_worst_status(context: ProjectSnapshot) -> None:
    ##= man/spec/show.md#details
    ##= type=test
    ##% For a requirement that occurs in several places, duvet MUST show the worst status and list all places.
    assert answer(context, TOOL, req_identifier=WHOLE) == (
        {
            "status": "not started",
            "places": (
                {"full_path": HOT_DELIVERED, "status": "needs tests"},
                {"full_path": HOT_LID, "status": "not started"},
            ),
        },
        NOTHING,
    )


ASK_FOR = "give the first 4 or more digits of its id, or its full_path; search_requirements finds both"


@pytest.mark.parametrize("start", ["", "duvet://"])
def test_a_path_means_one_place(context: ProjectSnapshot, start: str) -> None:
    assert answer(context, TOOL, req_identifier=start + HOT_DELIVERED) == ({"status": "needs tests"}, NO_TEST)
    assert answer(context, TOOL, req_identifier=start + HOT_LID) == ({"status": "not started"}, NOTHING)


def test_an_id_may_be_short_whole_or_upper(context: ProjectSnapshot) -> None:
    (whole,) = [id for id in context.catalogue.ids if id.startswith("027a")]
    part = ({"status": "in progress"}, "get_requirement shows what cites it so far.")
    for id in (whole, whole[:4], whole[:12].upper(), f" {whole[:12]}\n"):
        assert answer(context, TOOL, req_identifier=id) == part


@pytest.mark.parametrize(
    ("reference", "message", "hint"),
    [
        ("abc", '"abc" is too short for an id', "give at least 4 digits"),
        (
            "00000000",
            'there is no requirement "00000000"',
            "an id is that of its words, and another when these change: search for them",
        ),
        ("pot", '"pot" is no requirement', ASK_FOR),
        ("zzzz", '"zzzz" is no requirement', ASK_FOR),
        ("src/main.rs:3", '"src/main.rs:3" is no requirement', ASK_FOR),
        (
            HOT_LID.replace(WHOLE, "fe962664"),
            'there is no requirement "fe962664" in "lid"',
            "it is /specifications/rfc2324/sections/section-2.1/requirements/fe96266417b9",
        ),
    ],
)
def test_what_is_no_requirement_is_not_found(context: ProjectSnapshot, reference: str, message: str, hint: str) -> None:
    assert refusal(context, TOOL, req_identifier=reference) == ("not_found", message, hint)
