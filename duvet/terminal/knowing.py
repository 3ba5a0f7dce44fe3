"""What is known of the project in the working directory, for those tools that are asked for it."""

from __future__ import annotations

import os
from collections.abc import Callable

from anyio import to_thread

from duvet.config.service.tables import ServiceConfig
from duvet.knowledge.knowledge import Knowledge, Rules
from duvet.terminal.settings import Settings


def rules_of(config: ServiceConfig, shown: Settings) -> Callable[[], Rules]:
    """Where it is kept; the variables beside the configuration are looked at when somebody asks."""
    root = os.getcwd()
    return lambda: Rules(
        root,
        config.ingest.rule(shown.environ),
        config.store.rule(),
        config.search.rule(),
        config.uploads.rule(shown.environ),
    )


async def close(knowledge: Knowledge) -> None:
    """Let go of it, without waiting for an answer that nobody takes any more."""
    await to_thread.run_sync(knowledge.close, abandon_on_cancel=True)
