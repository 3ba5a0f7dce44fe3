"""The places of the tree."""

from __future__ import annotations

from enum import Enum, auto

from msgspec import Struct


class Kind(Enum):
    """What stands at a place."""

    ROOT = auto()
    SPECIFICATIONS = auto()
    SPECIFICATION = auto()
    SECTIONS = auto()
    SECTION = auto()
    REQUIREMENTS = auto()
    REQUIREMENT = auto()
    CITATIONS = auto()
    CITATION = auto()
    ALL_REQUIREMENTS = auto()
    ALL_CITATIONS = auto()

    @property
    def is_collection(self) -> bool:
        """Whether it is read as a list."""
        return self not in _SINGLE


_SINGLE = {Kind.SPECIFICATION, Kind.SECTION, Kind.REQUIREMENT, Kind.CITATION}


class Node(Struct, frozen=True, gc=False):
    """One place: its kind, and what it takes to find what it shows in the catalogue."""

    kind: Kind
    specification: int = -1
    """-1 above all of them, and where a citation stands below none."""
    section: str = ""
    """Its id, which is empty where its title has neither letters nor digits, and above all sections."""
    requirement: int = -1
    citations: tuple[int, ...] = ()
    """The annotations at one line."""


ROOT = Node(Kind.ROOT)
SPECIFICATIONS = Node(Kind.SPECIFICATIONS)
ALL_REQUIREMENTS = Node(Kind.ALL_REQUIREMENTS)
ALL_CITATIONS = Node(Kind.ALL_CITATIONS)
