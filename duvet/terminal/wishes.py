"""What the options of `duvet report` ask for."""

from __future__ import annotations

from msgspec import Struct


class Gate(Struct, frozen=True):
    """What a gate asks something of."""

    everything: bool = True
    """With `--ci` and without a snapshot: all there is."""
    targets: tuple[str, ...] = ()
    """Always: these specifications and sections."""


class Wishes(Struct, frozen=True):
    """Reports to write, gates to hold, and where the web is."""

    json: str | None = None
    json_v2: str | None = None
    html: str | None = None
    lcov: str | None = None
    require_citations: Gate = Gate()
    require_tests: Gate = Gate()
    ci: bool | None = None
    blob_link: str | None = None
    issue_link: str | None = None
    strict: bool = False
    prune: bool = False
