"""The rows of the table, on trees that are there."""

from __future__ import annotations

from pathlib import Path

from duvet.cli import COMMANDS
from tests.bench.budgets import PROJECTS, QUESTIONS
from tests.bench.workloads import CITATION, CONFIG, PAGE_CONFIG, workloads


def test_without_the_shared_folder_only_the_start_is_measured(tmp_path: Path) -> None:
    assert [row.arguments for row in workloads(None, tmp_path, "*", huge=True)] == [("--version",), ("--help",)]


def test_a_tree_is_measured_in_each_of_its_states(tmp_path: Path, shared: Path) -> None:
    found = [
        (row.name, row.budget[:2], row.arguments[1:], row.settles, row.has_peers)
        for row in workloads(shared, tmp_path, "h3*", huge=False)
    ]
    assert found == [
        ("h3-704b37a, cold", (0.22, 0.30), (), False, True),
        ("h3-704b37a, cold with HTML", (0.30, 0.45), ("--config-path", PAGE_CONFIG), False, True),
        ("h3-704b37a, nothing changed", (0.17, 0.22), (), True, False),
        ("h3-704b37a, one source changed", (0.20, 0.30), (), True, False),
    ]
    assert list(tmp_path.iterdir()) == []


def test_questions_are_put_to_a_tree_that_has_been_read(tmp_path: Path, shared: Path) -> None:
    found = [(row.name, row.budget[:2], row.settles) for row in workloads(shared, tmp_path, "s2n*", huge=False)]
    asked = [row for row in found if row[0].startswith("s2n") and not row[0].endswith(("cold", "HTML", "changed"))]
    assert asked == [
        (f"s2n-tls-132053b, {' '.join(words)}", QUESTIONS[words][:2], True)
        for words in QUESTIONS
        if words[0] in COMMANDS
    ]
    assert list(tmp_path.iterdir()) == []


def test_one_configuration_writes_the_page_and_the_other_does_not(tmp_path: Path, shared: Path) -> None:
    row = next(workloads(shared, tmp_path, "h3*", huge=False))
    texts = [(row.folder / name).read_text() for name in (CONFIG, PAGE_CONFIG)]
    assert ["[report.html]\nenabled = true" in text for text in texts] == [False, True]
    assert [text.count("[report.json]\nenabled = true") for text in texts] == [1, 1]
    assert [text.count("[report.snapshot]\nenabled = true") for text in texts] == [1, 1]


def test_the_source_that_changes_cites_something(shared: Path) -> None:
    golden = [shared / "golden" / project.name / "project" / project.source for project in PROJECTS]
    assert [path.name for path in golden if path.is_file() and not CITATION.search(path.read_text())] == []


def test_the_largest_trees_are_measured_on_request(tmp_path: Path) -> None:
    assert [project.name for project in PROJECTS if project.huge] == ["10000 x 20000"]
