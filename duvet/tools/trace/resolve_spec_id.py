"""`resolve_spec_id`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from duvet.queries.names import nearest_hint, specification_names, specifications_named
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Tool


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(description="URL, path or name of a specification")]


class Output(Struct, frozen=True, omit_defaults=True):
    spec_id: str | None = None
    error: str | None = None


def resolve(context: Context, asked: Input) -> Answer:
    """The id of the specification that is called so."""
    found = specifications_named(context.catalogue, asked.url)
    if found:
        return Answer(value=Output(spec_id=context.catalogue.specifications[found[0]].id))
    near = nearest_hint(asked.url, specification_names(context.catalogue))
    return Answer(value=Output(error="Specification not found"), next_step=near)


RESOLVE_SPEC_ID = Tool(
    name="resolve_spec_id",
    title="Resolve a specification",
    description="The id of the specification of a URL, in any of its spellings.",
    input=Input,
    output=Output,
    handler=resolve,
)
