from itertools import pairwise

import pytest
from msgspec import json
from msgspec.structs import replace
from pytest_snapshot.plugin import Snapshot

from duvet import MemoryTree
from duvet.errors import NotFoundError
from duvet.project.project import Project
from duvet.queries.difference import compare_catalogues
from duvet.queries.records import RequirementFilter, make_requirement_rows, select_requirements
from duvet.queries.references import FileRef, RequirementRef, ResolvedReference, SectionRef, SpecRef, resolve_reference
from duvet.queries.search import SearchQuery, find_named_requirements, search_requirements
from duvet.reports.diff import group_differences
from duvet.reports.tables import ID_COLUMN, NAME_COLUMN, TEXT_COLUMN, ListFormat, Listing, render_listing
from duvet.server.resources.tree import ResourceTree, find_resource_node, parse_resource_request
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles
from duvet.tree.cache import Cache
from tests.cli.tea_project import TEA_PROJECT
from tests.unit.queries.query_projects import NO_FILES, make_catalogue, texts

CONFIG = TEA_PROJECT[".duvet/config.toml"] + (
    '[[specification]]\nsource = "cafe.md"\n'
    '[[source]]\npattern = "src/c#.rs"\ncomment-style = { meta = "*=", content = "*#" }\n'
)
FILES = {
    **TEA_PROJECT,
    ".duvet/config.toml": CONFIG,
    "cafe.md": "# Place\n\n## Added\n\nA cafe MUST open.\n\n## Tee & Öl\n\n## 5bfb\n",
    "src/1dd6.rs": "//= cafe.md#added\n//# A cafe MUST open.\n",
    "src/c#.rs": "/*\n *= tea.md#sugar\n *\n *= tea.md#cup\n *# A cup MUST NOT leak.\n */\nint cup;\nint two;\n\nint three;\n",
    "src/empty.rs": "",
}
CATALOGUE = make_catalogue(FILES)
ROOT = "/home/me/tea"
TREE = ProjectFiles(MemoryTree({path: text.encode() for path, text in FILES.items()}), ROOT)
WARM, ROUND, LEAK = "1dd64a535306", "a5415b83517f", "2c79658776d2"
PLACES = [f"/specifications/tea/sections/{section}/requirements/{WARM}" for section in ("pot", "cup")]


def name_references(meant: ResolvedReference, catalogue: Catalogue = CATALOGUE) -> list[str]:
    match meant:
        case RequirementRef(indexes):
            return [catalogue.full_path_of(catalogue.requirements[index]) for index in indexes]
        case SectionRef(specification, section):
            return [f"{catalogue.specifications[specification].id}#{section}"]
        case SpecRef(specification):
            return [catalogue.specifications[specification].id]
        case FileRef(path, indexes):
            return [path, *(str(catalogue.citations[number].line) for number in indexes)]
    return [catalogue.citations[number].id for number in meant.indexes]


def refusal(reference: str, files: ProjectFiles, catalogue: Catalogue = CATALOGUE) -> str:
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(catalogue, reference, files)
    return f"{caught.value.message}\n{caught.value.hint}".rstrip()


MEANT = [
    # A prefix of an id, whose requirement stands in two places.
    *("1dd64a53", "1DD6", f" {WARM}\n", next(id for id in CATALOGUE.ids if id.startswith(WARM)), "5bfbf"),
    # Resources.
    *(PLACES[0], PLACES[1] + "/", f"duvet://{PLACES[1][:-6]}", "duvet:///specifications/tea"),
    *("/specifications/RFC%207168/sections/section%2D2", f"{PLACES[0]}/citations/src/pot.rs:3"),
    f"/specifications/tea/sections/cup/requirements/{LEAK}/citations/src%2Fc%23.rs%3A4",
    # Specifications and sections.
    *("tea", "Tea", "./tea.md", "RFC 7168", "rfc7168.txt", "https://www.rfc-editor.org/rfc/rfc7168.html"),
    *("https://datatracker.ietf.org/doc/html/rfc7168#section-2", "tea.md#pot", "tea##pot", "rfc7168#2"),
    *("rfc7168#appendix-2", "rfc7168#brewing", "#cup", "section-2", "Tee & Öl"),
    # Names that could be ids.
    *("cafe", "added", "5bfb"),
    # Files by any path.
    *("tests/test_pot.py", "./tests//test_pot.py", "tests\\test_pot.py", "src/../tests/test_pot.py"),
    *(f"{ROOT}/tests/test_pot.py", "/home\\me\\tea\\tests\\test_pot.py:2"),
    # Lines of code and of a specification.
    *("src/pot.rs:3", "src/pot.rs:6:12", "src/pot.rs:7:", "src/pot.rs:9", "src/pot.rs:25", "src/c#.rs:6"),
    *("src/c#.rs:8", ".duvet/exceptions/coffee.toml:5", "tea.md:13"),
]


def test_resolved_references(snapshot: Snapshot) -> None:
    ##= man/spec/show.md#references
    ##% duvet MUST accept the first four or more digits of a requirement id if they are unambiguous.
    ##= man/spec/show.md#references
    ##% duvet MUST resolve a line of code to the annotations directly above it. duvet MUST resolve a line of a
    ##% specification to the requirement that begins on that line.
    found = {one: name_references(resolve_reference(CATALOGUE, one, TREE)) for one in MEANT}
    lines = [f"{one!r}: {' '.join(meant)}\n" for one, meant in found.items()]
    snapshot.assert_match("".join(lines), "references/meant.txt")


CLASHING = {
    "a.md": "# tea\n\n## Cup\n\nA pot MUST be hot.\n",
    "b.md": "# x/tea.md\n",
    "tea.md": "# A\n\n## Cup\n\nA cup MUST hold.\n\nA pot MUST be hot.\n",
    "x/tea.md": "# Tea\n",
    "/specifications/lid.md": "# Lid\n\nA lid MUST fit.\n",
}
RFC_URL = "https://www.rfc-editor.org/rfc/rfc1"
HTML_URL = "https://datatracker.ietf.org/doc/html/rfc1"
CLASHING_NAMES = {
    "a": "a",
    "tea": "tea",
    "TEA": "tea",
    "tea.md": "tea",
    "./x/tea.md": "tea-2",
    "/specifications/tea": "tea",
    "/specifications/lid.md": "lid",
    "/specifications/tea/sections/cup": "tea#cup",
    HTML_URL: "rfc1",
    RFC_URL: "rfc1-2",
    "rfc1": "rfc1",
}


def test_an_exact_name_wins_over_another_spelling() -> None:
    ##= man/spec/show.md#references
    ##% If a reference is the exact name of a specification, section or file, duvet MUST NOT read it as anything else.
    rules = "".join(f'[[specification]]\nsource = "{name}"\n' for name in [*CLASHING, RFC_URL, HTML_URL])
    config = '"$schema" = "duvet-cli/config/v1"\n' + rules
    rfc = {".duvet/specifications/www.rfc-editor.org/rfc/rfc1.txt": "1. Cup\n"}
    catalogue = make_catalogue({".duvet/config.toml": config, **CLASHING, **rfc})
    found = {name: name_references(resolve_reference(catalogue, name, NO_FILES), catalogue) for name in CLASHING_NAMES}
    assert found == {name: [meant] for name, meant in CLASHING_NAMES.items()}
    lids = select_requirements(catalogue, RequirementFilter(("/specifications/lid.md",)))
    assert texts(catalogue, lids) == ["A lid MUST fit."]


HELP = "use a specification, SPEC#SECTION, a file, FILE:LINE or the first digits of an id"
REFUSALS = [
    *("5bfa", "5b", "5bfx", "5b:f:b", "src/pots.rs:3", "teas.md#pot", "rfc7186#2", "tea#pots"),
    *("/specifications/tea/sections/pots", f"/specifications/tea/sections/pot/requirements/{LEAK}"),
    *(f"{PLACES[0]}/citations/src/pot.rs:4", "/specifications/tea/sections/milk", "\x1b[31m", "tea.md:9", "tea.md:7"),
    # Without files, nothing is known about their lines.
    *("src/pot.rs:11", "src/pot.rs:9000", "src/c#.rs:10", "src/1dd6.rs:0", "src/empty.rs:1", "src/empty.rs"),
]


def test_a_reference_that_means_nothing_or_several_things(snapshot: Snapshot) -> None:
    found = {one: refusal(one, TREE) for one in REFUSALS}
    lines = "\n\n".join(f"# {one!r}\n{said}" for one, said in found.items())
    snapshot.assert_match(lines + "\n", "references/refused.txt")
    assert refusal(f"a:{'9' * 5000}", TREE) == f'nothing matches "a:{"9" * 998}…"\n{HELP}'
    for reference, expected in found.items():
        if not reference.startswith("src/") or "pots" in reference:
            assert refusal(reference, NO_FILES) == expected


def test_all_requirements_and_sections_of_an_ambiguous_reference_are_listed() -> None:
    config = "'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'a.md' }, { source = 'b.md' }]\n"
    text = "# All\n\n## Many\n\n" + "".join(f"Pot {number} MUST be warm.\n\n" for number in range(600))
    catalogue = make_catalogue({".duvet/config.toml": config, "a.md": text, "b.md": "# None\n\n## Many\n"})
    prefix = next(one[:4] for one, other in pairwise(sorted(catalogue.ids)) if one[:4] == other[:4])
    alike = [card for card in catalogue.requirements if card.id.startswith(prefix)]
    lines = [f'"{prefix}" matches {len(alike)} requirements', "use one of these ids:"]
    lines += [f"{card.id[:12]}  {card.text}" for card in alike]
    assert refusal(prefix, NO_FILES, catalogue).splitlines() == lines
    assert refusal("many", NO_FILES, catalogue) == '"many" matches 2 sections\nuse one of these:\na#many\nb#many'


def test_ids_that_were_saved_before() -> None:
    ##= man/spec/show.md#references
    ##% For requirements with Markdown markup, duvet SHOULD also accept the ids that awslabs duvet computes.
    text = "# Tea\n\n- **FR-001**: The *pot* MUST be `hot`.\n- [x] It MUST be full.\n\nTea SHOULD be __good__.\n"
    tables = '[[source]]\npattern = "*.py"\n[[specification]]\nsource = "tea.md"\n'
    schemas = ("https://awslabs.github.io/duvet/config/v0.4.0.json", "duvet-cli/config/v1")
    contents = {"tea.md": text.encode(), "a.py": b""}
    before, now = (
        Project(tree=MemoryTree({**contents, ".duvet/config.toml": f"'$schema' = '{schema}'\n{tables}".encode()}))
        for schema in schemas
    )
    own, tree = now.catalogue, ProjectFiles(now.tree, "")
    saved = [one.id for one in before.catalogue.requirements]
    assert not set(saved) & set(own.ids)
    for id, index in zip(saved, range(3), strict=True):
        for digits in (id, id[:12], f"/specifications/tea/sections/tea/requirements/{id[:12]}"):
            assert resolve_reference(own, digits, tree) == RequirementRef((index,))
            assert find_named_requirements(own, digits, tree) == [index]
        node = find_resource_node(ResourceTree(own, tree), parse_resource_request(f"duvet://{digits}"))
        assert node == ResourceTree(own, tree).requirements[index]
    for digits, files_to_read in ((saved[0][:11], tree), (saved[0], NO_FILES), ("0" * 12, tree)):
        with pytest.raises(NotFoundError, match="no requirement matches"):
            resolve_reference(own, digits, files_to_read)


CAFE_CONFIG = """'$schema' = 'duvet-cli/config/v1'
[[specification]]
source = 'tea.md'
[[specification]]
source = 'cafe.md'
"""
WARM_TEXT, CLEAN = "The pot MUST be warm.", "The pot MUST be clean."
LOGIN, FAST = "A user MUST log in.", "It MUST be fast."
TEA = f"# Tea\n\n## Pot\n\n{WARM_TEXT}\n\n{CLEAN}\n\n## FR-005 Login\n\n- {LOGIN}\n- {FAST}\n\n## Cup\n\nA cup MUST be FR-002.\n"
CAFE = "# Cafe\n\n## Door\n\nThe door MUST be open.\n\nThe door MUST be red.\n"
NAMES = {WARM_TEXT: "FR-001", CLEAN: "FR-002", LOGIN: "FR-005", FAST: "FR-005", "The door MUST be open.": "FR-001"}


def named(names: dict[str, str], tea: str = TEA) -> Catalogue:
    found = make_catalogue({".duvet/config.toml": CAFE_CONFIG, "tea.md": tea, "cafe.md": CAFE})
    return replace(found, requirements=tuple(replace(one, name=names.get(one.text, "")) for one in found.requirements))


NAMED_CATALOGUE = named({**NAMES, "The door MUST be red.": "Dead"})


def test_the_id_at_the_head_of_a_title_is_its_section() -> None:
    catalogue = named({})
    for reference in ("FR-005", "fr-005", "tea.md#FR-005"):
        # Several requirements of NAMED_CATALOGUE have the id of the heading.
        for one in (catalogue, NAMED_CATALOGUE):
            assert resolve_reference(one, reference, NO_FILES) == SectionRef(1, "fr-005-login")
    found = select_requirements(catalogue, RequirementFilter((), ("tea#FR-005",)))
    assert [catalogue.requirements[index].text for index in found] == [LOGIN, FAST]
    source = "##= tea.md#FR-005\n##% It MUST be fast.\n\n##= tea.md#Fr-006\n"
    entry = "[[not-applicable]]\ntarget = 'tea.md#FR-005'\nreason = 'no users'\n"
    files = {
        ".duvet/config.toml": f"{CAFE_CONFIG}{entry}[[source]]\nlanguage = 'python'\n",
        "tea.md": TEA.replace("FR-002", "hot") + "\n## FR-006 Help\n\nThis section has no requirements.\n",
        "cafe.md": CAFE,
    }
    cited = make_catalogue({**files, "a.py": source})
    assert cited.problems == ()
    below = [(one.text, one.state.words, len(one.citations)) for one in cited.requirements if one.section[:2] == "fr"]
    assert below == [(LOGIN, "not applicable", 0), (FAST, "not applicable", 1)]


def test_an_ambiguous_or_unknown_id() -> None:
    one_of, similar = "use one of these:\ncafe.md#FR-001\ntea.md#FR-001", "did you mean FR-001 or FR-002 or FR-005?"
    for reference, message in [
        ("FR-001", f'"FR-001" is the id of requirements in 2 specifications: {one_of}'),
        ("FR-003", f'nothing matches "FR-003": {similar}'),
        ("tea.md#FR-003", f'unknown section "FR-003" of tea.md: {similar}'),
        ("cafe.md#FR-002", 'unknown section "FR-002" of cafe.md: did you mean FR-001?'),
    ]:
        with pytest.raises(NotFoundError) as caught:
            resolve_reference(NAMED_CATALOGUE, reference, NO_FILES)
        assert f"{caught.value.message}: {caught.value.hint}" == message
    # Case matters only if no id has the same.
    catalogue = named({WARM_TEXT: "FR-001", CLEAN: "Fr-001"})
    found = resolve_reference(catalogue, "Fr-001", NO_FILES)
    assert isinstance(found, RequirementRef) and [catalogue.requirements[one].text for one in found.indexes] == [CLEAN]
    catalogue = named({WARM_TEXT: "FR-001", CLEAN: "FR-001"})
    with pytest.raises(NotFoundError) as caught:
        resolve_reference(catalogue, "FR-001", NO_FILES)
    lines = [f"{one.id[:12]}  {one.text}" for one in catalogue.requirements if one.text in (WARM_TEXT, CLEAN)]
    assert caught.value.hint.splitlines() == ["use one of these ids:", *lines]


def test_an_id_is_a_reference_and_a_filter() -> None:
    for reference, expected in [
        ("FR-002", CLEAN),
        ("fr-002", CLEAN),
        ("tea.md#FR-001", WARM_TEXT),
        ("tea#fr-001", WARM_TEXT),
        ("cafe#FR-001", "The door MUST be open."),
        ("dead", "The door MUST be red."),
        ("/specifications/tea/sections/pot/requirements/FR-001", WARM_TEXT),
        ("duvet:///specifications/tea/sections/pot/requirements/fr-002", CLEAN),
    ]:
        found = resolve_reference(NAMED_CATALOGUE, reference, NO_FILES)
        assert isinstance(found, RequirementRef)
        assert [NAMED_CATALOGUE.requirements[index].text for index in found.indexes] == [expected]
        assert search_requirements(NAMED_CATALOGUE, SearchQuery(reference), Cache(), NO_FILES).rows[0].text == expected
    for section, specifications, selected in [
        ("FR-002", (), [CLEAN]),
        ("fr-001", (), ["The door MUST be open.", WARM_TEXT]),
        ("tea.md#FR-001", (), [WARM_TEXT]),
        ("FR-001", ("cafe",), ["The door MUST be open."]),
        ("FR-005", (), [LOGIN, FAST]),
    ]:
        indexes = select_requirements(NAMED_CATALOGUE, RequirementFilter(specifications, (section,)))
        assert [NAMED_CATALOGUE.requirements[index].text for index in indexes] == selected


def test_lists_show_ids_if_there_are_any() -> None:
    rows = make_requirement_rows(NAMED_CATALOGUE, range(2, 4))
    columns = (ID_COLUMN, NAME_COLUMN, TEXT_COLUMN)
    ids = [id[:12] for id in NAMED_CATALOGUE.ids[2:4]]
    written = f"id,name,text\n{ids[0]},FR-001,{WARM_TEXT}\n{ids[1]},FR-002,{CLEAN}\n"
    assert render_listing(Listing(columns, rows), ListFormat.CSV).decode() == written
    plain = written.partition("\n")[2].replace(",", "\t")
    assert render_listing(Listing(columns, rows), ListFormat.PLAIN).decode() == plain
    assert json.decode(json.encode(rows[0]))["name"] == "FR-001"
    without = make_requirement_rows(named({}), range(2, 3))
    assert render_listing(Listing(columns, without), ListFormat.CSV).decode() == f"id,text\n{ids[0]},{WARM_TEXT}\n"
    assert "name" not in json.decode(json.encode(without[0]))


def test_ids_in_lists_of_changes() -> None:
    new = "Nobody MAY ever drop a kettle, whatever it holds."
    tea = TEA.replace(f"{WARM_TEXT}\n\n", "").replace(CLEAN, f"{new}\n\n{CLEAN}")
    found = compare_catalogues(named(NAMES), named({**NAMES, new: "FR-001"}, tea))
    assert [(one.then.text, one.now.text) for one in found.requirements_changed] == [(WARM_TEXT, new)]
    assert (found.requirements_added, found.requirements_removed) == ((), ())
    item = "tea.md#pot", "FR-001; MUST -> MAY; uncited", (("", f"[-{WARM_TEXT}-]{{+{new}+}}"),)
    assert [(group.title, group.items) for group in group_differences(found)] == [("Requirements changed", (item,))]
    then, now = named(NAMES), named({**NAMES, WARM_TEXT: "FR-002", CLEAN: "FR-001"})
    found = compare_catalogues(then, now)
    assert [(one.then.name, one.now.name, one.now.text) for one in found.requirements_changed] == [
        ("FR-001", "FR-002", WARM_TEXT),
        ("FR-002", "FR-001", CLEAN),
    ]
    assert [item.words for group in group_differences(found) for item in group.items] == [
        "FR-001 -> FR-002; MUST; uncited",
        "FR-002 -> FR-001; MUST; uncited",
    ]
