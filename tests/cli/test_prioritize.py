from pathlib import Path

import pytest
from msgspec import json
from pytest_snapshot.plugin import Snapshot

from duvet.config.service_tables import ServerSection
from duvet.prompts.library import load_prompts
from duvet.reports.tables import ListFormat
from duvet.server.messages import render_instructions
from duvet.tools.packs import Registry, enable_packs
from tests.cli.command import Done, Run, play, runner
from tests.cli.sample_project import make
from tests.unit.queries.query_projects import FILES

SERVING = "[[not-applicable]]\ntarget = 'tea.md#serving'\nreason = 'Nobody comes.'\n"


@pytest.mark.parametrize(
    ("name", "args", "count", "format"),
    [
        *(("ranked", "", "9 of 9", format) for format in ListFormat),
        *(("explained", "--explain --limit 4", "4 of 9", format) for format in ("table", "json")),
        ("all", "--all --spec tea", "10 of 10", "plain"),
    ],
)
def test_priorities_in_every_format(name: str, args: str, count: str, format: str, tea: Run, gold: Snapshot) -> None:
    done = tea("prioritize", *args.split(), "--format", format)
    assert (done.code, done.err) == (0, f"{count} requirements listed, most urgent first\n")
    gold.assert_match(done.out, f"{name}.{format}.txt")
    if format == ListFormat.PLAIN:
        assert tea("prioritize", *args.split()) == done


PROMPTS = {
    "implement_requirement": "--prompt",
    "implement_to_do": "--prompt --status not-started",
    "implement_partial": "--status=in-progress --prompt=implement_requirement",
    "implement_may": "--section serving --level may --prompt",
    "write_test": "--prompt write_test",
    "write_test_first": "--prompt write_test --section lid",
}


def test_a_prompt_is_printed_for_a_requirement(tea: Run, gold: Snapshot) -> None:
    ##= man/spec/queries.md#priorities
    ##% With `--prompt`, `duvet prioritize` MUST print only a prompt about the most urgent requirement.
    for name, args in PROMPTS.items():
        done = tea("prioritize", *args.split())
        assert (done.code, done.err) == (0, "")
        gold.assert_match(done.out, f"prompt.{name}.md")


def test_text_in_a_prompt_is_neither_markup_nor_a_template_and_drives_no_terminal(tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", {"src/brewing.rs": "// \x1b[31mred\n//= tea.md#brewing\n//# The leaves MUST be dry.\n"})
    done = tea("prioritize", "--prompt", "--status", "needs-tests")
    assert (done.code, "\x1b" in done.out, "        1  // \\u{1b}[31mred\n" in done.out) == (0, False, True)
    make(tmp_path / "tea", {"tea.md": '# Tea\n\nIt MUST be "\\<b>" & {{ hot }}.\n', "src/brewing.rs": ""})
    done = tea("prioritize", "--spec", "tea", "--prompt")
    assert (done.code, done.out.splitlines()[2]) == (0, '> It MUST be "<b>" & {{ hot }}.')


LISTED = (
    *("--spec pot", "--section pot#lid --level none", "--status done", "--status in-progress --status needs-tests"),
    *("--all --status not-started", "--limit 1", "--limit 0", "--spec spoon"),
)
NOTHING = ("prioritize --section serving --prompt", "prioritize --spec spoon --all --prompt")
MANY = {"tea.md": "# Tea\n\n" + "".join(f"It MUST be {number}.\n" for number in range(30))}
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "listed": (*(f"prioritize {args}" for args in LISTED), "-q prioritize --spec pot", "prioritize --all"),
    "not applicable": (
        *({".duvet/config.toml": FILES[".duvet/config.toml"] + SERVING}, "prioritize"),
        *("prioritize --all --section serving --format jsonl", *NOTHING),
    ),
    # The number that is listed by default.
    "many": (MANY, "prioritize --spec tea"),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_listed_requirements(name: str, tea: Run, tmp_path: Path, gold: Snapshot) -> None:
    gold.assert_match(play(tea, tmp_path / "tea", *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_the_list_needs_no_project(tmp_path: Path, duvet_command: str, duvet: Run) -> None:
    done = duvet("prompt")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[3].split("\t")[:2] == ["review_citations", "[spec] [file]"]
    assert [line.split("\t")[0] for line in done.out.splitlines()] == [prompt.name for prompt in load_prompts()]
    bare = runner(duvet_command, tmp_path)
    assert bare("prompt") == duvet("prompt", "--format", "plain") == done
    assert bare("prompt", "system") == Done(0, render_instructions(ServerSection(), Registry()), "")
    assert json.decode(duvet("prompt", "--format", "json").out) == json.decode(json.encode(load_prompts()))


def test_the_server_in_the_configuration(duvet: Run, kettle: Path) -> None:
    config = "'$schema' = 'duvet-cli/config/v1'\n[server]\ntitle = 'Tea'\npacks = []\n"
    make(kettle, {".duvet/config.toml": config})
    assert duvet("prompt", "system").out == render_instructions(ServerSection(title="Tea"), Registry(enable_packs(())))


def test_a_prompt_equals_that_of_prioritize(tea: Run) -> None:
    ranked = json.decode(tea("prioritize", "--format", "json", "--limit", "1").out)
    for name in ("implement_requirement", "write_test"):
        printed = tea("prompt", name, "--arg", f"requirement={ranked[0]['identifier']}")
        assert printed == tea("prioritize", "--prompt", name)
