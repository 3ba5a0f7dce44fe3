"""`validate_citations`"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from duvet.text import plural, shortened
from duvet.tools.context import Context
from duvet.tools.tool import Answer, Page, Question
from duvet.tools.trace.checking import checker
from duvet.tools.trace.validate_citation import Citation, Output, output_of

_ROOM = 8_000
"""So many characters of errors, warnings and texts are told in all."""
_LOOKED = 6_000
"""So many characters of citations that are wrong are compared with all texts: nobody is to wait for long."""
_SHOWN = 10
_AS_NEAREST = "Write what `nearest` says, the target or the words, and validate again."
_ONE_BY_ONE = "validate_citation says what to do about one."


class Input(Struct, frozen=True, forbid_unknown_fields=True):
    citations: Annotated[list[Citation], Meta(min_length=1, max_length=50, description="Whole comments")]


def validate_all(asked: Input, context: Context) -> Answer:
    """Whether each of the citations leads to a text of the project, in their order."""
    look, left = checker(context).verdict, _LOOKED
    found: list[Output] = []
    for citation in asked.citations:
        verdict = look(citation, looks=left > 0)
        left -= len(citation) if verdict.error else 0
        found.append(output_of(verdict))
    room = _ROOM // (2 * len(found))
    told = [replace(one, **_short(one, room)) for one in found]
    return Answer(value=told, next_step=_next_step(found), page=Page(len(found)))


def _short(one: Output, room: int) -> dict[str, str]:
    given = {"error": one.error, "warning": one.warning, "nearest": one.nearest}
    return {name: shortened(text, room) for name, text in given.items() if text}


def _next_step(found: list[Output]) -> str:
    ##= man/spec/mcp.md#tools
    ##% Of several citations, the second block MUST say how many are invalid, and which.
    wrong = [number for number, one in enumerate(found, 1) if not one.valid]
    if not wrong:
        return f"All {plural(len(found), 'citation')} valid."
    more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    shown = ", ".join(map(str, wrong[:_SHOWN]))
    step = _AS_NEAREST if any(one.nearest for one in found) else _ONE_BY_ONE
    return f"{len(wrong)} of {len(found)} invalid: number {shown}{more}. {step}"


VALIDATE_CITATIONS = Question(
    name="validate_citations",
    title="Validate citations",
    description="validate_citation for many at once; answers in their order.",
    input=Input,
    output=tuple[Output, ...],
    handler=validate_all,
)
