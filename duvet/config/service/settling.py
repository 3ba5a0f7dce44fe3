"""From a file of the configuration of the service to what it says."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import inspect
from msgspec.structs import replace

from duvet import rules
from duvet.config.at import At
from duvet.config.check import checked, in_order
from duvet.config.documents.document import Document, DocumentError
from duvet.config.documents.reading import read_document
from duvet.config.read import as_table
from duvet.config.service.expansion import Expansion
from duvet.config.service.project_file import in_both
from duvet.config.service.references import unresolved
from duvet.config.service.tables import ServiceConfig
from duvet.config.toml import Toml
from duvet.model import ProblemsError
from duvet.tree.protocol import Tree


def document_in(tree: Tree, path: str) -> Document:
    """The file as it is written; ProblemsError where it is not in its format."""
    try:
        return read_document(tree.read(path), path)
    except DocumentError as error:
        rule = rules.CONFIG_SYNTAX if error.is_text else rules.FILE_NOT_UTF8
        problem = rule.problem(error.message, path, error.place, hint=error.hint)
        raise ProblemsError((replace(problem, is_private=True),)) from None


def settled(document: Document, environ: Mapping[str, str], project: Toml | None) -> ServiceConfig:
    """What it says, with its variables filled in; ProblemsError with all that is wrong."""
    at = At(document, environ, is_private=True)
    expansion = Expansion()
    kind = inspect.type_info(ServiceConfig)
    values = expansion.expanded(kind, document.values, at)
    found = [*checked(ServiceConfig, at), *unresolved(at), *in_both(at, project), *expansion.problems]
    if found:
        from duvet.config.service.hiding import hiding

        raise ProblemsError(in_order(hiding(found, kind, document.values)))
    return as_table(values, ServiceConfig)
