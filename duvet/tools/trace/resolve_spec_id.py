"""`resolve_spec_id`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from duvet.queries.names import known_ids, nearest_hint, specification_names
from duvet.queries.spellings import specifications_meant
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.verdicts import SPECIFICATION_NOT_FOUND


class Input(Struct, frozen=True):
    url: Annotated[str, Meta(description="URL, path or name of a specification")]


class Output(Struct, frozen=True, omit_defaults=True):
    spec_id: str | None = None
    error: str | None = None


def resolve(asked: Input, context: Context) -> Answer:
    """The id of the specification that is called so."""
    catalogue = context.catalogue
    found = specifications_meant(catalogue, asked.url, context.project.root)
    if found:
        return Answer(value=Output(spec_id=catalogue.specifications[found[0]].id))
    ##= man/spec/mcp.md#tools
    ##% A URL that the project doesn't know MUST be answered with an `error` that is no failure, and with the nearest names.
    near = nearest_hint(asked.url, specification_names(catalogue)) or known_ids(catalogue)
    return Answer(value=Output(error=SPECIFICATION_NOT_FOUND), next_step=f"{near[:1].upper()}{near[1:]}")


RESOLVE_SPEC_ID = Question(
    name="resolve_spec_id",
    title="Resolve a specification",
    description="The id of the specification at a URL, in any of its spellings. Ids stand in paths of resources.",
    input=Input,
    output=Output,
    handler=resolve,
)
