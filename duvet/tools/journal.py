"""What is done of a call that its caller has to make again, until it is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, field


class Kept(Struct, frozen=True):
    """What a step has come to, and how long that took."""

    result: Any
    seconds: float
    warnings: Sequence[str] = ()


class Rounds(Struct):
    """What the earlier rounds of a call have brought."""

    count: int = 0
    """How many there were."""
    done: dict[str, Kept] = field(default_factory=dict)
    """By its place, each step that is done."""
    said: dict[str, str | None] = field(default_factory=dict)
    """By question, what the caller's model says; None where that is of no use."""
    asked: list[str] = field(default_factory=list)
    """The questions since the last step was done."""


class Journal:
    """Where a handler keeps what is done, and what its own calls do. Steps come one after another."""

    def __init__(self, rounds: Rounds, place: str = "") -> None:
        self._rounds = rounds
        self._place = place
        self._step = place
        self._calls = 0

    def begin(self, step: str) -> None:
        """From now on, everything belongs to this step; its name is another one where it does something else."""
        self._step = f"{self._place}{step}"
        self._calls = 0

    def recall(self) -> Kept | None:
        """What the step has come to in an earlier round."""
        return self._rounds.done.get(self._step)

    def keep(self, result: object, seconds: float, warnings: Sequence[str] = ()) -> None:
        """The step has come to this; what led there is of no interest any more."""
        for place in list(self._below()):
            del self._rounds.done[place]
        for question in self._rounds.asked:
            # Another step may ask the same, and is to have an answer of its own.
            self._rounds.said.pop(question, None)
        self._rounds.asked.clear()
        self._rounds.done[self._step] = Kept(result, seconds, warnings)

    def _below(self) -> Iterator[str]:
        return (place for place in self._rounds.done if place.startswith(f"{self._step}."))

    def below(self) -> Journal:
        """That of the next call in this step."""
        self._calls += 1
        return Journal(self._rounds, f"{self._step}.{self._calls}/")
