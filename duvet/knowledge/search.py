"""The search engine: full text, vectors and names, fused by rank."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from urllib.parse import quote

from msgspec import UNSET, Struct
from msgspec.structs import asdict, replace

from duvet.config.settings import EDITOR_FIELDS
from duvet.errors import DuvetError
from duvet.knowledge.ranking import (
    DEFAULT_PROFILE,
    MAX_RELATED,
    FileContext,
    FileContextFinder,
    SearchQuestion,
    WeightProfile,
    apply_vote,
    compute_score,
    list_weights,
    prepare_question,
    score_named_chunks,
)
from duvet.knowledge.search_query import (
    FoundChunk,
    FoundSymbol,
    ScoreDetails,
    SearchMetadata,
    SearchRequest,
    SearchResponse,
    SearchResult,
)
from duvet.queries.embeddings import DummyEmbedder, Embedder, PurePythonMatrix, VectorRows, VectorSpace
from duvet.queries.search import compute_shares, fuse_rankings
from duvet.store.protocol import ScoredChunks, Store
from duvet.store.records import SPACE_KEY, Chunk, ChunkFilters, Symbol
from duvet.trace.names import suggest_nearest


def make_editor_uri_formatter(template: str | None, root: str) -> Callable[[str, Symbol], str] | None:
    """From a file and a symbol in it to the URI; DuvetError for a template with other fields."""
    if not template:
        return None
    _check(template)
    base = root.replace("\\", "/").rstrip("/")

    def uri(path: str, symbol: Symbol) -> str:
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST fill in the editor's URI for each symbol, and refuse a template with an unknown field.
        return template.format(
            abs_path=quote(f"{base}/{path}"),
            path=quote(path),
            line_start=symbol.line_start,
            line_end=symbol.line_end,
            name=quote(symbol.qualified_name),
        )

    return uri


def _check(template: str) -> None:
    try:
        parsed = [*Formatter().parse(template)]
    except ValueError as error:
        raise _wrong(template, str(error)) from error
    for _, name, form, conversion in parsed:
        if name is not None and (name not in EDITOR_FIELDS or form or conversion):
            raise _wrong(template, f"no field {{{name}}}", suggest_nearest(name, EDITOR_FIELDS))


def _wrong(template: str, reason: str, hint: str = "") -> DuvetError:
    fields = ", ".join(f"{{{name}}}" for name in EDITOR_FIELDS)
    return DuvetError(
        f"the template of editor URIs can't be used: {reason}: {template}", hint=hint or f"its fields are {fields}"
    )


_STAND_INS = "the vectors are stand-ins that tell nothing of meaning"
_NO_VECTORS = "found by words alone: no vectors were made of what was taken in"


class StoreVectors:
    """What is near a query."""

    def __init__(self, space: VectorSpace, rows: VectorRows) -> None:
        self._space = space
        self._rows = rows

    def query(self, text: str) -> bytes:
        return self._space.query(text)

    def nearest(self, query: bytes, limit: int, allowed: Sequence[int] | None) -> ScoredChunks:
        """Pieces, each with its cosine, the nearest first."""
        return self._rows.best(query, limit, allowed)


def load_vectors(store: Store, embedder: Embedder | None) -> tuple[StoreVectors | None, str]:
    """The vectors, or None, and what is to be said about that."""
    ##= man/spec/knowledge.md#search
    ##% Without usable vectors, `km-search` MUST search by words alone and say why.
    data = store.kept(SPACE_KEY)
    dummy = DummyEmbedder().space(data) if data else None
    if dummy is not None:
        ##= man/spec/knowledge.md#vectors
        ##% duvet MUST compute vectors with what is installed, without the network.
        return _compared(store, dummy, PurePythonMatrix(dummy.width, store.segments()), _STAND_INS)
    if embedder is None:
        return None, "found by words alone: the extra `semantic` is not installed, or not wanted"
    if not data:
        return None, _NO_VECTORS
    space = embedder.space(data)
    if space is None:
        return None, "found by words alone: the vectors were made by another model; they have to be made again"
    from duvet.queries.vector_matrix import Matrix

    return _compared(store, space, Matrix(space.width, store.segments()))


def _compared(store: Store, space: VectorSpace, rows: VectorRows, about: str = "") -> tuple[StoreVectors | None, str]:
    if not len(rows):
        return None, _NO_VECTORS
    return StoreVectors(space, rows), about or (
        "" if len(rows) == store.chunk_total() else "some pieces have no vectors"
    )


_DEPTH = 100
"""So many of each ranking are looked at."""
_BEYOND = 5
"""So many more than are answered may be moved up by what else is known of them."""


class ChunkRanking(Struct, frozen=True, kw_only=True):
    """Pieces by their numbers."""

    pool: Sequence[int]
    """Those that may be answered, the best first."""
    near: Mapping[int, float]
    """What the rank among vectors adds."""
    worded: Mapping[int, float]
    """What the rank among words adds, and what is named."""
    cosines: Mapping[int, float]

    def parts(self, number: int) -> tuple[float, float, float]:
        return self.cosines.get(number, 0.0), self.near.get(number, 0.0), self.worded.get(number, 0.0)


def rank_chunks(
    store: Store, question: SearchQuestion, vectors: StoreVectors | None, *, by_vector: bool
) -> ChunkRanking:
    """What may be answered."""
    most = question.limit + _BEYOND
    worded = _by_words(store, question)
    things = score_named_chunks(store, question.names, question.filters, alone=question.is_name)
    if vectors is None:
        alone = fuse_rankings([compute_shares(worded), things])
        return ChunkRanking(pool=[*alone][:most], near={}, worded=alone, cosines={})
    query = vectors.query(question.text)
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST apply filters before it ranks, and compare names without regard to case.
    nearest = vectors.nearest(query, _DEPTH, store.allowed(question.filters))
    near, words = compute_shares(nearest, 2), fuse_rankings([compute_shares(worded, 2), things])
    pool = [*fuse_rankings([words, near])][:most]
    if by_vector:
        pool = [*dict.fromkeys([*near, *pool])][:most]
    # What words alone found is near to some degree, too.
    return ChunkRanking(
        pool=pool, near=near, worded=words, cosines=dict(vectors.nearest(query, len(pool), sorted(pool)))
    )


def _by_words(store: Store, question: SearchQuestion) -> Sequence[tuple[int, object]]:
    """What holds every word, and then what holds any, each with what it is ranked by."""
    if not question.terms:
        return []
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST list the file or the symbol that a query names first, and chunks with every word before those
    ##% with some.
    every = store.lexical(question.terms, question.filters, _DEPTH, every=True)
    found: dict[int, object] = {number: (True, score) for number, score in every}
    if len(found) < _DEPTH and len(question.parts) > 1:
        for number, score in store.lexical(question.parts, question.filters, _DEPTH, every=False):
            found.setdefault(number, (False, score))
    return [*found.items()][:_DEPTH]


HYBRID_MODE, LEXICAL_MODE = "hybrid", "lexical"
"""With vectors, and without."""
_CUT = f"no more than {MAX_RELATED} relationships, related files and requirements of a file are told; km-graph-node has all"
_NO_SYMBOLS = (
    "no symbols are known, so that filters for them let nothing through: they come with the extra `symbols`, unless "
    "`ingest.symbols` says no, the next time everything is taken in"
)


class _Snapshot(Struct, frozen=True):
    """What is read once after each run."""

    revision: str
    vectors: StoreVectors | None
    about_vectors: str
    contexts: FileContextFinder


class SearchEngine:
    """Answers questions, one at a time."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        editor_uri: str | None,
        root: str,
        *,
        profile: WeightProfile = DEFAULT_PROFILE,
        votes: Callable[[], Mapping[str, float]] | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """DuvetError where the template of editor URIs has other fields than there are."""
        self._store = store
        self._embedder = embedder
        self._uri = make_editor_uri_formatter(editor_uri, root)
        self._profile = profile
        self._votes = votes
        self._now = now
        self._last: _Snapshot | None = None

    def search(self, asked: SearchRequest) -> SearchResponse:
        """What is found, the best first."""
        now = self._now()
        wanted = prepare_question(asked, now)
        with self._store.reading():
            return self._answer(self._known(), asked, wanted, now)

    def _known(self) -> _Snapshot:
        revision = self._store.revision
        if self._last is None or self._last.revision != revision:
            # The old vectors go before the new ones come.
            self._last = None
            self._last = _Snapshot(revision, *load_vectors(self._store, self._embedder), FileContextFinder(self._store))
        return self._last

    def _answer(self, known: _Snapshot, asked: SearchRequest, wanted: SearchQuestion, now: float) -> SearchResponse:
        by_vector = asked.sort_by_vector and known.vectors is not None
        ranking = rank_chunks(self._store, wanted, known.vectors, by_vector=by_vector)
        mode = LEXICAL_MODE if known.vectors is None else HYBRID_MODE
        votes = self._votes() if self._votes else None
        found: list[tuple[Chunk, FileContext, ScoreDetails]] = []
        for chunk in self._store.chunks(ranking.pool):
            context = known.contexts.of(chunk.artifact)
            scores = compute_score(chunk, context, wanted, ranking.parts(chunk.number), self._profile.weights, now)
            if votes is not None:
                scores = apply_vote(scores, votes.get(chunk.id, 0.0))
            found.append((chunk, context, replace(scores, mode=mode)))
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST rank chunks by the sum of their reciprocal ranks by words and by vectors, or with
        ##% `sort_by_vector` by vectors alone.
        found.sort(key=lambda one: -(one[2].vector_score if by_vector else one[2].adjusted_score))
        shown = found[: wanted.limit]
        results = tuple(
            SearchResult(
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
        return SearchResponse(query=wanted.text, results=results, metadata=metadata)

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

    def _metadata(self, asked: SearchRequest, warnings: Sequence[str], mode: str, count: int) -> SearchMetadata:
        both = mode == HYBRID_MODE
        said = {name: value for name, value in asdict(asked.filters).items() if value not in ((), None)}
        return SearchMetadata(
            result_count=count,
            graph_context_included=asked.include_graph,
            warnings=tuple(warnings),
            scoring_mode=mode,
            weight_profile=self._profile.name,
            weights=list_weights(self._profile.weights),
            hybrid_weights={"vector": 0.5, "lexical": 0.5} if both else {"vector": 0.0, "lexical": 1.0},
            filters_applied=said or UNSET,
            request_id=_request_id(),
        )

    def _warnings(self, known: _Snapshot, asked: SearchRequest, wanted: SearchQuestion) -> Iterator[str]:
        yield from wanted.warnings
        if known.about_vectors:
            yield known.about_vectors
        if asked.sort_by_vector and known.vectors is None:
            yield "there are no vectors to sort by"
        if _asks_for_symbols(wanted.filters) and not self._store.has_symbols():
            yield _NO_SYMBOLS
        if wanted.filters.since is not None and self._store.lacks_times():
            yield "recency filter skipped results lacking timestamps"


def _asks_for_symbols(filters: ChunkFilters) -> bool:
    return bool(filters.symbols or filters.symbol_kinds or filters.symbol_languages)


def _request_id() -> str:
    # What it imports is needed for answers alone.
    from uuid import uuid4

    return uuid4().hex
