"""One reading of all sources and requirement files of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from msgspec import Struct, msgpack

from duvet.cache.memory import Memory
from duvet.config.schema import Config, SourceRule
from duvet.errors import DuvetError
from duvet.model import Annotation, Problem
from duvet.progress import Progress
from duvet.sources.order import ordered
from duvet.sources.scan import Origin, Scanned, Wanted, find_files, find_sources, scan_file, unreadable
from duvet.sources.style import Style
from duvet.specs.extraction import Extraction
from duvet.specs.requirement_files import read
from duvet.text import plural
from duvet.tree.memory import MemoryTree
from duvet.tree.protocol import Tree
from duvet.tree.seen import digest

Report = Callable[[Problem], None]


class Listed(Struct, frozen=True):
    """The sources by the styles that they are read in, and what is wrong with the patterns."""

    groups: list[tuple[tuple[Style, ...], list[str]]]
    problems: list[Problem]


class Found(Struct, frozen=True):
    """The paths that patterns match, and what is wrong with the patterns."""

    paths: list[str]
    problems: list[Problem]


class Reading:
    """Reads what patterns match; files and folders that are what they were are not read again."""

    def __init__(self, tree: Tree, memory: Memory, extraction: Extraction, report: Report, progress: Progress) -> None:
        self.tree = tree
        self.memory = memory
        self.extraction = extraction
        self.report = report
        self.progress = progress
        self.by_path: dict[str, list[Annotation]] = {}

    def annotations(
        self, config: Config | None, sources: tuple[SourceRule, ...], requirements: tuple[str, ...]
    ) -> tuple[Annotation, ...]:
        """All annotations in order; what is given beside the configuration comes after it."""
        # Problems with patterns name places in the configuration.
        text = config.toml.text if config else ""
        self.progress.begin("Scanning sources")
        groups = self._sources(_source_rules(config, sources), text)
        files = self._requirement_files(config, requirements, text)
        scanned = sum(len(styles) * len(paths) for styles, paths in groups)
        self.progress.end(f"Scanned {scanned + len(files)} sources")
        self.progress.begin("Parsing annotations")
        for styles, paths in groups:
            self._scan(styles, paths)
        self._read_requirements(files)
        found = ordered(self.by_path)
        self.progress.end(f"Parsed {len(found)} annotations")
        return found

    def _sources(self, rules: list[tuple[SourceRule, Origin]], text: str) -> list[tuple[tuple[Style, ...], list[str]]]:
        def work() -> Listed:
            problems: list[Problem] = []
            groups: dict[tuple[Style, ...], list[str]] = {}
            for wanted in find_sources(rules, self.tree, problems.append):
                groups.setdefault(wanted.styles, []).append(wanted.path)
            return Listed(list(groups.items()), problems)

        listed = self.memory.of_tree("sources", Listed, _key([rule for rule, _ in rules], text), work)
        for problem in listed.problems:
            self.report(problem)
        return listed.groups

    def _requirement_files(self, config: Config | None, asked: tuple[str, ...], text: str) -> list[str]:
        def work() -> Found:
            problems: list[Problem] = []
            tree = MemoryTree(self.extraction.files, self.tree)
            found: list[str] = []
            if config is not None:
                origin = Origin(config.path, lambda key, index: config.requirement_place(index))
                found += find_files("pattern", config.requirements, tree, problems.append, origin)
            found += find_files("pattern", asked, tree, problems.append, Origin())
            return Found(list(dict.fromkeys(found)), problems)

        key = _key(list(self.extraction.files), config.requirements if config else (), asked, text)
        found = self.memory.of_tree("requirement-files", Found, key, work)
        for problem in found.problems:
            self.report(problem)
        return found.paths

    def _scan(self, styles: tuple[Style, ...], paths: Iterable[str]) -> None:
        self._take(paths, _key(styles), lambda path: scan_file(Wanted(path, styles), self.tree))

    def _read_requirements(self, paths: Iterable[str]) -> None:
        extracted = self.extraction.annotations
        for path in paths:
            self._add(path, extracted.get(path, []))
        unread = [path for path in paths if path not in extracted]
        self._take(unread, "requirements", lambda path: Scanned(*read(path, self.tree.read(path))))

    def _take(self, paths: Iterable[str], how: str, read: Callable[[str], Scanned]) -> None:
        def readable(path: str) -> Scanned | None:
            try:
                return read(path)
            except DuvetError as error:
                self.report(unreadable(error))
                return None

        for path, scanned in self.memory.of_files("annotations", Scanned, paths, how, readable):
            for problem in scanned.problems:
                self.report(problem)
            self._add(path, scanned.annotations)

    def _add(self, path: str, annotations: list[Annotation]) -> None:
        if annotations:
            self.by_path.setdefault(path, []).extend(annotations)
            self.progress.note(f"{path}: {plural(len(annotations), 'annotation')}")


def _source_rules(config: Config | None, given: tuple[SourceRule, ...]) -> list[tuple[SourceRule, Origin]]:
    found = [(rule, Origin()) for rule in given]
    if config is None:
        return found
    origins = (Origin(config.path, partial(config.source_place, index)) for index in range(len(config.sources)))
    return [*zip(config.sources, origins, strict=True), *found]


def _key(*parts: object) -> str:
    """What a result depends on besides the tree, as one word."""
    return digest(msgpack.encode(parts)).hex()
