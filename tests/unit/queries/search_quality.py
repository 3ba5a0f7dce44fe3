from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from duvet.model import Level
from duvet.queries.embeddings import Embedder, find_embedder
from duvet.queries.search import SearchQuery, search_requirements
from duvet.queries.vectors import RequirementVectors
from duvet.trace.catalogue import Catalogue, RequirementCard, SectionCard, SpecificationCard, State
from duvet.tree.cache import Cache
from tests.unit.queries.query_projects import NO_FILES

Rank = Callable[[str], Sequence[str]]  # What a question finds, the best first.
DEPTH = 20  # So many results are looked at.


class Scores(NamedTuple):
    first: float  # How often the first result answers.
    among_five: float  # How often one of the first five does.
    recall_5: float  # How much of what answers stands among the first five.
    recall_20: float
    reciprocal: float  # 1 by the rank of the first of ten that answers.


def of_corpus(lines: Sequence[Mapping[str, str]]) -> Catalogue:
    specs: dict[str, dict[str, SectionCard]] = {}
    for line in lines:
        specs.setdefault(line["spec"], {}).setdefault(line["section"], SectionCard(line["section"], line["title"]))
    numbers = {spec: number for number, spec in enumerate(specs)}
    return Catalogue(
        tuple(
            SpecificationCard(spec, spec, spec, "", spec, spec, tuple(sections.values()))
            for spec, sections in specs.items()
        ),
        tuple(
            RequirementCard(numbers[line["spec"]], line["section"], line["text"], Level.MUST, State.UNCITED, number, ())
            for number, line in enumerate(lines)
        ),
        (),
        (),
    )


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def systems(lines: Sequence[Mapping[str, str]]) -> dict[str, Rank]:
    catalogue, embedder = of_corpus(lines), find_embedder(required=True)
    assert embedder is not None
    meanings = RequirementVectors(catalogue, Cache(), embedder)

    def ids(indexes: Iterable[int]) -> list[str]:
        return [lines[index]["id"] for index in indexes]

    def found(question: str, model: Embedder | None) -> list[str]:
        rows = search_requirements(catalogue, SearchQuery(question, limit=DEPTH), Cache(), NO_FILES, model).rows
        return ids(row.line_number for row in rows)

    return {
        "words": lambda question: found(question, None),
        "vectors": lambda question: ids(index for index, _ in meanings.find_nearest(question, DEPTH, None)),
        "both": lambda question: found(question, embedder),
    }


def scores(rank: Rank, questions: Sequence[Mapping[str, Any]]) -> Scores:
    each = [_scored(rank(question["query"]), {*question["relevant"]}) for question in questions]
    return Scores(*(sum(column) / len(each) for column in zip(*each, strict=True)))


def _scored(found: Sequence[str], answers: set[str]) -> Scores:
    ranks = [rank for rank, id in enumerate(found) if id in answers]
    return Scores(
        first=float(0 in ranks),
        among_five=float(any(rank < 5 for rank in ranks)),
        recall_5=sum(rank < 5 for rank in ranks) / len(answers),
        recall_20=sum(rank < 20 for rank in ranks) / len(answers),
        reciprocal=next((1 / (rank + 1) for rank in ranks if rank < 10), 0.0),
    )
