"""The search in everything that was taken in."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from duvet.knowledge.retrieval.context import MOST, Context, Contexts
from duvet.knowledge.retrieval.editor import editor_uris
from duvet.knowledge.retrieval.question import Question, question
from duvet.knowledge.retrieval.ranking import ranked
from duvet.knowledge.retrieval.records import (
    Asked,
    FoundChunk,
    FoundSymbol,
    Metadata,
    Response,
    Result,
    Scoring,
)
from duvet.knowledge.retrieval.signals import scoring, with_vote
from duvet.knowledge.retrieval.vectors import Vectors, vectors_of
from duvet.knowledge.retrieval.weights import DEFAULT, Profile, as_numbers
from duvet.search.vectors.protocol import Embedder
from duvet.store.protocol import Store
from duvet.store.records import Chunk, Filters, Symbol

HYBRID, LEXICAL = "hybrid", "lexical"
"""With vectors, and without."""
_CUT = f"no more than {MOST} relationships, related files and requirements of a file are told; km-graph-node has all"
_NO_SYMBOLS = (
    "no symbols are known, so that filters for them let nothing through: they come with the extra `symbols`, unless "
    "`ingest.symbols` says no, the next time everything is taken in"
)


class _Snapshot(Struct, frozen=True):
    """What is read once after each run."""

    revision: str
    vectors: Vectors | None
    about_vectors: str
    contexts: Contexts


class Engine:
    """Answers questions, one at a time."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        editor_uri: str | None,
        root: str,
        *,
        profile: Profile = DEFAULT,
        votes: Callable[[], Mapping[str, float]] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """DuvetError where the template of editor URIs has other fields than there are."""
        self._store = store
        self._embedder = embedder
        self._uri = editor_uris(editor_uri, root)
        self._profile = profile
        self._votes = votes
        self._now = now
        self._last: _Snapshot | None = None

    def search(self, asked: Asked) -> Response:
        """What is found, the best first."""
        now = self._now()
        wanted = question(asked, now)
        ##= man/spec/knowledge.md#search
        ##% An answer MUST be that of one run, whatever is taken in meanwhile.
        with self._store.reading():
            return self._answer(self._known(), asked, wanted, now)

    def _known(self) -> _Snapshot:
        revision = self._store.revision
        if self._last is None or self._last.revision != revision:
            # The old vectors go before the new ones come.
            self._last = None
            self._last = _Snapshot(revision, *vectors_of(self._store, self._embedder), Contexts(self._store))
        return self._last

    def _answer(self, known: _Snapshot, asked: Asked, wanted: Question, now: float) -> Response:
        by_vector = asked.sort_by_vector and known.vectors is not None
        ranking = ranked(self._store, wanted, known.vectors, by_vector=by_vector)
        mode = LEXICAL if known.vectors is None else HYBRID
        votes = self._votes() if self._votes else None
        found: list[tuple[Chunk, Context, Scoring]] = []
        for chunk in self._store.chunks(ranking.pool):
            context = known.contexts.of(chunk.artifact)
            scores = scoring(chunk, context, wanted, ranking.parts(chunk.number), self._profile.weights, now)
            if votes is not None:
                scores = with_vote(scores, votes.get(chunk.id, 0.0))
            found.append((chunk, context, replace(scores, mode=mode)))
        ##= man/spec/knowledge.md#search
        ##% With `sort_by_vector`, what is nearest MUST come first.
        found.sort(key=lambda one: -(one[2].vector_score if by_vector else one[2].adjusted_score))
        shown = found[: wanted.limit]
        results = tuple(
            Result(
                chunk=self._chunk(chunk, scores.vector_score if by_vector else scores.adjusted_score),
                graph_context=context.told(chunk) if asked.include_graph else None,
                scoring=scores,
            )
            for chunk, context, scores in shown
        )
        warnings = [*self._warnings(known, asked, wanted)]
        if asked.include_graph and any(context.is_cut for _, context, _ in shown):
            warnings.append(_CUT)
        metadata = self._metadata(asked, warnings, mode, len(results))
        return Response(query=wanted.text, results=results, metadata=metadata)

    def _chunk(self, chunk: Chunk, score: float) -> FoundChunk:
        artifact = chunk.artifact
        return FoundChunk(
            chunk_id=chunk.id,
            artifact_path=artifact.path,
            artifact_type=artifact.kind.value,
            subsystem=artifact.subsystem or None,
            namespace=artifact.namespace,
            tags=artifact.tags,
            text=chunk.text,
            coverage_missing=not artifact.chunk_count,
            score=score,
            subsystem_criticality=artifact.criticality or None,
            coverage_ratio=artifact.coverage_ratio,
            git_timestamp=artifact.git_timestamp,
            symbols=tuple(self._symbol(artifact.path, symbol) for symbol in chunk.symbols),
        )

    def _symbol(self, path: str, symbol: Symbol) -> FoundSymbol:
        return FoundSymbol(
            **asdict(symbol),
            id=f"{path}::{symbol.qualified_name}",
            editor_uri=self._uri(path, symbol) if self._uri else UNSET,
        )

    def _metadata(self, asked: Asked, warnings: Sequence[str], mode: str, count: int) -> Metadata:
        both = mode == HYBRID
        said = {name: value for name, value in asdict(asked.filters).items() if value not in ((), None)}
        return Metadata(
            result_count=count,
            graph_context_included=asked.include_graph,
            warnings=tuple(warnings),
            scoring_mode=mode,
            weight_profile=self._profile.name,
            weights=as_numbers(self._profile.weights),
            hybrid_weights={"vector": 0.5, "lexical": 0.5} if both else {"vector": 0.0, "lexical": 1.0},
            filters_applied=said or UNSET,
            request_id=_request_id(),
        )

    def _warnings(self, known: _Snapshot, asked: Asked, wanted: Question) -> Iterator[str]:
        yield from wanted.warnings
        if known.about_vectors:
            yield known.about_vectors
        if asked.sort_by_vector and known.vectors is None:
            yield "there are no vectors to sort by"
        ##= man/spec/knowledge.md#search
        ##% Where a filter for symbols is given, and none were made out at all, a warning MUST say so, and what brings them.
        if _asks_for_symbols(wanted.filters) and not self._store.has_symbols():
            yield _NO_SYMBOLS
        if wanted.filters.since is not None and self._store.lacks_times():
            yield "recency filter skipped results lacking timestamps"


def _asks_for_symbols(filters: Filters) -> bool:
    return bool(filters.symbols or filters.symbol_kinds or filters.symbol_languages)


def _request_id() -> str:
    ##= man/spec/knowledge.md#search
    ##% Each answer MUST have a `request_id` of its own.
    # What it imports is needed for answers alone.
    from uuid import uuid4

    return uuid4().hex
