"""One reading of all sources and requirement files of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from duvet.cache.key import key
from duvet.cache.memory import Memory
from duvet.errors import DuvetError
from duvet.inputs import Inputs
from duvet.model import Annotation, Problem
from duvet.progress import Progress
from duvet.sources.order import ordered
from duvet.sources.scan import Scanned, Wanted, scan_file, unreadable
from duvet.sources.style import Style
from duvet.specs.extraction import Extraction
from duvet.specs.requirement_files import read
from duvet.text import plural
from duvet.tree.protocol import Tree

Report = Callable[[Problem], None]


class Reading:
    """Reads the inputs; files that are what they were are not read again."""

    def __init__(self, tree: Tree, memory: Memory, extraction: Extraction, report: Report, progress: Progress) -> None:
        self.tree = tree
        self.memory = memory
        self.extraction = extraction
        self.report = report
        self.progress = progress
        self.by_path: dict[str, list[Annotation]] = {}

    def annotations(self, inputs: Inputs) -> tuple[Annotation, ...]:
        """All annotations in order."""
        self.progress.begin("Parsing annotations")
        for styles, paths in inputs.sources:
            self._scan(styles, paths)
        self._read_requirements(inputs.requirements)
        found = ordered(self.by_path)
        self.progress.end(f"Parsed {len(found)} annotations")
        return found

    def _scan(self, styles: tuple[Style, ...], paths: Iterable[str]) -> None:
        self._take(paths, key(styles), lambda path: scan_file(Wanted(path, styles), self.tree))

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
            known = self.by_path.get(path)
            self.by_path[path] = annotations if known is None else known + annotations
            if self.progress.wants_notes:
                self.progress.note(f"{path}: {plural(len(annotations), 'annotation')}")
