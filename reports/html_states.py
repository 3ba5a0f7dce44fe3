"""How the page shows states: a sign, words, and a sentence that says what they mean."""

from __future__ import annotations

from msgspec import Struct

from duvet.trace.states import State


class Look(Struct, frozen=True):
    """How a state looks. No state is told apart by its colour alone."""

    index: int
    sign: str
    words: str
    meaning: str
    style: int
    """The number of its classes in the style sheet."""

    @property
    def mark(self) -> str:
        """The class of what is marked with it."""
        return f"s{self.style}"

    @property
    def slug(self) -> str:
        """What filters call it."""
        return self.words.replace(" ", "-")

    @property
    def badge(self) -> str:
        return f"{self.sign} {self.words}"


CITED = Look(-1, "•", "cited", "Something refers to it, and it is no requirement.", 8)

##= man/spec/page.md#colours
##% States MUST be told apart by their signs and by their lines, not by colour alone.
LOOKS = tuple(
    Look(state.value, sign, state.words, state.meaning, state.value + (state >= CITED.style))
    for state, sign in zip(State, "✗…◑◔◐∅⇒✓⊖", strict=True)
)
"""By state."""
