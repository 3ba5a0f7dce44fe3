"""How a source writes annotations."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Kind


class Style(Struct, frozen=True):
    """What a target and quoted text begin with, and what holds for all annotations of a source."""

    meta: str = "//="
    content: str = "//#"
    kind: Kind = Kind.CITATION
    blob_link: str | None = None
