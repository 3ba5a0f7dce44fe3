"""Nodes and edges of the trace: specifications, sections, requirements, and the files that cite them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duvet.model import Kind
from duvet.queries.catalogue import SHOWN, Catalogue, RequirementCard, SpecificationCard
from duvet.queries.rows import level_name
from duvet.store.records import Artifact, Edge, Label, Node, Relation
from duvet.text import shortened

_LONGEST_NAME = 80


class Traced:
    """The trace as a part of the graph."""

    def __init__(self, catalogue: Catalogue, artifacts: Mapping[str, Artifact]) -> None:
        self.catalogue = catalogue
        self._artifacts = artifacts
        self.ids = [self._id(card) for card in catalogue.requirements]
        """The nodes of the requirements in their order."""

    def _id(self, card: RequirementCard) -> str:
        return f"{Label.REQUIREMENT}:{self._section(card)}/{card.id[:SHOWN]}"

    def _section(self, card: RequirementCard) -> str:
        return section_key(self.catalogue.specification_of(card), card.section)

    def nodes(self) -> Iterator[Node]:
        """Specifications, their sections and their requirements, each once."""
        for one in self.catalogue.specifications:
            about = {"url": one.url, "path": one.path}
            yield Node(label=Label.SPECIFICATION, key=one.id, name=one.name, properties=about)
            for section in one.sections:
                yield Node(label=Label.SECTION, key=section_key(one, section.id), name=section.title)
        seen: set[str] = set()
        for card, id in zip(self.catalogue.requirements, self.ids, strict=True):
            # The same text may stand twice in a section.
            if id not in seen:
                seen.add(id)
                yield self._requirement(card, id)

    def _requirement(self, card: RequirementCard, id: str) -> Node:
        return Node(
            label=Label.REQUIREMENT,
            key=id.partition(":")[2],
            name=shortened(card.text, _LONGEST_NAME),
            properties={
                "text": card.text,
                "level": level_name(card.level),
                "status": card.status.words,
                "target": self.catalogue.target_of(card),
                "full_path": self.catalogue.full_path_of(card),
                "line": card.line,
            },
        )

    def edges(self) -> Iterator[Edge]:
        """What is a part of what, what it is written in, and what cites it."""
        for one in self.catalogue.specifications:
            source = f"{Label.SPECIFICATION}:{one.id}"
            if one.path in self._artifacts:
                yield Edge(source=source, relation=Relation.WRITTEN_IN, target=node_id(self._artifacts[one.path]))
            for section in one.sections:
                key = f"{Label.SECTION}:{section_key(one, section.id)}"
                yield Edge(source=key, relation=Relation.PART_OF, target=source)
        for id, card in dict(zip(self.ids, self.catalogue.requirements, strict=True)).items():
            section_id = f"{Label.SECTION}:{self._section(card)}"
            yield Edge(source=id, relation=Relation.PART_OF, target=section_id)
        yield from self._citing()

    def _citing(self) -> Iterator[Edge]:
        """One edge for each file and each requirement that it cites."""
        found: dict[tuple[str, str], tuple[set[Kind], set[int]]] = {}
        for citation in self.catalogue.citations:
            artifact = self._artifacts.get(citation.path)
            if artifact is None:
                continue
            for index in citation.requirements:
                kinds, lines = found.setdefault((node_id(artifact), self.ids[index]), (set(), set()))
                kinds.add(citation.kind)
                lines.add(citation.line)
        for (source, target), (kinds, lines) in found.items():
            about = {"kinds": sorted(map(_word, kinds)), "lines": sorted(lines)}
            yield Edge(source=source, relation=Relation.CITES, target=target, properties=about)


def _word(kind: Kind) -> str:
    return "implementation" if kind is Kind.CITATION else kind.name.lower()


def section_key(specification: SpecificationCard, section: str) -> str:
    """What a section is known by."""
    return f"{specification.id}#{section}"


def node_id(artifact: Artifact) -> str:
    """What the node of a file is known by."""
    return f"{artifact.label}:{artifact.path}"
