"""What the configuration of the project says of the service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from msgspec import ValidationError
from msgspec.structs import replace

from duvet import rules
from duvet.config.find import find_config
from duvet.config.read import as_table
from duvet.config.schema import OURS
from duvet.config.server import ServerTable
from duvet.config.service.serving import ServerSection
from duvet.config.service.tables import ServiceConfig
from duvet.errors import DuvetError
from duvet.tree.protocol import Tree

if TYPE_CHECKING:
    from duvet.config.at import At
    from duvet.config.toml import Toml
    from duvet.model import Problem


_TABLES = tuple(name.encode() for name in ServiceConfig.__struct_encode_fields__ if name != "$schema")


def project_file(tree: Tree, config_path: str | None) -> Toml | None:
    """The configuration of the project in our schema; none where there is none, or it can't be read."""
    with suppress(DuvetError):
        path = find_config(tree, config_path)
        data = tree.read(path) if path else b""
        # Most files have none of these tables, and an answer waits.
        if path and any(name in data for name in _TABLES):
            from duvet.config.toml import parse

            toml = parse(data, path)
            return toml if toml.values.get("$schema") == OURS else None
    return None


def in_both(at: At, project: Toml | None) -> Iterator[Problem]:
    """The tables that stand in both files."""
    both = at.document.values.keys() & project.values.keys() - {"$schema"} if project else set()
    for name in sorted(both):
        ##= man/spec/service.md#configuration
        ##% A table that stands both in this file and in `.duvet/config.toml` MUST be an error that tells both places.
        place = project.key_place(name) if project else None
        where = f"`{project.path}:{place.line}:{place.column}`" if project and place else ""
        message = f"this stands in {where}, too"
        yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "keep one of them", at_key=True)


def server_table(project: Toml | None) -> ServerTable | None:
    """The table `server` of the project; none where it has none, or one that can't be read."""
    if project and "server" in project.values:
        ##= man/spec/mcp.md#handshake
        ##% A configuration that is wrong MUST NOT keep the server from answering `initialize`.
        with suppress(ValidationError):
            return as_table(project.values["server"], ServerTable)
    return None


def as_section(table: ServerTable) -> ServerSection:
    """What the table says as the table of the service's file."""
    return replace(
        ServerSection(),
        name=table.name,
        title=table.title,
        version=table.version,
        description=table.description,
        protocol_version=table.protocol_version,
        page_size=table.page_size,
    )
