"""Upstream's second JSON report"""

from __future__ import annotations

import json
from typing import Any

from pytest_snapshot.plugin import Snapshot

from tests.conftest import ROOT
from tests.unit.reports.made import CONFIG, FILES, finished, json_v2_of

ANNOTATIONS = "https://awslabs.github.io/duvet/v2/annotations.json#"
SOURCES = "https://awslabs.github.io/duvet/v2/sources.json#"


def document(files: dict[str, str], **links: str) -> Any:
    return json.loads(json_v2_of(finished(FILES | files, **links)))


def test_all_types(snapshot: Snapshot) -> None:
    snapshot.snapshot_dir = ROOT / "tests" / "gold" / "json_v2"
    snapshot.assert_match(json_v2_of(finished()), "all_types.json")


def test_nothing() -> None:
    assert json_v2_of(finished({})).decode() == (
        '{\n  "version": "2.0",\n'
        f'  "sources": {{\n    "{SOURCES}inline": {{}},\n    "{SOURCES}linked": {{}}\n  }},\n'
        '  "annotations": {\n'
        f'    "{ANNOTATIONS}specification": {{}},\n    "{ANNOTATIONS}section": {{}},\n'
        f'    "{ANNOTATIONS}requirement": {{}},\n    "{ANNOTATIONS}cite": {{}}\n  }}\n}}'
    )


def test_links() -> None:
    pattern = 'pattern = "src/**/*.rs"'
    config = CONFIG.replace(pattern, f'{pattern}\nblob-link = "https://own.example/"')
    links = {"blob_link": "https://github.com/org/repo/blob/main", "issue_link": "https://issues.example"}
    found = document({".duvet/config.toml": config}, **links)
    assert found["issue_links"] == ["https://issues.example"]
    assert found["repositories"] == {
        "repo-2a688096043d13a6": {"blob_link": "https://github.com/org/repo/blob/main"},
        "repo-e55db6b7d5eccc6b": {"blob_link": "https://own.example/"},
    }
    repositories = {one["file_name"]: one["repository"] for one in found["sources"][f"{SOURCES}linked"].values()}
    assert (repositories["src/a.rs"], repositories["more/b.toml"]) == ("repo-e55db6b7d5eccc6b", "repo-2a688096043d13a6")


def test_one_text_under_two_names_counts_once() -> None:
    comments = FILES["src/a.rs"] + "\n//= ./tea.md#pot\n//# The pot MUST be warm.\n"
    found = document({"src/a.rs": comments, "./tea.md": FILES["tea.md"]})
    assert [one["file_name"] for one in found["sources"][f"{SOURCES}inline"].values()] == ["./tea.md"]
    assert [len(found["annotations"][ANNOTATIONS + name]) for name in ("specification", "section")] == [1, 3]


def test_annotations_on_one_line_are_one() -> None:
    more = 'target = "tea.md#cup"\nspec = [{ quote = "A cup" }, { quote = "not be", level = "MUST" }]\n'
    more += 'todo = [{ quote = "A cu", reason = "first" }, { quote = "be ☕" }]\n'
    found = document({"more/b.toml": more, "src/a.rs": ""})
    requirements, cites = (found["annotations"][ANNOTATIONS + name].values() for name in ("requirement", "cite"))
    (cite,) = cites
    assert cite["comment"] == "first"
    assert cite["target"]["ranges"] == [{"start": 66, "end": 70}, {"start": 76, "end": 82}]
    requirement = next(one for one in requirements if one["level"] == "AUTO")
    assert requirement["origin"]["ranges"] == [{"start": 66, "end": 71}, {"start": 86, "end": 92}]
    assert list(requirement["coverage"].values()) == [[{"start": 66, "end": 70}]]


def test_a_specification_from_the_web_has_a_url() -> None:
    config = CONFIG.replace("tea.md", "https://example.com/tea.md")
    comments = FILES["src/a.rs"].replace("tea.md", "https://example.com/tea.md")
    files = {".duvet/config.toml": config, "src/a.rs": comments}
    files[".duvet/specifications/example.com/tea.txt"] = FILES["tea.md"]
    found = json.loads(json_v2_of(finished(files)))
    (inline,) = found["sources"][f"{SOURCES}inline"].values()
    (specification,) = found["annotations"][f"{ANNOTATIONS}specification"].values()
    assert inline["file_name"] == ".duvet/specifications/example.com/tea.txt"
    assert specification["url"] == "https://example.com/tea.md"
