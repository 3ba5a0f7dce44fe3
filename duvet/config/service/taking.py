"""What the configuration of the service says of taking in, for those who ask it for nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.config.schema import IngestRule, StoreRule
from duvet.config.service.ingest import IngestSection, StoreSection
from duvet.config.service.parts import part_of_service
from duvet.tree.protocol import Tree


class _Taken(Struct, frozen=True):
    ingest: IngestSection = IngestSection()
    store: StoreSection = StoreSection()


def service_taking(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None, given: str | None = None
) -> tuple[IngestRule, StoreRule]:
    """What is taken in, and where it is kept; ProblemsError where that can't be told."""
    ##= man/spec/knowledge.md#files
    ##% What is wrong with other tables of the configuration MUST NOT keep `ingest` and `store` from being in force.
    found = part_of_service(_Taken, tree, environ, project_path, given) or _Taken()
    return found.ingest.rule(environ), found.store.rule()
