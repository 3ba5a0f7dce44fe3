"""The search engine of the index: full text, vectors and names, and the signals and weights that rank the results."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import uuid4

from msgspec import UNSET, Struct, field, structs

from duvet import errors, text, words as vocabulary
from duvet.config.service_tables import EDITOR_FIELDS
from duvet.knowledge import search_query
from duvet.knowledge.index import SharedVectors
from duvet.queries.embeddings import DummyEmbedder, Embedder, PurePythonMatrix, VectorSpace, find_chunk_embedder
from duvet.store import records
from duvet.store.location import KnowledgeSettings
from duvet.store.sqlite import Store

if TYPE_CHECKING:
    from duvet.queries.vectors import Matrix

MAX_RELATED = 10  # Maximum number of relationships, related files and requirements of a result.
_MAX_SUPPORTING = MAX_RELATED // 2  # Maximum number of documents, and of tests, of a subsystem.
_MAX_CITED = 100  # Maximum number of a file's requirements to read; those cited in the lines of the chunk come first.
_MAX_CACHED_FILES = 500
_SUPPORTING = (records.Relation.DESCRIBES, records.Relation.VALIDATES)
_SHOWN_RELATIONS = tuple(
    relation for relation in records.Relation if relation not in (records.Relation.CITES, records.Relation.HAS_CHUNK)
)
_MAX_NAMES = 8
_MAX_CHUNKS_OF_NAME = 100
_TOKEN = re.compile(r"[\w./:\\-]+")
_LINE_SUFFIX = re.compile(r":\d+(?:-\d+)?\Z")
_QUALIFIERS = re.compile(r"[.:]+")
_NAMED_SCORE, _CONTAINED_SCORE = 2.0, 1.0
"""Scores to add for chunks of the named file or symbol, and for chunks that contain the name."""
_CRITICALITY = {"low": 0.2, "medium": 0.5, "high": 0.8, "critical": 1.0}
_SIGNALS_SHARE = 0.03  # Scale of all signals, so small that they reorder only nearly equal results.
_VOTE_WEIGHT = 0.3
_MIN_STEM, _SUFFIX = 4, 3  # Forms of a word share at least 4 first letters, and may differ in 3 last letters.
_PLACES = 6


class _SubsystemContext(Struct, frozen=True):
    artifacts: tuple[search_query.RelatedArtifact, ...] = ()
    dependencies: tuple[str, ...] = ()


class FileContext(Struct, frozen=True, kw_only=True):
    node: records.GraphNode | None
    outgoing: Sequence[tuple[records.GraphEdge, records.GraphNode]]
    incoming: Sequence[tuple[records.GraphEdge, records.GraphNode]]
    cited: Sequence[tuple[records.GraphEdge, records.GraphNode]]
    subsystems: Sequence[_SubsystemContext]

    @property
    def related(self) -> tuple[search_query.RelatedArtifact, ...]:
        own = self.node.id if self.node else ""
        found = (artifact for subsystem in self.subsystems for artifact in subsystem.artifacts if artifact.id != own)
        return tuple(dict.fromkeys(found))

    def describe(self, chunk: records.Chunk) -> search_query.GraphContext:
        relationships = [search_query.make_relationship(*end, search_query.EdgeDirection.OUT) for end in self.outgoing]
        relationships += [search_query.make_relationship(*end, search_query.EdgeDirection.IN) for end in self.incoming]
        own = [node.key for _, node in (*self.outgoing, *self.incoming) if node.label is records.NodeLabel.SUBSYSTEM]
        needed = [name for subsystem in self.subsystems for name in subsystem.dependencies]
        ##= man/spec/knowledge.md#search
        ##% Unless `include_graph` is false, each result of `km-search` MUST list the requirements that its file cites.
        inside = range(chunk.piece.line_start, chunk.piece.line_end + 1)
        cited = sorted(
            self.cited, key=lambda end: not any(line in inside for line in end[0].properties.get("lines") or ())
        )
        return search_query.GraphContext(
            primary_node=search_query.make_node_view(self.node) if self.node else None,
            relationships=tuple(relationships[:MAX_RELATED]),
            neighbor_subsystems=tuple(sorted({*own, *needed})),
            related_artifacts=self.related[:MAX_RELATED],
            requirements=tuple(
                search_query.CitedRequirement(
                    id=node.key.rpartition("/")[2],
                    target=str(node.properties.get("target", "")),
                    level=str(node.properties.get("level", "")),
                    status=str(node.properties.get("status", "")),
                    kinds=tuple(edge.properties.get("kinds") or ()),
                    text=str(node.properties.get("text", node.name)),
                )
                for edge, node in cited[:MAX_RELATED]
            ),
        )


class FileContextFinder(Struct, frozen=True):
    store: Store
    files: dict[str, FileContext] = {}
    subsystems: dict[str, _SubsystemContext] = {}

    def find(self, artifacts: Iterable[records.Artifact]) -> Mapping[str, FileContext]:
        if len(self.files) > _MAX_CACHED_FILES:
            self.files.clear()
        store = self.store
        missing = {f"{one.label}:{one.path}": one.path for one in artifacts if one.path not in self.files}
        if missing:
            nodes = store.find_stored(missing)
            outgoing = store.first_edges(missing, out=True, limit=MAX_RELATED + 1, relations=_SHOWN_RELATIONS)
            incoming = store.first_edges(missing, out=False, limit=MAX_RELATED + 1, relations=_SHOWN_RELATIONS)
            cited = store.first_edges(missing, out=True, limit=_MAX_CITED, relations=(records.Relation.CITES,))
            for id, path in missing.items():
                subsystems = dict.fromkeys(
                    node.id for _, node in outgoing[id] if node.label is records.NodeLabel.SUBSYSTEM
                )
                self.files[path] = FileContext(
                    node=nodes.get(id),
                    outgoing=outgoing[id],
                    incoming=incoming[id],
                    cited=cited[id],
                    subsystems=[self._load_subsystem(subsystem) for subsystem in subsystems],
                )
        return self.files

    def _load_subsystem(self, id: str) -> _SubsystemContext:
        if id not in self.subsystems:
            artifacts = tuple(
                search_query.RelatedArtifact(node.id, relation)
                for relation in _SUPPORTING
                for _, node in self.store.edges(id, out=False, limit=_MAX_SUPPORTING + 1, relations=(relation,))
            )
            needed = self.store.edges(id, out=True, limit=MAX_RELATED, relations=(records.Relation.DEPENDS_ON,))
            self.subsystems[id] = _SubsystemContext(artifacts, tuple(node.key for _, node in needed))
        return self.subsystems[id]


def _score_named_chunks(store: Store, question: SearchQuestion) -> Mapping[int, float]:
    scores, filters = defaultdict[int, float](float), question.filters
    for name in question.names:
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST list the files and symbols that the query names first and, without vectors, the chunks
        ##% with all of its words before those with some of them.
        numbers = dict.fromkeys(store.find_named(name, filters))
        if "/" not in name:
            numbers |= dict.fromkeys(store.find_declaring(_QUALIFIERS.split(name)[-1], filters))
        for number in numbers:
            scores[number] += _NAMED_SCORE
        if question.is_name and name.isidentifier() and len(vocabulary.extract_index_words(name)) > 1:
            joined = [vocabulary.join_name(name)]
            for number, _ in store.find_by_words(joined, filters, _MAX_CHUNKS_OF_NAME, every=True):
                scores[number] += _CONTAINED_SCORE
    return scores


class SearchQuestion(Struct, frozen=True, kw_only=True):
    text: str
    terms: tuple[str, ...]  # Words of the query, without stop words unless there are no others.
    parts: tuple[str, ...]  # The terms, and the words inside those terms that are names.
    names: tuple[str, ...]  # Possible names of files and symbols: compound words, or the whole query.
    is_name: bool  # Whether the query is only a name.
    filters: records.ChunkFilters
    limit: int
    warnings: tuple[str, ...]


def prepare_question(request: search_query.SearchRequest, now: float) -> SearchQuestion:
    text = request.query[: vocabulary.MAX_QUERY_CHARACTERS]
    words, is_cut = vocabulary.extract_query_words(request.query)
    terms = [word for word in words if word not in vocabulary.STOP_WORDS] or words
    parts = [word for word in vocabulary.extract_index_words(text) if word not in vocabulary.STOP_WORDS]
    warnings = []
    if is_cut:
        warnings.append(
            f"only the first {vocabulary.MAX_QUERY_CHARACTERS:,} characters and "
            f"{vocabulary.MAX_QUERY_WORDS} words of the query were used"
        )
    if not words:
        warnings.append("the query contains no words")
    if request.limit > search_query.MAX_RESULTS:
        warnings.append(f"at most {search_query.MAX_RESULTS} results are returned")
    tokens = (token.rstrip(".:-/") for token in _TOKEN.findall(text))
    names = [_LINE_SUFFIX.sub("", token).replace("\\", "/").removeprefix("./") for token in tokens]
    names = [name for name in names if name]
    is_name = names == [text.strip()]
    if not is_name:
        names = [*dict.fromkeys(name for name in names if len(vocabulary.extract_index_words(name)) > 1)][:_MAX_NAMES]
    return SearchQuestion(
        text=text,
        names=tuple(names),
        is_name=is_name,
        terms=tuple(terms),
        parts=tuple(dict.fromkeys([*terms, *parts]))[: vocabulary.MAX_QUERY_WORDS],
        filters=search_query.make_filters(request.filters, now),
        limit=min(request.limit, search_query.MAX_RESULTS),
        warnings=tuple(warnings),
    )


PROFILES = {
    "default": {"subsystem": 0.28, "relationship": 0.05, "support": 0.09, "criticality": 0.12},
    "analysis": {"subsystem": 0.38, "relationship": 0.10, "support": 0.08, "criticality": 0.18},
    "operations": {"subsystem": 0.22, "relationship": 0.08, "support": 0.06, "criticality": 0.10},
    "docs-heavy": {"subsystem": 0.26, "relationship": 0.04, "support": 0.22, "criticality": 0.08},
}


def compute_score(
    chunk: records.Chunk,
    context: FileContext,
    question: SearchQuestion,
    parts: tuple[float, float, float],
    mode: str,
    weights: Mapping[str, float],
    vote: float | None,
    now: float,
) -> search_query.ScoreDetails:
    vector, by_vector, by_words = parts
    artifact = chunk.artifact
    name, terms = artifact.subsystem.lower(), question.terms
    is_similar = name and any(term in name or name in term for term in terms)
    affinity = 1.0 if name in terms else 0.5 if is_similar else 0.0
    related = [other.relationship for other in context.related]
    support = 0.2 * min(related.count(records.Relation.DESCRIBES), 2) + 0.1 * min(
        related.count(records.Relation.VALIDATES), 2
    )
    criticality = _CRITICALITY.get(artifact.criticality.lower(), 0.0)
    count = len(context.outgoing) + len(context.incoming) + len(context.cited)
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST use weights and votes only to reorder results with nearly equal scores.
    signals = (
        weights["subsystem"] * affinity
        + weights["relationship"] * min(count, 5)
        + weights["support"] * support
        + weights["criticality"] * criticality
    )
    score = round(by_vector + by_words + _SIGNALS_SHARE * signals, _PLACES)
    if vote is not None:
        score = round(score + _SIGNALS_SHARE * _VOTE_WEIGHT * vote, _PLACES)
    lexical = round(_compute_word_share(chunk, question.parts), _PLACES)
    age = None if artifact.git_timestamp is None else max(now - artifact.git_timestamp, 0.0)
    return search_query.ScoreDetails(
        vector_score=round(vector, _PLACES),
        lexical_score=lexical,
        weighted_vector_score=round(by_vector, _PLACES),
        weighted_lexical_score=round(by_words, _PLACES),
        adjusted_score=score,
        mode=mode,
        signals=search_query.ScoreSignals(
            lexical_score=lexical,
            weighted_vector_component=round(by_vector, _PLACES),
            weighted_lexical_component=round(by_words, _PLACES),
            subsystem_affinity=affinity,
            relationship_count=count,
            supporting_bonus=round(support, _PLACES),
            coverage_missing=not artifact.chunk_count,
            coverage_ratio=artifact.coverage_ratio,
            criticality_score=criticality,
            subsystem_criticality=artifact.criticality or None,
            # The chunks of a file always cover it completely.
            coverage_penalty=0.0,
            path_depth=artifact.path.count("/") + 1,
            freshness_days=None if age is None else round(age / search_query.DAY_SECONDS, 2),
            feedback=UNSET if vote is None else round(vote, _PLACES),
        ),
    )


def _compute_word_share(chunk: records.Chunk, parts: Sequence[str]) -> float:
    if not parts:
        return 0.0
    words = {*vocabulary.extract_index_words(" ".join([chunk.text, chunk.artifact.path, *chunk.artifact.tags]))}
    text = " ".join(words)
    stems = {part: part[: max(len(part) - _SUFFIX, _MIN_STEM)] for part in parts}
    return sum(1.0 if part in words else 0.5 if stems[part] in text else 0.0 for part in parts) / len(parts)


_DEPTH = 100  # Maximum number of chunks in each ranking.
_SPARE = 5  # Number of chunks beyond the limit that signals may move up.
_NO_VECTORS = "searched by words only: the index has no vectors"


def make_editor_uri_formatter(template: str | None, root: str) -> Callable[[str, records.Symbol], str] | None:
    if not template:
        return None
    try:
        parsed = [*Formatter().parse(template)]
    except ValueError as error:
        raise _make_template_error(template, str(error)) from error
    for _, name, form, conversion in parsed:
        if name is not None and (name not in EDITOR_FIELDS or form or conversion):
            if name in EDITOR_FIELDS:
                raise _make_template_error(template, f"{{{name}}} has a conversion or a format", f"write {{{name}}}")
            raise _make_template_error(template, f"unknown field {{{name}}}", text.suggest_nearest(name, EDITOR_FIELDS))
    base = root.replace("\\", "/").rstrip("/")

    def format_uri(path: str, symbol: records.Symbol) -> str:
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
    rows: Matrix | PurePythonMatrix


def _load_vectors(store: Store, embedder: Embedder | None) -> tuple[_Vectors | None, str]:
    ##= man/spec/knowledge.md#search
    ##% Without usable vectors, `km-search` MUST search by words alone and give the reason.
    data = store.kept(records.SPACE_KEY)
    dummy = DummyEmbedder().space(data) if data else None
    if dummy is not None:
        matrix = PurePythonMatrix(dummy.width, store.segments())
        warning = "the index has dummy vectors, which carry no meaning"
        return (_Vectors(dummy, matrix), warning) if len(matrix) else (None, _NO_VECTORS)
    if embedder is None:
        return None, "searched by words only: vectors are switched off, or the extra `semantic` is missing or broken"
    if not data:
        return None, _NO_VECTORS
    space = embedder.space(data)
    if space is None:
        reason = "the vectors are from a different model; run `duvet ingest` to compute them again"
        return None, f"searched by words only: {reason}"
    from duvet.queries.vectors import Matrix

    rows = Matrix(space.width, store.segments())
    if not len(rows):
        return None, _NO_VECTORS
    is_complete = len(rows) == store.chunk_total()
    return _Vectors(space, rows), "" if is_complete else "some chunks have no vectors and are found only by their words"


def _rank_chunks(
    store: Store, question: SearchQuestion, vectors: _Vectors | None, *, sort_by_vector: bool
) -> Mapping[int, tuple[float, float, float]]:
    found: dict[int, float] = {}
    if question.terms:
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST list the files and symbols that the query names first and, without vectors, the chunks
        ##% with all of its words before those with some of them.
        every = store.find_by_words(question.terms, question.filters, _DEPTH, every=True)
        # Chunks with all words score above 1.
        found = {number: 1 + share for number, share in every}
    if question.terms and len(found) < _DEPTH and len(question.parts) > 1:
        for number, share in store.find_by_words(question.parts, question.filters, _DEPTH, every=False):
            found.setdefault(number, share)
    named = _score_named_chunks(store, question)
    cosines: dict[int, float] = {}
    share = 0.0 if vectors is None else vectors.space.share
    if vectors is not None:
        query = vectors.space.query(question.text)
        cosines = dict(vectors.rows.best(query, _DEPTH, store.allowed(question.filters)))
        # Chunks that were found only by words have cosines, too.
        others = sorted({*found, *named}.difference(cosines))
        cosines |= dict(vectors.rows.best(query, len(others), others))
    parts = {
        number: (
            cosines.get(number, 0.0),
            cosines.get(number, 0.0) * share,
            found.get(number, 0.0) * (1 - share) + named.get(number, 0.0),
        )
        for number in {**found, **named, **cosines}
    }
    pool = sorted(parts, key=lambda number: (-sum(parts[number][1:]), number))
    if sort_by_vector:
        pool.sort(key=lambda number: -parts[number][1])
    return {number: parts[number] for number in pool[: question.limit + _SPARE]}


class SearchEngine(Struct):
    store: Store
    embedder: Embedder | None
    editor_uri: str | None
    root: str
    profile: str = "default"
    weights: Mapping[str, float] = field(default_factory=lambda: PROFILES["default"])
    votes: Callable[[], Mapping[str, float]] | None = None
    now: Callable[[], float] = time.time
    shared: SharedVectors = field(default_factory=SharedVectors)
    format_uri: Callable[[str, records.Symbol], str] | None = None
    contexts: tuple[str, FileContextFinder] | None = None  # Of a revision of the index.

    def __post_init__(self) -> None:
        self.format_uri = make_editor_uri_formatter(self.editor_uri, self.root)

    def search(self, request: search_query.SearchRequest) -> search_query.SearchResponse:
        now = self.now()
        question = prepare_question(request, now)
        with self.store.reading():
            revision = self.store.revision
            vectors, warning = self.shared.load(revision, lambda: _load_vectors(self.store, self.embedder))
            if self.contexts is None or self.contexts[0] != revision:
                self.contexts = revision, FileContextFinder(self.store)
            by_vector = request.sort_by_vector and vectors is not None
            parts = _rank_chunks(self.store, question, vectors, sort_by_vector=by_vector)
            mode = "lexical" if vectors is None else "hybrid"
            votes = self.votes() if self.votes else None
            found: list[tuple[float, records.Chunk, FileContext, search_query.ScoreDetails]] = []
            chunks = self.store.chunks([*parts])
            contexts = self.contexts[1].find(chunk.artifact for chunk in chunks)
            for chunk in chunks:
                context = contexts[chunk.artifact.path]
                vote = None if votes is None else votes.get(chunk.id, 0.0)
                scores = compute_score(chunk, context, question, parts[chunk.number], mode, self.weights, vote, now)
                found.append((scores.vector_score if by_vector else scores.adjusted_score, chunk, context, scores))
            warnings = [*self._list_warnings(request, question, vectors, warning)]
        ##= man/spec/knowledge.md#search
        ##% `km-search` MUST rank chunks by their words and their vectors or, with `sort_by_vector`, by their vectors
        ##% alone.
        found = sorted(found, key=lambda result: -result[0])[: question.limit]
        results = tuple(
            search_query.SearchResult(
                chunk=self._describe_chunk(chunk, score),
                graph_context=context.describe(chunk) if request.include_graph else None,
                scoring=scores,
            )
            for score, chunk, context, scores in found
        )
        shown = [context for _, _, context, _ in found] if request.include_graph else []
        if any(max(len(one.outgoing) + len(one.incoming), len(one.cited)) > MAX_RELATED for one in shown):
            warnings.append(
                f"each result shows at most {MAX_RELATED} relationships, {MAX_RELATED} related files and "
                f"{MAX_RELATED} requirements; call km-graph-node for the rest"
            )
        share = 0.0 if vectors is None else vectors.space.share
        filters = {name: value for name, value in structs.asdict(request.filters).items() if value not in ((), None)}
        metadata = search_query.SearchMetadata(
            result_count=len(results),
            graph_context_included=request.include_graph,
            warnings=tuple(warnings),
            scoring_mode=mode,
            weight_profile=self.profile,
            weights=dict(self.weights),
            hybrid_weights={"vector": share, "lexical": 1 - share},
            filters_applied=filters or UNSET,
            request_id=uuid4().hex,
        )
        return search_query.SearchResponse(query=question.text, results=results, metadata=metadata)

    def _describe_chunk(self, chunk: records.Chunk, score: float) -> search_query.FoundChunk:
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
                    editor_uri=self.format_uri(artifact.path, symbol) if self.format_uri else UNSET,
                )
                for symbol in chunk.symbols
            ),
        )

    def _list_warnings(
        self, request: search_query.SearchRequest, question: SearchQuestion, vectors: _Vectors | None, warning: str
    ) -> Iterator[str]:
        filters = question.filters
        yield from question.warnings
        if warning:
            yield warning
        if request.sort_by_vector and vectors is None:
            yield "sort_by_vector was ignored, because the search used no vectors"
        if (filters.symbols or filters.symbol_kinds or filters.symbol_languages) and not self.store.has_symbols():
            yield (
                "the index has no symbols, so symbol filters match nothing; install the extra `symbols`, "
                "make sure that `ingest.symbols` is not `false`, and run `duvet ingest`"
            )
        if filters.since is not None and self.store.lacks_times():
            yield "recency filter skipped results lacking timestamps"


def open_engine(
    store: Store, rules: KnowledgeSettings, votes: Callable[[], Mapping[str, float]] | None, shared: SharedVectors
) -> SearchEngine:
    ingest, search = rules.ingest, rules.search
    overrides = {name: weight for name, weight in structs.asdict(search.weights).items() if weight is not None}
    return SearchEngine(
        store,
        shared.embedder(lambda: find_chunk_embedder(ingest, store.chunk_total())),
        ingest.editor_uri,
        rules.root,
        profile=f"{search.profile}+overrides" if overrides else search.profile.value,
        weights=PROFILES[search.profile] | overrides,
        votes=votes,
        shared=shared,
    )
