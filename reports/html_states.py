"""How the page shows states: a sign, words, and a sentence that says what they mean."""

from __future__ import annotations

from msgspec import Struct

from duvet.trace.requirements import State


class Look(Struct, frozen=True):
    """How a state looks. No state is told apart by its colour alone."""

    index: int
    sign: str
    words: str
    meaning: str

    @property
    def mark(self) -> str:
        """The class of what is marked with it."""
        return f"s{self.index}"

    @property
    def badge(self) -> str:
        return f"{self.sign} {self.words}"


LOOKS = tuple(
    Look(state.value, sign, state.words, meaning)
    for state, sign, meaning in (
        (State.UNCITED, "✗", "Nothing refers to it."),
        (State.TO_DO, "…", "Nothing but a note to do it refers to it."),
        (State.MISSING_IMPLEMENTATION, "◑", "A test refers to it, but no implementation."),
        (State.PARTIAL, "◔", "Something refers to a part of it, and nothing to the rest."),
        (State.MISSING_TEST, "◐", "It is implemented, or excepted without a reason, but no test refers to it."),
        (State.EXCEPTION, "∅", "It is excepted, with a reason, and is not counted as done."),
        (State.IMPLIED, "⇒", "It holds without code or a test of its own."),
        (State.COMPLETE, "✓", "All of it is implemented and tested."),
    )
)
"""By state."""

CITED = Look(len(State), "•", "cited", "Something refers to it, and it is no requirement.")
