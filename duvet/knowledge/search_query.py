"""The request, filters and response of `km-search`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, convert
from msgspec.structs import fields

from duvet.errors import QueryError
from duvet.knowledge.graph import NodeView, Relationship
from duvet.store.records import ChunkFilters, Relation, SymbolKind, SymbolLanguage
from duvet.text import shorten_text
from duvet.trace.names import suggest_nearest

DAY_SECONDS = 86_400
MIN_RESULTS, DEFAULT_RESULTS, MAX_RESULTS = 1, 10, 25
"""So many results."""


ArtifactType = Literal["code", "doc", "test", "proto", "config", "other"]


class SearchFilters(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What may be found at all; what stands in one list is an alternative."""

    subsystems: Annotated[
        tuple[str, ...], Meta(description="Files of any of these subsystems, or linked with one")
    ] = ()
    artifact_types: tuple[ArtifactType, ...] = ()
    namespaces: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    symbols: Annotated[tuple[str, ...], Meta(description="Qualified names, such as Kettle.boil")] = ()
    symbol_kinds: tuple[SymbolKind, ...] = ()
    symbol_languages: tuple[SymbolLanguage, ...] = ()
    updated_after: Annotated[str, Meta(description="In ISO 8601")] | None = None
    max_age_days: Annotated[int, Meta(ge=1)] | None = None


class SearchRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question."""

    query: Annotated[str, Meta(description="Words, a question, a path, or a name in code")]
    # What is higher counts as the highest: it is told, and not checked.
    limit: Annotated[int, Meta(ge=MIN_RESULTS, description="Results", extra_json_schema={"maximum": MAX_RESULTS})] = (
        DEFAULT_RESULTS
    )
    include_graph: Annotated[bool, Meta(description="Whether to tell what each file is connected with")] = True
    filters: Annotated[SearchFilters, Meta(description="What may be found; entries of a list are alternatives")] = (
        SearchFilters()
    )
    sort_by_vector: Annotated[bool, Meta(description="Whether nearness of meaning alone counts")] = False


class FoundSymbol(Struct, frozen=True, kw_only=True):
    """Something that a piece declares."""

    id: str
    name: str
    qualified_name: str
    kind: str
    language: str
    line_start: int
    line_end: int
    editor_uri: str | UnsetType = UNSET


class FoundChunk(Struct, frozen=True, kw_only=True):
    """A piece of a file."""

    chunk_id: str
    artifact_path: str
    artifact_type: str
    subsystem: str | None
    namespace: str
    tags: tuple[str, ...]
    text: str
    coverage_missing: bool
    score: float
    """What results are ordered by."""
    subsystem_criticality: str | None
    coverage_ratio: float
    git_timestamp: float | None
    symbols: tuple[FoundSymbol, ...]


class RelatedArtifact(Struct, frozen=True):
    """A document or a test of the same subsystem."""

    id: str
    relationship: Relation


class CitedRequirement(Struct, frozen=True, kw_only=True):
    """A requirement that the file of a piece cites."""

    id: str
    target: str
    level: str
    status: str
    kinds: tuple[str, ...]
    """What the file has for it: `implementation`, `test`, `exception` and the like."""
    text: str


class GraphContext(Struct, frozen=True, kw_only=True):
    """What the file of a piece hangs together with."""

    primary_node: NodeView | None
    relationships: tuple[Relationship, ...]
    neighbor_subsystems: tuple[str, ...]
    related_artifacts: tuple[RelatedArtifact, ...]
    requirements: tuple[CitedRequirement, ...]


class ScoreSignals(Struct, frozen=True, kw_only=True):
    """What the place of a result is made of."""

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
    feedback: float | UnsetType = UNSET
    """The mean vote for the piece, where votes count."""


class ScoreDetails(Struct, frozen=True, kw_only=True):
    """How well a piece matches, and why."""

    vector_score: float
    """The cosine to the query; 0 without vectors."""
    lexical_score: float
    """How much of the words of the query stands in the text, the path and the tags."""
    weighted_vector_score: float
    """What its rank among vectors adds."""
    weighted_lexical_score: float
    """What its rank among words adds."""
    adjusted_score: float
    mode: str
    """`hybrid`, or `lexical` without vectors."""
    signals: ScoreSignals | UnsetType = UNSET
    """Left out where there is no room for it."""


class SearchResult(Struct, frozen=True, kw_only=True):
    """A piece that was found."""

    chunk: FoundChunk
    graph_context: GraphContext | None
    scoring: ScoreDetails


class SearchMetadata(Struct, frozen=True, kw_only=True):
    """What is to be known of the answer as a whole."""

    result_count: int
    graph_context_included: bool
    warnings: tuple[str, ...]
    scoring_mode: str
    weight_profile: str
    weights: dict[str, float]
    hybrid_weights: dict[str, float]
    filters_applied: dict[str, Any] | UnsetType = UNSET
    request_id: str
    feedback_prompt: str | UnsetType = UNSET
    """How to say whether it was of use, where the caller can."""


class SearchResponse(Struct, frozen=True, kw_only=True):
    """An answer."""

    status: str = "ok"
    query: str
    results: tuple[SearchResult, ...]
    metadata: SearchMetadata


MAX_FILTER_ENTRIES, MAX_FILTER_LENGTH = 1_000, 1_000
"""Entries of a filter, and characters of one."""
_LISTS = tuple(field.name for field in fields(SearchFilters) if field.default == ())
_CLOSED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "artifact_types": ("artifact type", get_args(ArtifactType)),
    "symbol_kinds": ("symbol kind", get_args(SymbolKind)),
    "symbol_languages": ("symbol language", get_args(SymbolLanguage)),
}
"""Lists whose values are known."""
_CHECKS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "query": (lambda value: isinstance(value, str), "a string"),
    "limit": (lambda value: _is_integer(value), "an integer"),
    "include_graph": (lambda value: isinstance(value, bool), "a boolean"),
    "filters": (lambda value: isinstance(value, Mapping), "an object"),
    "sort_by_vector": (lambda value: isinstance(value, bool), "a boolean"),
}


def parse_search_request(given: Mapping[str, Any]) -> SearchRequest:
    """What a request asks; QueryError where it can't be asked."""
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST refuse a missing query, an unknown or mistyped field, and a blank or too long filter, by its
    ##% name.
    query = given.get("query")
    if query is None or (isinstance(query, str) and not query.strip()):
        unknown = _unknown(given, tuple(_CHECKS), "field")
        hint = f"{unknown.message}: {unknown.hint}" if unknown else "give words to look for"
        raise QueryError("Field 'query' is required", hint=hint)
    _only(given, tuple(_CHECKS), "field")
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        fits, what = _CHECKS[name]
        if not fits(value):
            raise QueryError(f"Field '{name}' must be {what}")
    if said.get("limit", MIN_RESULTS) < MIN_RESULTS:
        raise QueryError(f"Field 'limit' must be {MIN_RESULTS} or more")
    return convert(said | {"filters": _filters(said.get("filters", {}))}, SearchRequest)


def _filters(given: Mapping[str, Any]) -> Mapping[str, Any]:
    _only(given, tuple(field.name for field in fields(SearchFilters)), "filter")
    said = {name: value for name, value in given.items() if value is not None}
    for name in _LISTS:
        if name in said:
            said[name] = _entries(name, said[name])
    if not isinstance(said.get("updated_after", ""), str):
        raise _not_iso()
    if "updated_after" in said:
        _moment(said["updated_after"])
    days = said.get("max_age_days", 1)
    if not _is_integer(days) or days < 1:
        raise QueryError("filters.max_age_days must be a positive integer")
    return said


def _entries(name: str, value: Any) -> list[str]:
    """The alternatives of a filter; those that there are only some of in lower case."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise QueryError(f"filters.{name} must be an array of strings")
    if not all(one.strip() for one in value):
        raise QueryError(f"filters.{name} has a blank entry", hint="leave it out to let everything through")
    if len(value) > MAX_FILTER_ENTRIES:
        raise QueryError(f"filters.{name} has more than {MAX_FILTER_ENTRIES:,} entries")
    if any(len(one) > MAX_FILTER_LENGTH for one in value):
        raise QueryError(f"filters.{name} has an entry of more than {MAX_FILTER_LENGTH:,} characters")
    if name not in _CLOSED:
        return [*value]
    what, known = _CLOSED[name]
    for one in value:
        if one.strip().lower() not in known:
            hint = suggest_nearest(shorten_text(one), known) or f"there are {', '.join(known)}"
            raise QueryError(f"Unsupported {what} '{shorten_text(one)}'", hint=hint)
    return [one.strip().lower() for one in value]


def _only(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    if unknown := _unknown(given, known, what):
        raise unknown


def _unknown(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> QueryError | None:
    name = next((shorten_text(name) for name in given if name not in known), None)
    if name is None:
        return None
    return QueryError(f"Unknown {what} '{name}'", hint=suggest_nearest(name, known) or f"there are {', '.join(known)}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def compute_result_limit(asked: SearchRequest) -> int:
    """How many results are answered."""
    ##= man/spec/knowledge.md#search
    ##% `km-search` MUST return 10 results by default and at most 25, each with the requirements that its file cites,
    ##% under a unique `request_id`.
    return min(asked.limit, MAX_RESULTS)


def make_filters(wanted: SearchFilters, now: float) -> ChunkFilters:
    """What may be found."""
    return ChunkFilters(
        subsystems=_plain(wanted.subsystems),
        kinds=wanted.artifact_types,
        namespaces=_plain(wanted.namespaces),
        tags=_plain(wanted.tags),
        symbols=_plain(wanted.symbols),
        symbol_kinds=wanted.symbol_kinds,
        symbol_languages=wanted.symbol_languages,
        since=_since(wanted, now),
    )


def _plain(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip().lower() for value in values))


def _since(wanted: SearchFilters, now: float) -> float | None:
    moments = []
    if wanted.updated_after is not None:
        moments.append(_moment(wanted.updated_after))
    if wanted.max_age_days is not None:
        moments.append(now - min(wanted.max_age_days * DAY_SECONDS, now))
    return max(moments, default=None)


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _not_iso() from None


def _not_iso() -> QueryError:
    return QueryError("filters.updated_after must be an ISO-8601 string", hint="such as 2026-01-31T00:00:00Z")
