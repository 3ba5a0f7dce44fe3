"""Requirements that lack a citation or a test, or that a todo waits for."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from duvet.model import Kind, Level
from duvet.queries.catalogue import Catalogue, RequirementCard
from duvet.queries.filters import Filter, selected
from duvet.queries.rows import RequirementRow, fields_of
from duvet.trace.states import State, Status


class Lack(StrEnum):
    """What a requirement may lack, in the word that people use for it."""

    CITATION = "uncited"
    TEST = "untested"
    TODO = "to do"


class Lacking(Struct, frozen=True):
    """The requirements that lack something, among those that were looked at."""

    indexes: tuple[int, ...]
    among: int
    not_applicable: int = 0
    """So many others were looked at that are not owed."""


class TodoNote(Struct, frozen=True, kw_only=True):
    """An annotation that says that something is still to do."""

    file_path: str
    line_number: int
    feature: str
    tracking_issue: str

    @property
    def words(self) -> str:
        """Its place and what it names."""
        place = f"{self.file_path}:{self.line_number}"
        return " ".join(word for word in (place, self.feature, self.tracking_issue) if word)


class TodoRow(RequirementRow, frozen=True, kw_only=True):
    """A requirement with what is to do."""

    todos: tuple[TodoNote, ...]


def lacking(catalogue: Catalogue, wanted: Filter, lack: Lack | None) -> Lacking:
    """Those of the requirements that lack it, or that have one of the wanted statuses, or both if both are asked for."""
    cards = catalogue.requirements
    looked = selected(catalogue, replace(wanted, statuses=()))
    ##= man/spec/queries.md#uncited
    ##% `duvet uncited` MUST leave out what is not applicable, and say how many requirements that are.
    owed = [index for index in looked if cards[index].state is not State.NOT_APPLICABLE]
    found = (index for index in owed if lack is None or _lacks(catalogue, cards[index], lack))
    return Lacking(
        tuple(index for index in found if not wanted.statuses or cards[index].status in wanted.statuses),
        len(owed),
        len(looked) - len(owed),
    )


def _lacks(catalogue: Catalogue, card: RequirementCard, lack: Lack) -> bool:
    kinds = {catalogue.citations[number].kind for number in card.citations}
    match lack:
        case Lack.CITATION:
            ##= man/spec/queries.md#uncited
            ##% A requirement MUST count as uncited if it is not started, and otherwise as cited.
            return card.status is Status.NOT_STARTED
        case Lack.TEST:
            ##= man/spec/queries.md#uncited
            ##% A requirement MUST count as untested if it needs tests, and if it is not done and no test refers to it.
            return card.status is Status.NEEDS_TESTS or (card.status is not Status.DONE and Kind.TEST not in kinds)
        case Lack.TODO:
            ##= man/spec/queries.md#uncited
            ##% A requirement MUST count as to do if any todo refers to it.
            return Kind.TODO in kinds


def at_least(catalogue: Catalogue, indexes: tuple[int, ...], level: Level) -> tuple[int, ...]:
    """Those of the requirements that have that level or a stronger one."""
    return tuple(index for index in indexes if catalogue.requirements[index].level >= level)


def todo_row(catalogue: Catalogue, card: RequirementCard) -> TodoRow:
    """The row of a requirement with its todos."""
    cited = [catalogue.citations[number] for number in card.citations]
    todos = tuple(
        TodoNote(file_path=one.path, line_number=one.line, feature=one.feature, tracking_issue=one.tracking_issue)
        for one in cited
        if one.kind is Kind.TODO
    )
    return TodoRow(**fields_of(catalogue, card), todos=todos)
