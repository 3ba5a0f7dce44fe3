import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play
from tests.cli.sample_project import PROJECTS, make
from tests.cli.test_completion import asked
from tests.sample_project import read_files

PATH = ".duvet/config.toml"
PROJECT = read_files(PROJECTS / "names")
CONFIG, SPECIFICATION, SOURCE = (PROJECT[name] for name in (PATH, "login.md", "login.rs"))
RIGHT = {"login.rs": SOURCE.partition("\n\n\n")[0] + "\n"}
ENTRY = '[[not-applicable]]\ntarget = "login.md#{}"\nreason = "There are no accounts."\n'
WITHOUT_SNAPSHOT = CONFIG.replace("[report.snapshot]\nenabled = true\n", "")
LOCK, FIXED = "System MUST lock an account after {} failures.", ("validate --fix", "cat login.rs")


def cite(target: str, quote: str) -> dict[str, str]:
    return {"login.rs": f"//= {target}\n//# {quote}\nfn lock();\n"}


SCENARIOS: dict[str, tuple[str | Mapping[str, str], ...]] = {
    "problems": ("validate", "validate --format json"),
    "changed words": (
        *(cite("login.md#FR-002", LOCK.format(5)), "-q report"),
        {"login.md": SPECIFICATION.replace("5 failures", "7 failures")},
        "validate",
        *(cite("login.md#FR-002", LOCK.format(6)), "validate"),
        # Markup is no difference.
        cite("login.md#FR-002", "- **FR-002**: System **MUST** lock an _account_ after **3** failures."),
        "validate",
    ),
    "other specification": ({"other.md": SPECIFICATION}, cite("other.md#FR-002", LOCK.format(5)), "validate"),
    "missing quotes": (
        *({"login.rs": "//= login.md#FR-003\nfn mail();\n"}, *FIXED),
        *({"login.rs": "    //= login.md#fr-003\n    //= type=test\nfn mail();\n"}, *FIXED),
    ),
    "wrong id": (
        {"login.md": SPECIFICATION.replace("FR-003", "FR-009")},
        cite("login.md#FR-003", "System **SHOULD** mail the owner of a locked account."),
        *FIXED,
    ),
    "cite": ({"login.rs": "fn mail();\n"}, "cite FR-003 --at login.rs:1", "cat login.rs", "validate"),
    "entries": (
        {PATH: CONFIG + ENTRY.format("FR-002"), **RIGHT},
        *("prioritize --all", {PATH: CONFIG + ENTRY.format("FR-009")}, "validate"),
    ),
    "gates": (
        *(RIGHT, "-q report --require-citations login.md#FR-002", "-q report --require-tests FR-002"),
        *({PATH: WITHOUT_SNAPSHOT}, "-q report --ci --require-tests false --no-cache"),
    ),
    **{
        name: (RIGHT, *(f"{line} --format {format}" for format in formats.split()))
        for name, line, formats in (
            ("search", "search FR-002", "table plain json"),
            ("uncited", "uncited", "table plain json"),
            ("prioritize", "prioritize", "table plain json"),
            ("section", "uncited --section FR-002", "table plain json"),
            ("show", "show FR-002", "text json markdown"),
        )
    },
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_names_in_commands(name: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/names.md#targets
    ##% duvet MUST warn about a citation without a quote whose target is a requirement id, because such a citation
    ##% covers nothing.
    ##= man/spec/names.md#targets
    ##% If only the number in the id of a requirement has changed, `duvet validate --fix` MUST replace the id in
    ##% targets.
    ##= man/spec/names.md#references
    ##% duvet MUST accept a requirement id in upper or lower case, alone or as `SPEC#ID`, wherever duvet accepts the
    ##% id that it computes for a requirement.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_ids_are_completed(duvet: Run) -> None:
    assert duvet("search", "FR-001").code == 0
    for words in ("show FR", "cite FR", "uncited --section FR"):
        assert duvet(environ=asked("bash", *words.split())).out == "plain,FR-001\nplain,FR-002\nplain,FR-003\n"


def test_the_report_shows_names(duvet: Run, folder: Path) -> None:
    ##= man/spec/names.md#references
    ##% The HTML report MUST use `SPEC/ID` as the anchor of a requirement that has an id.
    make(folder, RIGHT)
    assert duvet("report").code == 0
    page = (folder / ".duvet/reports/report.html").read_text()
    assert "Requirements · FR-002</a> <q>System MUST lock an account" in page
    assert '<b id="login/FR-001">FR-001</b> System MUST authenticate users by password.' in page
    assert "Requirements · FR-001<td>System MUST" in page


def test_tools_accept_ids(duvet: Run, folder: Path, gold: Snapshot) -> None:
    make(folder, RIGHT)
    calls = {
        "get_requirement": {"reference": "FR-001"},
        "get_requirement_status": {"req_identifier": "login.md#FR-001"},
        "search_requirements": {"query": "FR-002"},
        "suggest_citation": {"requirement": "fr-002", "file": "login.rs"},
        "get_section": {"reference": "FR-002"},
        "validate_citation": {"citation": f"//= login.md#FR-002\n//# {LOCK.format(5)}"},
        "validate_citations": {
            "citations": [
                "//= login.md#FR-002",
                "//= login.md#FR-002\n//# System MUST authenticate users by password.",
                f"//= login.md#FR-002\n//# {LOCK.format(6)}",
                f"//= login.md#FR-009\n//# {LOCK.format(5)}",
            ]
        },
    }
    found = {name: json.loads(duvet("call", name, "--json", json.dumps(given)).out) for name, given in calls.items()}
    gold.assert_match(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "tools.json")
