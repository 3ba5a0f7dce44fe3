"""`km-graph-search`"""

from __future__ import annotations

import pytest

from tests.unit.knowledge.stored import MUST_BOIL, MUST_POUR
from tests.unit.tools.knowledge.made import Asking

TOOL = "km-graph-search"
SUBSYSTEM = {"id": "Subsystem:Kettle", "label": "Subsystem", "score": 0.95, "snippet": "Heats water."}


def test_results(known: Asking) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-search` MUST find a term literally, in any case, in names and in the texts of requirements.
    assert known.value(TOOL, term="KETTLE", limit=10) == {
        "status": "ok",
        "results": [
            SUBSYSTEM,
            {"id": "Specification:spec", "label": "Specification", "score": 0.9, "snippet": "The Kettle"},
            {"id": "DesignDoc:docs/kettle.md", "label": "DesignDoc", "score": 0.85, "snippet": "docs/kettle.md"},
            *[
                {"id": f"SourceFile:{path}", "label": "SourceFile", "score": 0.8, "snippet": path}
                for path in ("src/kettle/boil.py", "src/kettle/empty.py")
            ],
            {
                "id": MUST_BOIL.id,
                "label": "Requirement",
                "score": 0.7,
                "snippet": MUST_BOIL.properties["text"],
            },
            {"id": MUST_POUR.id, "label": "Requirement", "score": 0.7, "snippet": "The kettle MUST pour."},
            {
                "id": "TestCase:tests/test_kettle.py",
                "label": "TestCase",
                "score": 0.65,
                "snippet": "tests/test_kettle.py",
            },
        ],
    }
    assert known.value(TOOL, term=" kettle ", limit=1)["results"] == [SUBSYSTEM]


FOUND = {
    "steam must": [MUST_BOIL.id],
    "pouring": ["Section:spec#pouring", MUST_POUR.id],
    "100%": ["SourceFile:src/tea/leaf 100%.py"],
    "%": ["SourceFile:src/tea/leaf 100%.py"],
    "leaf_100": [],
    "_": ["TestCase:tests/test_kettle.py"],
    "odd::name:1": ["SourceFile:src/odd::name:1.py"],
    '" OR 1=1 --': [],
    "nothing": [],
    "x" * 20_000: [],
    "a\0b": [],
    "\\": [],
}


@pytest.mark.parametrize("term", FOUND, ids=range(len(FOUND)))
def test_terms(known: Asking, term: str) -> None:
    assert [one["id"] for one in known.value(TOOL, term=term)["results"]] == FOUND[term]


def test_what_to_do_next(known: Asking) -> None:
    assert known.answer(TOOL, {"term": "tea"}).next_step == "km-graph-node tells of one of them by its id."
    assert known.answer(TOOL, {"term": "coffee"}).next_step == "km-search looks into the texts of files."


def test_refusals(known: Asking) -> None:
    assert known.refusal(TOOL)[:2] == ("invalid_request", "term is missing")
    assert known.refusal(TOOL, term=" ")[:2] == ("invalid_request", "term is missing")
    assert known.refusal(TOOL, term=["a"])[:2] == ("invalid_request", "term: expected str, got array")
    assert known.refusal(TOOL, term="a", limit=0)[:2] == ("invalid_request", "limit: expected int >= 1")
    assert known.value(TOOL, term="e", limit=1_000_000)["status"] == "ok"
