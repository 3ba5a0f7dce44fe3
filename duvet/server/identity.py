"""What the server says of itself."""

from __future__ import annotations

from msgspec import Struct

from duvet.version import VERSION


class Identity(Struct, frozen=True, kw_only=True):
    """Its name, and what else a client hears before it asks anything."""

    name: str = "duvet"
    title: str = "duvet: requirements traceability"
    version: str = VERSION
    description: str = "Links the requirements of specifications to the code that implements and tests them"
    protocol_version: str | None = None
    """The one version to answer a handshake with; None where it is negotiated."""
