"""The models that the configuration of the service names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.llm.router import StaticRouter, unheard
from duvet.terminal.blobs import blobs_of
from duvet.terminal.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from duvet.config.service.tables import ServiceConfig
    from duvet.llm.http import Http


def router_of(
    config: ServiceConfig, shown: Settings, log: Callable[[str], None] = unheard, http: Http | None = None
) -> StaticRouter:
    """What chooses among them; a log hears of everything that callers are warned of."""
    return StaticRouter(config.providers, config.routing, shown.environ, http=http, blobs=blobs_of(shown), log=log)
