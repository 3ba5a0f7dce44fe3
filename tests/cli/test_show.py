from pathlib import Path

import pytest
from pytest_snapshot.plugin import Snapshot

from tests.cli.command import Run, play
from tests.cli.sample_project import KETTLE, make
from tests.cli.tea_project import TEA_PROJECT
from tests.cli.terminals import show_on_terminal

PROJECT = TEA_PROJECT
THINGS = {
    "requirement": "1dd64a53",
    "requirement_uncited": "5bfbf88b",
    "section": "tea.md#pot",
    "section_of_pages": "rfc7168#2",
    "section_cited": "tea.md#sugar",
    "specification": "tea",
    "place": "src/pot.rs:8",
    "file": "src/pot.rs",
    "requirement_file": ".duvet/exceptions/coffee.toml",
}
ENDINGS = {"text": "txt", "json": "json", "markdown": "md"}

ERRORS = "2 errors in the project; results may be incomplete; run `duvet validate` for details\n"


@pytest.mark.parametrize("name", THINGS)
def test_each_kind_of_reference_in_every_format(name: str, duvet: Run, gold: Snapshot) -> None:
    ##= man/spec/show.md#details
    ##% `duvet show` MUST show a requirement with its state, the reason for this state, and its citations grouped by
    ##% type.
    ##= man/spec/show.md#details
    ##% `duvet show` MUST show a citation with its place, its problems and the code around it.
    assert duvet("show", THINGS[name]) == duvet("show", THINGS[name], "--format=text")
    for format, ending in ENDINGS.items():
        code, out, err = duvet("show", THINGS[name], "--format", format)
        assert (code, err) == (0, ERRORS)
        gold.assert_match(out, f"{name}.{ending}")


@pytest.mark.parametrize("format", ENDINGS)
def test_the_reason_of_a_not_applicable_requirement_is_shown(
    format: str, duvet: Run, folder: Path, gold: Snapshot
) -> None:
    entry = """\
[[not-applicable]]
target = "tea.md#pot"
quote = "The lid MUST fit"
reason = "Our pots are open."
owner = "Ann"
expiry = 2999-12-31
"""
    make(folder, {".duvet/config.toml": TEA_PROJECT[".duvet/config.toml"] + entry})
    for reference, name in (("5bfbf88b", "not_owed"), ("tea", "not_owed_specification")):
        gold.assert_match(duvet("show", reference, "--format", format).out, f"{name}.{ENDINGS[format]}")


PART = "//= spec.md#heating\n//# The kettle MUST\n"
WHOLE = "//= spec.md#heating\n//= type=test\n//# The kettle MUST boil water.\n"
SCENARIOS: dict[str, tuple[str | dict[str, str], ...]] = {
    "context": ("show src/pot.rs:3 --context 0", "show src/pot.rs:3 --context 1", "show src/pot.rs:3 --context 1000"),
    "unknown": (
        *("show 5bfa", "show tea#pots", "show tea.md:7"),
        # Files that became unreadable.
        *(
            "$ printf '//= tea.md#cup\\nfn \\377() {}\\n' >src/pot.rs",
            "show src/pot.rs:3",
            "$ rm tea.md",
            "show tea#pot",
        ),
    ),
    "partial quotes": (
        *({**KETTLE, "src/a.rs": f"{PART}fn a() {{}}\n\n{WHOLE}", "tests/test_pot.py": ""}, "show 5d4daa0c77ed"),
        *("$ duvet prioritize --prompt | grep part", {"src/a.rs": PART}, "show 5d4daa0c77ed"),
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_shown(name: str, duvet: Run, folder: Path, gold: Snapshot) -> None:
    ##= man/spec/show.md#details
    ##% If annotations cover only some words of a requirement, `duvet show` and the HTML report MUST show the words that
    ##% need code and those that need tests.
    gold.assert_match(play(duvet, folder, *SCENARIOS[name]), f"{name.replace(' ', '_')}.txt")


def test_colours_and_width_of_a_terminal(duvet_command: str, folder: Path, gold: Snapshot) -> None:
    written = show_on_terminal(duvet_command, folder, "--color", "always", "show", "1dd64a53", columns=64)
    gold.assert_match(written, "terminal.txt")
