"""URI templates, and completion of their variables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.errors import NotFoundError, QueryError
from duvet.model import RESOURCE_SCHEME
from duvet.server.resources.tree import NodeKind, ResourceNode, ResourceTree, find_named_node, make_resource_tree
from duvet.text import quote_text
from duvet.trace.catalogue import SHORT_ID_DIGITS
from duvet.trace.locations import ResourcePath

if TYPE_CHECKING:
    from duvet.tools.context import ProjectSnapshot

_VARIABLE = re.compile(r"\{(\w+)\}")
_SPECIFICATION = f"{RESOURCE_SCHEME}/specifications/{{spec_id}}"
_SECTION = f"{_SPECIFICATION}/sections/{{section_id}}"
_REQUIREMENT = f"{_SECTION}/requirements/{{req_identifier}}"


class UriTemplate(Struct, frozen=True):
    uri: str
    name: str
    title: str
    description: str


TEMPLATES = (
    UriTemplate(_SPECIFICATION, "specification", "Specification", "Name, URL and description of a specification"),
    UriTemplate(
        f"{_SPECIFICATION}/sections", "sections", "Sections", "Ids and titles of the sections of a specification"
    ),
    UriTemplate(_SECTION, "section", "Section", "Title and text of a section"),
    UriTemplate(
        f"{_SECTION}/requirements",
        "section_requirements",
        "Requirements of a section",
        "Ids and texts of the requirements of a section",
    ),
    UriTemplate(_REQUIREMENT, "requirement", "Requirement", "Text and state of a requirement"),
    UriTemplate(
        f"{_REQUIREMENT}/citations",
        "requirement_citations",
        "Citations of a requirement",
        "Ids of the citations of a requirement",
    ),
    UriTemplate(
        f"{_REQUIREMENT}/citations/{{citation_id}}",
        "requirement_citation",
        "Citation of a requirement",
        "A citation of a requirement, with the lines around it",
    ),
    UriTemplate(
        f"{RESOURCE_SCHEME}/citations/{{citation_id}}", "citation", "Citation", "Any citation, with the lines around it"
    ),
)


_Choice = tuple[str, str]  # A value, and the words to find it by.


def complete_variable(
    context: ProjectSnapshot, template: str, variable: str, prefix: str, arguments: Mapping[str, str]
) -> Sequence[str]:
    if all(one.uri != template for one in TEMPLATES):
        hint = "list the templates with `resources/templates/list`"
        raise QueryError(f"unknown template {quote_text(template)}", hint=hint)
    variables = _VARIABLE.findall(template)
    if variable not in variables:
        hint = f"available: {', '.join(variables)}"
        raise QueryError(f"the template has no variable {quote_text(variable)}", hint=hint)
    with suppress(NotFoundError):
        return match_values(_list_choices(context.once(make_resource_tree), variable, arguments), prefix)
    return ()


def match_values(choices: Iterable[_Choice], prefix: str) -> Sequence[str]:
    text = prefix.casefold()
    known = list(choices)
    first = [value for value, _ in known if value.casefold().startswith(text)]
    return list(dict.fromkeys([*first, *(value for value, words in known if text in words.casefold())]))


def _list_choices(tree: ResourceTree, variable: str, arguments: Mapping[str, str]) -> Iterator[_Choice]:
    catalogue = tree.catalogue
    match variable:
        case "spec_id":
            yield from ((card.id, f"{card.id} {card.name} {card.url}") for card in catalogue.specifications)
        case "section_id":
            above = _find_parent(tree, arguments, "spec_id")
            for card in [catalogue.specifications[above.specification]] if above else catalogue.specifications:
                yield from ((section.id, f"{section.id} {section.title}") for section in card.sections)
        case "req_identifier":
            for index in _list_requirements_below(tree, _find_parent(tree, arguments, "spec_id", "section_id")):
                id, requirement = catalogue.ids[index][:SHORT_ID_DIGITS], catalogue.requirements[index]
                yield id, f"{id} {requirement.name} {requirement.text}"
        case "citation_id":
            above = _find_parent(tree, arguments, "spec_id", "section_id", "req_identifier")
            ids = tree.citations_of(_list_requirements_below(tree, above)) if above else tree.citation_ids
            yield from ((id, id) for id in ids)


def _find_parent(tree: ResourceTree, arguments: Mapping[str, str], *variables: str) -> ResourceNode | None:
    names = list(takewhile(bool, (arguments.get(variable) for variable in variables)))
    specification, section, id, *_ = (*names, None, None, None)
    return find_named_node(tree, ResourcePath(specification, section, id)) if names else None


def _list_requirements_below(tree: ResourceTree, above: ResourceNode | None) -> Iterator[int]:
    for node in tree.requirements:
        if above is None or (
            node.specification == above.specification
            and (above.kind is NodeKind.SPECIFICATION or above.section == node.section)
            and above.requirement in (-1, node.requirement)
        ):
            yield node.requirement
