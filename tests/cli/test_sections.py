import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play
from tests.cli.sample_project import PROJECTS, make
from tests.sample_project import read_files

PATH = ".duvet/config.toml"
PROJECT = read_files(PROJECTS / "sections")
CONFIG, SPECIFICATION, SOURCE = (PROJECT[name] for name in (PATH, "kettle.md", "a.rs"))
UPSTREAM = CONFIG.replace("duvet-cli/config/v1", "https://awslabs.github.io/duvet/config/v0.4.0.json")
FIRST = "//= kettle.md#acceptance-criteria\n//# The lid"
FIXED = SOURCE.replace(FIRST, "//= kettle.md#requirement-2/acceptance-criteria\n//# The lid")
RIGHT = FIXED.partition("//= kettle.md#acceptance-criteria")[0]
ADDED = "# Kettle\n## Requirement 0\n### Acceptance Criteria\nThe cup MUST be clean.\n"
FRONT, _, END = SPECIFICATION.partition("## Requirement 2\n")
NOTES = "# Tea\n## Notes\nThe pot MUST be warm.\n## Notes\nThe lid MUST be shut.\n"
POT, CUP = ("## Notes\nThe {} MUST be {}.\n".format(*words) for words in (("pot", "warm"), ("cup", "clean")))
STRICT, LID = "validate --strict", "search lid"
ENTRY = 'target = "kettle.md#acceptance-criteria"\n[[spec]]\nlevel = "MUST"\nquote = "The pot MUST be warm."\n'
EXCEPTION = '[[exception]]\nreason = "Broken."\nquote = "The pot MUST be warm."\n'
EXEMPTION = '[[not-applicable]]\ntarget = "kettle.md#{}acceptance-criteria"\nreason = "Our pots are open."\n'
NUMBERS = ("notes~x", "notes~9", "notes~0", "notes~", "notes~1~2", "tea~1")
NAMES = (
    *("kettle.md#requirement-2/acceptance-criteria", "kettle#/kettle/requirement-2/acceptance-criteria"),
    *("requirement-2/acceptance-criteria", "'Requirement 2 \u203a Acceptance Criteria'"),
    *("kettle.md#acceptance-criteria-1", "/specifications/kettle/sections/acceptance-criteria-1"),
)


def lid(*names: str) -> dict[str, str]:
    return {"a.rs": "".join(f"//= kettle.md#{name}\n//# The lid MUST be shut.\nfn lid() {{}}\n" for name in names)}


def targets(*names: str) -> dict[str, str]:
    return {"a.rs": "".join(f"//= kettle.md#{name}\nfn pot() {{}}\n" for name in names)}


# Only a quote that exactly one of the sections contains counts more than the number.
QUOTED = lid("notes~9", "notes~x", "tea~1")["a.rs"] + "//= kettle.md#notes~3\n//# MUST be\n"
Step = str | Mapping[str, str]
SCENARIOS: dict[str, tuple[Step, ...]] = {
    "a target that several sections match": ("validate --fix", "cat a.rs"),
    "a section before it does not change a path": (
        *({"a.rs": RIGHT}, STRICT),
        *({"kettle.md": SPECIFICATION.replace("# Kettle\n", ADDED)}, STRICT),
        *({"kettle.md": f"{FRONT}## Group\n### Requirement 2\n#{END}"}, STRICT),
        # The number of an id may name another section then.
        {"a.rs": RIGHT.replace("requirement-2/acceptance-criteria", "acceptance-criteria-1")},
        *({"kettle.md": SPECIFICATION}, STRICT),
    ),
    "sections with one path have numbers": (
        *({"kettle.md": NOTES, **lid("notes")}, "validate --fix", "cat a.rs", lid("tea/notes"), "validate"),
        *(lid("notes~2", "notes-1"), STRICT, LID, {"kettle.md": NOTES.replace("## Notes", f"{CUP}## Notes", 1)}),
        *(STRICT, LID, {"kettle.md": NOTES.replace(POT, "") + POT}, STRICT, LID),
    ),
    "one of them is left": (
        *({"kettle.md": NOTES.replace(POT, ""), **lid("notes~2")}, STRICT, "validate", lid("notes~9"), "validate"),
        # Its words are gone.
        *({"kettle.md": NOTES.replace("shut", "open"), **lid("notes~2")}, "validate"),
    ),
    "a number that no section has": (
        *({"kettle.md": NOTES, **targets(*NUMBERS)}, "validate"),
        *(f"show kettle.md#{name}" for name in NUMBERS),
        *({"a.rs": QUOTED}, "validate", {PATH: UPSTREAM}, "validate"),
        *({**targets(*NUMBERS, "notes~1", "notes~2")}, "validate"),
        *(f"show kettle.md#{name}" for name in (*NUMBERS, "notes~1", "notes~2")),
    ),
    "an ambiguous name": (
        *({"a.rs": RIGHT}, "show kettle.md#acceptance-criteria", "uncited --section acceptance-criteria"),
        "show 'acceptance criteria'",
    ),
    "names": ({"a.rs": RIGHT}, *(f"show {name}" for name in NAMES)),
    "an entry for a requirement has the id of its section": (
        {PATH: f'{CONFIG}[[requirement]]\npattern = "entries/*.toml"\n', "entries/a.toml": ENTRY, "a.rs": RIGHT},
        *(STRICT, {"entries/a.toml": ENTRY.partition("[[")[0] + EXCEPTION}, "validate"),
    ),
    "an exemption names a section by its path": (
        {PATH: CONFIG + EXEMPTION.format("requirement-2/"), "a.rs": "fn pass() {}\n"},
        *("-q uncited --format plain", {PATH: CONFIG + EXEMPTION.format("")}, "validate"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_names_of_sections(name: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/trace.md#sections
    ##% If several sections match a target, duvet MUST list their names and propose the section that contains the quote.
    ##= man/spec/show.md#references
    ##% `duvet show` MUST list up to ten matches of an ambiguous reference, and suggest similar names for an unknown
    ##% one.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_lists_and_reports_name_sections_by_their_paths(duvet: Run, folder: Path) -> None:
    make(folder, {"a.rs": RIGHT})
    done = duvet("prioritize", "--section", "requirement-2/acceptance-criteria", "--format", "json")
    (row,) = json.loads(done.out)
    assert {key: row[key] for key in ("section", "section_title", "target", "full_path")} == {
        "section": "requirement-2/acceptance-criteria",
        "section_title": "Requirement 2 \u203a Acceptance Criteria",
        "target": "kettle.md#requirement-2/acceptance-criteria",
        "full_path": "/specifications/kettle/sections/acceptance-criteria-1/requirements/fa9028fef7cb",
    }
    assert duvet("report").code == 0
    page = (folder / ".duvet/reports/report.html").read_text()
    assert "Requirement 2 \u203a Acceptance Criteria" in page
    assert 'data-id="requirement-2/acceptance-criteria"' in page
    # The ids of awslabs duvet stay in its JSON.
    report = json.loads((folder / ".duvet/reports/report.json").read_text())
    (found,) = report["specifications"].values()
    ids = ["kettle", "requirement-1", "acceptance-criteria", "requirement-2", "acceptance-criteria-1"]
    assert [one["id"] for one in found["sections"]] == ids


def test_reasons_for_not_counting_sentences(duvet: Run, folder: Path) -> None:
    more = "The cup should be clean.\n\n```\nIt MUST be red.\n```\n"
    make(folder, {"a.rs": RIGHT, "kettle.md": SPECIFICATION + more})
    assert [line.strip() for line in duvet("-v", "report").err.splitlines() if "kettle.md:" in line] == [
        "kettle.md: 4 sentences with a keyword, 2 requirements",
        "kettle.md: not counted: 1 in lower case (line 8)",
        "kettle.md: not counted: 1 in a code block (line 11)",
    ]
    assert "kettle.md: not counted" not in duvet("report").err
    make(folder, {PATH: UPSTREAM})
    assert "not counted" not in duvet("-v", "report").err


RFC = "RFC 9114\n\n4.1.  Messages\n\n   A client MUST send only one request.\n"
OTHER = "https://www.rfc-editor.org/rfc/rfc9114.txt"


def test_a_stray_citation_never_takes_the_id_of_a_configured_specification(duvet: Run, folder: Path) -> None:
    def id_of(name: str) -> str:
        return str(json.loads(duvet("show", name, "--format", "json").out)["id"])

    ours, theirs = (f"//= {name}#4.1\n//# A client MUST send only one request.\n" for name in ("rfc9114.txt", OTHER))
    stored = {"rfc9114.txt": RFC, ".duvet/specifications/www.rfc-editor.org/rfc/rfc9114.txt": RFC}
    make(folder, {PATH: CONFIG.replace("kettle.md", "rfc9114.txt"), **stored, "a.rs": theirs})
    assert (id_of("rfc9114.txt"), id_of(OTHER)) == ("rfc9114", "rfc9114-2")
    assert duvet("show", "rfc9115").err.splitlines()[-1] == "  = help: did you mean rfc9114?"
    make(folder, {"a.rs": theirs + ours + theirs})
    assert id_of("rfc9114.txt") == "rfc9114"
