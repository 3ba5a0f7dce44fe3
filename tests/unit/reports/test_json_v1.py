import json

from pytest_snapshot.plugin import Snapshot

from tests.unit.reports.report_projects import TYPES, finished, json_v1_of


def test_all_annotation_types_are_written(snapshot: Snapshot) -> None:
    found = json.loads(json_v1_of(finished(TYPES)))
    del found["refs"]
    snapshot.assert_match(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "json_v1/all_types.json")


def test_an_empty_project_has_its_links_and_a_reference_for_each_set_of_types() -> None:
    found = json.loads(json_v1_of(finished({}, "https://b", "https://i")))
    assert list(found.items())[:2] == [("blob_link", "https://b"), ("issue_link", "https://i")]
    kinds = ["todo", "exception", "test", "implication", "citation", "spec"]
    levels: list[dict[str, object]] = [{}, {"level": "MAY"}, {"level": "SHOULD"}, {"level": "MUST"}]
    assert found.pop("refs") == [
        {**{kind: True for bit, kind in enumerate(kinds) if index >> bit & 1}, **level}
        for level in levels
        for index in range(64)
    ]
    nothing: dict[str, object] = {"specifications": {}, "annotations": [], "statuses": {}}
    assert found == {"blob_link": "https://b", "issue_link": "https://i", **nothing}
    found = json.loads(json_v1_of(finished({})))
    assert found.keys() - {"refs"} == nothing.keys()
