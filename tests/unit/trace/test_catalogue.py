import pytest
from blake3 import blake3
from msgspec import json, msgpack
from pytest_snapshot.plugin import Snapshot

from duvet import MemoryTree, Project
from duvet.errors import UnreadableError
from duvet.model import Format, Kind
from duvet.trace.catalogue import Catalogue, CitationCard, State
from tests.unit.queries.query_projects import FILES, NUMBERED_FILES, RFC, catalogue_of_files, make_catalogue

CONFIG = b"'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'pot.txt', format = 'ietf' }]\n"
TEXT = b"# Pot\n\n1.  Lid\n\n   It MUST fit.\n"


def test_the_catalogue_of_a_project(snapshot: Snapshot) -> None:
    catalogue = catalogue_of_files()
    snapshot.assert_match(json.format(json.encode(catalogue)), "catalogue/brewing.json")
    assert (catalogue.citations[0].id, catalogue.citations[0].is_valid) == ("src/brewing.rs:2", True)
    assert [one.state for one in catalogue.requirements[:3]] == [State.UNCITED, State.UNCITED, State.DONE]
    assert msgpack.decode(msgpack.encode(catalogue), type=Catalogue) == catalogue
    cards = make_catalogue(NUMBERED_FILES)
    id = blake3(cards.requirements[0].text.encode()).hexdigest()
    assert cards.requirements[0].id == id
    assert cards.target_of(cards.requirements[0]) == f"{RFC}#section-1"
    path = f"/specifications/rfc7/sections/section-1/requirements/{id[:12]}"
    assert cards.full_path_of(cards.requirements[0]) == path
    assert cards.specifications[0].full_path == "/specifications/rfc7"


def test_a_citation_of_an_unknown_section() -> None:
    changed = catalogue_of_files(**{"src/brewing.rs": "//= tea.md#nowhere\n//# The water MUST boil.\n"})
    quote, remark = "The water MUST boil.", 'missing section "nowhere" in tea.md'
    assert changed.citations[0] == CitationCard(
        "src/brewing.rs", 1, Kind.CITATION, "tea.md#nowhere", quote, "", "", "", -1, "", (), (4, 43), remark=remark
    )
    assert [problem.code for problem in changed.problems] == ["DUV043"] and not changed.citations[0].is_valid


def test_requirements_know_their_lines_in_any_order() -> None:
    """Requirements are ordered by section, so lines may decrease."""
    pot = "# Pot\n\n## Lid\n\nThe lid MUST\nfit. It MUST be flat.\n\n## Lid\n\nIt\n\nMUST shine.\n"
    found = catalogue_of_files(**{"pot.md": pot, "src/brewing.rs": ""}).requirements
    assert [(card.section, card.text, card.line) for card in found if card.specification == 0] == [
        ("lid", "The lid MUST fit.", 5),
        ("lid", "It MUST be flat.", 6),
        ("lid-1", "MUST shine.", 12),
    ]


def test_a_configured_format_makes_no_second_specification() -> None:
    config = FILES[".duvet/config.toml"].replace('source = "pot.md"', 'source = "pot.md"\nformat = "markdown"')
    changed = catalogue_of_files(**{".duvet/config.toml": config})
    assert [card.id for card in changed.specifications] == ["pot", "tea", "spoon"]


def test_a_specification_is_loaded_in_its_configured_format_unless_it_has_changed() -> None:
    files = {".duvet/config.toml": CONFIG, "pot.txt": TEXT}
    project = Project(tree=MemoryTree(files))
    (card, *_) = cards = project.catalogue.specifications
    shown = [(one.format, [section.id for section in one.sections]) for one in map(project.specification, cards)]
    assert (Format.IETF, ["section-1"]) in shown
    changed = Project(tree=MemoryTree({**files, "pot.txt": b"2.  Spout\n\n   It MUST NOT drip.\n"}))
    with pytest.raises(UnreadableError, match="the file changed during the query"):
        changed.specification(card)
