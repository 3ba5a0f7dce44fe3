"""From what a client asks for to a place of the tree."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.queries.places import spellings_of_citation
from duvet.queries.references import Citations, Requirements, Spot, Whole, found_at
from duvet.queries.resources import Resource, resource_of
from duvet.server.resources.addresses import Asked
from duvet.server.resources.nodes import ALL_CITATIONS, ALL_REQUIREMENTS, ROOT, SPECIFICATIONS, Kind, Node
from duvet.server.resources.tree import Tree
from duvet.text import quoted

_FIXED = {"/": ROOT, "/requirements": ALL_REQUIREMENTS, "/citations": ALL_CITATIONS}
_CITATION = re.compile(r"/citations/(.+)\Z", re.DOTALL)
_STEPS = re.compile(r"[/\\]")


def node_of(tree: Tree, asked: Asked) -> Node:
    """The place that is meant; NotFoundError with what is near where there is none."""
    failures = []
    for path, is_encoded in asked.spellings:
        try:
            return _node(tree, path, is_encoded)
        except NotFoundError as error:
            failures.append(error)
    raise failures[0]


def _node(tree: Tree, path: str, is_encoded: bool) -> Node:
    fixed = _FIXED.get(path) or _FIXED.get(path.removesuffix("/"))
    if fixed is not None:
        return fixed
    citation = _CITATION.match(path)
    if citation is not None:
        return _citation(tree, unquote(citation[1]) if is_encoded else citation[1])
    resource = resource_of(path, is_encoded=is_encoded)
    if resource is None:
        hint = "begin with /specifications, /requirements or /citations"
        raise NotFoundError(f"there is no resource {quoted(path)}", hint=hint)
    if resource.specification is None:
        return SPECIFICATIONS
    if _ends_with_a_slash(tree, resource):
        resource = replace(resource, section=None, is_collection=True)
    node = place_of(tree, resource)
    return tree.children(node)[0] if resource.is_collection else node


def _ends_with_a_slash(tree: Tree, resource: Resource) -> bool:
    """Whether that is the list of sections and not the section whose id is empty, for there is none."""
    if resource.section != "" or resource.is_collection or resource.id is not None:
        return False
    index = tree.specification_ids.get(resource.specification or "")
    return index is None or "" not in tree.catalogue.specifications[index].titles


def place_of(tree: Tree, resource: Resource) -> Node:
    """The single thing that these names mean; NotFoundError with what is near where they mean none."""
    return _exact(tree, resource) or _meant(tree, resource)


def _exact(tree: Tree, resource: Resource) -> Node | None:
    """The place whose names are just these, found without looking at any other."""
    index = tree.specification_ids.get(resource.specification or "")
    if index is None:
        return None
    if resource.section is None:
        return Node(Kind.SPECIFICATION, index)
    if resource.id is None:
        is_known = resource.section in tree.catalogue.specifications[index].titles
        return Node(Kind.SECTION, index, resource.section) if is_known else None
    requirement = tree.requirement_ids(index, resource.section).get(resource.id)
    if requirement is None:
        return None
    if resource.citation is None:
        return tree.requirement(requirement)
    citations = tree.citations_of([requirement]).get(resource.citation, ())
    return replace(tree.requirement(requirement), kind=Kind.CITATION, citations=citations) if citations else None


def _meant(tree: Tree, resource: Resource) -> Node:
    """The place that people may call so."""
    if resource.citation is not None:
        _refuse_steps(resource.citation)
    above = replace(resource, citation=None)
    match found_at(tree.catalogue, above), found_at(tree.catalogue, resource):
        case Whole(specification), _:
            return Node(Kind.SPECIFICATION, specification)
        case Spot(specification, section), _:
            return Node(Kind.SECTION, specification, section)
        case Requirements((index, *_)), Citations(numbers):
            return replace(tree.requirement(index), kind=Kind.CITATION, citations=numbers)
        case Requirements((index, *_)), _:
            return tree.requirement(index)
    raise AssertionError(resource)


def _citation(tree: Tree, id: str) -> Node:
    """The citation of that id, wherever it stands."""
    known = tree.citation_ids
    if id not in known:
        _refuse_steps(id)
    found = next((one for one in spellings_of_citation(id) if one in known), None)
    if found is None:
        raise NotFoundError(f"there is no citation {quoted(id)}")
    return tree.citation(known[found])


def _refuse_steps(id: str) -> None:
    ##= man/spec/mcp.md#resources
    ##% A path that leads out of the project MUST NOT be followed.
    if ".." in _STEPS.split(id):
        raise NotFoundError(f"there is no citation {quoted(id)}")
