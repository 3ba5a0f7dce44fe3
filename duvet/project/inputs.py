"""Finds and reads the source and requirement files of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.config.settings import Config, SourceRule
from duvet.errors import DuvetError
from duvet.model import Annotation, Problem
from duvet.progress import Progress
from duvet.sources.comments import SourceStyle
from duvet.sources.scan import (
    ProblemReporter,
    RuleOrigin,
    ScannedFile,
    SourceFile,
    find_matching_files,
    find_sources,
    make_unreadable_problem,
    order_annotations,
    scan_file,
)
from duvet.specs.requirement_files import read_requirement_file
from duvet.text import format_count
from duvet.tree.cache import Cache
from duvet.tree.files import MemoryTree, Tree

if TYPE_CHECKING:
    from duvet.specs.extraction import Extraction

StyleGroups = list[tuple[tuple[SourceStyle, ...], list[str]]]
"""Sources by the styles that they are read in."""


class SourceListing(Struct, frozen=True):
    groups: StyleGroups
    problems: list[Problem]


class MatchedPaths(Struct, frozen=True):
    paths: list[str]
    problems: list[Problem]


class InputFiles(Struct, frozen=True):
    """The files to read annotations from, and the problems of the patterns."""

    sources: StyleGroups
    requirements: list[str]
    problems: list[Problem]

    @property
    def count(self) -> int:
        return sum(len(styles) * len(paths) for styles, paths in self.sources) + len(self.requirements)


class InputPatterns(Struct, frozen=True):
    """The patterns of a project's inputs; those of the command line follow those of the configuration."""

    config: Config | None
    sources: tuple[SourceRule, ...]
    requirements: tuple[str, ...]
    extracted: Mapping[str, bytes]
    """Requirement files that may not be on disk yet."""
    root: str
    """The working directory."""

    def match(self, tree: Tree, memory: Cache) -> InputFiles:
        config = self.config
        # Problems with patterns have places in the configuration.
        places = (config.path, config.toml.text) if config else ("", "")
        rules = [(rule, RuleOrigin()) for rule in self.sources]
        if config is not None:
            origins = (
                RuleOrigin(config.path, partial(config.source_place, index)) for index in range(len(config.sources))
            )
            rules = [*zip(config.sources, origins, strict=True), *rules]

        def list_sources() -> SourceListing:
            problems: list[Problem] = []
            groups: dict[tuple[SourceStyle, ...], list[str]] = {}
            for file in find_sources(rules, tree, self.root, problems.append):
                groups.setdefault(file.styles, []).append(file.path)
            return SourceListing(list(groups.items()), problems)

        def list_requirement_files() -> MatchedPaths:
            problems: list[Problem] = []
            view = MemoryTree(self.extracted, tree)
            found: list[str] = []
            if config is not None:
                origin = RuleOrigin(config.path, lambda key, index: config.requirement_place(index))
                found += find_matching_files("pattern", config.requirements, view, problems.append, origin)
            found += find_matching_files("pattern", self.requirements, view, problems.append, RuleOrigin())
            return MatchedPaths(list(dict.fromkeys(found)), problems)

        key: object = (self.root, [rule for rule, _ in rules], *places)
        listed = memory.compute("sources", SourceListing, key, list_sources)
        configured = config.requirements if config else ()
        key = (list(self.extracted), configured, self.requirements, *places)
        found = memory.compute("requirement-files", MatchedPaths, key, list_requirement_files)
        return InputFiles(listed.groups, found.paths, [*listed.problems, *found.problems])


class InputReader:
    """Reads the inputs; unchanged files come from the cache."""

    def __init__(
        self, tree: Tree, memory: Cache, extraction: Extraction, report: ProblemReporter, progress: Progress
    ) -> None:
        self.tree = tree
        self.memory = memory
        self.extraction = extraction
        self.report = report
        self.progress = progress
        self.by_path: dict[str, list[Annotation]] = {}

    def annotations(self, inputs: InputFiles) -> tuple[Annotation, ...]:
        self.progress.begin("Parsing annotations")
        for styles, paths in inputs.sources:
            self._read(paths, (styles,), partial(self._scan, styles))
        extracted = self.extraction.annotations
        for path in inputs.requirements:
            self._add(path, extracted.get(path, []))
        unread = [path for path in inputs.requirements if path not in extracted]
        self._read(unread, "requirements", lambda path: ScannedFile(*read_requirement_file(path, self.tree.read(path))))
        found = order_annotations(self.by_path)
        self.progress.end(f"Parsed {len(found)} annotations")
        return found

    def _scan(self, styles: tuple[SourceStyle, ...], path: str) -> ScannedFile:
        return scan_file(SourceFile(path, styles), self.tree)

    def _read(self, paths: Iterable[str], key: object, read: Callable[[str], ScannedFile]) -> None:
        def read_or_report(path: str) -> ScannedFile | None:
            try:
                return read(path)
            except DuvetError as error:
                self.report(make_unreadable_problem(error))
                return None

        for path, scanned in self.memory.parse_files("annotations", ScannedFile, paths, key, read_or_report):
            for problem in scanned.problems:
                self.report(problem)
            self._add(path, scanned.annotations)

    def _add(self, path: str, annotations: list[Annotation]) -> None:
        if annotations:
            known = self.by_path.get(path)
            self.by_path[path] = annotations if known is None else known + annotations
            if self.progress.wants_notes:
                self.progress.note(f"{path}: {format_count(len(annotations), 'annotation')}")
