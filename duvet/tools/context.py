"""One reading of the project, as tools see it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from posixpath import join, normpath
from threading import RLock
from typing import Any, TypeVar

from duvet.project.project import Project
from duvet.project.validation import Findings, validate
from duvet.queries.citations import CitationReader
from duvet.queries.details import DetailMaterial
from duvet.queries.references import ResolvedReference, resolve_reference
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles, SourceText
from duvet.tree.cache import Cache
from duvet.tree.files import leads_into_folder


def make_project_path(root: str, path: str) -> str:
    """The absolute path of a file that is named from the root of a project."""
    return normpath(join(root, path))


def is_inside_project(root: str, path: str) -> bool:
    """Whether a path leads to a file of the project, whatever links it goes through."""
    ##= man/spec/mcp.md#tools
    ##% The server MUST resolve a path from a client inside the project or refuse it, without revealing whether a file
    ##% outside exists.
    if "\0" in path or not make_project_path(root, path).startswith(root.rstrip("/") + "/"):
        return False
    return leads_into_folder(root, make_project_path(root, path))


_MOST = 64


class KeptFiles(ProjectFiles, frozen=True, dict=True):
    """Files as they were when they were first asked for; the texts of the last few are kept, line by line."""

    def has(self, path: str) -> bool:
        return is_inside_project(self.root, path) and super().has(path)

    def text(self, path: str) -> SourceText:
        return self._kept(path)

    @cached_property
    def _kept(self) -> Callable[[str], SourceText]:
        return lru_cache(maxsize=_MOST)(partial(ProjectFiles.text, self))


Value = TypeVar("Value")


class ProjectSnapshot:
    """A project as it was at one moment. What is expensive is found out when it is first asked for, and once."""

    def __init__(self, project: Project, catalogue: Catalogue, page_size: int) -> None:
        self.project = project
        self.catalogue = catalogue
        self.page_size = page_size
        """How many entries of a list an answer holds unless more are asked for; 0 is all."""
        self._once: dict[Callable[[ProjectSnapshot], Any], Any] = {}
        self._read: dict[Callable[[ProjectSnapshot], Any], Any] = {}
        self._earlier: dict[Callable[[ProjectSnapshot], Any], Any] = {}
        self._reading = RLock()

    def once(self, make: Callable[[ProjectSnapshot], Value]) -> Value:
        """What a function makes of this reading, made when it is first asked for: for what several calls need."""
        if make not in self._once:
            self._once[make] = make(self)
        made: Value = self._once[make]
        return made

    def read(self, read: Callable[[ProjectSnapshot], Value]) -> Value:
        """What a function reads beside the trace, by the tree of the project; any thread may ask.

        Whoever follows the project follows these files from then on, and reads them anew whenever it is read anew.
        """
        if read not in self._read:
            with self._reading:
                if read not in self._read:
                    self._read[read] = read(self)
        found: Value = self._read[read]
        return found

    def has_read(self, read: Callable[[ProjectSnapshot], Any]) -> bool:
        """Whether that is known already."""
        return read in self._read

    @property
    def reads(self) -> int:
        """How much has been read beside the trace."""
        return len(self._read)

    def earlier(self, read: Callable[[ProjectSnapshot], Value]) -> Value | None:
        """What this function has read when the project was another, for what hasn't changed."""
        return self._earlier.get(read)

    def renew(self, before: ProjectSnapshot) -> None:
        """Read all that has been read of the project before."""
        with self._reading:
            self._earlier = dict(before._read)
            for read in self._earlier:
                # Who asks for it is told what is wrong; the trace is none the worse for it.
                with suppress(Exception):
                    self.read(read)
            # The past must not be kept by what is known now.
            self._earlier = {}

    @property
    def memory(self) -> Cache:
        return self.project.memory

    @cached_property
    def files(self) -> ProjectFiles:
        project = self.project
        # A tree that keeps account of what is asked of it would grow with every name that a client makes up.
        return KeptFiles(project.disk if project.on_disk else project.tree, project.root)

    @cached_property
    def findings(self) -> Findings:
        """Everything that is wrong in the project."""
        return validate(self.project)

    def find(self, reference: str) -> ResolvedReference:
        """What a reference means; NotFoundError with what is near where it means nothing."""
        return resolve_reference(self.catalogue, reference, self.files)

    def material(self, around: int = 2) -> DetailMaterial:
        """What details are made of, with so many lines of code around each citation."""
        return DetailMaterial(
            self.catalogue, CitationReader(self.catalogue, self.files, around), self.project.specification
        )
