"""The request, filters and response of `km-search`, and the nodes and edges that knowledge tools return."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, convert, field, structs

from duvet.errors import QueryError
from duvet.store.records import ChunkFilters, GraphEdge, GraphNode, NodeLabel, Relation, SymbolKind, SymbolLanguage
from duvet.text import shorten_text, suggest_nearest

DAY_SECONDS = 86_400
MIN_RESULTS, DEFAULT_RESULTS, MAX_RESULTS = 1, 10, 25
MAX_FILTER_ENTRIES, MAX_FILTER_LENGTH = 1_000, 1_000

FILE_LABELS = (
    NodeLabel.SOURCE_FILE,
    NodeLabel.TEST_CASE,
    NodeLabel.DESIGN_DOC,
    NodeLabel.CONFIG_FILE,
    NodeLabel.ARTIFACT,
)
_KEY_PROPERTIES = {
    **dict.fromkeys(FILE_LABELS, "path"),
    NodeLabel.SUBSYSTEM: "name",
    NodeLabel.CHUNK: "chunk_id",
    NodeLabel.SECTION: "target",
    NodeLabel.REQUIREMENT: "key",
    NodeLabel.SPECIFICATION: "key",
}
"""The property that contains the node's key, by label."""

ArtifactType = Literal["code", "doc", "test", "proto", "config", "other"]


class SearchFilters(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    subsystems: Annotated[
        tuple[str, ...], Meta(description="Files of these subsystems, and files that are linked to those files")
    ] = ()
    artifact_types: tuple[ArtifactType, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    symbols: Annotated[tuple[str, ...], Meta(description="Qualified names, such as Kettle.boil")] = ()
    symbol_kinds: tuple[SymbolKind, ...] = ()
    symbol_languages: tuple[SymbolLanguage, ...] = ()
    updated_after: Annotated[str, Meta(description="ISO 8601 date, with or without a time")] | None = None
    max_age_days: Annotated[int, Meta(ge=1)] | None = None


class SearchRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    query: Annotated[str, Meta(description="Words, a question, a path, or a symbol name")]
    # The maximum is only documented: a higher limit counts as the maximum.
    limit: Annotated[
        int, Meta(ge=MIN_RESULTS, description="Maximum number of results", extra_json_schema={"maximum": MAX_RESULTS})
    ] = DEFAULT_RESULTS
    include_graph: Annotated[bool, Meta(description="Include the graph context of each result")] = True
    filters: Annotated[
        SearchFilters,
        Meta(description="Return only chunks that match every filter; a list matches if any of its entries does"),
    ] = SearchFilters()
    sort_by_vector: Annotated[bool, Meta(description="Rank by vector similarity only")] = False


class FoundSymbol(Struct, frozen=True, kw_only=True):
    id: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    qualified_name: str
    kind: str
    language: str | UnsetType = UNSET
    line_start: int
    line_end: int | UnsetType = UNSET
    editor_uri: str | UnsetType = UNSET


class FoundChunk(Struct, frozen=True, kw_only=True):
    chunk_id: str
    artifact_path: str
    artifact_type: str
    subsystem: str | None
    namespace: str
    tags: tuple[str, ...]
    text: str
    coverage_missing: bool
    score: float  # The score by which results are sorted.
    subsystem_criticality: str | None
    coverage_ratio: float
    git_timestamp: float | None
    symbols: tuple[FoundSymbol, ...]


class RelatedArtifact(Struct, frozen=True):
    id: str
    relationship: Relation


class CitedRequirement(Struct, frozen=True, kw_only=True):
    id: str
    target: str | UnsetType = UNSET
    level: str | UnsetType = UNSET
    status: str
    kinds: tuple[str, ...] | UnsetType = UNSET  # Kinds of its citations in the file, such as `implementation`.
    text: str | UnsetType = UNSET


class EdgeDirection(StrEnum):
    OUT = "OUT"
    IN = "IN"


class NodeView(Struct, frozen=True):
    id: str
    labels: tuple[str, ...] | UnsetType = UNSET
    properties: dict[str, Any] | UnsetType = UNSET


class Relationship(Struct, frozen=True, kw_only=True, omit_defaults=True):
    type: Relation
    direction: EdgeDirection
    target: NodeView
    properties: dict[str, Any] = field(default_factory=dict)


def make_node_view(node: GraphNode) -> NodeView:
    name = {"name": node.name} if node.name else {}
    return NodeView(node.id, (node.label.value,), {_KEY_PROPERTIES[node.label]: node.key, **name, **node.properties})


def make_relationship(edge: GraphEdge, node: GraphNode, direction: EdgeDirection) -> Relationship:
    return Relationship(
        type=edge.relation, direction=direction, target=make_node_view(node), properties=edge.properties
    )


class GraphContext(Struct, frozen=True, kw_only=True):
    primary_node: NodeView | UnsetType | None = UNSET
    relationships: tuple[Relationship, ...]
    neighbor_subsystems: tuple[str, ...]
    related_artifacts: tuple[RelatedArtifact, ...] | UnsetType = UNSET
    requirements: tuple[CitedRequirement, ...]


class ScoreSignals(Struct, frozen=True, kw_only=True):
    lexical_score: float
    weighted_vector_component: float
    weighted_lexical_component: float
    subsystem_affinity: float
    relationship_count: int
    supporting_bonus: float
    coverage_missing: bool
    coverage_ratio: float
    criticality_score: float
    subsystem_criticality: str | None
    coverage_penalty: float
    path_depth: int
    freshness_days: float | None
    feedback: float | UnsetType = UNSET  # The mean vote for the chunk if votes are used.


class ScoreDetails(Struct, frozen=True, kw_only=True):
    vector_score: float  # The cosine to the query; 0 without vectors.
    lexical_score: float  # The share of the query's words that the text, the path or the tags contain.
    weighted_vector_score: float  # The cosine, times the weight of vectors.
    weighted_lexical_score: float  # The score by words, times its weight, plus the score by names.
    adjusted_score: float
    mode: str  # `hybrid`, or `lexical` without vectors.
    signals: ScoreSignals | UnsetType = UNSET  # Omitted if the answer has no room for it.


class SearchResult(Struct, frozen=True, kw_only=True):
    chunk: FoundChunk
    graph_context: GraphContext | None
    scoring: ScoreDetails
    omitted: dict[str, int] | UnsetType = UNSET
    """The parts for which an answer had no room, each with the number of missing characters, entries or fields."""


class SearchMetadata(Struct, frozen=True, kw_only=True):
    result_count: int
    graph_context_included: bool
    warnings: tuple[str, ...]
    scoring_mode: str
    weight_profile: str
    weights: dict[str, float]
    hybrid_weights: dict[str, float]
    filters_applied: dict[str, Any] | UnsetType = UNSET
    request_id: str
    feedback_prompt: str | UnsetType = UNSET  # How to give feedback, for callers who may do so.


class SearchResponse(Struct, frozen=True, kw_only=True):
    status: str = "ok"
    query: str
    results: tuple[SearchResult, ...]
    metadata: SearchMetadata


_LISTS = tuple(field.name for field in structs.fields(SearchFilters) if field.default == ())
_CLOSED_LISTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "artifact_types": ("artifact type", get_args(ArtifactType)),
    "symbol_kinds": ("symbol kind", get_args(SymbolKind)),
    "symbol_languages": ("symbol language", get_args(SymbolLanguage)),
}


_CHECKS: Mapping[str, tuple[type, str]] = {
    "query": (str, "a string"),
    "limit": (int, "an integer"),
    "include_graph": (bool, "a boolean"),
    "filters": (Mapping, "an object"),
    "sort_by_vector": (bool, "a boolean"),
}


def parse_search_request(arguments: Mapping[str, Any]) -> SearchRequest:
    query = arguments.get("query")
    unknown = _find_unknown(arguments, tuple(_CHECKS), "field")
    if query is None or (isinstance(query, str) and not query.strip()):
        hint = f"{unknown.message}; {unknown.hint}" if unknown else "pass the words to search for"
        raise QueryError("Field 'query' is required", hint=hint)
    if unknown:
        raise unknown
    present = {name: value for name, value in arguments.items() if value is not None}
    for name, value in present.items():
        kind, what = _CHECKS[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise QueryError(f"Field '{name}' must be {what}")
    if present.get("limit", MIN_RESULTS) < MIN_RESULTS:
        raise QueryError(f"Field 'limit' must be {MIN_RESULTS} or more")
    return convert(present | {"filters": _check_filters(present.get("filters", {}))}, SearchRequest)


def _check_filters(filters: Mapping[str, Any]) -> Mapping[str, Any]:
    if unknown := _find_unknown(filters, SearchFilters.__struct_fields__, "filter"):
        raise unknown
    present = {name: value for name, value in filters.items() if value is not None}
    for name in _LISTS:
        if name in present:
            present[name] = _check_list(name, present[name])
    if "updated_after" in present:
        _parse_moment(present["updated_after"])
    days = present.get("max_age_days", 1)
    if not isinstance(days, int) or isinstance(days, bool) or days < 1:
        raise QueryError("filters.max_age_days must be a positive integer")
    return present


def _check_list(name: str, value: Any) -> list[str]:
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise QueryError(f"filters.{name} must be an array of strings")
    if not all(entry.strip() for entry in value):
        raise QueryError(f"filters.{name} has a blank entry", hint="remove the blank entry, or omit the filter")
    if len(value) > MAX_FILTER_ENTRIES:
        raise QueryError(f"filters.{name} has more than {MAX_FILTER_ENTRIES:,} entries")
    if any(len(entry) > MAX_FILTER_LENGTH for entry in value):
        raise QueryError(f"filters.{name} has an entry of more than {MAX_FILTER_LENGTH:,} characters")
    if name not in _CLOSED_LISTS:
        return [*value]
    what, known = _CLOSED_LISTS[name]
    for entry in value:
        if entry.strip().lower() not in known:
            hint = suggest_nearest(shorten_text(entry), known) or f"available: {', '.join(known)}"
            raise QueryError(f"Unsupported {what} '{shorten_text(entry)}'", hint=hint)
    return [entry.strip().lower() for entry in value]


def _find_unknown(arguments: Mapping[str, Any], known: tuple[str, ...], what: str) -> QueryError | None:
    name = next((shorten_text(name) for name in arguments if name not in known), None)
    if name is None:
        return None
    return QueryError(f"Unknown {what} '{name}'", hint=suggest_nearest(name, known) or f"available: {', '.join(known)}")


def make_filters(filters: SearchFilters, now: float) -> ChunkFilters:
    moments = []
    if filters.updated_after is not None:
        moments.append(_parse_moment(filters.updated_after))
    if filters.max_age_days is not None:
        moments.append(now - min(filters.max_age_days * DAY_SECONDS, now))
    return ChunkFilters(
        subsystems=_fold_all(filters.subsystems),
        kinds=filters.artifact_types,
        namespaces=_fold_all(filters.namespaces),
        tags=_fold_all(filters.tags),
        symbols=_fold_all(filters.symbols),
        symbol_kinds=filters.symbol_kinds,
        symbol_languages=filters.symbol_languages,
        since=max(moments, default=None),
    )


def _fold_all(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip().lower() for value in values))


def _parse_moment(text: object) -> float:
    try:
        if not isinstance(text, str):
            raise TypeError
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        message = "filters.updated_after must be an ISO-8601 string"
        raise QueryError(message, hint="write it like 2026-01-31T00:00:00Z") from None
