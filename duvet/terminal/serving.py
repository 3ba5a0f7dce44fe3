"""A run of `duvet mcp`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from duvet.terminal.settings import Settings, settings, wants_cache

if TYPE_CHECKING:
    from duvet.cache.blobs import Blobs


def serve_stdio(where: Mapping[str, Any]) -> None:
    """Serve the client at standard input and output until it leaves."""
    from duvet.config.server import server_rule
    from duvet.server.identity import identity_of
    from duvet.server.instructions import instructions
    from duvet.server.stdio.serve import serve
    from duvet.terminal.lasting import live_project
    from duvet.tree.disk import DiskTree

    shown = settings()
    rule = server_rule(DiskTree(), where["config_path"] or shown.config_path)
    live = live_project(where, rule.page_size)
    serve(identity_of(rule), instructions(rule, _blobs(shown)), live)


def _blobs(shown: Settings) -> Blobs:
    """What earlier runs have kept for this project, where a cache is wanted."""
    from duvet.cache.blobs import Blobs, NoBlobs
    from duvet.tree.disk import CACHE_FOLDER, DiskTree

    return Blobs(DiskTree().at(CACHE_FOLDER)) if wants_cache(shown) else NoBlobs()
