"""How work is done that may have been done before, and how it is done where nothing is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

Value = TypeVar("Value")


class Memory(Protocol):
    """Does a piece of work, or knows from earlier what comes of it."""

    def of_file(self, name: str, kind: type[Value], path: str, how: str, read: Callable[[], Value]) -> Value:
        """What a file is read as; it is not read where that is known."""

    def of_text(
        self, name: str, kind: type[Value], path: str, how: str, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        """What a file that has been read in this run is parsed as."""

    def of_tree(self, name: str, kind: type[Value], how: str, work: Callable[[], Value]) -> Value:
        """What comes of work that asks nothing but the tree."""

    def holds(self, path: str, data: bytes) -> bool:
        """Whether a file is known to hold these bytes."""

    def wrote(self, path: str, data: bytes) -> None:
        """A file holds these bytes now."""


class NoMemory:
    """Does all work each time."""

    def of_file(self, name: str, kind: type[Value], path: str, how: str, read: Callable[[], Value]) -> Value:
        return read()

    def of_text(
        self, name: str, kind: type[Value], path: str, how: str, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        return parse()

    def of_tree(self, name: str, kind: type[Value], how: str, work: Callable[[], Value]) -> Value:
        return work()

    def holds(self, path: str, data: bytes) -> bool:
        return False

    def wrote(self, path: str, data: bytes) -> None:
        pass
