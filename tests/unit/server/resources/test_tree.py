from urllib.parse import quote

import pytest
from hypothesis import example, given, strategies as st

from duvet.errors import NotFoundError, QueryError
from duvet.model import Kind as Type, Level
from duvet.server.resources import tree as resources
from duvet.server.resources.tree import NodeKind, ResourceNode, ResourceTree
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SectionCard, SpecificationCard, State
from duvet.trace.locations import ProjectFiles
from duvet.tree.files import MemoryTree

_ODD = [
    *("src/main.rs", "a b.rs", "a#b.rs", "a?b.rs", "a?limit=3.rs", "100%25.rs", "50%.rs", "%2e%2e/x.rs", "a:7.rs"),
    *("über/日本.rs", "../outside.rs", "./here.rs", "a//b.rs", "requirements/citations/x.rs", "back\\slash.rs"),
]
_NAMES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=20)


def tree_of(section: str, *paths: str) -> ResourceTree:
    """Return a tree with one section, whose requirement is cited at line 42 of these files."""
    specification = SpecificationCard("tea", "Tea", "tea.md", "", "tea.md", "tea.md", (SectionCard(section, "Pot"),))
    numbers = tuple(range(len(paths)))
    requirement = RequirementCard(0, section, "The pot MUST be warm.", Level.MUST, State.DONE, 3, numbers)
    cited = [
        CitationCard(path, 42, Type.CITATION, "tea.md#pot", "", "", "", "", 0, section, (0,), (0, 0)) for path in paths
    ]
    return ResourceTree(Catalogue((specification,), (requirement,), tuple(cited), ()), ProjectFiles(MemoryTree({}), ""))


def find(tree: ResourceTree, reference: str) -> ResourceNode:
    return resources.find_resource_node(tree, resources.parse_resource_request(reference))


@given(st.lists(_NAMES, unique=True, max_size=4), _NAMES.filter(lambda name: name not in (".", "..")))
@example(_ODD, "pot")
@example(["requirements"], "a/b")
@example(["src/main.rs"], "")
def test_every_resource_is_found_by_its_uri(paths: list[str], section: str) -> None:
    tree = tree_of(section, *paths)
    uris = [resources.make_node_uri(tree, node) for node in tree.all]
    assert [find(tree, uri) for uri in uris] == [*tree.all]
    assert len(set(uris)) == len(uris)
    for uri in uris:
        assert uri.isascii() and set(uri).isdisjoint(' #?\\"<>')
        assert {".", "..", "" if section else "."}.isdisjoint(uri.removeprefix("duvet:///").split("/"))


@given(st.lists(_NAMES, unique=True, max_size=4), st.sampled_from(["pot", "a/b", "50%", "%2f", ""]))
@example(_ODD, "pot")
def test_every_resource_is_found_by_its_path(paths: list[str], section: str) -> None:
    tree = tree_of(section, *paths)
    assert [find(tree, resources.make_node_path(tree, node)) for node in tree.all] == [*tree.all]
    # A client may encode more than it needs to.
    tree = tree_of("pot", *paths)
    above = resources.make_node_path(tree, tree.requirements[0])
    for path, node in zip(paths, tree.citations, strict=True):
        for safe in ("", "/"):
            uri = f"duvet://{above}/citations/{quote(f'{path}:42', safe=safe)}"
            assert find(tree, uri) == find(tree, uri.removeprefix("duvet://")) == node


POT = "/specifications/tea/sections/pot"


@pytest.mark.parametrize(
    "reference",
    [
        f"duvet://{POT}/requirements/1dd64a535306/citations/src\\main.rs:42",
        f"duvet://{POT}/requirements/1dd6/citations/src%5Cmain.rs%3A42",
        "DUVET:///specifications/TEA/sections/Pot/requirements/1DD64A535306/citations/./src/main.rs:42",
        "/specifications/tea.md/sections/pot/requirements/1dd64a53530622ee/citations/src/main.rs:42",
        "/citations/src\\main.rs:42",
        "duvet:///citations/src%2Fmain.rs:42",
    ],
)
def test_a_resource_is_found_by_other_spellings(reference: str) -> None:
    tree = tree_of("pot", "src/main.rs")
    id = tree.catalogue.ids[0]
    found = find(tree, reference.replace("1dd64a53530622ee", id))
    assert found == ResourceNode(NodeKind.CITATION, 0, "pot", 0, (0,))


@pytest.mark.parametrize(
    "reference",
    [
        *(f"duvet:///specifications/{name}" for name in ("nope", "tea/sections/nope", "tea/nope")),
        *(f"duvet://{POT}/requirements/{name}" for name in ("ffff", "1dd", "1dd64a535306/other")),
        f"duvet://{POT}/requirements/1dd64a535306/citations/src/main.rs:43",
        *("duvet:///nope", "duvet://specifications", "file:///etc/passwd", "/etc/passwd", "specifications", ""),
        # Percent-encoding counts once.
        f"duvet://{POT}/requirements/1dd64a535306/citations/src%252Fmain.rs:42",
        *("duvet:///citations/src%252Fmain.rs:42", "duvet:///citations/%00", "duvet:///%ff%fe", "/citations/\0"),
        *("duvet:///requirements?sort=text", "duvet:///requirements#limit"),
    ],
)
def test_a_missing_resource_is_not_found(reference: str) -> None:
    with pytest.raises(NotFoundError):
        find(tree_of("pot", "src/main.rs"), reference)


@pytest.mark.parametrize(
    "path", ["src/../src/main.rs", "../tea/src/main.rs", "/tea/src/main.rs", "src/../../etc/passwd"]
)
def test_paths_do_not_lead_out_of_the_project(path: str) -> None:
    tree = tree_of("pot", "src/main.rs")
    for spelt in (path, quote(path), quote(path, safe=""), path.replace("/", "\\")):
        for above in (f"{POT}/requirements/1dd64a535306", "duvet://"):
            with pytest.raises(NotFoundError):
                find(tree, f"{above}/citations/{spelt}:42")


NO_LIMIT = "`limit` must be a number from 1 to 999999999"
NO_QUERY = "after `?`, only `limit` and `cursor` are allowed, each at most once"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        (f"duvet:///{'a' * 16_384}", "the URI is too long: the limit is 16,384 characters"),
        ("duvet:///requirements\0", "the URI contains control characters"),
        ("duvet:///citations/src/main.rs:42\n", "the URI contains control characters"),
        *((f"duvet:///requirements?limit={limit}", NO_LIMIT) for limit in ("0", "-1", "many", "", f"1{'0' * 5000}")),
        *((f"duvet:///requirements?limit=1&{more}", NO_QUERY) for more in ("limit=2", "sort=text")),
    ],
)
def test_a_wrong_uri_is_refused(reference: str, said: str) -> None:
    with pytest.raises(QueryError) as refused:
        resources.parse_resource_request(reference)
    assert str(refused.value) == said


@pytest.mark.parametrize("section", ["pot", ""])
def test_a_slash_at_the_end_changes_nothing(section: str) -> None:
    tree = tree_of(section, "src/main.rs")
    for node in tree.all:
        is_below = node.kind not in (NodeKind.ROOT, NodeKind.CITATION)
        if is_below and resources.make_node_path(tree, node)[-1] != "/":
            found = find(tree, f"{resources.make_node_uri(tree, node)}/")
            # Except for the section with an empty id.
            expected = ResourceNode(NodeKind.SECTION, 0) if node.kind is NodeKind.SECTIONS and section == "" else node
            assert found == expected
