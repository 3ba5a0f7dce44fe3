"""What a run heard from the disk, to be compared with what it would hear now."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress

from duvet.cache.memory import NoMemory
from duvet.inputs import Inputs
from duvet.project import Project
from duvet.tree.recorded import RecordedTree
from duvet.tree.unchanged import altered, refilled


class Answers:
    """All that a run has asked until now."""

    def __init__(self, project: Project, *, recalled: bool = False) -> None:
        """Of a run that was recalled it is not known which patterns there are, so that each name counts that comes."""
        if not isinstance(project.tree, RecordedTree):
            raise TypeError("the tree of the project has to be a RecordedTree")
        self.tree = project.tree
        # The project may be asked more, by another thread even.
        self.record = project.tree.record.copy()
        self.matched = project.matched
        self._listings = list(project.listings)
        self._unmatched = {""} if recalled else set()

    def altered(self) -> set[str]:
        """Every path that something else would be heard of."""
        found = set(altered(self.record, self.tree))
        if any(True for _ in refilled(self.record, self.tree)):
            found |= self.listed_otherwise()
        return found

    def altered_among(self, paths: Collection[str]) -> set[str]:
        """Those of these paths that something else would be heard of."""
        return set(altered(self.record.about(paths), self.tree))

    def linked(self) -> Iterator[str]:
        """The files that have other names, too."""
        for path in self.record.files:
            # What is gone is told of.
            with suppress(OSError, ValueError):
                if os.stat(self.tree.disk.at(path)).st_nlink > 1:
                    yield path

    def listed_otherwise(self) -> set[str]:
        """The files that patterns match now and did not, or no more; folders that are new are on the record then."""
        if self.matched is None:
            return self._unmatched or self._listed_elsewhere()
        patterns, before = self.matched
        tree = RecordedTree(self.tree.disk)
        now = patterns.match(tree, NoMemory())
        self.record.renew(tree.record)
        if others := self._listed_elsewhere():
            return others
        ##= man/spec/watch.md#noticing
        ##% What comes or goes without such an effect MUST NOT be taken for a change.
        return set() if _told(now) == _told(before) else _paths(now) ^ _paths(before) or {""}

    def _listed_elsewhere(self) -> set[str]:
        """The same for what is read beside the trace."""
        tree, found = RecordedTree(self.tree.disk), set[str]()
        for names, before in self._listings:
            found.update(set(names(tree)) ^ set(before))
        self.record.renew(tree.record)
        return found


def _told(inputs: Inputs) -> object:
    """All of it; in what order problems are found depends on the order of names on disk."""
    return inputs.sources, inputs.requirements, frozenset(inputs.problems)


def _paths(inputs: Inputs) -> set[str]:
    found = {path for _, paths in inputs.sources for path in paths}
    return found.union(inputs.requirements, (problem.path for problem in inputs.problems))
