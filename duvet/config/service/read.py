"""Reads the configuration of the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.schema import ServerRule
from duvet.config.service.find import find_service
from duvet.config.service.project_file import as_section, project_file, server_table
from duvet.config.service.tables import ServiceConfig
from duvet.tree.protocol import Tree

if TYPE_CHECKING:
    from duvet.config.documents.document import Document


class Service(Struct, frozen=True, kw_only=True):
    """The configuration that is in force, and where it comes from."""

    config: ServiceConfig
    path: str = ""
    """Empty where the defaults are in force."""
    origin: str
    """`--config`, the name of a variable, `found` or `defaults`."""
    document: Document | None = None
    """The file, to find places in."""
    packs: tuple[str, ...] = ServerRule().packs
    """The packs that are switched on."""

    @property
    def rule(self) -> ServerRule:
        """What the server says of itself, and how much it offers."""
        return self.config.server.rule(self.packs)

    def says_the_same_as(self, other: Service) -> bool:
        """Whether nothing else is in force then, however it is written."""
        return replace(self, document=None) == replace(other, document=None)


def service_config(
    tree: Tree, environ: Mapping[str, str], given: str | None = None, project_path: str | None = None
) -> Service:
    """The configuration of the service, or ProblemsError with everything that is wrong with it.

    `given` is the file that `--config` names; `project_path` is the configuration of the project where it isn't the
    usual one.
    """
    found = find_service(tree, environ, given)
    project = project_file(tree, project_path)
    document, config = None, ServiceConfig()
    if found.path:
        # Most projects have no such file, and an answer waits.
        from duvet.config.service.settling import document_in, settled

        document = document_in(tree, found.path)
        config = settled(document, environ, project)
    table = server_table(project)
    ##= man/spec/service.md#configuration
    ##% Where only `.duvet/config.toml` has a table `server`, that one MUST be in force.
    if table is not None:
        config = replace(config, server=as_section(table))
    packs = config.packs() if table is None else config.packs(table.pack_names)
    return Service(config=config, path=found.path, origin=found.origin, document=document, packs=packs)
