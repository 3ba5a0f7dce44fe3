import resource
import shutil
import sys
from pathlib import Path

import pytest

from tests.bench.__main__ import parse
from tests.bench.measure import FailedError, environment, least
from tests.bench.rows import ASKED, CITATION, CONFIG, PAGE_CONFIG, ROWS, Edit, forget, wanted_rows


def ask(shared: Path, *arguments: str) -> dict[str, object]:
    return vars(parse(["--duvet", "./duvet", "--shared", str(shared), *arguments]))


def test_options_choose_what_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, rows, growth, huge in [
        ([], True, False, False),
        (["--huge"], True, False, True),
        (["--growth"], False, True, False),
        (["--save"], True, True, True),
    ]:
        options = ask(tmp_path, *arguments)
        assert (options["rows"], options["growth"], options["huge"], options["only"]) == (rows, growth, huge, "*")
    # Commands are found from any folder, and runs are never too few.
    options = ask(tmp_path, "--peer", "sh -c 'exit 3'", "--runs", "1")
    assert (options["duvet"], options["runs"]) == (str(Path.cwd() / "duvet"), 7)
    assert options["peer"] == [shutil.which("sh"), "-c", "exit 3"]
    absent = ask(tmp_path / "absent", "--runs", "30")
    assert (absent["runs"], absent["shared"]) == (30, None)
    # A part cannot be saved.
    for wrong in (["--save", "--only", "a"], ["--save"], ["--growth"]):
        with pytest.raises(SystemExit):
            ask(tmp_path if "--only" in wrong else tmp_path / "absent", *wrong)
        assert capsys.readouterr().err.splitlines()[-1].startswith("make bench ARGS=: error: --")


def test_each_run_is_prepared_and_costs_time_and_its_own_memory(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def prepare() -> None:
        with log.open("a") as file:
            file.write("prepared ")

    work = "print('run', file=open('log', 'a')); sum(range(10**6))"
    cost = least([sys.executable, "-I", "-S", "-c", work], tmp_path, 1, prepare)
    lines = log.read_text().splitlines()
    assert len(lines) > 1 and set(lines) == {"prepared run"}
    assert cost.cpu > 0
    assert 1 < cost.memory < resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 / 2


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


def test_rows_are_chosen_by_name_and_projects_made_and_removed(tmp_path: Path, shared: Path) -> None:
    assert [row.arguments for row, *_ in wanted_rows(None, tmp_path, "*", huge=True)] == [("--version",), ("--help",)]
    for row, folder, _ in wanted_rows(shared, tmp_path, "h3*cold", huge=False):
        texts, names = [(folder / name).read_text() for name in (CONFIG, PAGE_CONFIG)], ("html", "json", "snapshot")
        enabled = [[f"[report.{name}]\nenabled = true" in text for name in names] for text in texts]
        assert enabled == [[False, True, True], [True, True, True]]
        assert [text.count("[report.json]") + text.count("[report.snapshot]") for text in texts] == [2, 2]
        assert (row.name, row.arguments) == ("h3-704b37a, cold", ("report",))
    found = {row.name: folder for row, folder, _ in wanted_rows(shared, tmp_path, f"{ASKED}, [!cno]*", huge=False)}
    assert [*found] == [row.name for row in ROWS if row.project == ASKED and row.arguments[0] != "report"]
    assert list(tmp_path.iterdir()) == []
    assert {row.project for row in ROWS if row.is_huge} == {"10000 x 20000"}


def test_the_source_that_changes_cites_something(shared: Path) -> None:
    golden = [shared / "golden" / row.project / "project" / row.source for row in ROWS if row.source]
    assert [path.name for path in golden if path.is_file() and not CITATION.search(path.read_text())] == []
