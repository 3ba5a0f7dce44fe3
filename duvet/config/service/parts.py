"""Some tables of the configuration of the service, for those who ask it for nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from msgspec import Struct, inspect

from duvet.config.at import At
from duvet.config.check import checked, in_order
from duvet.config.read import as_table
from duvet.config.service.find import find_service
from duvet.config.service.project_file import in_both, project_file
from duvet.config.service.settling import document_in
from duvet.config.service.tables import ServiceConfig
from duvet.model import ProblemsError
from duvet.tree.protocol import Tree

Tables = TypeVar("Tables", bound=Struct)


class _Part:
    """A document less the tables that nobody asks for, with the places in all of it."""

    def __init__(self, tree: Tree, path: str, names: tuple[str, ...]) -> None:
        self._whole = document_in(tree, path)
        self.path = path
        self.written = self._whole.values
        self.values = {name: value for name, value in self.written.items() if name in names}
        self.value_place = self._whole.value_place
        self.key_place = self._whole.key_place


def part_of_service(
    kind: type[Tables],
    tree: Tree,
    environ: Mapping[str, str],
    project_path: str | None = None,
    given: str | None = None,
) -> Tables | None:
    """The tables that are the fields of this type, None where there is no file; ProblemsError where they are wrong."""
    found = find_service(tree, environ, given)
    if not found.path:
        return None
    part = _Part(tree, found.path, kind.__struct_encode_fields__)
    at = At(part, environ, is_private=True)
    from duvet.config.service.expansion import Expansion

    expansion = Expansion()
    values = expansion.expanded(inspect.type_info(kind), part.values, at)
    project = project_file(tree, project_path)
    problems = [*checked(kind, at), *in_both(at, project), *expansion.problems]
    if problems:
        from duvet.config.service.hiding import hiding

        raise ProblemsError(in_order(hiding(problems, inspect.type_info(ServiceConfig), part.written)))
    return as_table(values, kind)
