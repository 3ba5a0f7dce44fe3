"""The table of the server in the configuration of the project."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from duvet.config.schema import ServerRule, Table, Words

_DEFAULT = ServerRule()


class ProtocolVersion(StrEnum):
    """The versions of the protocol that are agreed on in a handshake."""

    FIRST = "2024-11-05"
    SECOND = "2025-03-26"
    THIRD = "2025-06-18"
    FOURTH = "2025-11-25"


class PackName(StrEnum):
    """What tools are switched on by."""

    TRACE = "trace"
    PAGES = "pages"
    KNOWLEDGE = "knowledge"
    INTROSPECT = "introspect"


# Both tables of a server say the same of these.
NAME = Meta(description="What the server is called")
TITLE = Meta(description="What people see as its name")
RELEASE = Meta(description="The version that it says it has; by default that of duvet")
DESCRIPTION = Meta(description="What it is for, in a sentence")
ProtocolVersionSetting = Annotated[
    ProtocolVersion | None,
    Meta(
        description="The version of the protocol that every handshake is answered with; by default it is the one that the "
        "client asks for"
    ),
]
PageSize = Annotated[
    int,
    Meta(
        ge=0,
        le=10_000,
        description="How many entries of a list an answer holds unless more are asked for; 0 is all",
    ),
]


class ServerTable(Table, frozen=True, kw_only=True):
    """What `duvet mcp` says of itself, and how much it offers."""

    name: Annotated[Words, NAME] = _DEFAULT.name
    title: Annotated[Words, TITLE] = _DEFAULT.title
    version: Annotated[Words, RELEASE] = _DEFAULT.version
    description: Annotated[Words, DESCRIPTION] = _DEFAULT.description
    protocol_version: ProtocolVersionSetting = None
    page_size: PageSize = _DEFAULT.page_size
    packs: Annotated[tuple[PackName, ...], Meta(description="Which packs of tools are switched on")] = (PackName.TRACE,)

    @property
    def pack_names(self) -> tuple[str, ...]:
        """The packs by their names."""
        return tuple(pack.value for pack in self.packs)
