"""What was said of results, as a list and as a whole."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from msgspec import json

from duvet.knowledge.upkeep.places import Places
from duvet.knowledge.upkeep.votes import Vote, votes_in
from duvet.reports.listing import Column, ListFormat, Listing, render
from duvet.terminal.listings import look, pour_list
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say


def places(service_path: str | None) -> Places:
    """Where everything is kept of the project in the working directory, by this configuration of the service."""
    import os

    from duvet.config.schema import IngestRule
    from duvet.config.service.taking import service_taking
    from duvet.knowledge.knowledge import Rules
    from duvet.knowledge.upkeep.places import places_of
    from duvet.tree.disk import DiskTree

    ##= man/spec/gateway.md#maintenance
    ##% `duvet ingest`, `duvet backup`, `duvet restore` and `duvet feedback` MUST be about the store of the configuration that
    ##% `--config` names, as the other commands of the service are.
    shown = settings()
    store = service_taking(DiskTree(), shown.environ, shown.config_path, service_path)[1]
    return places_of(Rules(os.getcwd(), IngestRule(), store))


def list_votes(format: str | None, service_path: str | None) -> None:
    """List what was said, the last first."""
    found = votes_in(places(service_path).feedback)[::-1]
    pour_list(Listing(_SHOWN, found), format)
    if not found and not settings().quiet:
        say("nobody has said anything of a result yet\n")


def export_votes(format: str, service_path: str | None) -> None:
    """Write all that was said, the first first."""
    ##= man/spec/gateway.md#maintenance
    ##% `duvet feedback export` MUST write all feedback with everything that was said, as JSON Lines, CSV or JSON.
    pour(render(Listing(_ALL, votes_in(places(service_path).feedback)), ListFormat(format), look()))


def _text(name: str) -> Callable[[Vote], str]:
    def text(vote: Vote) -> str:
        value: Any = getattr(vote, name)
        if value is None or isinstance(value, str):
            return value or ""
        return f"{value:g}" if isinstance(value, float) else json.encode(value).decode()

    return text


_ALL = tuple(Column(name, _text(name)) for name in Vote.__struct_fields__)
_SHOWN = (
    Column("time", attrgetter("timestamp")),
    Column("vote", _text("vote")),
    Column("chunk", attrgetter("chunk_id"), wraps=True),
    Column("note", _text("note"), wraps=True),
)
