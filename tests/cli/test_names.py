"""Names of requirements, such as `FR-001`, in commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run
from tests.cli.sample_project import make
from tests.cli.test_completion import asked

CONFIG = """'$schema' = "duvet-cli/config/v1"
[[source]]
language = "rust"
[[specification]]
source = "login.md"
[report.html]
enabled = true
[report.snapshot]
enabled = true
"""
SPECIFICATION = """# Login

## Requirements

- **FR-001**: System MUST authenticate users by password.
- **FR-002**: System MUST lock an account after 5 failures.
- **FR-003**: System SHOULD mail the owner of a locked account.
"""
SOURCE = """//= login.md#FR-001
//# System MUST authenticate users by password.
fn authenticate() {}


//= login.md#FR-002
//# System MUST lock an account after 3 failures.
fn lock() {}


    //= login.md#FR-003
    //= type=todo
    fn mail() {}


//= login.md#requirements
//# System MUST lock an account after 3 failures.
fn lock_again() {}


//= login.md#FR-001
//# System SHOULD mail the owner of a locked account.
fn notify() {}
"""
PROJECT = {".duvet/config.toml": CONFIG, "login.md": SPECIFICATION, "login.rs": SOURCE}
RIGHT = SOURCE.partition("\n\n\n")[0] + "\n"


@pytest.mark.parametrize("format", ["text", "json"])
def test_problems_and_fixes(format: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    gold.assert_match(duvet("validate", "--format", format, "--output", "-").out, f"validate.{format}")


def cite(folder: Path, target: str, quote: str) -> None:
    (folder / "login.rs").write_text(f"//= {target}\n//# {quote}\nfn lock();\n")


def test_the_hint_shows_the_words_that_differ(duvet: Run, folder: Path) -> None:
    cite(folder, "login.md#FR-002", "System MUST lock an account after 5 failures.")
    assert duvet("report").code == 0
    (folder / "login.md").write_text(SPECIFICATION.replace("5 failures", "7 failures"))
    change = "System MUST lock an account after [-{}-]{{+7+}} failures.\n"
    assert f"= help: FR-002 has changed:\n          {change.format(5)}" in duvet("validate").err
    cite(folder, "login.md#FR-002", "System MUST lock an account after 6 failures.")
    assert f"= help: FR-002 reads:\n          {change.format(6)}" in duvet("validate").err
    # Markup is no difference.
    cite(folder, "login.md#FR-002", "- **FR-002**: System **MUST** lock an _account_ after **3** failures.")
    assert f"\n          {change.format(3)}" in duvet("validate").err


def test_an_id_of_a_specification_that_is_not_configured(duvet: Run, folder: Path) -> None:
    (folder / "other.md").write_text(SPECIFICATION)
    cite(folder, "other.md#FR-002", "System MUST lock an account after 5 failures.")
    said = duvet("validate").err
    assert said.startswith(
        'error: "FR-002" is the id of a requirement, but other.md is not configured [DUV043]\n --> login.rs:1:5\n'
        "  |\n1 | //= other.md#FR-002\n  |     ^^^^^^^^^^^^^^^ referenced here\n"
    )
    assert '  = help: add a `[[specification]]` table with `source = "other.md"`\n' in said


def test_a_missing_quote_is_added(duvet: Run, folder: Path) -> None:
    ##= man/spec/names.md#targets
    ##% duvet MUST warn about a citation that names a requirement id without a quote, because it covers nothing.
    for line in ("//= login.md#FR-003", "    //= login.md#fr-003\n    //= type=test"):
        (folder / "login.rs").write_text(f"{line}\nfn mail();\n")
        assert duvet("validate", "--fix").code == 0
        indent = line[: len(line) - len(line.lstrip())]
        quote = f"{indent}//# System SHOULD mail the owner of a locked account."
        assert (folder / "login.rs").read_text() == f"{line}\n{quote}\nfn mail();\n"


def test_a_wrong_id_is_corrected(duvet: Run, folder: Path) -> None:
    ##= man/spec/names.md#targets
    ##% If a requirement has a new id but the same text, `duvet validate --fix` MUST replace the id in targets.
    (folder / "login.md").write_text(SPECIFICATION.replace("FR-003", "FR-009"))
    cite(folder, "login.md#FR-003", "System **SHOULD** mail the owner of a locked account.")
    wrong = (folder / "login.rs").read_text()
    assert "= help: the quote is in #FR-009\n" in duvet("validate").err
    assert duvet("validate", "--fix").code == 0
    assert (folder / "login.rs").read_text() == wrong.replace("FR-003", "FR-009")


@pytest.mark.parametrize(
    "command", ["search FR-002", "uncited", "prioritize", "uncited --section FR-002", "show FR-002"]
)
def test_lists_show_ids_of_requirements(command: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    (folder / "login.rs").write_text(RIGHT)
    name = command.replace(" ", "_").replace("--", "")
    for format in ("text", "json", "markdown") if command.startswith("show") else ("table", "plain", "json"):
        done = duvet(*command.split(), "--format", format)
        assert done.code == 0
        gold.assert_match(done.out, f"{name}.{format}")


def test_cite_accepts_the_id_of_a_requirement(duvet: Run, folder: Path) -> None:
    (folder / "login.rs").write_text("fn mail();\n")
    assert duvet("cite", "FR-003", "--at", "login.rs:1").code == 0
    assert (folder / "login.rs").read_text() == (
        "//= login.md#requirements\n//# System SHOULD mail the owner of a locked account.\nfn mail();\n"
    )
    assert duvet("validate").code == 0


@pytest.mark.parametrize("words", ["show FR", "cite FR", "uncited --section FR"])
def test_ids_are_completed(words: str, duvet: Run, folder: Path) -> None:
    assert duvet("search", "FR-001").code == 0
    assert duvet(environ=asked("bash", *words.split())).out == "plain,FR-001\nplain,FR-002\nplain,FR-003\n"


def test_entries_may_name_an_id(duvet: Run, folder: Path) -> None:
    ##= man/spec/names.md#references
    ##% duvet MUST accept a requirement id in upper or lower case, alone or as `SPEC#ID`, wherever it accepts the id
    ##% that duvet computes for a requirement.
    entry = '[[not-applicable]]\ntarget = "login.md#FR-002"\nreason = "There are no accounts."\n'
    make(folder, {".duvet/config.toml": CONFIG + entry, "login.rs": RIGHT})
    rows = json.loads(duvet("prioritize", "--all", "--format", "json").out)
    statuses = {"FR-001": "needs tests", "FR-002": "not applicable", "FR-003": "uncited"}
    assert {row["name"]: row["status"] for row in rows} == statuses
    unknown = entry.replace("FR-002", "FR-009")
    make(folder, {".duvet/config.toml": CONFIG + unknown})
    assert "did you mean FR-001 or FR-002 or FR-003?" in duvet("validate").err


def test_gates_say_names(duvet: Run, folder: Path) -> None:
    (folder / "login.rs").write_text(RIGHT)
    lines = (duvet("report", "--require-citations", "login.md#FR-002").err).splitlines()
    assert (
        'error: FR-002 "System MUST lock an account after 5 failures." is not fully implemented (uncited) [DUV062]'
        in lines
    )
    assert sum("is not fully implemented" in line for line in lines) == 1
    assert "help: write `--require-tests login.md#FR-002`\n" in duvet("report", "--require-tests", "FR-002").err
    make(folder, {".duvet/config.toml": CONFIG.replace("[report.snapshot]\nenabled = true\n", "")})
    lines = duvet("report", "--ci", "--require-tests", "false", "--no-cache").err.splitlines()
    assert 'error: no code cites FR-003 "System SHOULD mail the owner of a locked account." [DUV062]' in lines


def test_the_report_shows_names(duvet: Run, folder: Path) -> None:
    ##= man/spec/names.md#references
    ##% The HTML report MUST use `SPEC/ID` as the anchor of a requirement that has an id.
    (folder / "login.rs").write_text(RIGHT)
    assert duvet("report").code == 0
    page = (folder / ".duvet/reports/report.html").read_text()
    assert "Requirements · FR-002</a> <q>System MUST lock an account" in page
    assert '<b id="login/FR-001">FR-001</b> System MUST authenticate users by password.' in page
    assert "Requirements · FR-001<td>System MUST" in page


def test_tools_accept_ids(duvet: Run, folder: Path, gold: Snapshot) -> None:
    (folder / "login.rs").write_text(RIGHT)
    calls = {
        "get_requirement": {"reference": "FR-001"},
        "get_requirement_status": {"req_identifier": "login.md#FR-001"},
        "search_requirements": {"query": "FR-002"},
        "suggest_citation": {"requirement": "fr-002", "file": "login.rs"},
        "get_section": {"reference": "FR-002"},
        "validate_citation": {"citation": "//= login.md#FR-002\n//# System MUST lock an account after 5 failures."},
        "validate_citations": {
            "citations": [
                "//= login.md#FR-002",
                "//= login.md#FR-002\n//# System MUST authenticate users by password.",
                "//= login.md#FR-002\n//# System MUST lock an account after 6 failures.",
                "//= login.md#FR-009\n//# System MUST lock an account after 5 failures.",
            ]
        },
    }
    found = {name: json.loads(duvet("call", name, "--json", json.dumps(given)).out) for name, given in calls.items()}
    gold.assert_match(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "tools.json")
