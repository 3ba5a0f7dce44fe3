"""What a tool may ask: one reading of the project."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

from duvet.cache.memory import Memory
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.queries.citations import Citations
from duvet.queries.detailing import Material
from duvet.queries.places import Files
from duvet.queries.references import Found, find
from duvet.tools.kept_files import KeptFiles
from duvet.validation.findings import Findings
from duvet.validation.validate import validate

Value = TypeVar("Value")


class Context:
    """A project as it was at one moment. What is expensive is found out when it is first asked for, and once."""

    def __init__(self, project: Project, catalogue: Catalogue, page_size: int) -> None:
        self.project = project
        self.catalogue = catalogue
        self.page_size = page_size
        """How many entries of a list an answer holds unless more are asked for; 0 is all."""
        self._once: dict[Callable[[Context], Any], Any] = {}
        self._read: dict[Callable[[Context], Any], Any] = {}
        self._earlier: dict[Callable[[Context], Any], Any] = {}
        self._reading = RLock()

    def once(self, make: Callable[[Context], Value]) -> Value:
        """What a function makes of this reading, made when it is first asked for: for what several calls need."""
        if make not in self._once:
            self._once[make] = make(self)
        made: Value = self._once[make]
        return made

    def read(self, read: Callable[[Context], Value]) -> Value:
        """What a function reads beside the trace, by the tree of the project; any thread may ask.

        Whoever follows the project follows these files from then on, and reads them anew whenever it is read anew.
        """
        if read not in self._read:
            with self._reading:
                if read not in self._read:
                    self._read[read] = read(self)
        found: Value = self._read[read]
        return found

    def has_read(self, read: Callable[[Context], Any]) -> bool:
        """Whether that is known already."""
        return read in self._read

    @property
    def reads(self) -> int:
        """How much has been read beside the trace."""
        return len(self._read)

    def earlier(self, read: Callable[[Context], Value]) -> Value | None:
        """What this function has read when the project was another, for what hasn't changed."""
        return self._earlier.get(read)

    def renew(self, before: Context) -> None:
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
    def memory(self) -> Memory:
        return self.project.memory

    @cached_property
    def files(self) -> Files:
        project = self.project
        # A tree that keeps account of what is asked of it would grow with every name that a client makes up.
        return KeptFiles(project.disk if project.on_disk else project.tree, project.root)

    @cached_property
    def findings(self) -> Findings:
        """Everything that is wrong in the project."""
        return validate(self.project)

    def find(self, reference: str) -> Found:
        """What a reference means; NotFoundError with what is near where it means nothing."""
        return find(self.catalogue, reference, self.files)

    def material(self, around: int = 2) -> Material:
        """What details are made of, with so many lines of code around each citation."""
        return Material(self.catalogue, Citations(self.catalogue, self.files, around), self.project.specification)
