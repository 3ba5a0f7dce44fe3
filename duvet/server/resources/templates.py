"""URI templates, and completion of their variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile

from msgspec import Struct

from duvet.errors import NotFoundError, QueryError
from duvet.server.resources.tree import NodeKind, ResourceNode, ResourceTree, find_named_node, get_resource_tree
from duvet.text import quote_text
from duvet.tools.context import ProjectSnapshot
from duvet.trace.catalogue import SHORT_ID_DIGITS
from duvet.trace.names import RESOURCE_SCHEME, ResourcePath

_VARIABLE = re.compile(r"\{(\w+)\}")
_SPECIFICATION = f"{RESOURCE_SCHEME}/specifications/{{spec_id}}"
_SECTION = f"{_SPECIFICATION}/sections/{{section_id}}"
_REQUIREMENT = f"{_SECTION}/requirements/{{req_identifier}}"


class UriTemplate(Struct, frozen=True):
    """A shape, and what is read there."""

    uri: str
    name: str
    title: str
    description: str

    @property
    def variables(self) -> list[str]:
        """What is to be filled in, in its order."""
        return _VARIABLE.findall(self.uri)


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
        "Identifiers and texts of the requirements of a section",
    ),
    UriTemplate(_REQUIREMENT, "requirement", "Requirement", "Text and status of a requirement"),
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
        f"{RESOURCE_SCHEME}/citations/{{citation_id}}",
        "citation",
        "Citation",
        "A citation wherever it stands, with the lines around it",
    ),
)


_Given = Mapping[str, str]
_Choice = tuple[str, str]
"""A value, and the words that it may be asked for by."""


def complete_variable(
    context: ProjectSnapshot, template: str, variable: str, begun: str, given: _Given
) -> Sequence[str]:
    """The values of a variable that begin so, then those that are called so, where others have these values."""
    _check(template, variable)
    with suppress(NotFoundError):
        return match_values(_CHOICES[variable](get_resource_tree(context), given), begun)
    return ()


def match_values(choices: Iterable[_Choice], begun: str) -> Sequence[str]:
    """The values that begin so, then those whose words hold it; each once."""
    wanted = begun.casefold()
    known = list(choices)
    first = [value for value, _ in known if value.casefold().startswith(wanted)]
    return list(dict.fromkeys([*first, *(value for value, words in known if wanted in words.casefold())]))


def _check(uri: str, variable: str) -> None:
    found = next((one for one in TEMPLATES if one.uri == uri), None)
    if found is None:
        raise QueryError(f"there is no template {quote_text(uri)}", hint="`resources/templates/list` names them")
    if variable not in found.variables:
        raise QueryError(f"{quote_text(variable)} is no variable of it", hint=f"it has {', '.join(found.variables)}")


def _specifications(tree: ResourceTree, given: _Given) -> Iterator[_Choice]:
    return ((card.id, f"{card.id} {card.name} {card.url}") for card in tree.catalogue.specifications)


def _sections(tree: ResourceTree, given: _Given) -> Iterator[_Choice]:
    above = _above(tree, given, "spec_id")
    cards = tree.catalogue.specifications
    for card in [cards[above.specification]] if above else cards:
        yield from ((section.id, f"{section.id} {section.title}") for section in card.sections)


def _requirements(tree: ResourceTree, given: _Given) -> Iterator[_Choice]:
    catalogue = tree.catalogue
    for node in _inside(tree, _above(tree, given, "spec_id", "section_id")):
        id = catalogue.ids[node.requirement][:SHORT_ID_DIGITS]
        yield id, f"{id} {catalogue.requirements[node.requirement].text}"


def _citations(tree: ResourceTree, given: _Given) -> Iterator[_Choice]:
    above = _above(tree, given, "spec_id", "section_id", "req_identifier")
    inside = (node.requirement for node in _inside(tree, above))
    ids = tree.citations_of(inside) if above else tree.citation_ids
    return ((id, id) for id in ids)


def _above(tree: ResourceTree, given: _Given, *variables: str) -> ResourceNode | None:
    """What the variables before one mean, as far as they are filled in; NotFoundError where that is nothing."""
    names = list(takewhile(bool, (given.get(variable) for variable in variables)))
    specification, section, id, *_ = (*names, None, None, None)
    return find_named_node(tree, ResourcePath(specification, section, id)) if names else None


def _inside(tree: ResourceTree, above: ResourceNode | None) -> Iterator[ResourceNode]:
    """The requirements in a specification or a section, or the one that is meant; without any, all."""
    for node in tree.requirements:
        if above is None or (
            node.specification == above.specification
            and (above.kind is NodeKind.SPECIFICATION or above.section == node.section)
            and above.requirement in (-1, node.requirement)
        ):
            yield node


_CHOICES: Mapping[str, Callable[[ResourceTree, _Given], Iterable[_Choice]]] = {
    "spec_id": _specifications,
    "section_id": _sections,
    "req_identifier": _requirements,
    "citation_id": _citations,
}
