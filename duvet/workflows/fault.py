"""What is wrong with a workflow, found without running it."""

from __future__ import annotations

from msgspec import Struct

from duvet.workflows.paths import Path, spelled


class Fault(Struct, frozen=True, kw_only=True):
    """Something that is wrong, and where."""

    keys: Path
    """From the workflow on, as it is written in a configuration."""
    message: str
    hint: str = ""
    is_warning: bool = False
    root: str = ""
    """What a reference that leads nowhere begins with."""

    @property
    def path(self) -> str:
        """`steps[2].params.query`"""
        return spelled(self.keys)
