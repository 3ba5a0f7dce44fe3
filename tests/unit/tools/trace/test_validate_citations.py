"""`validate_citations`"""

from __future__ import annotations

import pytest
from msgspec import json

from duvet.tools.pagination import MAX_PAGE_BYTES
from duvet.tools.tool import ErrorCode, ResultPage, ToolError
from tests.cli.made_tea import TEA_PROJECT
from tests.unit.tools.made import answer, ask, context_of, value

TEA = context_of(TEA_PROJECT)
GOOD = "//= tea.md#pot\n//# The pot MUST be warm."
BAD = "//= tea.md#pot\n//# The pot MUST be cold."


def test_each_is_judged_in_order() -> None:
    given = [GOOD, BAD, "//= invalid", "tea.md#sugar"]
    assert value(TEA, "validate_citations", citations=given) == [
        value(TEA, "validate_citation", citation=one) for one in given
    ]
    _, step = answer(TEA, "validate_citations", citations=given)
    ##= man/spec/mcp.md#tools
    ##= type=test
    ##% The error of an invalid citation MUST begin with `URL not found`, `Specification not found`, `Section not found`
    ##% or `Requirement not found`, and the second block MUST say what to do.
    assert (
        step == "2 of 4 invalid: number 2, 3. Write what `nearest` says, the target or the words, and validate again."
    )
    assert ask(TEA, "validate_citations", {"citations": given}).page == ResultPage(4)


def test_nothing_is_wrong() -> None:
    assert answer(TEA, "validate_citations", citations=[GOOD])[1] == "All 1 citation valid."
    assert answer(TEA, "validate_citations", citations=[GOOD, "tea.md#cup"])[1] == "All 2 citations valid."


def test_of_many_the_first_are_named_and_no_answer_is_long() -> None:
    found, step = answer(
        TEA, "validate_citations", citations=[f"//= tea.md#{'a' * 900}{number}" for number in range(50)]
    )
    first = ", ".join(map(str, range(1, 11)))
    assert step == (f"50 of 50 invalid: number {first} and 40 more. validate_citation says what to do about one.")
    assert len(json.encode(found)) < MAX_PAGE_BYTES


@pytest.mark.parametrize("given", [[], [GOOD] * 51, ["a" * 10_001], [3], GOOD])
def test_what_is_no_list_of_citations_is_refused(given: object) -> None:
    with pytest.raises(ToolError) as caught:
        answer(TEA, "validate_citations", citations=given)
    assert caught.value.code is ErrorCode.INVALID_REQUEST
