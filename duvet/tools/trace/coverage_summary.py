"""`coverage_summary`"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct, json
from msgspec.structs import replace

from duvet.queries.catalogue import RequirementCard
from duvet.queries.details import Numbers
from duvet.queries.numbers import level_numbers, numbers
from duvet.queries.spellings import specification_named
from duvet.tools.context import Context
from duvet.tools.paging import MOST_BYTES
from duvet.tools.soundness import require_known
from duvet.tools.tool import Answer, Question
from duvet.tools.trace.arguments import NO_LEVEL, Spec


class Input(Struct, frozen=True):
    spec: Spec | None = None


class Counts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many requirements there are, and how far they have got; what is left out is none."""

    id: str = ""
    level: str = ""
    requirements: int
    done: int = 0
    needs_tests: int = 0
    in_progress: int = 0
    not_started: int = 0
    excepted: int = 0
    not_applicable: int = 0
    percent: int | None = None
    """Of the applicable ones, done."""
    levels: tuple[Counts, ...] = ()


class Output(Struct, frozen=True, omit_defaults=True):
    total: Counts
    specifications: tuple[Counts, ...] = ()


def summarize(asked: Input, context: Context) -> Answer:
    """The numbers of all specifications, or of one."""
    whole = context.once(_whole)
    if asked.spec is None:
        return context.once(_answer)
    catalogue = context.catalogue
    ids = {catalogue.specifications[index].id for index in specification_named(catalogue, asked.spec)}
    (one, *_) = [counts for counts in whole.specifications if counts.id in ids]
    return Answer(value=Output(one))


def _whole(context: Context) -> Output:
    ##= man/spec/mcp.md#tools
    ##% What tools say of the trace MUST be what the commands say of it.
    require_known(context)
    catalogue = context.catalogue
    found: dict[int, list[RequirementCard]] = {index: [] for index in range(len(catalogue.specifications))}
    for card in catalogue.requirements:
        found[card.specification].append(card)
    own = tuple(_counts(cards, id=catalogue.specifications[index].id) for index, cards in found.items())
    return Output(_counts(catalogue.requirements), own)


def _counts(cards: Sequence[RequirementCard], *, id: str = "") -> Counts:
    levels = tuple(_fields(one, level=one.level or NO_LEVEL) for one in level_numbers(cards))
    return _fields(numbers(cards), id=id, levels=levels)


def _fields(found: Numbers, **more: Any) -> Counts:
    names = set(Counts.__struct_fields__) & set(Numbers.__struct_fields__)
    return Counts(**{name: getattr(found, name) for name in names}, **more)


def _answer(context: Context) -> Answer:
    """The whole, made shorter until it may be said."""
    whole = context.once(_whole)
    if _fits(whole) or not context.page_size:
        return Answer(value=whole)
    plain = Output(whole.total, tuple(replace(one, levels=()) for one in whole.specifications))
    note = "Give spec for the levels of one specification."
    if _fits(plain):
        return Answer(value=plain, next_step=note)
    shown = _shown(plain.specifications)
    words = f"{len(shown)} of {len(plain.specifications)} specifications shown, those with most left to do. {note}"
    return Answer(value=Output(whole.total, shown), next_step=words)


def _shown(found: Iterable[Counts]) -> tuple[Counts, ...]:
    """As many as may be, those with most left to do first."""
    left, shown = MOST_BYTES - _TOTAL, []
    for one in sorted(found, key=lambda one: one.done + one.excepted + one.not_applicable - one.requirements):
        left -= len(json.encode(one)) + 1
        if left < 0:
            break
        shown.append(one)
    return tuple(shown)


_TOTAL = 1000
"""More bytes than the numbers of all of them take."""


def _fits(found: Output) -> bool:
    return len(json.encode(found)) <= MOST_BYTES


COVERAGE_SUMMARY = Question(
    name="coverage_summary",
    title="Coverage",
    description="How many requirements are done, by specification and level; what is left out is 0. Use it for an overview.",
    input=Input,
    output=Output,
    handler=summarize,
)
