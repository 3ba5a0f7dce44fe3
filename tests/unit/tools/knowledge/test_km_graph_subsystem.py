"""`km-graph-subsystem`"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest

from tests.unit.knowledge.stored import MUST_BOIL
from tests.unit.tools.knowledge.made import Asking
from tests.unit.tools.knowledge.test_km_graph_node import FILE, SUBSYSTEM

TOOL = "km-graph-subsystem"
TEST = {"id": "TestCase:tests/test_kettle.py", "labels": ["TestCase"], "properties": {"path": "tests/test_kettle.py"}}


def reached(found: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["target"]["id"], one["hops"]) for one in found["related"]["nodes"]]


def test_what_is_around_it(known: Asking) -> None:
    ##= man/spec/knowledge.md#graph
    ##= type=test
    ##% `km-graph-subsystem` MUST list each node around a subsystem once, with a shortest path to it, by name and page
    ##% by page.
    found = known.value(TOOL, name="kettle", depth=1, limit=25, cursor=None, include_artifacts=True)
    related, artifacts = found["related"], found["artifacts"]
    assert found == {"status": "ok", "subsystem": SUBSYSTEM, "related": related, "artifacts": artifacts}
    assert (related["cursor"], related["total"]) == (None, 5)
    assert reached(found) == [
        ("DesignDoc:docs/kettle.md", 1),
        ("SourceFile:src/kettle/boil.py", 1),
        ("SourceFile:src/kettle/empty.py", 1),
        ("Subsystem:Tea", 1),
        ("TestCase:tests/test_kettle.py", 1),
    ]
    assert related["nodes"][4] == {
        "target": TEST,
        "hops": 1,
        "path": [
            {
                "type": "VALIDATES",
                "direction": "IN",
                "source": "TestCase:tests/test_kettle.py",
                "target": "Subsystem:Kettle",
            }
        ],
        "relationship": "VALIDATES",
        "direction": "IN",
    }
    assert [one["id"] for one in artifacts] == [
        "DesignDoc:docs/kettle.md",
        "SourceFile:src/kettle/boil.py",
        "SourceFile:src/kettle/empty.py",
        "TestCase:tests/test_kettle.py",
    ]
    assert artifacts[1] == FILE


def test_a_way_of_two_steps(known: Asking) -> None:
    found = known.value(TOOL, name="Tea", depth=2)
    ways = {one["target"]["id"]: one for one in found["related"]["nodes"]}
    assert ways["SourceFile:src/kettle/boil.py"]["path"] == [
        {"type": "DEPENDS_ON", "direction": "OUT", "source": "Subsystem:Tea", "target": "Subsystem:Kettle"},
        {
            "type": "BELONGS_TO",
            "direction": "IN",
            "source": "SourceFile:src/kettle/boil.py",
            "target": "Subsystem:Kettle",
        },
    ]
    assert ways["SourceFile:src/kettle/boil.py"]["hops"] == 2
    assert ways["SourceFile:src/kettle/boil.py"]["relationship"] == "DEPENDS_ON"
    assert MUST_BOIL.id not in ways
    for depth in (3, 5, 1000):
        assert (MUST_BOIL.id, 3) in reached(known.value(TOOL, name="Tea", depth=depth))
    # No step at all would tell of nothing.
    assert known.value(TOOL, name="Tea", depth=0) == known.value(TOOL, name="Tea", depth=1)


def test_page_by_page(known: Asking) -> None:
    whole = reached(known.value(TOOL, name="Kettle", depth=5))
    parts: list[tuple[str, int]] = []
    cursor = None
    while cursor is not None or not parts:
        answer = known.answer(TOOL, {"name": "Kettle", "depth": 5, "limit": 2, "cursor": cursor})
        found = known.value(TOOL, name="Kettle", depth=5, limit=2, cursor=cursor)
        parts += reached(found)
        cursor = found["related"]["cursor"]
        assert found["related"]["total"] == len(whole)
        assert answer.next_step == (
            f"2 of {len(whole)} related nodes shown; for more give cursor={cursor}." if cursor else ""
        )
    assert parts == whole and len(whole) == len(set(whole))


BROKEN = ["", "garbage", "\u00fc", "x" * 19_000, "!!!!", urlsafe_b64encode(b"-5").decode(), "MTA", "\0"]


@pytest.mark.parametrize("cursor", BROKEN, ids=range(len(BROKEN)))
def test_a_cursor_that_can_not_be_read(known: Asking, cursor: str) -> None:
    first = known.value(TOOL, name="Kettle", limit=2)
    assert known.value(TOOL, name="Kettle", limit=2, cursor=cursor) == first


def test_a_cursor_past_the_end(known: Asking) -> None:
    found = known.value(TOOL, name="Kettle", cursor=urlsafe_b64encode(b"9" * 40).decode())
    assert found["related"] == {"nodes": [], "cursor": None, "total": 5}


def test_without_files(known: Asking) -> None:
    assert known.value(TOOL, name="Kettle", include_artifacts=False)["artifacts"] == []


def test_refusals(known: Asking) -> None:
    assert known.refusal(TOOL, name="Kettel") == (
        "not_found",
        "Subsystem 'Kettel' not found",
        "did you mean Kettle?",
    )
    assert known.refusal(TOOL, name="%")[:2] == ("not_found", "Subsystem '%' not found")
    assert known.refusal(TOOL, name=" ")[:2] == ("invalid_request", "name is missing")
    assert known.refusal(TOOL, name="Kettle", depth=-1)[:2] == ("invalid_request", "depth: expected int >= 0")
    assert known.refusal(TOOL, name="Kettle", limit=0)[:2] == ("invalid_request", "limit: expected int >= 1")
    assert known.refusal(TOOL, name="Kettle", cursor=5)[:2] == ("invalid_request", "cursor: expected str, got int")
