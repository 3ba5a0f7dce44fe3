"""Upstream's first JSON report"""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from pytest_snapshot.plugin import Snapshot

from duvet.reports import json_v1
from tests.conftest import ROOT
from tests.unit.reports.made import FILES, finished


def document(files: dict[str, str], **links: str) -> Any:
    out = BytesIO()
    json_v1.render_json_v1(finished(files, **links), out)
    return json.loads(out.getvalue())


def test_all_types(snapshot: Snapshot) -> None:
    ##= man/spec/trace.md#reports
    ##% Both versions of JSON, LCOV and the snapshot MUST equal those of awslabs duvet, except for its defects and
    ##% `[[not-applicable]]`.
    found = document(FILES)
    del found["refs"]
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "json_v1"
    snapshot.assert_match(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "all_types.json")


def test_links_come_first() -> None:
    found = document({}, blob_link="https://b", issue_link="https://i")
    assert list(found.items())[:2] == [("blob_link", "https://b"), ("issue_link", "https://i")]


def test_each_set_of_kinds_has_its_reference() -> None:
    found = document({})["refs"]
    kinds = ["todo", "exception", "test", "implication", "citation", "spec"]
    levels: list[dict[str, object]] = [{}, {"level": "MAY"}, {"level": "SHOULD"}, {"level": "MUST"}]
    assert found == [
        {**{kind: True for bit, kind in enumerate(kinds) if index >> bit & 1}, **level}
        for level in levels
        for index in range(64)
    ]


def test_nothing() -> None:
    found = document({})
    del found["refs"]
    assert found == {"specifications": {}, "annotations": [], "statuses": {}}
