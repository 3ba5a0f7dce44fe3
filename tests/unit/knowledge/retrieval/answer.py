"""What a search answers that finds one piece by its words."""

from __future__ import annotations

from tests.unit.knowledge.retrieval.made import ALONE, DAY, NOW

REQUIREMENT = {"level": "MUST", "status": "needs tests"}
SYMBOL = {"language": "python", "line_end": 4}
URI = "vscode://file//home/me/my%20tea/src/kettle/boil.py"
CONTEXT = {
    "primary_node": {
        "id": "SourceFile:src/kettle/boil.py",
        "labels": ["SourceFile"],
        "properties": {"path": "src/kettle/boil.py"},
    },
    "relationships": [
        {
            "type": "BELONGS_TO",
            "direction": "OUT",
            "target": {
                "id": "Subsystem:Kettle",
                "labels": ["Subsystem"],
                "properties": {"name": "Kettle", "criticality": "high"},
            },
        }
    ],
    "neighbor_subsystems": ["Kettle"],
    "related_artifacts": [
        {"id": "DesignDoc:docs/kettle.md", "relationship": "DESCRIBES"},
        {"id": "TestCase:tests/test_boil.py", "relationship": "VALIDATES"},
    ],
    "requirements": [
        {
            "id": "99aabbccddee",
            "target": "spec#pour",
            "kinds": ["todo"],
            "text": "The kettle MUST pour slowly.",
            **REQUIREMENT,
        },
        {
            "id": "3b42c44e1122",
            "target": "spec#heat",
            "kinds": ["implementation"],
            "text": "The kettle MUST boil.",
            **REQUIREMENT,
        },
    ],
}
SIGNALS = {
    "lexical_score": 1.0,
    "weighted_vector_component": 0.0,
    "weighted_lexical_component": 1.0,
    "subsystem_affinity": 0.0,
    "relationship_count": 3,
    "supporting_bonus": 0.3,
    "coverage_missing": False,
    "coverage_ratio": 1.0,
    "criticality_score": 0.8,
    "subsystem_criticality": "high",
    "coverage_penalty": 0.0,
    "path_depth": 3,
    "freshness_days": 2.0,
}
CHUNK = {
    "chunk_id": "src/kettle/boil.py::1",
    "artifact_path": "src/kettle/boil.py",
    "artifact_type": "code",
    "subsystem": "Kettle",
    "namespace": "kettle",
    "tags": [],
    "text": "class Spout:\n    def pourSlowly(self):\n",
    "coverage_missing": False,
    "score": 1.00819,
    "subsystem_criticality": "high",
    "coverage_ratio": 1.0,
    "git_timestamp": NOW - 2 * DAY,
    "symbols": [
        {
            "id": "src/kettle/boil.py::Spout",
            "name": "Spout",
            "qualified_name": "Spout",
            "kind": "class",
            "line_start": 3,
            "editor_uri": f"{URI}:3",
            **SYMBOL,
        },
        {
            "id": "src/kettle/boil.py::Spout.pourSlowly",
            "name": "pourSlowly",
            "qualified_name": "Spout.pourSlowly",
            "kind": "method",
            "line_start": 4,
            "editor_uri": f"{URI}:4",
            **SYMBOL,
        },
    ],
}
SCORING = {
    "vector_score": 0.0,
    "lexical_score": 1.0,
    "weighted_vector_score": 0.0,
    "weighted_lexical_score": 1.0,
    "adjusted_score": 1.00819,
    "mode": "lexical",
    "signals": SIGNALS,
}
METADATA = {
    "result_count": 1,
    "graph_context_included": True,
    "warnings": [f"{ALONE}the extra `semantic` is not installed, or not wanted"],
    "scoring_mode": "lexical",
    "weight_profile": "default",
    "weights": {
        "subsystem": 0.28,
        "relationship": 0.05,
        "support": 0.09,
        "criticality": 0.12,
    },
    "hybrid_weights": {"vector": 0.0, "lexical": 1.0},
    "filters_applied": {"subsystems": ["kettle"]},
}
