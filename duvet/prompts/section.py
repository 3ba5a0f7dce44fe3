"""What the prompt about a section is filled with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from textwrap import wrap

from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.prompts.room import LONGEST, MOST, fitting
from duvet.queries.detailing import detail_of
from duvet.queries.details import SectionDetail
from duvet.queries.references import Spot
from duvet.text import quoted, shortened
from duvet.tools.context import Context


def section_values(context: Context, given: Mapping[str, str]) -> Mapping[str, object]:
    """The section with its text and its requirements."""
    reference = given["section"]
    found = context.find(reference)
    if not isinstance(found, Spot):
        hint = "give it as SPEC#SECTION, or the path of its resource"
        raise NotFoundError(f"{quoted(reference)} is no section", hint=hint)
    section = detail_of(context.material(), found)
    assert isinstance(section, SectionDetail)
    lines = list(chain.from_iterable(map(_lines, section.content.splitlines())))
    shown = fitting(lines, lambda line: f"> {line}", MOST // 2)
    told = [replace(one, text=shortened(one.text, LONGEST)) for one in section.requirements]
    requirements = fitting(told, lambda one: f"- `{one.identifier}`, {one.status}: {one.text}", MOST // 2)
    return {
        "section": section,
        "lines": shown,
        "lines_left_out": len(lines) - len(shown),
        "requirements": requirements,
        "left_out": len(section.requirements) - len(requirements),
    }


def _lines(written: str) -> Iterator[str]:
    """A line as it is, or in several where it is a whole text."""
    return iter(wrap(written, LONGEST) if len(written) > LONGEST else [written])
