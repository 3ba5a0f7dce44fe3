"""`list_uncited_requirements`"""

from __future__ import annotations

from duvet.queries.filters import Filter
from duvet.queries.lacking import Lack, lacking
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import Wanted, filter_of
from duvet.tools.trace.lists import Requirement, requirements_listed, those

_NAME = "list_uncited_requirements"


class Input(Wanted, frozen=True, kw_only=True):
    pass


def list_uncited(asked: Input, context: Context) -> Answer:
    """The requirements that nothing but a todo refers to."""
    ##= man/spec/mcp.md#tools
    ##% What tools say of the trace MUST be what the commands say of it.
    indexes = those(context.catalogue, context.once(_uncited), filter_of(asked))
    note = "suggest_citation writes the comment for one of them." if indexes else "Nothing is uncited here."
    return requirements_listed(context, _NAME, asked, indexes, [note])


def _uncited(context: Context) -> tuple[int, ...]:
    return lacking(context.catalogue, Filter(), Lack.CITATION).indexes


LIST_UNCITED_REQUIREMENTS = Question(
    name=_NAME,
    title="Uncited requirements",
    description="Requirements that no code cites yet, in the order of the specifications. Use it for an audit.",
    input=Input,
    output=tuple[Requirement, ...],
    handler=list_uncited,
)
