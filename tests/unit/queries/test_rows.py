"""Requirements as people and programs get them"""

from __future__ import annotations

import pytest

from duvet.model import Level
from duvet.queries.records import RequirementRow, format_level, make_requirement_row
from tests.unit.queries.made import catalogue_of_files

CATALOGUE = catalogue_of_files()


def test_a_row() -> None:
    assert make_requirement_row(CATALOGUE, CATALOGUE.requirements[3]) == RequirementRow(
        identifier=CATALOGUE.ids[3][:12],
        full_path=f"/specifications/tea/sections/brewing/requirements/{CATALOGUE.ids[3][:12]}",
        specification="tea",
        section="brewing",
        section_title="Brewing",
        target="tea.md#brewing",
        level="MUST",
        status="needs tests",
        state="missing test",
        text="The leaves MUST be dry.",
        file_path="tea.md",
        line_number=8,
    )


@pytest.mark.parametrize(("level", "name"), [(Level.MUST, "MUST"), (Level.MAY, "MAY"), (Level.AUTO, None)])
def test_the_name_of_a_level(level: Level, name: str | None) -> None:
    assert format_level(level) == name
