"""The tools about all that was taken in of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duvet.tools.tool import Pack, Tool


def _tools(settings: Mapping[str, Any]) -> Sequence[Tool]:
    # Most servers do without, and what these need takes time to import.
    from duvet.tools.knowledge.km_backup_trigger import BACKUP_TRIGGER
    from duvet.tools.knowledge.km_coverage_summary import COVERAGE_SUMMARY
    from duvet.tools.knowledge.km_feedback_submit import FEEDBACK_SUBMIT
    from duvet.tools.knowledge.km_graph_node import GRAPH_NODE
    from duvet.tools.knowledge.km_graph_search import GRAPH_SEARCH
    from duvet.tools.knowledge.km_graph_subsystem import GRAPH_SUBSYSTEM
    from duvet.tools.knowledge.km_help import HELP
    from duvet.tools.knowledge.km_ingest_status import INGEST_STATUS
    from duvet.tools.knowledge.km_ingest_trigger import INGEST_TRIGGER
    from duvet.tools.knowledge.km_lifecycle_report import LIFECYCLE_REPORT
    from duvet.tools.knowledge.km_recipe_run import RECIPE_RUN
    from duvet.tools.knowledge.km_search import SEARCH
    from duvet.tools.knowledge.km_storetext import STORETEXT
    from duvet.tools.knowledge.km_upload import UPLOAD

    return (
        HELP,
        SEARCH,
        GRAPH_NODE,
        GRAPH_SUBSYSTEM,
        GRAPH_SEARCH,
        COVERAGE_SUMMARY,
        LIFECYCLE_REPORT,
        INGEST_STATUS,
        INGEST_TRIGGER,
        FEEDBACK_SUBMIT,
        BACKUP_TRIGGER,
        RECIPE_RUN,
        UPLOAD,
        STORETEXT,
    )


KNOWLEDGE = Pack("knowledge", _tools, "Code, tests, documents and requirements as a graph, searched and reported on")
