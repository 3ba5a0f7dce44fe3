"""A snapshot of the project for tools."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, lru_cache, partial
from os.path import basename, isabs
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.project.findings import Findings
from duvet.queries import details, records, references
from duvet.text import collapse_whitespace, shorten_text
from duvet.tools.arguments import is_inside_project
from duvet.tools.tool import ErrorCode, QueryTool, ToolAnswer, ToolError
from duvet.trace.catalogue import Catalogue
from duvet.trace.locations import ProjectFiles, SourceText

if TYPE_CHECKING:
    from duvet.project.project import Project

Value = TypeVar("Value")


class CachedFiles(ProjectFiles, frozen=True, dict=True):
    def has(self, path: str) -> bool:
        return is_inside_project(self.root, path) and super().has(path)

    @cached_property
    def text(self) -> Callable[[str], SourceText]:
        return lru_cache(maxsize=64)(partial(ProjectFiles.text, self))


class ProjectSnapshot:
    def __init__(self, project: Project, catalogue: Catalogue, page_size: int) -> None:
        self.project = project
        self.catalogue = catalogue
        self.page_size = page_size  # Number of list entries in an answer without `limit`; 0 means all.
        self._once: dict[Callable[[ProjectSnapshot], Any], Any] = {}
        self._read: dict[Callable[[ProjectSnapshot], Any], Any] = {}
        self._earlier: dict[Callable[[ProjectSnapshot], Any], Any] = {}
        self._reading = RLock()

    def once(self, make: Callable[[ProjectSnapshot], Value]) -> Value:
        if make not in self._once:
            self._once[make] = make(self)
        made: Value = self._once[make]
        return made

    def read(self, read: Callable[[ProjectSnapshot], Value]) -> Value:
        """Return `read(self)`, computed once for all threads."""
        if read not in self._read:
            with self._reading:
                if read not in self._read:
                    self._read[read] = read(self)
        found: Value = self._read[read]
        return found

    def has_read(self, read: Callable[[ProjectSnapshot], Any]) -> bool:
        return read in self._read

    @property
    def read_count(self) -> int:
        return len(self._read)

    def earlier(self, read: Callable[[ProjectSnapshot], Value]) -> Value | None:
        """Within `renew`, return the previous snapshot's result of `read`; otherwise None."""
        return self._earlier.get(read)

    def renew(self, before: ProjectSnapshot) -> None:
        with self._reading:
            self._earlier = dict(before._read)
            for read in self._earlier:
                # The call that needs this reading raises the error again; the trace doesn't need it.
                with suppress(Exception):
                    self.read(read)
            # A snapshot must not keep its predecessors alive.
            self._earlier = {}

    @cached_property
    def files(self) -> ProjectFiles:
        project = self.project
        # A tree that records each lookup would grow with every name that a client invents.
        return CachedFiles(project.disk if project.on_disk else project.tree, project.root)

    @cached_property
    def findings(self) -> Findings:
        from duvet.project.validation import validate

        return validate(self.project)

    def find(self, reference: str, usage: references.Usage) -> references.ResolvedReference:
        return references.resolve_reference(self.catalogue, reference, self.files, usage)

    def read_citations(self, around: int = 2) -> details.CitationReader:
        return details.CitationReader(self.catalogue, self.files, around)

    def answer(self, tool: QueryTool, arguments: object) -> ToolAnswer:
        warning = self.once(_describe_errors)
        if not warning:
            return tool.handler(arguments, self)
        try:
            answer = tool.handler(arguments, self)
        except (NotFoundError, ToolError) as error:
            if isinstance(error, NotFoundError) or error.code is ErrorCode.NOT_FOUND:
                self.check_requirements_known()
            raise
        if answer.page is not None and not answer.page.total:
            self.check_requirements_known()
        ##= man/spec/mcp.md#answers
        ##% If the project has errors, the server MUST mention them in each answer that depends on the project.
        return replace(answer, warning=warning)

    def check_requirements_known(self) -> None:
        if records.list_errors(self.catalogue) and not self.catalogue.requirements:
            hint = f"{records.describe_error_count(self.catalogue)}; {_describe_first_error(self)}"
            raise ToolError(ErrorCode.UPSTREAM_ERROR, records.NO_REQUIREMENTS, hint)


def _describe_errors(context: ProjectSnapshot) -> str:
    words = records.describe_incompleteness(context.catalogue)
    return words and f"{words}; {_describe_first_error(context)}; list_invalid_citations lists invalid citations."


def _describe_first_error(context: ProjectSnapshot) -> str:
    problem = records.list_errors(context.catalogue)[0]
    path = basename(problem.path) if isabs(problem.path) else problem.path
    place = f"{path}:{problem.place.line}" if problem.place.line else path
    return f"first error at {place}: {shorten_text(collapse_whitespace(problem.message))}"
