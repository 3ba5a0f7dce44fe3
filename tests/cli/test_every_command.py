import shlex
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, files, play, runner
from tests.cli.sample_project import CONFIG, SOURCE, make
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.knowledge.pages.page_projects import TRACE
from tests.unit.queries.query_projects import FILES as QUERIES, SEARCH_FILES as SEARCH

THREE = ("uncited", "prioritize", "search pot")
NO_SPECIFICATION = {".duvet/config.toml": CONFIG.partition("[[specification]]")[0]}
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "no configuration": ("$ rm -r .duvet", *THREE, "show tea", "validate", "config", "mcp --print-config claude"),
    "no requirements": (
        *({"spec.md": "# Kettle\n", "src/a.rs": ""}, *THREE, NO_SPECIFICATION, *THREE),
        *({"src/a.rs": SOURCE}, "$ rm spec.md", *THREE),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_projects_with_nothing_to_list(name: str, duvet: Run, kettle: Path, gold: Snapshot) -> None:
    gold.assert_match(play(duvet, kettle, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


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
