from collections import Counter
from pathlib import Path

import pytest
from mcp import Client

from duvet.project.project import Project
from duvet.server.live_project import WatchedResources
from duvet.server.resources import documents
from duvet.server.resources.tree import make_node_uri, make_resource_tree
from duvet.tools.context import ProjectSnapshot
from tests.golden_projects import PROJECTS
from tests.slow.test_conformance import copy_with_links
from tests.unit.server.clients import got
from tests.unit.server.servers import server_of
from tests.unit.tools import tool_calls

pytestmark = pytest.mark.anyio

SECTIONS = "/specifications/tea/sections"
CONFIG = "'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'tea.md' }]\n"
TEA_TEXT = "# Tea\n\n## Pot\n\nThe pot MUST be warm.\n\n## Cup\n\nA cup MUST NOT leak.\n"
WARM_URI = f"duvet://{SECTIONS}/pot/requirements/1dd64a535306"
CITATION_URI = f"{WARM_URI}/citations/a.rs:1"
CUP_URI = f"duvet://{SECTIONS}/cup"


def context_of(*paths: str, tea: str = TEA_TEXT, above: str = "", code: str = "") -> ProjectSnapshot:
    """Return a project in memory whose sources cite the same requirement below some lines."""
    pattern = "".join(f"[[source]]\npattern = {path!r}\nlanguage = 'rust'\n" for path in paths)
    cited = f"{above}//= tea.md#pot\n//# The pot MUST be warm.\n{code}"
    return tool_calls.context_of({".duvet/config.toml": CONFIG + pattern, "tea.md": tea, **dict.fromkeys(paths, cited)})


def digests_of(context: ProjectSnapshot) -> dict[str, str]:
    tree = context.once(make_resource_tree)
    return {uri: documents.digest_document(context, uri) for uri in (make_node_uri(tree, node) for node in tree.all)}


REQUIREMENTS = "duvet:///requirements"
MUG = [CUP_URI, *(f"{CUP_URI}/requirements{more}" for more in ("", "/2c79658776d2", "/2c79658776d2/citations"))]


@pytest.mark.parametrize(
    ("after", "uris", "is_another_list"),
    [
        (context_of("a.rs"), set(), False),
        # Code below a citation is shown with it.
        (context_of("a.rs", code="fn a() {}\n"), {CITATION_URI}, False),
        (context_of("a.rs", tea=TEA_TEXT.replace("\nA cup", "\nListen. A cup")), {CUP_URI}, False),
        (context_of("a.rs", "b.rs"), {"duvet:///citations", f"{WARM_URI}/citations"}, True),
        (context_of(), {"duvet:///citations", WARM_URI, f"{WARM_URI}/citations", CITATION_URI}, True),
        (context_of("a.rs", tea=TEA_TEXT.replace("leak.", "leak. It MAY be blue.")), {REQUIREMENTS, *MUG[:2]}, True),
        (
            context_of("a.rs", tea=TEA_TEXT.replace("## Cup", "## Mug")),
            {REQUIREMENTS, f"duvet://{SECTIONS}", *MUG},
            True,
        ),
    ],
)
def test_a_resource_has_changed_if_its_document_has(
    after: ProjectSnapshot, uris: set[str], is_another_list: bool
) -> None:
    before = context_of("a.rs")
    found = documents.find_changed_documents(digests_of(before), after)
    assert found == {uri: documents.digest_document(after, uri) for uri in uris}
    assert documents.find_changed_documents(digests_of(before) | found, after) == {}
    assert documents.have_lists_changed(before, after) == is_another_list
    # Lines that move change only the list of citations.
    assert not documents.have_lists_changed(before, context_of("a.rs", tea=f"\n{TEA_TEXT}"))
    assert documents.have_lists_changed(before, context_of("a.rs", above="// A line.\n"))


async def test_resources_are_checked_even_if_others_were_just_unsubscribed() -> None:
    others, watched = [f"duvet:///specifications/{number}" for number in range(60)], WatchedResources()
    watched.add([WARM_URI, *others, CUP_URI], None)
    found = []
    async for uri in watched.find_changes(context_of("a.rs")):
        found.append(uri)
        watched.remove(others if uri == WARM_URI else ())
    assert (found, watched.uris) == ([WARM_URI, CUP_URI], {WARM_URI, CUP_URI})


@pytest.fixture
def golden(shared: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    name = getattr(request, "param", "h3-704b37a")
    return copy_with_links(shared / "golden" / name / "project", tmp_path / "project")


@pytest.mark.parametrize("golden", PROJECTS, indirect=True)
def test_the_tree_contains_what_a_real_project_has(golden: Path) -> None:
    project = Project(str(golden))
    context = ProjectSnapshot(project, project.catalogue, page_size=50)
    made = [documents.make_document(context, node) for node in context.once(make_resource_tree).all]
    stated = Counter(one.state.words for one in project.requirements)
    assert Counter(one["status"] for one in made if isinstance(one, dict) and "status" in one) == stated
    cited = [one for one in made if isinstance(one, dict) and "file_path" in one]
    assert {f"{one['file_path']}:{one['line_number']}" for one in cited} == {
        one.id for one in project.catalogue.citations
    }


async def test_a_specification_has_the_url_that_targets_name(golden: Path) -> None:
    url = "https://www.rfc-editor.org/rfc/rfc9114"
    async with Client(server_of(golden)) as client:
        listed = await got(client, path="/specifications")
        assert [one["url"] for one in listed if one["id"] == "rfc9114"] == [url]
        found = await client.call_tool("validate_citation", {"citation": f"//= {url}#section-4.1"})
        assert found.structured_content == {"valid": True}
