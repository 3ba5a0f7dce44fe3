"""Cards, and what follows from them"""

from __future__ import annotations

from blake3 import blake3
from msgspec import msgpack

from duvet.model import Kind, Level
from duvet.trace.catalogue import Catalogue, CitationCard, RequirementCard, SectionCard, SpecificationCard
from duvet.trace.records import State, Status

SPECIFICATION = SpecificationCard(
    "rfc1", "RFC 1", "https://a.example/rfc1", "", "https://a.example/rfc1", "rfc1.txt", (SectionCard("s-1", "Tea"),)
)
REQUIREMENT = RequirementCard(0, "s-1", "The pot MUST be warm.", Level.MUST, State.EXCEPTION, 3, (0,))
CITATION = CitationCard(
    "a.py", 7, Kind.CITATION, "rfc1.txt#s-1", "The pot", "", "", "", specification=0, section="s-1",
    requirements=(0,), span=(1, 2)
)  # fmt: skip
ASTRAY = CitationCard(
    "b.py", 1, Kind.TEST, "rfc1.txt#s-9", "The pot", "", "", "", specification=-1, section="",
    requirements=(), span=(1, 2)
)  # fmt: skip
CATALOGUE = Catalogue((SPECIFICATION,), (REQUIREMENT,), (CITATION, ASTRAY), ())
ID = blake3(b"The pot MUST be warm.").hexdigest()


def test_a_requirement_is_known_by_its_text() -> None:
    assert (REQUIREMENT.id, CATALOGUE.ids) == (ID, (ID,))


def test_a_state_has_a_status() -> None:
    assert REQUIREMENT.status is Status.DONE


def test_where_a_requirement_stands() -> None:
    assert CATALOGUE.specification_of(REQUIREMENT) is SPECIFICATION
    assert CATALOGUE.target_of(REQUIREMENT) == "https://a.example/rfc1#s-1"
    assert CATALOGUE.full_path_of(REQUIREMENT) == f"/specifications/rfc1/sections/s-1/requirements/{ID[:12]}"


def test_a_specification_knows_its_sections() -> None:
    assert (SPECIFICATION.titles, SPECIFICATION.full_path) == ({"s-1": "Tea"}, "/specifications/rfc1")


def test_a_citation_is_known_by_its_place() -> None:
    assert [(one.id, one.is_valid) for one in (CITATION, ASTRAY)] == [("a.py:7", True), ("b.py:1", False)]


def test_it_is_the_same_when_it_is_read_again() -> None:
    assert msgpack.decode(msgpack.encode(CATALOGUE), type=Catalogue) == CATALOGUE
