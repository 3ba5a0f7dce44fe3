"""`search_requirements`"""

from __future__ import annotations

import pytest

from duvet.tools.context import ProjectSnapshot
from tests.unit.tools.made import answer, refusal, value

TOOL = "search_requirements"


def found(context: ProjectSnapshot, query: str, **wanted: str) -> tuple[list[str], str]:
    """The sentences that are found, and what is said of them."""
    rows, words = answer(context, TOOL, query=query, **wanted)
    return [row["text"] for row in rows], words


@pytest.mark.parametrize(
    ("query", "texts", "words"),
    [
        ("hot tea", ["Coffee MUST be hot."] * 2, "Nothing has all words; these have some."),
        (
            "the",
            [],
            'Words as common as these don\'t count: the; put them in "…" to find them as a phrase. Nothing found.',
        ),
        ("sugar", [], "Nothing found."),
        ("potts", [], "Nothing found; did you mean pot?"),
        ("src/main.rs:6", ["The system MUST support error handling for invalid inputs."], ""),
        (
            "nowhere.md#lid",
            [],
            'Nothing found; there is no specification "nowhere.md"; there are rfc2324, pot',
        ),
    ],
)
def test_what_is_said_of_what_is_found(context: ProjectSnapshot, query: str, texts: list[str], words: str) -> None:
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The first block of a result MUST be the JSON of the answer and nothing else, and a second block MAY add the next
    ##% step or a note.
    assert found(context, query) == (texts, words)


def test_a_query_that_is_too_long_says_so(context: ProjectSnapshot) -> None:
    _, words = found(context, "hot " + "a" * 3_000)
    assert words.startswith("Only the first 2,000 characters of the query count.")


def test_filters(context: ProjectSnapshot) -> None:
    assert found(context, "lid")[0] == ["The lid MUST fit.", "The lid SHOULD shine.", "Coffee MUST be hot."]
    assert found(context, "lid", level="MUST")[0] == ["The lid MUST fit.", "Coffee MUST be hot."]
    assert found(context, "hot", status="needs tests")[0] == ["Coffee MUST be hot."]
    assert found(context, "hot", spec="docs/pot.md")[0] == ["Coffee MUST be hot."]
    assert refusal(context, TOOL, query="hot", spec="pod") == (
        "not_found",
        'there is no specification "pod"',
        "did you mean pot?",
    )


def test_parts(context: ProjectSnapshot) -> None:
    rows, words = answer(context, TOOL, query="lid", limit=2)
    cursor = words.partition("cursor=")[2].partition(",")[0]
    assert words == f"2 of 3 shown; for more give cursor={cursor}, or a higher limit."
    assert [*rows, *value(context, TOOL, query="lid", cursor=cursor)] == value(context, TOOL, query="lid")
    assert refusal(context, TOOL, query="pot", cursor=cursor)[:2] == (
        "invalid_request",
        "the cursor does not belong to this list",
    )
