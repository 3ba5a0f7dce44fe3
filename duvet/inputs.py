"""The files that the patterns of a project match."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from msgspec import Struct

from duvet.cache.key import key
from duvet.cache.memory import Memory
from duvet.config.schema import Config, SourceRule
from duvet.model import Problem
from duvet.sources.scan import Origin, find_files, find_sources
from duvet.sources.style import Style
from duvet.tree.memory import MemoryTree
from duvet.tree.protocol import Tree

Groups = list[tuple[tuple[Style, ...], list[str]]]
"""Sources by the styles that they are read in."""


class Listed(Struct, frozen=True):
    """The sources, and what is wrong with the patterns."""

    groups: Groups
    problems: list[Problem]


class Found(Struct, frozen=True):
    """The paths that patterns match, and what is wrong with the patterns."""

    paths: list[str]
    problems: list[Problem]


class Inputs(Struct, frozen=True):
    """The files to read annotations from, and what is wrong with the patterns."""

    sources: Groups
    requirements: list[str]
    problems: list[Problem]

    @property
    def count(self) -> int:
        """How many readings of files that makes."""
        return sum(len(styles) * len(paths) for styles, paths in self.sources) + len(self.requirements)


class Patterns(Struct, frozen=True):
    """What names the inputs of a project; what is given beside the configuration comes after it."""

    config: Config | None
    sources: tuple[SourceRule, ...]
    requirements: tuple[str, ...]
    extracted: Mapping[str, bytes]
    """Requirement files that may not be on disk yet."""
    root: str
    """The working directory."""

    def match(self, tree: Tree, memory: Memory) -> Inputs:
        """All that there is."""
        listed = self._listed(tree, memory)
        found = self._found(tree, memory)
        return Inputs(listed.groups, found.paths, [*listed.problems, *found.problems])

    def _listed(self, tree: Tree, memory: Memory) -> Listed:
        rules = self._rules()

        def work() -> Listed:
            problems: list[Problem] = []
            groups: dict[tuple[Style, ...], list[str]] = {}
            for wanted in find_sources(rules, tree, self.root, problems.append):
                groups.setdefault(wanted.styles, []).append(wanted.path)
            return Listed(list(groups.items()), problems)

        how = key(self.root, [rule for rule, _ in rules], *self._problem_places)
        return memory.of_tree("sources", Listed, how, work)

    def _found(self, tree: Tree, memory: Memory) -> Found:
        config = self.config
        configured = config.requirements if config else ()

        def work() -> Found:
            problems: list[Problem] = []
            view = MemoryTree(self.extracted, tree)
            found: list[str] = []
            if config is not None:
                origin = Origin(config.path, lambda key, index: config.requirement_place(index))
                found += find_files("pattern", configured, view, problems.append, origin)
            found += find_files("pattern", self.requirements, view, problems.append, Origin())
            return Found(list(dict.fromkeys(found)), problems)

        how = key(list(self.extracted), configured, self.requirements, *self._problem_places)
        return memory.of_tree("requirement-files", Found, how, work)

    @property
    def _problem_places(self) -> tuple[str, str]:
        """Problems with patterns name places in the configuration."""
        return (self.config.path, self.config.toml.text) if self.config else ("", "")

    def _rules(self) -> list[tuple[SourceRule, Origin]]:
        found = [(rule, Origin()) for rule in self.sources]
        config = self.config
        if config is None:
            return found
        origins = (Origin(config.path, partial(config.source_place, index)) for index in range(len(config.sources)))
        return [*zip(config.sources, origins, strict=True), *found]
