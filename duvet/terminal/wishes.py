"""What the options of `duvet report` ask for."""

from __future__ import annotations

from msgspec import Struct


class Wishes(Struct, frozen=True):
    """Reports to write, gates to hold, and where the web is."""

    json: str | None = None
    json_v2: str | None = None
    html: str | None = None
    lcov: str | None = None
    require_citations: bool = True
    require_tests: bool = True
    ci: bool | None = None
    blob_link: str | None = None
    issue_link: str | None = None
    strict: bool = False
    prune: bool = False
