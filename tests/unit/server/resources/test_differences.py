"""What is another after an edit."""

from __future__ import annotations

import pytest

from duvet.server.resources.documents import digest_document, find_changed_documents, have_lists_changed
from duvet.server.resources.tree import get_resource_tree, make_node_uri
from duvet.tools.context import ProjectSnapshot
from tests.unit.server.resources.made import TEA, context_of

_POT = "duvet:///specifications/tea/sections/pot"
_WARM = f"{_POT}/requirements/1dd64a535306"
_CITATION = f"{_WARM}/citations/a.rs:1"
_CUP = "duvet:///specifications/tea/sections/cup"


def _digests(context: ProjectSnapshot) -> dict[str, str]:
    tree = get_resource_tree(context)
    return {uri: digest_document(context, uri) for uri in (make_node_uri(tree, node) for node in tree.all)}


@pytest.mark.parametrize(
    ("after", "uris", "is_another_list"),
    [
        (context_of("a.rs"), set(), False),
        # Code below a citation is shown with it.
        (context_of("a.rs", code="fn a() {}\n"), {_CITATION}, False),
        (context_of("a.rs", tea=TEA.replace("\nA cup", "\nListen. A cup")), {_CUP}, False),
        (
            context_of("a.rs", "b.rs"),
            {"duvet:///citations", f"{_WARM}/citations"},
            True,
        ),
        (context_of(), {"duvet:///citations", _WARM, f"{_WARM}/citations", _CITATION}, True),
        (
            context_of("a.rs", tea=TEA.replace("leak.", "leak. It MAY be blue.")),
            {"duvet:///requirements", _CUP, f"{_CUP}/requirements"},
            True,
        ),
        (
            context_of("a.rs", tea=TEA.replace("## Cup", "## Mug")),
            {
                "duvet:///requirements",
                "duvet:///specifications/tea/sections",
                _CUP,
                f"{_CUP}/requirements",
                f"{_CUP}/requirements/2c79658776d2",
                f"{_CUP}/requirements/2c79658776d2/citations",
            },
            True,
        ),
    ],
    ids=["nothing", "code", "prose", "citation", "uncited", "requirement", "section"],
)
def test_a_resource_has_changed_if_its_document_is_another(
    after: ProjectSnapshot, uris: set[str], is_another_list: bool
) -> None:
    ##= man/spec/mcp.md#freshness
    ##= type=test
    ##% The server MUST notify a client when a resource that it has subscribed to changes, and when specifications,
    ##% requirements or citations come or go.
    before = context_of("a.rs")
    found = find_changed_documents(_digests(before), after)
    assert found.keys() == uris
    assert found == {uri: digest_document(after, uri) for uri in uris}
    assert find_changed_documents(_digests(before) | found, after) == {}
    assert have_lists_changed(before, after) == is_another_list


def test_a_resource_that_comes_or_goes_has_changed() -> None:
    without, with_it = context_of(), context_of("a.rs")
    assert digest_document(without, _CITATION) == ""
    assert find_changed_documents({_CITATION: ""}, with_it) == {_CITATION: digest_document(with_it, _CITATION)}
    assert find_changed_documents({_CITATION: digest_document(with_it, _CITATION)}, without) == {_CITATION: ""}


def test_lines_that_move_rename_citations_and_nothing_else() -> None:
    assert not have_lists_changed(context_of("a.rs"), context_of("a.rs", tea=f"\n{TEA}"))
    assert have_lists_changed(context_of("a.rs"), context_of("a.rs", above="// A line.\n"))
