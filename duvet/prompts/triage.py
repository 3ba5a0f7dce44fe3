"""What the prompt about requirements without citations is filled with."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from duvet.errors import QueryError
from duvet.model import Level
from duvet.prompts.room import LONGEST, fitting
from duvet.queries.catalogue import Catalogue
from duvet.queries.filters import LEVELS, Filter
from duvet.queries.lacking import Lack, lacking
from duvet.queries.rows import RequirementRow, requirement_row
from duvet.queries.spellings import specification_named
from duvet.text import quoted, shortened
from duvet.tools.context import Context


def triage_values(context: Context, given: Mapping[str, str]) -> Mapping[str, object]:
    """The requirements that nothing cites, the strongest first."""
    catalogue = context.catalogue
    spec, level = given.get("spec", ""), given.get("level", "")
    wanted = Filter((spec,) if spec else (), levels=(_level(level),) if level else ())
    found = lacking(catalogue, wanted, Lack.CITATION)
    strongest = sorted(found.indexes, key=lambda index: -catalogue.requirements[index].level)
    rows = [_row(catalogue, index) for index in strongest]
    shown = fitting(rows, lambda row: row.identifier + row.specification + row.section + row.text)
    return {
        "specification": catalogue.specifications[specification_named(catalogue, spec)[0]].name if spec else "",
        "level": level.lower(),
        "requirements": shown,
        "total": len(rows),
        "among": found.among,
        "left_out": len(rows) - len(shown),
    }


def _row(catalogue: Catalogue, index: int) -> RequirementRow:
    row = requirement_row(catalogue, catalogue.requirements[index])
    return replace(row, text=shortened(row.text, LONGEST))


def _level(word: str) -> Level:
    level = LEVELS.get(word.lower())
    if level is None:
        raise QueryError(f"there is no level {quoted(word)}", hint=f"give one of {', '.join(LEVELS)}")
    return level
