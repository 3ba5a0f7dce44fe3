"""The tools of the trace."""

from __future__ import annotations

from duvet.tools.tool import Pack
from duvet.tools.trace.coverage_summary import COVERAGE_SUMMARY
from duvet.tools.trace.get_citation_context import GET_CITATION_CONTEXT
from duvet.tools.trace.get_prioritized_requirements import GET_PRIORITIZED_REQUIREMENTS
from duvet.tools.trace.get_requirement import GET_REQUIREMENT
from duvet.tools.trace.get_requirement_status import GET_REQUIREMENT_STATUS
from duvet.tools.trace.get_section import GET_SECTION
from duvet.tools.trace.list_invalid_citations import LIST_INVALID_CITATIONS
from duvet.tools.trace.list_uncited_requirements import LIST_UNCITED_REQUIREMENTS
from duvet.tools.trace.resolve_spec_id import RESOLVE_SPEC_ID
from duvet.tools.trace.search_requirements import SEARCH_REQUIREMENTS
from duvet.tools.trace.suggest_citation import SUGGEST_CITATION
from duvet.tools.trace.validate_citation import VALIDATE_CITATION
from duvet.tools.trace.validate_citations import VALIDATE_CITATIONS

TRACE = Pack(
    "trace",
    (
        VALIDATE_CITATION,
        SEARCH_REQUIREMENTS,
        GET_REQUIREMENT_STATUS,
        LIST_UNCITED_REQUIREMENTS,
        LIST_INVALID_CITATIONS,
        GET_CITATION_CONTEXT,
        RESOLVE_SPEC_ID,
        GET_PRIORITIZED_REQUIREMENTS,
        VALIDATE_CITATIONS,
        GET_REQUIREMENT,
        GET_SECTION,
        SUGGEST_CITATION,
        COVERAGE_SUMMARY,
    ),
)
