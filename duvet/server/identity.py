"""What the server says of itself."""

from __future__ import annotations

from msgspec import Struct

from duvet.config.schema import ServerRule

_DEFAULT = ServerRule()


class Identity(Struct, frozen=True, kw_only=True):
    """Its name, and what else a client hears before it asks anything."""

    name: str = _DEFAULT.name
    title: str = _DEFAULT.title
    version: str = _DEFAULT.version
    description: str = _DEFAULT.description
    protocol_version: str | None = None
    """The one version to answer a handshake with; None where it is negotiated."""


def identity_of(rule: ServerRule) -> Identity:
    """What a configuration makes of it."""
    return Identity(
        name=rule.name,
        title=rule.title,
        version=rule.version,
        description=rule.description,
        protocol_version=rule.protocol_version,
    )
