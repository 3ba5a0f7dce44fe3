"""How work is done that may have been done before, and how it is done where nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Value = TypeVar("Value")


class Memory(Protocol):
    """Does a piece of work, or knows from earlier what comes of it."""

    def of_files(
        self, name: str, kind: type[Value], paths: Iterable[str], how: str, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        """What files are read as, each by its path; where that is known they are not read. None is left out."""

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

    def removed(self, path: str) -> None:
        """A file is gone, and this very work has removed it."""

    def dated(self, day: str, is_over: bool) -> None:
        """The result holds as long as this day, `YYYY-MM-DD`, is over or is not."""

    def for_now(self) -> None:
        """What comes of this work is not for later: it went where nobody can look for it, or a fault may pass."""


class NoMemory:
    """Does all work each time."""

    def of_files(
        self, name: str, kind: type[Value], paths: Iterable[str], how: str, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        for path in paths:
            value = read(path)
            if value is not None:
                yield path, value

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

    def removed(self, path: str) -> None:
        pass

    def dated(self, day: str, is_over: bool) -> None:
        pass

    def for_now(self) -> None:
        pass
