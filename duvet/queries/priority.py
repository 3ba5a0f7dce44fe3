"""What to work on next: requirements in the order of their priority."""

from __future__ import annotations

from msgspec import Struct

from duvet.model import Kind, Level, Rank
from duvet.queries.catalogue import Catalogue, RequirementCard
from duvet.queries.filters import Filter, selected
from duvet.trace.states import Status


class PriorityClass(Rank):
    """How far a requirement has got as its priority sees it, most urgent first."""

    PARTIALLY_IMPLEMENTED = 0
    NOT_STARTED = 1
    FULLY_IMPLEMENTED = 2


class Priority(Struct, frozen=True):
    """What decides about the rank of a requirement; where it is the same, the order of the specifications does."""

    level: Level
    priority_class: PriorityClass
    todos: int

    @property
    def key(self) -> tuple[int, int, int]:
        """What requirements are sorted by."""
        ##= man/spec/queries.md#priorities
        ##% Requirements MUST be ranked by level: MUST, SHOULD, MAY, then those without one.
        ##= man/spec/queries.md#priorities
        ##% Those of one level MUST be ranked by class: partially implemented, not started, fully implemented.
        ##= man/spec/queries.md#priorities
        ##% Those of one class MUST be ranked by how many todos refer to them, most first.
        return (-self.level, self.priority_class, -self.todos)


def prioritized(catalogue: Catalogue, wanted: Filter, *, finished: bool = False) -> list[int]:
    """The indexes of the requirements, most urgent first; what is done is among them only if that is asked for."""
    ##= man/spec/queries.md#priorities
    ##% What is done, excepted with a reason or not applicable MUST be left out unless it is asked for.
    wants_done = finished or Status.DONE in wanted.statuses
    cards = catalogue.requirements
    found = (index for index in selected(catalogue, wanted) if wants_done or cards[index].status is not Status.DONE)
    ##= man/spec/queries.md#priorities
    ##% What is alike in all of this MUST be ranked in the order of the specifications.
    return sorted(found, key=lambda index: priority_of(catalogue, cards[index]).key)


def priority_of(catalogue: Catalogue, card: RequirementCard) -> Priority:
    """What decides about the rank of a requirement."""
    todos = sum(catalogue.citations[number].kind is Kind.TODO for number in card.citations)
    return Priority(card.level, _CLASS_OF[card.status], todos)


_CLASS_OF = {
    Status.NOT_STARTED: PriorityClass.NOT_STARTED,
    Status.IN_PROGRESS: PriorityClass.PARTIALLY_IMPLEMENTED,
    Status.NEEDS_TESTS: PriorityClass.PARTIALLY_IMPLEMENTED,
    Status.DONE: PriorityClass.FULLY_IMPLEMENTED,
}
