"""`get_requirement_status`"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from duvet.errors import NotFoundError
from duvet.queries.catalogue import Catalogue
from duvet.queries.references import Requirements, find, requirements_of_id
from duvet.queries.resources import resource_of
from duvet.text import quoted
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.lists import path_of
from duvet.trace.states import Status

_DIGITS = re.compile(r"[0-9a-fA-F]{1,64}\Z")


class Input(Struct, frozen=True):
    req_identifier: Annotated[str, Meta(description="First 4 or more digits of its id, or its full_path")]


class Place(Struct, frozen=True):
    """A place of a requirement that stands in several."""

    full_path: str
    status: str


class Output(Struct, frozen=True, omit_defaults=True):
    status: str
    places: tuple[Place, ...] = ()


def status_of(asked: Input, context: Context) -> Answer:
    """The status of a requirement, and of each place where it stands if these are several."""
    catalogue = context.catalogue
    indexes = _meant(catalogue, asked.req_identifier.strip())
    ##= man/spec/mcp.md#tools
    ##% Of a requirement that stands in several places, the worst status and all places MUST be told.
    status = min(catalogue.requirements[index].status for index in indexes)
    places = tuple(Place(path_of(catalogue, one), catalogue.requirements[one].status.words) for one in indexes)
    return Answer(value=Output(status.words, places if len(places) > 1 else ()), next_step=_NEXT.get(status, ""))


def _meant(catalogue: Catalogue, wanted: str) -> Sequence[int]:
    if _DIGITS.match(wanted):
        return requirements_of_id(catalogue, wanted)
    try:
        found = find(catalogue, wanted)
    except NotFoundError as error:
        if resource_of(wanted):
            raise
        raise _no_requirement(wanted) from error
    if not isinstance(found, Requirements):
        raise _no_requirement(wanted)
    return found.indexes


def _no_requirement(wanted: str) -> NotFoundError:
    hint = "give the first 4 or more digits of its id, or its full_path; search_requirements finds both"
    return NotFoundError(f"{quoted(wanted)} is no requirement", hint=hint)


_NEXT = {
    Status.NOT_STARTED: "Nothing implements it: suggest_citation writes the comment for the code that will.",
    Status.IN_PROGRESS: "get_requirement shows what cites it so far.",
    Status.NEEDS_TESTS: 'It is implemented; cite it in a test, with suggest_citation and the type "test".',
}

GET_REQUIREMENT_STATUS = Question(
    name="get_requirement_status",
    title="Status of a requirement",
    description='How far a requirement has got: "done", "needs tests", "in progress" or "not started". Ask again once you '
    "have cited it.",
    input=Input,
    output=Output,
    handler=status_of,
)
