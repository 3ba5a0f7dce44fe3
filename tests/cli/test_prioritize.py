"""`duvet prioritize`: the order of requirements, and the reasons."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.command import Done, Run, failed
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


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("implement_requirement", "--prompt"),
        ("implement_to_do", "--prompt --status not-started"),
        ("implement_partial", "--status=in-progress --prompt=implement_requirement"),
        ("implement_may", "--section serving --level may --prompt"),
        ("write_test", "--prompt write_test"),
        ("write_test_first", "--prompt write_test --section lid"),
    ],
)
def test_a_prompt_is_printed_for_a_requirement(name: str, args: str, tea: Run, gold: Snapshot) -> None:
    ##= man/spec/queries.md#priorities
    ##% With `--prompt`, `duvet prioritize` MUST print only a prompt about the most urgent requirement.
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


def test_not_applicable_requirements(tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", {".duvet/config.toml": FILES[".duvet/config.toml"] + SERVING})
    assert "#serving" not in tea("prioritize").out + tea("uncited").out + tea("uncited", "--untested").out
    asked = tea("prioritize", "--all", "--section", "serving", "--format", "jsonl").out.splitlines()
    assert [(row["reason"], row["text"]) for row in map(json.loads, asked)] == [
        ("SHOULD, not applicable: the configuration declares it not applicable", "Everybody SHOULD wait."),
        ("MAY, not applicable: the configuration declares it not applicable", "A biscuit MAY be offered."),
    ]
    nothing = failed("nothing is left to do", hint="use --all to include requirements that are done")
    assert tea("prioritize", "--section", "serving", "--prompt") == nothing
    nothing = failed("no requirement matches the filters", hint="remove a filter")
    assert tea("prioritize", "--spec", "spoon", "--all", "--prompt") == nothing


LISTED = {
    "--spec pot": (2, 2),
    "--section pot#lid --level none": (1, 1),
    "--status done": (2, 2),
    "--status in-progress --status needs-tests": (3, 3),
    "--all": (12, 12),
    "--all --status not-started": (5, 5),
    "--limit 1": (1, 9),
    "--limit 0": (9, 9),
    "--spec spoon": (0, 0),
}
"""How many requirements are listed, and among how many."""


def test_listed_requirements(tea: Run) -> None:
    for args, (listed, among) in LISTED.items():
        done = tea("prioritize", *args.split())
        said = f"{listed} of {among} requirement{'' if among == 1 else 's'} listed, most urgent first\n"
        assert (args, done.code, done.out.count("\n"), done.err) == (args, 0, listed, said)
    assert tea("-q", "prioritize", *args.split()) == Done(0, done.out, "")


def test_twenty_requirements_are_listed_by_default(tea: Run, tmp_path: Path) -> None:
    make(tmp_path / "tea", {"tea.md": "# Tea\n\n" + "".join(f"It MUST be {number}.\n" for number in range(30))})
    done = tea("prioritize", "--spec", "tea")
    assert (done.out.count("\n"), done.err.splitlines()[-1]) == (20, "20 of 30 requirements listed, most urgent first")
