from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from duvet.reports.tables import ListFormat
from tests.cli.command import Run, play
from tests.unit.queries.query_projects import FILES

COUNT = "5 of 12 requirements uncited or `to do`\n"


@pytest.mark.parametrize(
    ("name", "args", "said", "format"),
    [
        *(("uncited", "", COUNT, format) for format in ListFormat),
        ("untested", "--untested", "8 of 12 requirements untested\n", "plain"),
        *(("todo", "--todo", "2 of 12 requirements with a todo\n", format) for format in ("table", "json")),
    ],
)
def test_uncited_requirements_in_every_format(
    name: str, args: str, said: str, format: str, tea: Run, gold: Snapshot
) -> None:
    done = tea("uncited", *args.split(), "--format", format)
    assert (done.code, done.err) == (0, said)
    gold.assert_match(done.out, f"{name}.{format}.txt")
    if format == ListFormat.PLAIN:
        assert tea("uncited", *args.split()) == done


ON_GITHUB = "$ GITHUB_ACTIONS=true duvet"
GATES = (
    *("must", "should", "may", "SHOULD", "any", "should --spec pot", "must --section serving", "must --status done"),
    *("must --limit 1", "must --section serving -q", "must -q"),
)
BREWING = "[[not-applicable]]\ntarget = 'tea.md#brewing'\nreason = 'Nobody brews.'\n"
MUST, SPOON = "uncited --fail-on must --limit 1", "uncited --spec spoon"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "listed": (
        *("uncited --spec tea", "uncited --section lid", "uncited --level must --level NONE", "uncited --status done"),
        *("uncited --spec spoon", "uncited -q", "uncited --status done --status needs-tests"),
        *("uncited --untested --status in-progress", "uncited --limit 2", "uncited --limit 5", "uncited --limit 0"),
    ),
    "not applicable": (
        *({".duvet/config.toml": FILES[".duvet/config.toml"] + BREWING}, "uncited --limit 1"),
        *("uncited --section brewing --todo --fail-on any", "uncited --status not-applicable", "uncited --untested"),
        *(f"uncited --status not-applicable {kind}" for kind in ("--todo", "--untested")),
    ),
    "gates": tuple(f"uncited --fail-on {args}" for args in GATES),
    "github": (
        *(MUST, f"{ON_GITHUB} {MUST}", f"{ON_GITHUB} uncited --untested --fail-on may --section serving --limit 0"),
        *(f"{ON_GITHUB} uncited {args} | grep -c ::error" for args in ("--format plain --fail-on any", "--limit 1")),
        f"{ON_GITHUB} uncited --todo --fail-on any | grep -c ::error",
    ),
    "errors": (
        {"src/wrong.rs": "//= tea.md#brewing\n//# The water MUST freeze.\n"},
        *(SPOON, f"{SPOON} --fail-on must", f"-q {SPOON}", f"-q {SPOON} --fail-on must"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_lists_and_gates(name: str, tea: Run, tmp_path: Path, gold: Snapshot) -> None:
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST list requirements that are not applicable only if `--status` selects them, and never with
    ##% `--untested` or `--todo`.
    ##= man/spec/queries.md#uncited
    ##% With `--fail-on LEVEL`, `duvet uncited` MUST exit with 1 if it finds a requirement of this or a stronger level,
    ##% or if the project has errors.
    gold.assert_match(play(tea, tmp_path / "tea", *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")
