"""Reads the configuration of the service."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, inspect
from msgspec.structs import replace

from duvet import rules
from duvet.config.at import At
from duvet.config.check import checked, in_order
from duvet.config.documents.document import Document, DocumentError
from duvet.config.documents.reading import read_document
from duvet.config.read import as_table
from duvet.config.schema import ServerRule
from duvet.config.service.expansion import Expansion
from duvet.config.service.find import find_service
from duvet.config.service.project_file import as_section, in_both, project_file, server_table
from duvet.config.service.references import unresolved
from duvet.config.service.tables import ServiceConfig
from duvet.config.toml import Toml
from duvet.model import ProblemsError
from duvet.tree.protocol import Tree


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


def service_config(
    tree: Tree, environ: Mapping[str, str], given: str | None = None, project_path: str | None = None
) -> Service:
    """The configuration of the service, or ProblemsError with everything that is wrong with it.

    `given` is the file that `--config` names; `project_path` is the configuration of the project where it isn't the
    usual one.
    """
    found = find_service(tree, environ, given)
    project = project_file(tree, project_path)
    document = _document(tree, found.path) if found.path else None
    config = _settled(document, environ, project) if document else ServiceConfig()
    table = server_table(project)
    ##= man/spec/service.md#configuration
    ##% Where only `.duvet/config.toml` has a table `server`, that one MUST be in force.
    if table is not None:
        config = replace(config, server=as_section(table))
    packs = config.packs() if table is None else config.packs(table.rule().packs)
    return Service(config=config, path=found.path, origin=found.origin, document=document, packs=packs)


def _document(tree: Tree, path: str) -> Document:
    try:
        return read_document(tree.read(path), path)
    except DocumentError as error:
        rule = rules.CONFIG_SYNTAX if error.is_text else rules.FILE_NOT_UTF8
        problem = rule.problem(error.message, path, error.place, hint=error.hint)
        raise ProblemsError((replace(problem, is_private=True),)) from None


def _settled(document: Document, environ: Mapping[str, str], project: Toml | None) -> ServiceConfig:
    at = At(document, environ, is_private=True)
    expansion = Expansion()
    values = expansion.expanded(inspect.type_info(ServiceConfig), document.values, at)
    problems = [*checked(ServiceConfig, at), *unresolved(at), *in_both(at, project), *expansion.problems]
    if problems:
        raise ProblemsError(in_order(problems))
    return as_table(values, ServiceConfig)
