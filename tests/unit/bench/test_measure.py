"""The options of the benchmark, its cases, and measurements of known programs."""

from __future__ import annotations

import resource
import shutil
import sys
from pathlib import Path

import pytest

from tests.bench.budgets import PROJECTS, QUESTIONS
from tests.bench.measure import FailedError, environment, least
from tests.bench.options import parse
from tests.bench.workloads import CITATION, CONFIG, PAGE_CONFIG, Edit, forget, workloads


def ask(shared: Path, *arguments: str) -> dict[str, object]:
    return vars(parse(["--duvet", "./duvet", "--shared", str(shared), *arguments]))


@pytest.mark.parametrize(
    ("arguments", "rows", "growth", "huge"),
    [
        ([], True, False, False),
        (["--huge"], True, False, True),
        (["--growth"], False, True, False),
        (["--save"], True, True, True),
    ],
)
def test_options_say_what_is_measured(
    tmp_path: Path, arguments: list[str], rows: bool, growth: bool, huge: bool
) -> None:
    options = ask(tmp_path, *arguments)
    assert (options["rows"], options["growth"], options["huge"], options["only"]) == (rows, growth, huge, "*")


def test_commands_are_found_from_any_folder_and_runs_are_never_too_few(tmp_path: Path) -> None:
    options = ask(tmp_path, "--peer", "sh -c 'exit 3'", "--runs", "1")
    assert (options["duvet"], options["runs"]) == (str(Path.cwd() / "duvet"), 7)
    assert options["peer"] == [shutil.which("sh"), "-c", "exit 3"]
    assert ask(tmp_path / "absent", "--runs", "30")["runs"] == 30
    assert ask(tmp_path / "absent")["shared"] is None


@pytest.mark.parametrize("wrong", [["--save", "--only", "a"], ["--save"], ["--growth"]])
def test_a_part_cannot_be_saved(tmp_path: Path, wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path if "--only" in wrong else tmp_path / "absent"
    with pytest.raises(SystemExit):
        ask(shared, *wrong)
    assert capsys.readouterr().err.splitlines()[-1].startswith("make bench ARGS=: error: --")


def test_a_run_costs_time_and_its_own_memory(tmp_path: Path) -> None:
    assert least([sys.executable, "-c", "sum(range(10**6))"], tmp_path, 1).cpu > 0
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert 1 < least([sys.executable, "-I", "-S", "-c", ""], tmp_path, 1).memory < own / 2


def test_each_run_is_prepared(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def prepare() -> None:
        with log.open("a") as file:
            file.write("prepared ")

    least([sys.executable, "-c", "print('run', file=open('log', 'a'))"], tmp_path, 1, prepare)
    lines = log.read_text().splitlines()
    assert len(lines) > 1 and set(lines) == {"prepared run"}


def test_a_command_that_fails_is_not_measured(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="answered 3\nbroken"):
        least([sys.executable, "-c", "import sys; print('broken', file=sys.stderr); sys.exit(3)"], tmp_path, 1)


def test_variables_that_would_change_the_work_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CI", "GITHUB_ACTIONS", "DUVET_SHARED"):
        monkeypatch.setenv(name, "1")
    assert {"CI", "GITHUB_ACTIONS", "DUVET_SHARED"} & environment().keys() == set()


QUOTE = " *= spec.md#a\n *# The quote\n *# goes on.\n"
SOURCE = f"/**\n{QUOTE} */\nint a;\n\n//= spec.md#b\n//# Another one.\n"


def test_an_edit_adds_and_removes_a_citation_and_never_writes_the_same_twice(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(SOURCE)
    edit, texts = Edit(path), []
    for _ in range(4):
        edit()
        texts.append(path.read_text())
    assert texts == [f"{QUOTE}\n{SOURCE}", f"\n\n{SOURCE}", f"{QUOTE}\n\n\n{SOURCE}", f"\n\n\n\n{SOURCE}"]
    path.write_text("int a; // nothing\n")
    with pytest.raises(ValueError, match="cites nothing"):
        Edit(path)


def test_the_cache_alone_is_forgotten(tmp_path: Path) -> None:
    for name in ("cache/a.db", "reports/report.json"):
        (tmp_path / ".duvet" / name).parent.mkdir(parents=True)
        (tmp_path / ".duvet" / name).write_text("")
    forget(tmp_path)
    forget(tmp_path)
    assert sorted(path.name for path in (tmp_path / ".duvet").iterdir()) == ["reports"]


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
    rows = workloads(shared, tmp_path, "s2n*, [!cno]*", huge=False)
    assert [(row.name, row.budget[:2], row.settles) for row in rows] == [
        (f"s2n-tls-132053b, {' '.join(words)}", QUESTIONS[words][:2], True) for words in QUESTIONS
    ]
    assert list(tmp_path.iterdir()) == []


def test_one_configuration_writes_the_page_and_the_other_does_not(tmp_path: Path, shared: Path) -> None:
    row = next(workloads(shared, tmp_path, "h3*", huge=False))
    texts = [(row.folder / name).read_text() for name in (CONFIG, PAGE_CONFIG)]
    reports = [[f"[report.{name}]\nenabled = true" in text for name in ("html", "json", "snapshot")] for text in texts]
    assert reports == [[False, True, True], [True, True, True]]
    assert [text.count("[report.json]") + text.count("[report.snapshot]") for text in texts] == [2, 2]


def test_the_projects_have_a_source_that_cites_something_and_one_is_huge(shared: Path) -> None:
    golden = [shared / "golden" / project.name / "project" / project.source for project in PROJECTS]
    assert [path.name for path in golden if path.is_file() and not CITATION.search(path.read_text())] == []
    assert [project.name for project in PROJECTS if project.huge] == ["10000 x 20000"]
