"""Answers about a project in which something is wrong: nobody may take them for the whole truth."""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.queries.soundness import NO_REQUIREMENTS, counted, errors, not_everything
from duvet.text import one_line, shortened
from duvet.tools.context import Context
from duvet.tools.errors import Code, ToolError
from duvet.tools.tool import Answer


def candid(context: Context, ask: Callable[[], Answer]) -> Answer:
    """The answer, with what keeps it from being whole; ToolError where errors leave nothing to answer from."""
    warning = context.once(_warning)
    if not warning:
        return ask()
    try:
        answer = ask()
    except (NotFoundError, ToolError) as error:
        if isinstance(error, NotFoundError) or error.code is Code.NOT_FOUND:
            require_known(context)
        raise
    if answer.page is not None and not answer.page.total:
        require_known(context)
    ##= man/spec/mcp.md#tools
    ##% While the project has errors, the second block of an answer MUST say how many, and what the first one is.
    return replace(answer, warning=warning)


def require_known(context: Context) -> None:
    """ToolError where errors keep all requirements from being known."""
    catalogue = context.catalogue
    if errors(catalogue) and not catalogue.requirements:
        ##= man/spec/mcp.md#tools
        ##% Where the project has no requirements because of errors, what finds nothing MUST be refused as
        ##% `upstream_error`.
        raise ToolError(Code.UPSTREAM_ERROR, NO_REQUIREMENTS, f"{counted(catalogue)}; {_first(context)}")


def _warning(context: Context) -> str:
    words = not_everything(context.catalogue)
    return f"{words}; {_first(context)}; list_invalid_citations lists those of citations." if words else ""


def _first(context: Context) -> str:
    problem = errors(context.catalogue)[0]
    path = os.path.basename(problem.path) if os.path.isabs(problem.path) else problem.path
    place = f"{path}:{problem.place.line}" if problem.place.line else path
    return f"the first is at {place}: {shortened(one_line(problem.message))}"
