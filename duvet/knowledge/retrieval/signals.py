"""What speaks for a result besides its ranks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from duvet.knowledge.criticality import CRITICALITY
from duvet.knowledge.days import DAY
from duvet.knowledge.retrieval.context import Context
from duvet.knowledge.retrieval.question import Question
from duvet.knowledge.retrieval.records import Scoring, Signals
from duvet.knowledge.retrieval.weights import Weights
from duvet.store.records import Artifact, Chunk, Relation
from duvet.store.words import indexed

_NUDGE = 0.03
"""What all signals together can move a result by: a place, so that they order what is nearly equal."""
_STEM, _FORM = 4, 3
"""So many letters of a word are in all of its forms, and the last ones may be others."""
_VOTE = 0.3
"""How much the votes for a piece count among them."""
_PLACES = 6
"""Digits that are told."""


def scoring(
    chunk: Chunk,
    context: Context,
    question: Question,
    parts: tuple[float, float, float],
    weights: Weights,
    now: float,
) -> Scoring:
    """The score of a piece; the parts are its cosine, and what its ranks among vectors and among words add."""
    vector, near, worded = parts
    artifact = chunk.artifact
    affinity = _affinity(artifact.subsystem, question.terms)
    bonus = _bonus(context)
    criticality = CRITICALITY.get(artifact.criticality.lower(), 0.0)
    count = context.relationships
    ##= man/spec/knowledge.md#search
    ##% The subsystem, the relationships, the documents and tests, and the criticality of a file MUST order what matches
    ##% about equally well, and no more.
    signals = (
        weights.subsystem * affinity
        + weights.relationship * min(count, 5)
        + weights.support * bonus
        + weights.criticality * criticality
    )
    lexical = round(_held(chunk, question.parts), _PLACES)
    return Scoring(
        vector_score=round(vector, _PLACES),
        lexical_score=lexical,
        weighted_vector_score=round(near, _PLACES),
        weighted_lexical_score=round(worded, _PLACES),
        adjusted_score=round(near + worded + _NUDGE * signals, _PLACES),
        mode="",
        signals=Signals(
            lexical_score=lexical,
            weighted_vector_component=round(near, _PLACES),
            weighted_lexical_component=round(worded, _PLACES),
            subsystem_affinity=affinity,
            relationship_count=count,
            supporting_bonus=round(bonus, _PLACES),
            coverage_missing=not artifact.chunk_count,
            coverage_ratio=artifact.coverage_ratio,
            criticality_score=criticality,
            subsystem_criticality=artifact.criticality or None,
            # What is found is in pieces, and these leave nothing of a file out.
            coverage_penalty=0.0,
            path_depth=artifact.path.count("/") + 1,
            freshness_days=_age(artifact, now),
        ),
    )


def with_vote(scores: Scoring, vote: float) -> Scoring:
    """The same where those who have searched before say so much of the piece, from -1 to 1."""
    ##= man/spec/gateway.md#maintenance
    ##% With `search.feedback`, the mean vote for a piece MUST be told among its signals and order what matches about
    ##% equally well, and no more; without it, votes MUST NOT count.
    score = round(scores.adjusted_score + _NUDGE * _VOTE * vote, _PLACES)
    assert isinstance(scores.signals, Signals)
    return replace(scores, adjusted_score=score, signals=replace(scores.signals, feedback=round(vote, _PLACES)))


def _affinity(subsystem: str, terms: Collection[str]) -> float:
    """1 where the query names the subsystem, and a half where it names a part of it."""
    name = subsystem.lower()
    if not name:
        return 0.0
    if name in terms:
        return 1.0
    return 0.5 if any(term in name or name in term for term in terms) else 0.0


def _bonus(context: Context) -> float:
    kinds = [one.relationship for one in context.related]
    return 0.2 * min(kinds.count(Relation.DESCRIBES), 2) + 0.1 * min(kinds.count(Relation.VALIDATES), 2)


def _held(chunk: Chunk, parts: Sequence[str]) -> float:
    """How much of the query stands there; a word that is a part of another, or another form of one, counts for half."""
    if not parts:
        return 0.0
    ##= man/spec/knowledge.md#search
    ##% What was found by words MUST have a `lexical_score`, in whatever form they stand there.
    everything = " ".join([chunk.text, chunk.artifact.path, *chunk.artifact.tags])
    words = {*indexed(everything)}
    text = " ".join(words)
    return sum(1.0 if part in words else 0.5 if _stem(part) in text else 0.0 for part in parts) / len(parts)


def _stem(word: str) -> str:
    """What most forms of a word have in common."""
    return word[: max(len(word) - _FORM, _STEM)]


def _age(artifact: Artifact, now: float) -> float | None:
    if artifact.git_timestamp is None:
        return None
    return round(max(now - artifact.git_timestamp, 0.0) / DAY, 2)
