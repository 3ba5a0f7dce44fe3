"""What maintainers do with what is known of the project in the working directory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from duvet.cache.cache import Cache
from duvet.cache.key import key
from duvet.config.upload import UploadRule
from duvet.knowledge.knowledge import Rules
from duvet.knowledge.upkeep.audit import Deed
from duvet.knowledge.upkeep.places import places_of
from duvet.knowledge.upkeep.upkeep import Opened, Upkeep
from duvet.progress import Progress
from duvet.queries.catalogue import Catalogue
from duvet.server.log import Level, Log
from duvet.terminal.catalogues import CATALOGUE
from duvet.terminal.options import open_project
from duvet.terminal.questions import require_contents
from duvet.terminal.settings import Settings, wants_cache
from duvet.tools.accounting import Accountant
from duvet.tree.disk import DiskTree


def now() -> datetime:
    return datetime.now(UTC)


def upkeep_of(
    where: Mapping[str, Any], shown: Settings, rules: Callable[[], Rules], uploads: Callable[[], UploadRule]
) -> Upkeep:
    """That of the project which these options describe, whatever becomes of its folder."""
    return Upkeep(rules, uploads, _opener(where, shown), now)


def _opener(where: Mapping[str, Any], shown: Settings) -> Callable[[Progress], Opened]:
    root = os.getcwd()
    # A server that runs is told of its settings by nobody else.
    how = key(root, shown.config_path, sorted(where.items()))

    def opened(progress: Progress) -> Opened:
        cache = Cache(DiskTree(root), shown.environ, kept=wants_cache(shown, root), today=shown.today)
        project = open_project(cache, progress, shown=shown, root=root, **where)

        def read() -> Catalogue:
            require_contents(project)
            return project.catalogue

        return Opened(project, lambda: cache.remembered(CATALOGUE, Catalogue, how, read))

    return opened


def accountant(rules: Callable[[], Rules], log: Log, *, tells: bool) -> Accountant:
    """What keeps the account of it, beside the store and, where it is to tell others, in the log."""

    def told(deed: Deed) -> None:
        if not tells and not log.wants(Level.INFO):
            return
        ##= man/spec/gateway.md#maintenance
        ##% A server MUST write that line of the log whatever `logLevel` says.
        log.note(
            "audit",
            tool=deed.tool,
            outcome=deed.outcome,
            who=deed.who,
            face=deed.face,
            request=deed.request,
            arguments=deed.arguments,
        )

    def failed(reason: str) -> None:
        log.tell(Level.ERROR, "the account of a change could not be written", reason=reason)

    return Accountant(lambda: places_of(rules()), now, told, failed)
