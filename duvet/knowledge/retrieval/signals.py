"""Ranking signals and their weights, and the parsed query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from duvet.knowledge.days import CRITICALITY, DAY_SECONDS
from duvet.knowledge.retrieval.context import FileContext
from duvet.knowledge.retrieval.query import (
    MAX_RESULTS,
    ScoreDetails,
    ScoreSignals,
    SearchRequest,
    compute_result_limit,
    make_filters,
)
from duvet.store.protocol import Store
from duvet.store.records import Artifact, Chunk, ChunkFilters, Relation
from duvet.words import (
    MAX_QUERY_CHARACTERS,
    MAX_QUERY_WORDS,
    STOP_WORDS,
    extract_index_words,
    extract_query_words,
    join_name,
)

_MOST = 8
"""So many names of a question count."""
_DEPTH = 100
"""So many pieces that hold a name are looked at."""
_TOKEN = re.compile(r"[\w./:\\-]+")
_END = ".:-/"
_LINE = re.compile(r":\d+(?:-\d+)?\Z")
_QUALIFIED = re.compile(r"[.:]+")
NAMED_SCORE, HELD_SCORE = 2.0, 1.0
"""What stands before all that is only like what is asked: where the thing is that is named, and where its name stands."""


def extract_names(text: str) -> tuple[str, ...]:
    """The names in a question: what is composed of several words, or the only word."""
    words = [name for name in map(_name, _TOKEN.findall(text)) if name]
    if len(words) == 1 and words[0] == text.strip():
        return (words[0],)
    composed = [name for name in words if len(extract_index_words(name)) > 1]
    return tuple(dict.fromkeys(composed))[:_MOST]


def _name(token: str) -> str:
    return _LINE.sub("", token.rstrip(_END)).replace("\\", "/").removeprefix("./")


def score_named_chunks(
    store: Store, names: tuple[str, ...], filters: ChunkFilters, *, alone: bool
) -> Mapping[int, float]:
    """What the pieces are worth that a question names; alone, a name also stands for the pieces that hold it."""
    worth: dict[int, float] = defaultdict(float)
    for name in names:
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST list the file or the symbol that a query names first, and chunks with every word before
        ##% those with some.
        for number in dict.fromkeys(_things(store, name, filters)):
            worth[number] += NAMED_SCORE
        if alone and name.isidentifier() and len(extract_index_words(name)) > 1:
            for number, _ in store.lexical([join_name(name)], filters, _DEPTH, every=True):
                worth[number] += HELD_SCORE
    return worth


def _things(store: Store, name: str, filters: ChunkFilters) -> Iterator[int]:
    yield from store.called(name, filters)
    if "/" not in name:
        yield from store.declaring(_QUALIFIED.split(name)[-1], filters)


_CUT = f"only the first {MAX_QUERY_CHARACTERS:,} characters and {MAX_QUERY_WORDS} words of the query count"


class SearchQuestion(Struct, frozen=True, kw_only=True):
    """What counts of what was asked."""

    text: str
    terms: tuple[str, ...]
    """Its words, without those that every text is full of as long as there are others."""
    parts: tuple[str, ...]
    """The same, what names with capitals inside are composed of, and names with underlines as one word."""
    names: tuple[str, ...]
    """What may be the name of a file or of a symbol."""
    is_name: bool
    """Whether that is all."""
    filters: ChunkFilters
    limit: int
    warnings: tuple[str, ...]


def prepare_question(asked: SearchRequest, now: float) -> SearchQuestion:
    """What counts of it."""
    text = asked.query[:MAX_QUERY_CHARACTERS]
    words, is_cut = extract_query_words(asked.query)
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST read a query as words, ignore very common ones, and warn about what exceeds 2,000 characters or
    ##% 64 words.
    terms = [word for word in words if word not in STOP_WORDS] or words
    parts = [word for word in extract_index_words(text) if word not in STOP_WORDS]
    warnings = []
    if is_cut:
        warnings.append(_CUT)
    if not words:
        warnings.append("the query has no word in it")
    if asked.limit > MAX_RESULTS:
        warnings.append(f"no more than {MAX_RESULTS} results are answered")
    names = extract_names(text)
    return SearchQuestion(
        text=text,
        names=names,
        is_name=len(names) == 1 and text.strip() == names[0],
        terms=tuple(terms),
        parts=tuple(dict.fromkeys([*terms, *parts]))[:MAX_QUERY_WORDS],
        filters=make_filters(asked.filters, now),
        limit=compute_result_limit(asked),
        warnings=tuple(warnings),
    )


class Weights(Struct, frozen=True, kw_only=True):
    """Of each signal."""

    subsystem: float
    relationship: float
    support: float
    criticality: float


class WeightProfile(Struct, frozen=True):
    """Weights by a name."""

    name: str
    weights: Weights


def _profile(name: str, *values: float) -> WeightProfile:
    return WeightProfile(name, Weights(**dict(zip(Weights.__struct_fields__, values, strict=True))))


PROFILES: Mapping[str, WeightProfile] = {
    profile.name: profile
    for profile in (
        _profile("default", 0.28, 0.05, 0.09, 0.12),
        _profile("analysis", 0.38, 0.10, 0.08, 0.18),
        _profile("operations", 0.22, 0.08, 0.06, 0.10),
        _profile("docs-heavy", 0.26, 0.04, 0.22, 0.08),
    )
}
DEFAULT_PROFILE = PROFILES["default"]


def find_profile(name: str = DEFAULT_PROFILE.name, **others: float) -> WeightProfile:
    """One of these profiles, with other weights where they are given."""
    known = PROFILES[name]
    return WeightProfile(f"{name}+overrides", replace(known.weights, **others)) if others else known


def list_weights(weights: Weights) -> dict[str, float]:
    return asdict(weights)


_NUDGE = 0.03
"""What all signals together can move a result by: a place, so that they order what is nearly equal."""
_STEM, _FORM = 4, 3
"""So many letters of a word are in all of its forms, and the last ones may be others."""
_VOTE = 0.3
"""How much the votes for a piece count among them."""
_PLACES = 6
"""Digits that are told."""


def compute_score(
    chunk: Chunk,
    context: FileContext,
    question: SearchQuestion,
    parts: tuple[float, float, float],
    weights: Weights,
    now: float,
) -> ScoreDetails:
    """The score of a piece; the parts are its cosine, and what its ranks among vectors and among words add."""
    vector, near, worded = parts
    artifact = chunk.artifact
    affinity = _affinity(artifact.subsystem, question.terms)
    bonus = _bonus(context)
    criticality = CRITICALITY.get(artifact.criticality.lower(), 0.0)
    count = context.relationships
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST use weights only to order equally good results, and apply edited weights to the next search.
    signals = (
        weights.subsystem * affinity
        + weights.relationship * min(count, 5)
        + weights.support * bonus
        + weights.criticality * criticality
    )
    lexical = round(_held(chunk, question.parts), _PLACES)
    return ScoreDetails(
        vector_score=round(vector, _PLACES),
        lexical_score=lexical,
        weighted_vector_score=round(near, _PLACES),
        weighted_lexical_score=round(worded, _PLACES),
        adjusted_score=round(near + worded + _NUDGE * signals, _PLACES),
        mode="",
        signals=ScoreSignals(
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


def apply_vote(scores: ScoreDetails, vote: float) -> ScoreDetails:
    """The same where those who have searched before say so much of the piece, from -1 to 1."""
    ##= man/spec/gateway.md#indexing-and-feedback
    ##% With `search.feedback`, the mean vote for a chunk MUST order equally good results, and without it votes MUST NOT
    ##% count.
    score = round(scores.adjusted_score + _NUDGE * _VOTE * vote, _PLACES)
    assert isinstance(scores.signals, ScoreSignals)
    return replace(scores, adjusted_score=score, signals=replace(scores.signals, feedback=round(vote, _PLACES)))


def _affinity(subsystem: str, terms: Collection[str]) -> float:
    """1 where the query names the subsystem, and a half where it names a part of it."""
    name = subsystem.lower()
    if not name:
        return 0.0
    if name in terms:
        return 1.0
    return 0.5 if any(term in name or name in term for term in terms) else 0.0


def _bonus(context: FileContext) -> float:
    kinds = [one.relationship for one in context.related]
    return 0.2 * min(kinds.count(Relation.DESCRIBES), 2) + 0.1 * min(kinds.count(Relation.VALIDATES), 2)


def _held(chunk: Chunk, parts: Sequence[str]) -> float:
    """How much of the query stands there; a word that is a part of another, or another form of one, counts for half."""
    if not parts:
        return 0.0
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST find words in any of their forms, symbols by their names or parts of these, and files by their
    ##% path or name.
    everything = " ".join([chunk.text, chunk.artifact.path, *chunk.artifact.tags])
    words = {*extract_index_words(everything)}
    text = " ".join(words)
    return sum(1.0 if part in words else 0.5 if _stem(part) in text else 0.0 for part in parts) / len(parts)


def _stem(word: str) -> str:
    """What most forms of a word have in common."""
    return word[: max(len(word) - _FORM, _STEM)]


def _age(artifact: Artifact, now: float) -> float | None:
    if artifact.git_timestamp is None:
        return None
    return round(max(now - artifact.git_timestamp, 0.0) / DAY_SECONDS, 2)
