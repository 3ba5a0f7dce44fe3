"""How well questions of developers find the sentences that answer them"""

from __future__ import annotations

import json
from pathlib import Path

from duvet.cache.memory import NoMemory
from duvet.model import Level
from duvet.queries.catalogue import Catalogue, RequirementCard, SectionCard, SpecificationCard
from duvet.search.search import Search, search
from duvet.trace.states import State


def of_corpus(lines: list[dict[str, str]]) -> Catalogue:
    """The catalogue of a corpus; a requirement stands on the line that it has there."""
    specs = {
        spec: tuple(
            {
                line["section"]: SectionCard(line["section"], line["title"]) for line in lines if line["spec"] == spec
            }.values()
        )
        for spec in dict.fromkeys(line["spec"] for line in lines)
    }
    numbers = {spec: number for number, spec in enumerate(specs)}
    return Catalogue(
        tuple(SpecificationCard(spec, spec, spec, "", spec, spec, sections) for spec, sections in specs.items()),
        tuple(
            RequirementCard(numbers[line["spec"]], line["section"], line["text"], Level.MUST, State.UNCITED, number, ())
            for number, line in enumerate(lines)
        ),
        (),
        (),
    )


def read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_recall(shared: Path) -> None:
    """Half the sentences that answer stand among the first five; a difference of less than 0.06 is noise."""
    lines = read(shared / "retrieval" / "corpus.jsonl")
    catalogue = of_corpus(lines)
    recalls = []
    for question in read(shared / "retrieval" / "queries.jsonl"):
        found = search(catalogue, Search(question["query"], limit=5), NoMemory()).rows
        ids = {lines[row.line_number]["id"] for row in found}
        recalls.append(len(ids & {*question["relevant"]}) / len(question["relevant"]))
    assert sum(recalls) / len(recalls) > 0.45
