"""The tools of the trace."""

from __future__ import annotations

from duvet.tools.tool import Pack
from duvet.tools.trace.resolve_spec_id import RESOLVE_SPEC_ID

TRACE = Pack("trace", (RESOLVE_SPEC_ID,))
