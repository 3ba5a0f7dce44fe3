"""The tools of the trace."""

from __future__ import annotations

from duvet.tools.tool import Pack
from duvet.tools.trace.get_requirement import GET_REQUIREMENT
from duvet.tools.trace.get_section import GET_SECTION
from duvet.tools.trace.resolve_spec_id import RESOLVE_SPEC_ID
from duvet.tools.trace.suggest_citation import SUGGEST_CITATION
from duvet.tools.trace.validate_citation import VALIDATE_CITATION
from duvet.tools.trace.validate_citations import VALIDATE_CITATIONS

TRACE = Pack(
    "trace",
    (
        VALIDATE_CITATION,
        RESOLVE_SPEC_ID,
        VALIDATE_CITATIONS,
        GET_REQUIREMENT,
        GET_SECTION,
        SUGGEST_CITATION,
    ),
)
