"""`coverage_summary` of a project with very many specifications."""

from __future__ import annotations

from msgspec import json

from duvet.tools.pagination import MAX_PAGE_BYTES
from tests.unit.tools.made import answer, ask, context_of
from tests.unit.tools.trace.test_pack import COVERAGE, many


def test_what_is_far_too_much_is_cut() -> None:
    context = context_of(many(200))
    found, words = answer(context, COVERAGE)
    shown = found["specifications"]
    assert words == (
        f"{len(shown)} of 202 specifications shown, those with most left to do. "
        "Give spec for the levels of one specification."
    )
    assert 100 < len(shown) < 202 and shown[0]["id"] == "a199"
    assert len(json.encode(ask(context, COVERAGE).value)) <= MAX_PAGE_BYTES
    assert len(answer(context_of(many(200), page_size=0), COVERAGE)[0]["specifications"]) == 202
