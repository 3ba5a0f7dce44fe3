"""A project as it would be if some of its files held something else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from duvet.cache.memory import Memory, NoMemory
from duvet.project import Project
from duvet.tree.memory import MemoryTree

Value = TypeVar("Value")


def overlaid(project: Project, files: Mapping[str, bytes]) -> Project:
    """The project with these files in the place of those on disk."""
    # What is missing of the specifications is downloaded for the project on disk alone.
    project.extraction  # noqa: B018
    return Project(
        project.root,
        project.options,
        environ=project.environ,
        tree=MemoryTree(files, project.tree),
        progress=project.progress,
        memory=_Elsewhere(project.memory, files),
        today=project.today,
    )


class _Elsewhere(NoMemory):
    """Knows what another memory knows, but for some files, and tells it nothing of these."""

    def __init__(self, memory: Memory, files: Mapping[str, bytes]) -> None:
        self.memory = memory
        self.files = files

    def of_files(
        self, name: str, kind: type[Value], paths: Iterable[str], how: str, read: Callable[[str], Value | None]
    ) -> Iterator[tuple[str, Value]]:
        wanted = list(paths)
        yield from self.memory.of_files(name, kind, [path for path in wanted if path not in self.files], how, read)
        yield from super().of_files(name, kind, [path for path in wanted if path in self.files], how, read)

    def of_text(
        self, name: str, kind: type[Value], path: str, how: str, data: bytes, parse: Callable[[], Value]
    ) -> Value:
        return parse() if path in self.files else self.memory.of_text(name, kind, path, how, data, parse)
