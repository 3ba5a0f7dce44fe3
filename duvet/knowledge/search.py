"""The search engine of the index: full text, vectors and names."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from urllib.parse import quote
from uuid import uuid4

from msgspec import UNSET, Struct, structs

from duvet import errors, text
from duvet.config.settings import EDITOR_FIELDS
from duvet.knowledge import relevance, search_query
from duvet.knowledge.index import SharedVectors
from duvet.queries.embeddings import DummyEmbedder, Embedder, PurePythonMatrix, VectorRows, VectorSpace
from duvet.store.records import SPACE_KEY, Chunk, Symbol
from duvet.store.sqlite import Store
from duvet.words import VECTOR_SHARE

_DEPTH = 100  # Maximum number of chunks in each ranking.
_SPARE = 5  # Number of chunks beyond the limit that signals may move up.
_NO_VECTORS = "searched by words only: the index has no vectors"


def make_editor_uri_formatter(template: str | None, root: str) -> Callable[[str, Symbol], str] | None:
    """Return a function that builds a symbol's editor URI; raise DuvetError if the template is invalid."""
    if not template:
        return None
    try:
        parsed = [*Formatter().parse(template)]
    except ValueError as error:
        raise _make_template_error(template, str(error)) from error
    for _, name, form, conversion in parsed:
        if name is not None and (name not in EDITOR_FIELDS or form or conversion):
            raise _make_template_error(template, f"unknown field {{{name}}}", text.suggest_nearest(name, EDITOR_FIELDS))
    base = root.replace("\\", "/").rstrip("/")

    def format_uri(path: str, symbol: Symbol) -> str:
        return template.format(
            abs_path=quote(f"{base}/{path}"),
            path=quote(path),
            line_start=symbol.line_start,
            line_end=symbol.line_end,
            name=quote(symbol.qualified_name),
        )

    return format_uri


def _make_template_error(template: str, reason: str, hint: str = "") -> errors.DuvetError:
    fields = ", ".join(f"{{{name}}}" for name in EDITOR_FIELDS)
    message = f"invalid editor URI template {text.quote_text(template)}: {reason}"
    return errors.DuvetError(message, hint=hint or f"available: {fields}")


class _Vectors(Struct, frozen=True):
    space: VectorSpace
    rows: VectorRows


def _load_vectors(store: Store, embedder: Embedder | None) -> tuple[_Vectors | None, str]:
    """Return the vectors, or None with a warning if they are unusable."""
    ##= man/spec/knowledge.md#search
    ##% Without usable vectors, `km-search` MUST search by words alone and give the reason.
    data = store.kept(SPACE_KEY)
    dummy = DummyEmbedder().space(data) if data else None
    if dummy is not None:
        matrix = PurePythonMatrix(dummy.width, store.segments())
        warning = "the index has dummy vectors, which carry no meaning"
        return (_Vectors(dummy, matrix), warning) if len(matrix) else (None, _NO_VECTORS)
    if embedder is None:
        return None, "searched by words only: the extra `semantic` is not installed, broken or switched off"
    if not data:
        return None, _NO_VECTORS
    space = embedder.space(data)
    if space is None:
        return (
            None,
            "searched by words only: the vectors are from a different model; run `duvet ingest` to compute them again",
        )
    from duvet.queries.vectors import Matrix

    rows = Matrix(space.width, store.segments())
    if not len(rows):
        return None, _NO_VECTORS
    return _Vectors(space, rows), "" if len(rows) == store.chunk_total() else "some chunks have no vectors"


class _Ranking(Struct, frozen=True, kw_only=True):
    pool: Sequence[int]  # The best chunks.
    by_vector: Mapping[int, float]  # Scores by vectors.
    by_words: Mapping[int, float]  # Scores by words, and by names.
    cosines: Mapping[int, float]


def _rank_chunks(
    store: Store, question: relevance.SearchQuestion, vectors: _Vectors | None, *, sort_by_vector: bool
) -> _Ranking:
    most = question.limit + _SPARE
    found = _find_by_words(store, question)
    named = relevance.score_named_chunks(store, question.names, question.filters, alone=question.is_name)
    cosines: dict[int, float] = {}
    share = 0.0 if vectors is None else VECTOR_SHARE
    if vectors is not None:
        query = vectors.space.query(question.text)
        cosines = dict(vectors.rows.best(query, _DEPTH, store.allowed(question.filters)))
        # Chunks that were found only by words have cosines, too.
        others = sorted({*found, *named}.difference(cosines))
        cosines |= dict(vectors.rows.best(query, len(others), others))
    by_vector = {number: cosine * share for number, cosine in cosines.items()}
    by_words = {
        number: found.get(number, 0.0) * (1 - share) + named.get(number, 0.0) for number in {**found, **dict(named)}
    }
    scores = {number: by_words.get(number, 0.0) + by_vector.get(number, 0.0) for number in {**by_words, **by_vector}}
    pool = sorted(scores, key=lambda number: (-scores[number], number))
    if sort_by_vector:
        pool = sorted(pool, key=lambda number: -by_vector.get(number, 0.0))
    return _Ranking(pool=pool[:most], by_vector=by_vector, by_words=by_words, cosines=cosines)


def _find_by_words(store: Store, question: relevance.SearchQuestion) -> Mapping[int, float]:
    """Return the word scores of chunks; chunks that contain all words score above 1."""
    if not question.terms:
        return {}
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST first list the files and symbols that the query names, then the chunks with all of its words,
    ##% then the chunks with some of them.
    every = store.find_by_words(question.terms, question.filters, _DEPTH, every=True)
    found = {number: 1 + share for number, share in every}
    if len(found) < _DEPTH and len(question.parts) > 1:
        for number, share in store.find_by_words(question.parts, question.filters, _DEPTH, every=False):
            found.setdefault(number, share)
    return found


class _Snapshot(Struct, frozen=True):
    revision: str
    vectors: _Vectors | None
    warning: str
    contexts: relevance.FileContextFinder


class SearchEngine:
    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        editor_uri: str | None,
        root: str,
        *,
        profile: relevance.WeightProfile = relevance.DEFAULT_PROFILE,
        votes: Callable[[], Mapping[str, float]] | None = None,
        now: Callable[[], float] = time.time,
        shared: SharedVectors | None = None,
    ) -> None:
        self._shared = shared or SharedVectors()
        self._store = store
        self._embedder = embedder
        self._format_uri = make_editor_uri_formatter(editor_uri, root)
        self._profile = profile
        self._votes = votes
        self._now = now
        self._contexts: tuple[str, relevance.FileContextFinder] | None = None

    def search(self, request: search_query.SearchRequest) -> search_query.SearchResponse:
        now = self._now()
        question = relevance.prepare_question(request, now)
        with self._store.reading():
            revision = self._store.revision
            vectors, warning = self._shared.load(revision, lambda: _load_vectors(self._store, self._embedder))
            if self._contexts is None or self._contexts[0] != revision:
                self._contexts = revision, relevance.FileContextFinder(self._store)
            snapshot = _Snapshot(revision, vectors, warning, self._contexts[1])
            return self._answer(snapshot, request, question, now)

    def _answer(
        self, snapshot: _Snapshot, request: search_query.SearchRequest, question: relevance.SearchQuestion, now: float
    ) -> search_query.SearchResponse:
        by_vector = request.sort_by_vector and snapshot.vectors is not None
        ranking = _rank_chunks(self._store, question, snapshot.vectors, sort_by_vector=by_vector)
        mode = "lexical" if snapshot.vectors is None else "hybrid"
        votes = self._votes() if self._votes else None
        found: list[tuple[float, Chunk, relevance.FileContext, search_query.ScoreDetails]] = []
        for chunk in self._store.chunks(ranking.pool):
            context, number = snapshot.contexts.of(chunk.artifact), chunk.number
            parts = (
                ranking.cosines.get(number, 0.0),
                ranking.by_vector.get(number, 0.0),
                ranking.by_words.get(number, 0.0),
            )
            scores = relevance.compute_score(chunk, context, question, parts, self._profile.weights, now)
            if votes is not None:
                scores = relevance.apply_vote(scores, votes.get(chunk.id, 0.0))
            score = scores.vector_score if by_vector else scores.adjusted_score
            found.append((score, chunk, context, structs.replace(scores, mode=mode)))
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST rank chunks by their words and their vectors or, with `sort_by_vector`, by their vectors
        ##% alone.
        found.sort(key=lambda result: -result[0])
        found = found[: question.limit]
        results = tuple(
            search_query.SearchResult(
                chunk=self._describe_chunk(chunk, score),
                graph_context=context.describe(chunk) if request.include_graph else None,
                scoring=scores,
            )
            for score, chunk, context, scores in found
        )
        warnings = [*self._list_warnings(snapshot, request, question)]
        if request.include_graph and any(context.is_cut for _, _, context, _ in found):
            warnings.append(
                f"at most {relevance.MAX_RELATED} relationships, related files and requirements are shown for each file; "
                "call km-graph-node for all"
            )
        both = snapshot.vectors is not None
        filters = {name: value for name, value in structs.asdict(request.filters).items() if value not in ((), None)}
        metadata = search_query.SearchMetadata(
            result_count=len(results),
            graph_context_included=request.include_graph,
            warnings=tuple(warnings),
            scoring_mode=mode,
            weight_profile=self._profile.name,
            weights=structs.asdict(self._profile.weights),
            hybrid_weights={"vector": VECTOR_SHARE, "lexical": 1 - VECTOR_SHARE}
            if both
            else {"vector": 0.0, "lexical": 1.0},
            filters_applied=filters or UNSET,
            request_id=uuid4().hex,
        )
        return search_query.SearchResponse(query=question.text, results=results, metadata=metadata)

    def _describe_chunk(self, chunk: Chunk, score: float) -> search_query.FoundChunk:
        artifact = chunk.artifact
        return search_query.FoundChunk(
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
            symbols=tuple(
                search_query.FoundSymbol(
                    **structs.asdict(symbol),
                    id=f"{artifact.path}::{symbol.qualified_name}",
                    editor_uri=self._format_uri(artifact.path, symbol) if self._format_uri else UNSET,
                )
                for symbol in chunk.symbols
            ),
        )

    def _list_warnings(
        self, snapshot: _Snapshot, request: search_query.SearchRequest, question: relevance.SearchQuestion
    ) -> Iterator[str]:
        filters = question.filters
        yield from question.warnings
        if snapshot.warning:
            yield snapshot.warning
        if request.sort_by_vector and snapshot.vectors is None:
            yield "sort_by_vector was ignored: no vectors can be used"
        if (filters.symbols or filters.symbol_kinds or filters.symbol_languages) and not self._store.has_symbols():
            yield (
                "the index has no symbols, so symbol filters match nothing; install the extra `symbols`, "
                "make sure that `ingest.symbols` is not `false`, and run `duvet ingest`"
            )
        if filters.since is not None and self._store.lacks_times():
            yield "recency filter skipped results lacking timestamps"
