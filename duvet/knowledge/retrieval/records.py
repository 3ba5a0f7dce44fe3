"""What a search in everything is asked, and what it answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from duvet.knowledge.graph.shapes import Relationship, Shown
from duvet.store.records import Relation, SymbolKind, SymbolLanguage

LEAST, USUAL, MOST = 1, 10, 25
"""So many results."""


ArtifactType = Literal["code", "doc", "test", "proto", "config", "other"]


class Wanted(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
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


class Asked(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question."""

    query: Annotated[str, Meta(description="Words, a question, a path, or a name in code")]
    # What is higher counts as the highest: it is told, and not checked.
    limit: Annotated[int, Meta(ge=LEAST, description="Results", extra_json_schema={"maximum": MOST})] = USUAL
    include_graph: Annotated[bool, Meta(description="Whether to tell what each file is connected with")] = True
    filters: Annotated[Wanted, Meta(description="What may be found; entries of a list are alternatives")] = Wanted()
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

    primary_node: Shown | None
    relationships: tuple[Relationship, ...]
    neighbor_subsystems: tuple[str, ...]
    related_artifacts: tuple[RelatedArtifact, ...]
    requirements: tuple[CitedRequirement, ...]


class Signals(Struct, frozen=True, kw_only=True):
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


class Scoring(Struct, frozen=True, kw_only=True):
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
    signals: Signals | UnsetType = UNSET
    """Left out where there is no room for it."""


class Result(Struct, frozen=True, kw_only=True):
    """A piece that was found."""

    chunk: FoundChunk
    graph_context: GraphContext | None
    scoring: Scoring


class Metadata(Struct, frozen=True, kw_only=True):
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


class Response(Struct, frozen=True, kw_only=True):
    """An answer."""

    status: str = "ok"
    query: str
    results: tuple[Result, ...]
    metadata: Metadata
