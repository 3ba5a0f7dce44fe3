"""What the variables of the templates may be filled with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import takewhile

from duvet.errors import NotFoundError, QueryError
from duvet.queries.catalogue import SHOWN
from duvet.queries.resources import Resource
from duvet.server.resources.finding import place_of
from duvet.server.resources.nodes import Kind, Node
from duvet.server.resources.templates import TEMPLATES
from duvet.server.resources.tree import Tree, tree_of
from duvet.text import quoted
from duvet.tools.context import Context

_Given = Mapping[str, str]
_Choice = tuple[str, str]
"""A value, and the words that it may be asked for by."""


def completed(context: Context, template: str, variable: str, begun: str, given: _Given) -> Sequence[str]:
    """The values of a variable that begin so, then those that are called so, where others have these values."""
    _check(template, variable)
    with suppress(NotFoundError):
        return matching(_CHOICES[variable](tree_of(context), given), begun)
    return ()


def matching(choices: Iterable[_Choice], begun: str) -> Sequence[str]:
    """The values that begin so, then those whose words hold it; each once."""
    wanted = begun.casefold()
    known = list(choices)
    first = [value for value, _ in known if value.casefold().startswith(wanted)]
    return list(dict.fromkeys([*first, *(value for value, words in known if wanted in words.casefold())]))


def _check(uri: str, variable: str) -> None:
    found = next((one for one in TEMPLATES if one.uri == uri), None)
    if found is None:
        raise QueryError(f"there is no template {quoted(uri)}", hint="`resources/templates/list` names them")
    if variable not in found.variables:
        raise QueryError(f"{quoted(variable)} is no variable of it", hint=f"it has {', '.join(found.variables)}")


def _specifications(tree: Tree, given: _Given) -> Iterator[_Choice]:
    return ((card.id, f"{card.id} {card.name} {card.url}") for card in tree.catalogue.specifications)


def _sections(tree: Tree, given: _Given) -> Iterator[_Choice]:
    above = _above(tree, given, "spec_id")
    cards = tree.catalogue.specifications
    for card in [cards[above.specification]] if above else cards:
        yield from ((section.id, f"{section.id} {section.title}") for section in card.sections)


def _requirements(tree: Tree, given: _Given) -> Iterator[_Choice]:
    catalogue = tree.catalogue
    for node in _inside(tree, _above(tree, given, "spec_id", "section_id")):
        id = catalogue.ids[node.requirement][:SHOWN]
        yield id, f"{id} {catalogue.requirements[node.requirement].text}"


def _citations(tree: Tree, given: _Given) -> Iterator[_Choice]:
    above = _above(tree, given, "spec_id", "section_id", "req_identifier")
    inside = (node.requirement for node in _inside(tree, above))
    ids = tree.citations_of(inside) if above else tree.citation_ids
    return ((id, id) for id in ids)


def _above(tree: Tree, given: _Given, *variables: str) -> Node | None:
    """What the variables before one mean, as far as they are filled in; NotFoundError where that is nothing."""
    names = list(takewhile(bool, (given.get(variable) for variable in variables)))
    specification, section, id, *_ = (*names, None, None, None)
    return place_of(tree, Resource(specification, section, id)) if names else None


def _inside(tree: Tree, above: Node | None) -> Iterator[Node]:
    """The requirements in a specification or a section, or the one that is meant; without any, all."""
    for node in tree.requirements:
        if above is None or (
            node.specification == above.specification
            and (above.kind is Kind.SPECIFICATION or above.section == node.section)
            and above.requirement in (-1, node.requirement)
        ):
            yield node


_CHOICES: Mapping[str, Callable[[Tree, _Given], Iterable[_Choice]]] = {
    "spec_id": _specifications,
    "section_id": _sections,
    "req_identifier": _requirements,
    "citation_id": _citations,
}
