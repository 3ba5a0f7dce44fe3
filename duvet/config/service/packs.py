"""`toolPacks`: which tools are switched on."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, field

from duvet.config.service.section import Section


class Access(StrEnum):
    """What a pack may do."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"


class PackSection(Section, frozen=True, kw_only=True):
    """Tools that belong together."""

    enabled: Annotated[bool, Meta(description="Whether the pack is switched on")] = True
    mode: Annotated[Access, Meta(description="`read-only` leaves out the tools that write")] = Access.READ_WRITE
    tools: Annotated[dict[str, bool], Meta(description="Tools by name, each switched on or off")] = field(
        default_factory=dict
    )
    settings: Annotated[
        dict[str, Any], Meta(description="What the pack itself wants to know", extra={"expands": True})
    ] = field(default_factory=dict)
