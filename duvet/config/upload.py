"""What is settled of files that are handed in."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from msgspec import Struct


class UploadRule(Struct, frozen=True, kw_only=True):
    """Where they go, and what becomes of them."""

    root: str = ""
    """The folder that they stay in; empty is the project."""
    root_said_by: str = ""
    """What has said so."""
    docs_subdir: str = "docs"
    """Where in it they go where nobody says."""
    overwrite: bool = False
    """Whether they replace others where nobody says."""
    ingest: bool = False
    """Whether they are taken in at once where nobody says."""
    max_bytes: int = 1 << 24
