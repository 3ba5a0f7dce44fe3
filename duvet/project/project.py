"""The Project class, the one door to a project's configuration, inputs and trace."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.project_file import CONFIG_PATH, read_config
from duvet.config.settings import Config, NotesRule, SourceRule
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Specification
from duvet.progress import Progress
from duvet.project.inputs import InputFiles, InputPatterns, InputReader
from duvet.specs.extraction import Extraction, extract_configured
from duvet.specs.fetch import DownloadOutcome, Policy
from duvet.specs.library import Library
from duvet.specs.locator import locate_specification
from duvet.trace.build import add_problems, build_trace
from duvet.trace.records import Finished, NotApplicable, Requirement, SettledRequirements, Trace, list_requirements
from duvet.tree.cache import Cache
from duvet.tree.files import DiskTree, Tree
from duvet.tree.recorder import RecordedTree

if TYPE_CHECKING:
    from duvet.trace.catalogue import Catalogue, SpecificationCard
    from duvet.trace.gates import RequirementsByTarget


class Options(Struct, frozen=True):
    """Settings of a run beside the configuration."""

    config_path: str | None = None
    sources: tuple[SourceRule, ...] = ()
    requirements: tuple[str, ...] = ()
    """Patterns of further requirement files."""
    spec_path: str | None = None
    """The parent of the folder for downloads in projects without a configuration."""
    policy: Policy = Policy()
    notes: tuple[NotesRule, ...] | None = None


class Project:
    r"""A folder with specifications, sources and, mostly, a configuration; nothing is written there but downloads.

    What is wrong with annotations stands in `trace.problems`. Only what keeps everything from being read is raised,
    as a DuvetError: a configuration that is wrong, or that is named and absent.

    >>> from duvet import MemoryTree, Project
    >>> files = {
    ...     ".duvet/config.toml": b"'$schema' = 'duvet-cli/config/v1'\n"
    ...     b"source = [{ language = 'python' }]\n"
    ...     b"specification = [{ source = 'tea.md' }]\n",
    ...     "tea.md": b"# Tea\n\nThe pot MUST be warm.\nIt MAY be blue.\n",
    ...     "pot.py": b"##= tea.md#tea\n##% The pot MUST be warm.\n",
    ... }
    >>> project = Project(tree=MemoryTree(files))
    >>> [(one.level.name, one.status.words, one.text) for one in project.requirements]
    [('MUST', 'needs tests', 'The pot MUST be warm.'), ('MAY', 'not started', 'It MAY be blue.')]
    >>> project.trace.problems
    ()
    """

    def __init__(
        self,
        root: str = "",
        options: Options = Options(),  # noqa: B008 - frozen
        *,
        environ: Mapping[str, str] | None = None,
        tree: Tree | None = None,
        progress: Progress | None = None,
        memory: Cache | None = None,
        today: date | None = None,
    ) -> None:
        self.root = os.path.abspath(root).replace(os.sep, "/")
        self.options = options
        self.environ = {} if environ is None else environ
        # A named folder stays the same when the working directory changes.
        self.disk = _disk_of(tree) or DiskTree(self.root if root else "")
        self.tree = self.disk if tree is None else tree
        self.on_disk = tree is None or _disk_of(tree) is not None
        self.memory = memory or Cache()
        self.progress = progress or Progress()
        self.today = today
        """The date that expiry dates are compared with; without one, none has passed."""
        self.matched: tuple[InputPatterns, InputFiles] | None = None
        """The patterns of the inputs and the inputs themselves, once they are known."""
        self.listings: list[tuple[Callable[[Tree], Sequence[str]], Sequence[str]]] = []
        """Other functions that list files that are read, with their results."""

    @cached_property
    def config(self) -> Config | None:
        """The configuration, or None if there is none; ProblemsError if it is invalid."""
        if self.on_disk and not (self.tree.exists("") and os.path.isdir(self.disk.at(""))):
            raise UnreadableError("there is no such folder", path=self.root)
        named = self.options.config_path
        if named is None:
            path = CONFIG_PATH
            if not self.tree.exists(path):
                return None
        else:
            # One file has one name: extracted requirements are found again below it.
            path = posixpath.normpath(named.replace(os.sep, "/"))
            whole = posixpath.normpath(posixpath.join(self.root, path))
            path = whole.removeprefix(f"{self.root}/") if whole.startswith(f"{self.root}/") else path
        return read_config(self.tree.read(path), path, self.environ)

    @cached_property
    def library(self) -> Library:
        """The specifications, loaded when they are needed."""
        ##= man/spec/trace.md#reports
        ##% `duvet search`, `duvet show`, `duvet ask` and the library MUST write nothing into a project but downloads
        ##% and the cache.
        # Only a project on disk is completed by downloads.
        return Library(self.tree, self.downloads, self._fetch if self.on_disk else None, self.root, self.memory)

    @property
    def downloads(self) -> str:
        if self.config:
            return self.config.specifications_folder
        return posixpath.join(self.options.spec_path or "", "specs")

    def _fetch(self, paths: dict[str, str]) -> dict[str, DownloadOutcome]:
        from duvet.specs.download import download_texts

        files = {url: self.disk.at(path) for url, path in paths.items()}
        return download_texts(files, self.options.policy, self.progress)

    @cached_property
    def extraction(self) -> Extraction:
        """The requirements of the configured specifications."""
        if self.config is None:
            return Extraction({}, {}, {}, [])
        self.progress.begin("Extracting requirements")
        extraction = extract_configured(self.config, self.library, self.root)
        count = len(self.config.specifications)
        self.progress.end(
            f"Extracted requirements from {count} specifications"
            if count
            else "Extracted no requirements - config does not include any specifications"
        )
        return extraction

    @cached_property
    def inputs(self) -> InputFiles:
        patterns = InputPatterns(
            self.config, self.options.sources, self.options.requirements, self.extraction.files, self.root
        )
        self.progress.begin("Scanning sources")
        found = patterns.match(self.tree, self.memory)
        self.progress.end(f"Scanned {found.count} sources")
        self.matched = (patterns, found)
        return found

    @cached_property
    def trace(self) -> Trace:
        """Every annotation, resolved, and all problems."""
        return add_problems(self._built, self._settled.problems) if self._settled else self._built

    @cached_property
    def _built(self) -> Trace:
        extraction, inputs = self.extraction, self.inputs
        problems = [*extraction.problems, *inputs.problems]
        reading = InputReader(self.tree, self.memory, extraction, problems.append, self.progress)
        annotations = reading.annotations(inputs)
        return build_trace(annotations, self.library, self.tree, self.root, problems, self.progress)

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements of every cited specification, in the order of reports."""
        return self._settled.requirements if self._settled else self._stated

    @property
    def not_applicable(self) -> tuple[NotApplicable, ...]:
        """The not-applicable entries of the configuration."""
        return self._settled.entries if self._settled else ()

    @cached_property
    def _stated(self) -> tuple[Requirement, ...]:
        trace = self._built
        return tuple(one for coverage in trace.coverages for one in list_requirements(coverage, trace.annotations))

    @cached_property
    def _settled(self) -> SettledRequirements | None:
        if self.config is None or not self.config.not_applicable:
            return None
        from duvet.trace.gates import resolve_not_applicable

        return resolve_not_applicable(self.config, self.scopes, self.today, self.memory)

    @cached_property
    def scopes(self) -> RequirementsByTarget:
        """The requirements by specification and section."""
        from duvet.trace.gates import group_by_target

        return group_by_target(self._built, self._stated, self._configured(), self.library, self.root)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The trace as flat cards, for queries."""
        from duvet.trace.catalogue import build_catalogue

        known = self.finished()
        found = build_catalogue(known.trace, known.requirements, self._configured())
        excuses = self._settled.excuses if self._settled else {}
        return replace(found, blob_link=known.blob_link, issue_link=known.issue_link, excuses=excuses)

    def specification(self, card: SpecificationCard) -> Specification:
        """The specification of a card, with its text."""
        from duvet.trace.catalogue import load_card_specification

        return load_card_specification(card, self.library)

    def _configured(self) -> Iterator[Specification]:
        for rule in self.config.specifications if self.config else ():
            # The trace reports those that could not.
            with suppress(DuvetError):
                yield self.library.load(locate_specification(rule.source, rule.format))

    def finished(self, blob_link: str | None = None, issue_link: str | None = None) -> Finished:
        """All data of a report; links given here override the configuration."""
        if self.config:
            html = self.config.report.html
            blob_link = html.blob_link if blob_link is None else blob_link
            issue_link = html.issue_link if issue_link is None else issue_link
        return Finished(self.trace, self.requirements, self.root, blob_link, issue_link, self.not_applicable)


def _disk_of(tree: Tree | None) -> DiskTree | None:
    if isinstance(tree, RecordedTree):
        return tree.disk
    return tree if isinstance(tree, DiskTree) else None
