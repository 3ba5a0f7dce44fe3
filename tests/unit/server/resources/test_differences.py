"""What is another after an edit."""

from __future__ import annotations

import pytest

from duvet.server.resources.addresses import uri_of
from duvet.server.resources.differences import changed, digest, lists_differ
from duvet.server.resources.tree import tree_of
from duvet.tools.context import Context
from tests.unit.server.resources.made import TEA, context_of

_POT = "duvet:///specifications/tea/sections/pot"
_WARM = f"{_POT}/requirements/1dd64a535306"
_CITATION = f"{_WARM}/citations/a.rs:1"
_CUP = "duvet:///specifications/tea/sections/cup"


def _digests(context: Context) -> dict[str, str]:
    tree = tree_of(context)
    return {uri: digest(context, uri) for uri in (uri_of(tree, node) for node in tree.all)}


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
    after: Context, uris: set[str], is_another_list: bool
) -> None:
    ##= man/spec/mcp.md#resources
    ##= type=test
    ##% A resource MUST count as changed only if its document is another.
    before = context_of("a.rs")
    found = changed(_digests(before), after)
    assert found.keys() == uris
    assert found == {uri: digest(after, uri) for uri in uris}
    assert changed(_digests(before) | found, after) == {}
    assert lists_differ(before, after) == is_another_list


def test_a_resource_that_comes_or_goes_has_changed() -> None:
    without, with_it = context_of(), context_of("a.rs")
    assert digest(without, _CITATION) == ""
    assert changed({_CITATION: ""}, with_it) == {_CITATION: digest(with_it, _CITATION)}
    assert changed({_CITATION: digest(with_it, _CITATION)}, without) == {_CITATION: ""}


def test_lines_that_move_rename_citations_and_nothing_else() -> None:
    assert not lists_differ(context_of("a.rs"), context_of("a.rs", tea=f"\n{TEA}"))
    assert lists_differ(context_of("a.rs"), context_of("a.rs", above="// A line.\n"))
