"""Sections with the same heading, and specifications with the same name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.command import Run
from tests.cli.sample_project import make

CONFIG = """\
"$schema" = "duvet-cli/config/v1"
[[source]]
pattern = "*.rs"
[[specification]]
source = "kettle.md"
[report.html]
enabled = true
[report.json]
enabled = true
"""
SPECIFICATION = """\
# Kettle
## Requirement 1
### Acceptance Criteria
The pot MUST be warm.
## Requirement 2
### Acceptance Criteria
The lid MUST be shut.
"""
SOURCE = """\
//= kettle.md#acceptance-criteria
//# The lid MUST be shut.
fn lid() {}
//= kettle.md#requirement-1/acceptance-criteria
//= type=test
//# The pot MUST be warm.
fn pot() {}
//= kettle.md#acceptance-criteria
//# It MUST be blue.
"""
PROJECT = {".duvet/config.toml": CONFIG, "kettle.md": SPECIFICATION, "a.rs": SOURCE}
BOTH = "#requirement-1/acceptance-criteria, #requirement-2/acceptance-criteria"
PLACES = "".join(f"\n          kettle#requirement-{number}/acceptance-criteria" for number in (1, 2))
FIXED = SOURCE.replace(
    "//= kettle.md#acceptance-criteria\n//# The lid", "//= kettle.md#requirement-2/acceptance-criteria\n//# The lid"
)
RIGHT = FIXED.partition("//= kettle.md#acceptance-criteria")[0]


def test_a_target_that_several_sections_match(duvet: Run, folder: Path) -> None:
    ##= man/spec/trace.md#sections
    ##% If several sections match a target, duvet MUST list their names and propose the section that contains the quote.
    done = duvet("validate", "--fix")
    assert (done.code, done.out, done.err) == (
        1,
        "",
        f"""\
a.rs:1: change the target to kettle.md#requirement-2/acceptance-criteria
fixed 1 citation in 1 file
error: "acceptance-criteria" names 2 sections of kettle.md: {BOTH} [DUV047]
 --> a.rs:8:5
  |
8 | //= kettle.md#acceptance-criteria
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ referenced here
  = help: write the name of the section that you mean

checked 3 annotations in 1 file: 1 error
""",
    )
    assert (folder / "a.rs").read_text() == FIXED


def test_a_section_before_it_does_not_change_a_path(duvet: Run, folder: Path) -> None:
    make(folder, {"a.rs": RIGHT})
    right = duvet("validate", "--strict")
    assert (right.code, right.out, right.err) == (0, "", "checked 2 annotations in 1 file: no problems\n")
    added = "# Kettle\n## Requirement 0\n### Acceptance Criteria\nThe cup MUST be clean.\n"
    make(folder, {"kettle.md": SPECIFICATION.replace("# Kettle\n", added)})
    assert duvet("validate", "--strict") == right
    front, _, end = SPECIFICATION.partition("## Requirement 2\n")
    make(folder, {"kettle.md": f"{front}## Group\n### Requirement 2\n#{end}"})
    assert duvet("validate", "--strict") == right
    # The number of an id may name another section then.
    make(folder, {"a.rs": RIGHT.replace("requirement-2/acceptance-criteria", "acceptance-criteria-1")})
    make(folder, {"kettle.md": SPECIFICATION})
    assert duvet("validate", "--strict") == right


NOTES = "# Tea\n## Notes\nThe pot MUST be warm.\n## Notes\nThe lid MUST be shut.\n"
LID = "//= kettle.md#{}\n//# The lid MUST be shut.\nfn lid() {{}}\n"


def test_sections_with_one_path_have_numbers(duvet: Run, folder: Path) -> None:
    make(folder, {"kettle.md": NOTES, "a.rs": LID.format("notes")})
    done = duvet("validate", "--fix")
    right = "checked 1 annotation in 1 file: no problems\n"
    fixed = "a.rs:1: change the target to kettle.md#notes~2\nfixed 1 citation in 1 file\n"
    assert (done.code, done.out, done.err) == (0, "", fixed + right)
    assert (folder / "a.rs").read_text() == LID.format("notes~2")
    make(folder, {"a.rs": LID.format("tea/notes")})
    assert duvet("validate").err.splitlines()[0] == (
        'error: "tea/notes" names 2 sections of kettle.md: #notes~1 (line 2), #notes~2 (line 4) [DUV047]'
    )
    make(folder, {"a.rs": LID.format("notes~2") + LID.format("notes-1")})
    right = "checked 2 annotations in 1 file: no problems\n"
    section = "## Notes\nThe {} MUST be {}.\n"
    for text, name in [
        (NOTES, "notes~2"),
        (NOTES.replace("## Notes", section.format("cup", "clean") + "## Notes", 1), "notes~3"),
        (NOTES.replace(section.format("pot", "warm"), "") + section.format("pot", "warm"), "notes~1"),
    ]:
        make(folder, {"kettle.md": text})
        assert duvet("validate", "--strict").err == right
        (row,) = json.loads(duvet("search", "lid", "--format", "json").out)
        assert (row["section"], row["section_title"], row["status"]) == (name, name.title(), "needs tests")
    # One of them is left.
    make(folder, {"kettle.md": NOTES.replace(section.format("pot", "warm"), ""), "a.rs": LID.format("notes~2")})
    assert duvet("validate", "--strict").err == right.replace("2 annotations", "1 annotation")
    done = duvet("validate")
    make(folder, {"a.rs": LID.format("notes~9")})
    assert duvet("validate") == done
    # Its words are gone.
    make(folder, {"a.rs": LID.format("notes~2"), "kettle.md": NOTES.replace("shut", "open")})
    assert (
        duvet("validate").err.splitlines()[0] == 'error: could not find text in section "notes~2" of kettle.md [DUV050]'
    )


UPSTREAM = '"$schema" = "https://awslabs.github.io/duvet/config/v0.4.0.json"\n'


@pytest.mark.parametrize("schema", [CONFIG.splitlines(keepends=True)[0], UPSTREAM])
def test_a_number_that_no_section_has(schema: str, duvet: Run, folder: Path) -> None:
    config = CONFIG.replace(CONFIG.splitlines(keepends=True)[0], schema)
    make(folder, {".duvet/config.toml": config, "kettle.md": NOTES})
    numbers = ["notes~1", "notes~2"]
    names = ["notes~x", "notes~9", "notes~0", "notes~", "notes~1~2", "tea~1", *(numbers if schema == UPSTREAM else ())]

    def list_missing(source: str) -> list[str]:
        make(folder, {"a.rs": source})
        lines = duvet("validate").err.splitlines()
        assert lines[-1].endswith(f": {(count := sum(line.startswith('error') for line in lines))} errors"), count
        return [line.split('"')[1] for line in lines if line.startswith("error: missing section ")]

    assert list_missing("".join(f"//= kettle.md#{name}\nfn pot() {{}}\n" for name in names)) == names
    assert [duvet("show", f"kettle.md#{name}").code for name in names] == [1] * len(names)
    # Only a quote that exactly one of the sections contains counts more than the number.
    quoted = [LID.format(name) for name in ("notes~9", "notes~x", "tea~1")] + ["//= kettle.md#notes~3\n//# MUST be\n"]
    own = ["notes~x", "tea~1", "notes~3"]
    assert list_missing("".join(quoted)) == (own if schema != UPSTREAM else ["notes~9", *own])
    make(folder, {"a.rs": "//= kettle.md#notes~9\n"})
    near = "#notes or #notes-1" if schema == UPSTREAM else "#notes~1 or #notes~2"
    assert duvet("validate").err.splitlines()[5] == f"  = help: did you mean {near}?"


@pytest.mark.parametrize(
    "name",
    [
        "kettle.md#requirement-2/acceptance-criteria",
        "kettle#/kettle/requirement-2/acceptance-criteria",
        "requirement-2/acceptance-criteria",
        "Requirement 2 \u203a Acceptance Criteria",
        "kettle.md#acceptance-criteria-1",
        "/specifications/kettle/sections/acceptance-criteria-1",
    ],
)
def test_a_section_is_shown_by_its_path(name: str, duvet: Run, folder: Path) -> None:
    ##= man/spec/show.md#references
    ##% `duvet show` MUST list all matches of an ambiguous reference, and suggest similar names for an unknown one.
    make(folder, {"a.rs": RIGHT})
    assert duvet("show", name).out == (
        "Requirement 2 \u203a Acceptance Criteria  kettle.md#requirement-2/acceptance-criteria\n"
        "  specification  Kettle\n"
        "  location       kettle.md:6\n"
        "  resource       /specifications/kettle/sections/acceptance-criteria-1\n"
        "  done           0/1 (0 %), 1 needs tests\n"
        "\n"
        "  The lid MUST be shut.\n"
        "\n"
        "Requirements\n"
        "  id            level  status       text\n"
        "  fa9028fef7cb  MUST   needs tests  The lid MUST be shut.\n"
    )


@pytest.mark.parametrize(
    ("command", "message", "hint"),
    [
        (
            ["show", "kettle.md#acceptance-criteria"],
            'error: "acceptance-criteria" names 2 sections of kettle.md [DUV120]',
            f"use one of these: {BOTH}",
        ),
        (
            ["uncited", "--section", "acceptance-criteria"],
            'error: "acceptance-criteria" names 2 sections of kettle.md [DUV120]',
            f"use one of these: {BOTH}",
        ),
        (
            ["show", "acceptance criteria"],
            'error: "acceptance criteria" matches 2 sections [DUV120]',
            f"use one of these:{PLACES}",
        ),
    ],
)
def test_an_ambiguous_name_lists_all_sections(
    command: list[str], message: str, hint: str, duvet: Run, folder: Path
) -> None:
    make(folder, {"a.rs": RIGHT})
    done = duvet(*command)
    assert (done.out, done.err) == ("", f"{message}\n  = help: {hint}\n")
    assert done.code in (1, 2)


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
    assert [one["id"] for one in found["sections"]] == [
        *("kettle", "requirement-1", "acceptance-criteria", "requirement-2", "acceptance-criteria-1")
    ]


def test_an_entry_for_a_requirement_has_the_id_of_its_section(duvet: Run, folder: Path) -> None:
    entry = 'target = "kettle.md#acceptance-criteria"\n[[spec]]\nlevel = "MUST"\nquote = "The pot MUST be warm."\n'
    requirement = '[[requirement]]\npattern = "entries/*.toml"\n'
    make(folder, {".duvet/config.toml": CONFIG + requirement, "entries/a.toml": entry, "a.rs": RIGHT})
    right = duvet("validate", "--strict")
    assert (right.code, right.out, right.err) == (0, "", "checked 2 annotations in 2 files: no problems\n")
    exception = '[[exception]]\nreason = "Broken."\nquote = "The pot MUST be warm."\n'
    make(folder, {"entries/a.toml": entry.partition("[[")[0] + exception})
    assert duvet("validate").err.splitlines()[0] == (
        f'error: "acceptance-criteria" names 2 sections of kettle.md: {BOTH} [DUV047]'
    )


def test_an_exemption_names_a_section_by_its_path(duvet: Run, folder: Path) -> None:
    entry = (
        '[[not-applicable]]\ntarget = "kettle.md#requirement-2/acceptance-criteria"\nreason = "Our pots are open."\n'
    )
    make(folder, {".duvet/config.toml": CONFIG + entry, "a.rs": "fn pass() {}\n"})
    assert duvet("uncited", "--format", "plain").out.splitlines() == [
        "1dd64a535306\tMUST\tuncited\tkettle#requirement-1/acceptance-criteria\tThe pot MUST be warm."
    ]
    make(folder, {".duvet/config.toml": CONFIG + entry.replace("requirement-2/", "")})
    assert duvet("validate").err == (
        'error: "acceptance-criteria" names 2 sections of kettle.md [DUV081]\n'
        "  --> .duvet/config.toml:11:10\n"
        "   |\n"
        '11 | target = "kettle.md#acceptance-criteria"\n'
        "   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f"   = help: use one of these: {BOTH}\n"
        "\n"
        "checked 0 annotations in 1 file: 1 error\n"
    )


def test_reasons_for_not_counting_sentences(duvet: Run, folder: Path) -> None:
    more = "The cup should be clean.\n\n```\nIt MUST be red.\n```\n"
    make(folder, {"a.rs": RIGHT, "kettle.md": SPECIFICATION + more})
    counts = [
        "             kettle.md: 4 sentences with a keyword, 2 requirements",
        "             kettle.md: not counted: 1 in lower case (line 8)",
        "             kettle.md: not counted: 1 in a code block (line 11)",
    ]
    assert [line for line in duvet("-v", "report").err.splitlines() if "kettle.md:" in line] == counts
    assert "kettle.md: not counted" not in duvet("report").err
    make(folder, {".duvet/config.toml": CONFIG.replace(CONFIG.splitlines(keepends=True)[0], UPSTREAM)})
    assert "not counted" not in duvet("-v", "report").err


RFC = "RFC 9114\n\n4.1.  Messages\n\n   A client MUST send only one request.\n"
OTHER = "https://www.rfc-editor.org/rfc/rfc9114.txt"


def test_a_stray_citation_never_takes_the_id_of_a_configured_specification(duvet: Run, folder: Path) -> None:
    quote = "4.1\n//# A client MUST send only one request.\n"
    files = {
        ".duvet/config.toml": CONFIG.replace("kettle.md", "rfc9114.txt"),
        "rfc9114.txt": RFC,
        ".duvet/specifications/www.rfc-editor.org/rfc/rfc9114.txt": RFC,
        "a.rs": f"//= {OTHER}#{quote}",
    }
    make(folder, files)
    assert json.loads(duvet("show", "rfc9114.txt", "--format", "json").out)["id"] == "rfc9114"
    assert json.loads(duvet("show", OTHER, "--format", "json").out)["id"] == "rfc9114-2"
    assert duvet("show", "rfc9115").err.splitlines()[-1] == "  = help: did you mean rfc9114?"
    make(folder, {"a.rs": f"//= {OTHER}#{quote}" + f"//= rfc9114.txt#{quote}" + f"//= {OTHER}#{quote}"})
    assert json.loads(duvet("show", "rfc9114.txt", "--format", "json").out)["id"] == "rfc9114"
