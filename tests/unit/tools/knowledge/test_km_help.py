"""`km-help`"""

from __future__ import annotations

from pathlib import Path

from duvet.tools.packs import KNOWLEDGE
from duvet.tools.tool import EnabledPack
from tests.unit.tools.knowledge.made import Asking

NAMES = [
    "km-help",
    "km-search",
    "km-graph-node",
    "km-graph-subsystem",
    "km-graph-search",
    "km-coverage-summary",
    "km-lifecycle-report",
    "km-ingest-status",
    "km-ingest-trigger",
    "km-feedback-submit",
    "km-backup-trigger",
    "km-recipe-run",
    "km-upload",
    "km-storetext",
]


def test_all(known: Asking) -> None:
    found = known.value("km-help")
    assert found == {"status": "ok", "tools": found["tools"]}
    assert list(found["tools"]) == NAMES
    for usage in found["tools"].values():
        assert usage.keys() == {"description", "details"} and usage["description"] and usage["details"]


def test_one(known: Asking) -> None:
    ##= man/spec/knowledge.md#answers
    ##= type=test
    ##% `km-help` MUST describe the enabled tools and no others, as they are, and with `include_spec` as one document.
    found = known.value("km-help", tool="km-graph-search")
    assert found == {
        "status": "ok",
        "tool": "km-graph-search",
        "usage": {
            "description": "Subsystems, specifications, sections, requirements and files by a part of what they are called.",
            "details": "term (string; required): A part of a name or a path, or of the text of a requirement\n"
            "limit (integer; default 20; at least 1; at most 50): Nodes\n"
            "Scope: reader.",
        },
    }
    choice = known.value("km-help", tool="km-graph-node")["usage"]["details"].splitlines()[1]
    assert choice.startswith("relationships (outgoing, incoming, all or none; default outgoing): ")
    own = known.value("km-help", tool="km-help")["usage"]["details"].splitlines()
    assert [line.partition(":")[0] for line in own] == [
        "tool (string; optional)",
        "include_spec (boolean; default false)",
        "Scope",
    ]
    search = known.value("km-help", tool="km-search")["usage"]["details"]
    assert "\nlimit (integer; default 10; at least 1; at most 25): Results\n" in search
    assert "\nfilters.symbol_kinds (list of class, function, interface, method, module or type; optional)\n" in search


def test_the_document(known: Asking) -> None:
    spec = known.value("km-help", include_spec=True)["spec"]
    assert known.value("km-help", tool="km-help", include_spec=True)["spec"] == spec
    for name in NAMES:
        assert f"\n### {name}\n" in spec and f"\n| `{name}` | " in spec
    assert "- `node_id` (string; required): LABEL:KEY, such as" in spec
    assert "\n| `km-lifecycle-report` | maintainer | " in spec
    assert "None" not in spec and "{{" not in spec and "\n\n\n" not in spec


def test_what_is_switched_off_is_not_told_of(tmp_path: Path) -> None:
    known = Asking(tmp_path, chosen=EnabledPack(KNOWLEDGE, switches={"km-graph-node": False}))
    assert list(known.value("km-help")["tools"]) == [name for name in NAMES if name != "km-graph-node"]
    assert "km-graph-node" not in known.value("km-help", include_spec=True)["spec"].partition("## Tools")[2]
    assert known.refusal("km-help", tool="km-graph-node")[0] == "invalid_request"


def test_a_tool_that_is_not_there(known: Asking) -> None:
    for name in ("km-recipe", "coverage_summary", "x" * 19_000):
        code, message, _ = known.refusal("km-help", tool=name)
        assert code == "invalid_request"
        assert message.startswith("Unknown tool '") and message.endswith(", ".join(sorted(NAMES)))
