"""`km-feedback-submit`, and what votes do to searches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from duvet.config.service_tables import SearchSection
from duvet.config.settings import SearchRule
from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import EnabledPack, Scope
from tests.unit.knowledge.stored import fill, plain
from tests.unit.knowledge.upkeep.made import CLOCK
from tests.unit.tools.knowledge.made import Asking
from tests.unit.tools.knowledge.upkept import refused

TOOL = "km-feedback-submit"
GIVEN: dict[str, Any] = {
    "request_id": "uuid",
    "chunk_id": "docs/tea.md::0",
    "vote": 1,
    "note": "useful",
    "context": {"task": "demo"},
}
KEPT = {**GIVEN, "vote": 1.0, "timestamp": CLOCK.isoformat(timespec="milliseconds"), "source": "mcp.manual"}


def lines(known: Asking) -> list[Any]:
    return [json.loads(line) for line in (known.file.parent / "feedback.jsonl").read_text().splitlines()]


def test_what_is_kept(known: Asking) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% `km-feedback-submit` MUST store a vote from -1 to 1, a note and a context for a search result, and warn when all
    ##% three are missing.
    assert known.value(TOOL, **GIVEN) == {"status": "ok", **KEPT}
    less = {"request_id": "uuid", "chunk_id": "docs/tea.md::0", "vote": 0}
    nothing = {"vote": 0.0, "note": None, "context": None}
    assert known.value(TOOL, **less) == {"status": "ok", **KEPT, **nothing}
    assert lines(known) == [KEPT, {**KEPT, **nothing}]


@pytest.mark.parametrize(
    "wrong",
    [
        {"vote": 1.01},
        {"vote": -2},
        {"vote": "1"},
        {"vote": True},
        {"request_id": " "},
        {"request_id": None},
        {"chunk_id": ""},
        {"chunk_id": "x" * 501},
        {"context": []},
        {"context": {"a": "x" * 20_000}},
        {"note": "x" * 20_001},
        {"votes": 1},
    ],
)
def test_what_is_refused(known: Asking, wrong: dict[str, Any]) -> None:
    assert refused(known, TOOL, **{**GIVEN, **wrong})[0] == "invalid_request"
    assert not (known.file.parent / "feedback.jsonl").exists()


def test_nothing_that_is_said(known: Asking) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% `km-feedback-submit` MUST store a vote from -1 to 1, a note and a context for a search result, and warn when all
    ##% three are missing.
    less: list[dict[str, Any]] = [{}, {"note": " "}, {"context": {}}, {"vote": None, "note": "", "context": None}]
    for nothing in less:
        answer = known.answer(TOOL, {"request_id": "r", "chunk_id": "docs/tea.md::0", **nothing})
        assert answer.warning == "That says nothing of the result: a vote from -1 to 1 or a note would."
    assert len(lines(known)) == len(less)


def test_a_piece_that_is_not_there(known: Asking) -> None:
    warning = "No piece is called so now; what you say of it is kept all the same."
    for chunk in ("docs/tea.md::1", "docs/gone.md::0", "x", "docs/tea.md::-1", "docs/tea.md::²"):
        assert known.answer(TOOL, {**GIVEN, "chunk_id": chunk}).warning == warning
    assert known.answer(TOOL, GIVEN).warning == ""
    known.file.unlink()
    assert known.answer(TOOL, GIVEN).warning == ""
    assert len(lines(known)) == 7
    fill(known.folder)


def test_votes_in_searches(known: Asking) -> None:
    ##= man/spec/gateway.md#indexing-and-feedback
    ##= type=test
    ##% With `search.feedback`, the mean vote for a chunk MUST order equally good results, and without it votes MUST NOT
    ##% count.
    def search() -> dict[str, Any]:
        found = known.value("km-search", query="boil heat", limit=25)["results"]
        return {one["chunk"]["chunk_id"]: one["scoring"] for one in found}

    before = search()
    first, second = [*before][:2]
    for chunk, vote in ((first, -1), (first, -0.5), (second, 1), ("gone::0", 1)):
        known.value(TOOL, request_id="r", chunk_id=chunk, vote=vote)
    assert search() == before
    assert SearchSection(feedback=True).rule() == SearchRule(feedback=True)
    known.turn_to(search=SearchRule(feedback=True))
    after = search()
    assert {chunk: one["signals"]["feedback"] for chunk, one in after.items()} == {
        **dict.fromkeys(before, 0.0),
        first: -0.75,
        second: 1.0,
    }
    assert after[second]["adjusted_score"] - before[second]["adjusted_score"] == pytest.approx(0.009)
    assert after[first]["adjusted_score"] - before[first]["adjusted_score"] == pytest.approx(-0.00675)
    # A vote counts with the next search.
    known.value(TOOL, request_id="r", chunk_id=second, vote=-1)
    assert search()[second]["signals"]["feedback"] == 0.0


def test_who_is_asked_for_feedback(known: Asking) -> None:
    def prompt(asking: Asking, query: str = "boil", **more: Any) -> str | None:
        metadata = plain(asking.answer("km-search", {"query": query}, **more).value)["metadata"]
        found: str | None = metadata.get("feedback_prompt")
        return found

    asked = "km-feedback-submit takes your vote on a result, by the request_id here and its chunk_id"
    assert prompt(known) == asked
    assert prompt(known, scopes=[Scope.READER]) is None
    assert prompt(known, "zzz", scopes=Scope) is None or known.value("km-search", query="zzz")["results"]
    for chosen in (EnabledPack(KNOWLEDGE, writes=False), EnabledPack(KNOWLEDGE, switches={TOOL: False})):
        other = Asking(known.folder, chosen=chosen)
        assert prompt(other) is None
        other.knowledge.close()
