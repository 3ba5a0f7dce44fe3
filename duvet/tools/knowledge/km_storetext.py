"""`km-storetext`"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct, field

from duvet.knowledge.upkeep.content import Stored
from duvet.knowledge.upkeep.texts import Text
from duvet.tools.ctx import Ctx
from duvet.tools.errors import Code, ToolError
from duvet.tools.knowledge.known import TOOL_LABELS, require_text
from duvet.tools.knowledge.storing import Destination, Ingest, Output, Overwrite, handed_in
from duvet.tools.knowledge.upkeep import at_work, upkeep_of
from duvet.tools.tool import Answer, Scope, Tool

_LONGEST = 500_000
"""Bytes. Line ends and quotes take twice as many in JSON, and over HTTP a request has at most 1 MiB."""
_CONTENT = f"The text, in Markdown; at most {_LONGEST:,} bytes in UTF-8"


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    content: Annotated[str, Meta(description=_CONTENT, extra_json_schema={"maxLength": _LONGEST})]
    title: Annotated[str, Meta(description="What the text is called, and its file after that")] = ""
    destination: Destination | None = None
    subsystem: Annotated[str, Meta(description="The subsystem that it is about")] = ""
    tags: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=100, description="Words")] = ()
    metadata: Annotated[dict[str, Any], Meta(description="What else there is to say of it")] = field(
        default_factory=dict
    )
    overwrite: Overwrite | None = None
    ingest: Ingest | None = None


async def store(asked: Input, ctx: Ctx) -> Answer:
    """Write a text down where it is taken in."""
    require_text("content", asked.content, _CONTENT)
    ##= man/spec/gateway.md#maintenance
    ##% The content of `km-storetext` MUST have at most 500,000 bytes, whichever way it comes, and its schema MUST say so.
    if len(asked.content.encode()) > _LONGEST:
        hint = "store it in parts, or as a file with km-upload"
        raise ToolError(Code.INVALID_REQUEST, f"content has more than {_LONGEST:,} bytes", hint)
    upkeep = upkeep_of(ctx)
    text = Text(
        content=asked.content,
        title=asked.title.strip(),
        subsystem=asked.subsystem.strip(),
        tags=asked.tags,
        metadata=asked.metadata,
    )

    def written() -> Stored:
        name = text.file_name(upkeep.now())
        data, overwrite = text.document().encode(), asked.overwrite
        return upkeep.content.store(data, asked.destination, name, overwrite=overwrite, is_made_up=not text.is_named)

    stored = await at_work(ctx, written)
    return await handed_in(ctx, upkeep, stored, asked.ingest)


STORETEXT = Tool(
    name="km-storetext",
    title="Write a text down",
    description="Stores a text as a Markdown document below the content root, with its title, subsystem, tags and metadata "
    "before it, and takes the project in where that is wanted.",
    input=Input,
    output=Output,
    handler=store,
    scope=Scope.MAINTAINER,
    is_idempotent=False,
    replaces=True,
    labels=TOOL_LABELS,
    safety_notes=("With overwrite it replaces a file.",),
    accountable=("destination", "overwrite", "ingest"),
    longest=_LONGEST,
)
