import shlex
from pathlib import Path

import pytest

from duvet.trace.catalogue import NO_REQUIREMENTS_HINT
from tests.cli.command import Run, failed, files, runner
from tests.cli.sample_project import CONFIG, SOURCE, make
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.queries.query_projects import FILES as QUERIES, SEARCH_FILES as SEARCH


def test_a_folder_without_a_configuration(duvet_command: str, tmp_path: Path) -> None:
    hint = "create one with `duvet init`"
    wanted = failed("no configuration in this folder or above it [DUV008]", ".duvet/config.toml", hint)
    lines = ("uncited", "prioritize", "search pot", "show tea", "validate", "config", "mcp --print-config claude")
    for line in lines:
        done = runner(duvet_command, tmp_path)(*line.split())
        assert (done.code, done.out, done.err.startswith(wanted.err)) == (1, "", True)


def test_a_project_without_requirements(duvet: Run, kettle: Path) -> None:
    def check(hint: str) -> None:
        done = failed("the project has no requirements [DUV120]", hint=hint)
        assert [duvet(*line.split()) for line in ("uncited", "prioritize", "search pot")] == [done] * 3

    make(kettle, {"spec.md": "# Kettle\n", "src/a.rs": ""})
    check(NO_REQUIREMENTS_HINT)
    make(kettle, {".duvet/config.toml": CONFIG.partition("[[specification]]")[0]})
    check("add a specification with `duvet init --specification URL|FILE`")
    make(kettle, {"src/a.rs": SOURCE})
    (kettle / "spec.md").unlink()
    check("2 errors in the project; run `duvet validate` for details")


def test_errors_in_the_project_are_counted(tea: Run, tmp_path: Path) -> None:
    unchanged = ("uncited", "prioritize", "prioritize --prompt", "search leaves")
    lines = (*unchanged, "show tea.md#brewing", "prompt review_citations")
    before = {line: tea(*line.split()) for line in lines}
    make(tmp_path / "tea", {"src/wrong.rs": "//= tea.md#brewing\n//# The water MUST freeze.\n"})
    done = {line: tea(*line.split()) for line in lines}
    said = "1 error in the project; results may be incomplete; run `duvet validate` for details\n"
    assert {(line, 0, said + one.err) for line, one in before.items()} == {
        (line, one.code, one.err) for line, one in done.items()
    }
    assert [line for line in unchanged if done[line].out != before[line].out] == []
    assert "- src/wrong.rs:1, `tea.md#brewing`: " in done["prompt review_citations"].out


PAGE = {**TRACE, "docs/kettle.md": "# Kettle\n"}
LID = {"src/lid.rs": "//= pot.md#lid\n//# The lid MUST fit.\n"}
QUESTIONS: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "uncited": (QUERIES, LID),
    "prioritize": (QUERIES, LID),
    "prompt review_citations": (QUERIES, {"src/lid.rs": "//= pot.md#lid\n//# The lid MUST fall.\n"}),
    "search server --format json": (SEARCH, {"tea.md": SEARCH["tea.md"].replace("pour", "serve")}),
    "search --semantic 'throw away' --format json": (
        SEARCH,
        {"tea.md": SEARCH["tea.md"].replace("pour", "throw away")},
    ),
    "show src/pot.rs": (TEA_PROJECT, {"src/pot.rs": TEA_PROJECT["src/pot.rs"] + "\n//= tea.md#sugar\n"}),
    "pages": (PAGE, {"docs/kettle.md": "# Cups\n"}),
    "pages show kettle": (PAGE, {"docs/kettle.md": "# Cups\n"}),
    "pages check": (PAGE, {"docs/kettle.md": "[[cups]]\n"}),
}
"""Questions, each in a project, and an edit that changes the answer."""


@pytest.mark.parametrize("line", QUESTIONS)
def test_answers_follow_the_files_and_write_nothing_but_the_cache(
    line: str, duvet_command: str, tmp_path: Path
) -> None:
    ##= man/spec/trace.md#commands
    ##% `duvet search`, `duvet show`, `duvet ask` and the library MUST NOT write anything into a project except
    ##% downloads and the cache.
    texts, edit = QUESTIONS[line]
    folder = make(tmp_path / "project", texts)
    duvet, args = runner(duvet_command, folder), shlex.split(line)
    before = files(folder)
    fresh = duvet("--no-cache", *args)
    assert fresh.code == 0 and not (folder / ".duvet/cache").exists()
    assert [duvet(*args) for _ in range(2)] == [fresh] * 2
    assert (folder / ".duvet/cache").exists()
    assert files(folder) == before
    make(folder, edit)
    changed = duvet(*args)
    assert changed == duvet("--no-cache", *args) != fresh
