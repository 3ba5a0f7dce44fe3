"""The catalogue of a project: its specifications, requirements and citations."""

from __future__ import annotations

import pytest
from blake3 import blake3
from msgspec import msgpack

from duvet import MemoryTree, Project
from duvet.errors import UnreadableError
from duvet.model import Format, Kind, Level, RequirementForm
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SectionCard, SpecificationCard, State
from tests.unit.queries.query_projects import FILES, NUMBERED_FILES, RFC, catalogue_of_files, make_catalogue

SPECIFICATIONS = (
    SpecificationCard(
        "pot", "Pot", "pot.md", "The lid is round. The lid MUST fit.", "pot.md", "pot.md",
        (SectionCard("pot", "Pot", anchors=("pot",)), SectionCard("lid", "Lid", anchors=("pot", "lid"))),
        True,
        RequirementForm(),
    ),
    SpecificationCard(
        "tea", "Tea", "tea.md", "How tea is made.", "tea.md", "tea.md",
        (
            SectionCard("tea", "Tea", anchors=("tea",)),
            SectionCard("brewing", "Brewing", anchors=("tea", "brewing")),
            SectionCard("serving", "Serving", anchors=("tea", "serving")),
        ),
        True,
        RequirementForm(),
    ),
    SpecificationCard(
        "spoon", "Spoon", "spoon.md", "A spoon is small.", "spoon.md", "spoon.md",
        (SectionCard("spoon", "Spoon", anchors=("spoon",)),),
        True,
        RequirementForm(),
    ),
)  # fmt: skip
REQUIREMENTS = (
    RequirementCard(0, "lid", "The lid is round.", Level.AUTO, State.UNCITED, 5, ()),
    RequirementCard(0, "lid", "The lid MUST fit.", Level.MUST, State.UNCITED, 6, ()),
    RequirementCard(1, "brewing", "The water MUST boil.", Level.MUST, State.DONE, 7, (0, 9)),
    RequirementCard(1, "brewing", "The leaves MUST be dry.", Level.MUST, State.NEEDS_TESTS, 8, (1, 3)),
    RequirementCard(1, "brewing", "The leaves MUST NOT be old.", Level.MUST, State.TO_DO, 9, (4, 5)),
    RequirementCard(1, "brewing", "The cup MUST be warm and clean.", Level.MUST, State.IN_PROGRESS, 10, (2,)),
    RequirementCard(1, "brewing", "The host MUST smile.", Level.MUST, State.NEEDS_CODE, 11, (10,)),
    RequirementCard(1, "brewing", "Milk MAY be added.", Level.MAY, State.UNCITED, 12, ()),
    RequirementCard(1, "brewing", "Sugar SHOULD be brown.", Level.SHOULD, State.EXCEPTED, 13, (6,)),
    RequirementCard(1, "brewing", "A lemon SHOULD be at hand.", Level.SHOULD, State.DONE, 14, (7,)),
    RequirementCard(1, "serving", "Everybody SHOULD wait.", Level.SHOULD, State.UNCITED, 18, ()),
    RequirementCard(1, "serving", "A biscuit MAY be offered.", Level.MAY, State.IN_PROGRESS, 19, (8,)),
)
CONFIG = b"'$schema' = 'duvet-cli/config/v1'\nspecification = [{ source = 'pot.txt', format = 'ietf' }]\n"
TEXT = b"# Pot\n\n1.  Lid\n\n   It MUST fit.\n"


def citation(line: int, kind: Kind, quote: str, requirement: int, span: tuple[int, int], **more: str) -> CitationCard:
    path, section = more.get("path", "src/brewing.rs"), more.get("section", "brewing")
    notes = (more.get("reason", ""), more.get("feature", ""), more.get("issue", ""))
    return CitationCard(path, line, kind, f"tea.md#{section}", quote, *notes, 1, section, (requirement,), span)


CITATIONS = (
    citation(2, Kind.CITATION, "The water MUST boil.", 2, (20, 63)),
    citation(5, Kind.CITATION, "The leaves MUST be dry.", 3, (84, 130)),
    citation(8, Kind.CITATION, "The cup MUST be warm", 5, (150, 193)),
    citation(13, Kind.TODO, "The leaves MUST be dry.", 3, (213, 310), feature="drying", issue="12"),
    citation(19, Kind.TODO, "The leaves MUST NOT be old.", 4, (316, 376)),
    citation(23, Kind.TODO, "The leaves MUST NOT be old.", 4, (382, 486), issue="https://issues.example/7"),
    citation(28, Kind.EXCEPTION, "Sugar SHOULD be brown.", 8, (492, 587), reason="There is no other here."),
    citation(33, Kind.IMPLICATION, "A lemon SHOULD be at hand.", 9, (593, 659)),
    citation(37, Kind.EXCEPTION, "A biscuit MAY be offered.", 11, (665, 728), section="serving"),
    citation(2, Kind.TEST, "The water MUST boil.", 2, (21, 64), path="tests/test_brewing.rs"),
    citation(5, Kind.TEST, "The host MUST smile.", 6, (94, 137), path="tests/test_brewing.rs"),
)


def test_the_catalogue_of_a_project() -> None:
    assert catalogue_of_files() == Catalogue(
        SPECIFICATIONS,
        REQUIREMENTS,
        CITATIONS,
        (),
        missing={5: (("and clean.",), ("The cup MUST be warm and clean.",)), 11: ((), ())},
    )


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


def test_values_derived_from_cards() -> None:
    cards = make_catalogue(NUMBERED_FILES)
    card, (specification,) = cards.requirements[0], cards.specifications
    id = blake3(card.text.encode()).hexdigest()
    assert (card.id, cards.ids[0], card.state, REQUIREMENTS[8].state) == (id, id, State.UNCITED, State.EXCEPTED)
    assert cards.specifications[card.specification] is specification
    assert cards.target_of(card) == f"{RFC}#section-1"
    assert cards.full_path_of(card) == f"/specifications/rfc7/sections/section-1/requirements/{id[:12]}"
    assert (specification.titles["section-1"], specification.full_path) == (
        specification.sections[0].title,
        "/specifications/rfc7",
    )
    assert (CITATIONS[0].id, CITATIONS[0].is_valid) == ("src/brewing.rs:2", True)
    assert msgpack.decode(msgpack.encode(cards), type=Catalogue) == cards


def test_a_specification_is_loaded_in_its_configured_format_unless_it_has_changed() -> None:
    files = {".duvet/config.toml": CONFIG, "pot.txt": TEXT}
    project = Project(tree=MemoryTree(files))
    (card, *_) = cards = project.catalogue.specifications
    shown = [(one.format, [section.id for section in one.sections]) for one in map(project.specification, cards)]
    assert (Format.IETF, ["section-1"]) in shown
    changed = Project(tree=MemoryTree({**files, "pot.txt": b"2.  Spout\n\n   It MUST NOT drip.\n"}))
    with pytest.raises(UnreadableError, match="the file changed during the query"):
        changed.specification(card)
