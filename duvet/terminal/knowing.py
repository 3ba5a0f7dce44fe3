"""What is known of the project in the working directory, for those tools that are asked for it."""

from __future__ import annotations

import os
from collections.abc import Callable

from anyio import to_thread

from duvet.config.find import CONFIG_PATH
from duvet.config.service.read import Service
from duvet.knowledge.knowledge import Knowledge, Rules
from duvet.terminal.settings import Settings


def rules_of(service: Service, config_path: str | None, shown: Settings) -> Callable[[], Rules]:
    """Where it is kept; the variables beside the configuration are looked at when somebody asks."""
    root, config = os.getcwd(), service.config
    files = tuple(path for path in (service.path, config_path, shown.config_path, CONFIG_PATH) if path)
    return lambda: Rules(root, config.ingest.rule(shown.environ), config.store.rule(), config.search.rule(), files)


async def close(knowledge: Knowledge) -> None:
    """Let go of it, without waiting for an answer that nobody takes any more."""
    await to_thread.run_sync(knowledge.close, abandon_on_cancel=True)
