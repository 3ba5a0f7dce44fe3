"""The shapes of all URIs."""

from __future__ import annotations

import re

from msgspec import Struct

from duvet.queries.resources import SCHEME

_VARIABLE = re.compile(r"\{(\w+)\}")
_SPECIFICATION = f"{SCHEME}/specifications/{{spec_id}}"
_SECTION = f"{_SPECIFICATION}/sections/{{section_id}}"
_REQUIREMENT = f"{_SECTION}/requirements/{{req_identifier}}"


class Template(Struct, frozen=True):
    """A shape, and what is read there."""

    uri: str
    name: str
    title: str
    description: str

    @property
    def variables(self) -> list[str]:
        """What is to be filled in, in its order."""
        return _VARIABLE.findall(self.uri)


TEMPLATES = (
    Template(_SPECIFICATION, "specification", "Specification", "Name, URL and description of a specification"),
    Template(f"{_SPECIFICATION}/sections", "sections", "Sections", "Ids and titles of the sections of a specification"),
    Template(_SECTION, "section", "Section", "Title and text of a section"),
    Template(
        f"{_SECTION}/requirements",
        "section_requirements",
        "Requirements of a section",
        "Identifiers and texts of the requirements of a section",
    ),
    Template(_REQUIREMENT, "requirement", "Requirement", "Text and status of a requirement"),
    Template(
        f"{_REQUIREMENT}/citations",
        "requirement_citations",
        "Citations of a requirement",
        "Ids of the citations of a requirement",
    ),
    Template(
        f"{_REQUIREMENT}/citations/{{citation_id}}",
        "requirement_citation",
        "Citation of a requirement",
        "A citation of a requirement, with the lines around it",
    ),
    Template(
        f"{SCHEME}/citations/{{citation_id}}",
        "citation",
        "Citation",
        "A citation wherever it stands, with the lines around it",
    ),
)
