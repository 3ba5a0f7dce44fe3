"""What has been found out about the pages of a project, to be kept."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from duvet.model import Problem


class PageFindings(Struct, frozen=True, array_like=True):
    """How much there is, and what is wrong with it."""

    files: tuple[str, ...] = ()
    """Those that the patterns match."""
    pages: int = 0
    links: int = 0
    problems: tuple[Problem, ...] = ()

    def of(self, paths: Collection[str]) -> tuple[Problem, ...]:
        """The problems in these files."""
        return tuple(problem for problem in self.problems if problem.path in paths)
