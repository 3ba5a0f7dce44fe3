"""The one door to a project: from its configuration to its trace, read step by step as it is asked for."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Mapping
from functools import cached_property, partial

from msgspec import Struct

from duvet.config.read import read_config
from duvet.config.schema import Config, SourceRule
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Annotation, Problem
from duvet.progress import Progress
from duvet.sources.order import ordered
from duvet.sources.scan import Origin, find_files, find_sources, scan_file, unreadable
from duvet.specs.extraction import Extraction, extract_configured
from duvet.specs.fetch import Policy, fetch
from duvet.specs.library import Library
from duvet.specs.requirement_files import read
from duvet.text import plural
from duvet.trace.build import build
from duvet.trace.finished import Finished
from duvet.trace.records import Trace
from duvet.trace.requirements import Requirement, requirements_of
from duvet.tree.disk import DiskTree
from duvet.tree.memory import MemoryTree
from duvet.tree.protocol import Tree

CONFIG_PATH = ".duvet/config.toml"


class Options(Struct, frozen=True):
    """What a caller may ask for beside the configuration."""

    config_path: str | None = None
    sources: tuple[SourceRule, ...] = ()
    requirements: tuple[str, ...] = ()
    """Patterns of further requirement files."""
    spec_path: str | None = None
    """Where downloads are kept, less its last folder, for projects without a configuration."""
    policy: Policy = Policy()


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
    ) -> None:
        self.root = os.path.abspath(root).replace(os.sep, "/")
        self.options = options
        self.environ = environ or {}
        # A folder that is named stays the same when the process goes elsewhere.
        self.disk = tree if isinstance(tree, DiskTree) else DiskTree(self.root if root else "")
        self.tree = tree or self.disk
        self.progress = progress or Progress()

    @cached_property
    def config(self) -> Config | None:
        """The configuration, or None where there is none; ProblemsError where it is wrong."""
        if self.tree is self.disk and not os.path.isdir(self.disk.at("")):
            raise UnreadableError("there is no such folder", path=self.root)
        path = self._config_path()
        return read_config(self.tree.read(path), path, self.environ) if path else None

    def _config_path(self) -> str | None:
        ##= man/spec/trace.md#configuration
        ##% duvet MUST read `.duvet/config.toml` in the working directory, unless another file is named.
        named = self.options.config_path
        if named is None:
            return CONFIG_PATH if self.tree.exists(CONFIG_PATH) else None
        # One file has one name: extracted requirements are found again below it.
        path = posixpath.normpath(named.replace(os.sep, "/"))
        whole = posixpath.normpath(posixpath.join(self.root, path))
        return whole.removeprefix(f"{self.root}/") if whole.startswith(f"{self.root}/") else path

    @cached_property
    def library(self) -> Library:
        """The specifications, loaded as they are asked for."""
        ##= man/spec/trace.md#reports
        ##% Reading a project through the library MUST NOT print anything, and MUST NOT write anything but downloads.
        # What was handed over is all there is: only what is on disk is completed by downloads.
        return Library(self.tree, self.downloads, self._fetch if self.tree is self.disk else None, self.root)

    @property
    def downloads(self) -> str:
        """Where downloaded specifications are kept."""
        if self.config:
            return self.config.specifications_folder
        return posixpath.join(self.options.spec_path or "", "specs")

    def _fetch(self, url: str, path: str) -> bytes:
        self.progress.begin(f"Downloading {url}")
        data = fetch(url, self.disk.at(path), self.options.policy)
        self.progress.end(f"Downloaded {url}")
        return data

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
    def trace(self) -> Trace:
        """Every annotation, resolved; what is wrong stands in it as problems."""
        problems = list(self.extraction.problems)
        annotations = _Reading(self, problems.append).annotations()
        return build(annotations, self.library, self.tree, self.root, problems, self.progress)

    @cached_property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements of every specification that is referred to, in the order of reports."""
        trace = self.trace
        return tuple(one for coverage in trace.coverages for one in requirements_of(coverage, trace.annotations))

    def finished(self, blob_link: str | None = None, issue_link: str | None = None) -> Finished:
        """All that a report may show; links given here win over the configuration."""
        if self.config:
            html = self.config.report.html
            blob_link = html.blob_link if blob_link is None else blob_link
            issue_link = html.issue_link if issue_link is None else issue_link
        return Finished(self.trace, self.requirements, self.root, blob_link, issue_link)


class _Reading:
    """One reading of all sources and requirement files."""

    def __init__(self, project: Project, report: Callable[[Problem], None]) -> None:
        self.project = project
        self.report = report
        self.tree = MemoryTree(project.extraction.files, project.tree)
        self.by_path: dict[str, list[Annotation]] = {}

    def annotations(self) -> tuple[Annotation, ...]:
        progress = self.project.progress
        progress.begin("Scanning sources")
        sources = find_sources(self._source_rules(), self.project.tree, self.report)
        files = self._requirement_files()
        progress.end(f"Scanned {sum(len(one.styles) for one in sources) + len(files)} sources")
        progress.begin("Parsing annotations")
        for wanted in sources:
            self._add(wanted.path, scan_file(wanted, self.project.tree, self.report))
        for path in files:
            self._add(path, self._in_requirement_file(path))
        found = ordered(self.by_path)
        progress.end(f"Parsed {len(found)} annotations")
        return found

    def _add(self, path: str, annotations: list[Annotation]) -> None:
        if annotations:
            self.by_path.setdefault(path, []).extend(annotations)
            self.project.progress.note(f"{path}: {plural(len(annotations), 'annotation')}")

    def _source_rules(self) -> list[tuple[SourceRule, Origin]]:
        config = self.project.config
        found = [(rule, Origin()) for rule in self.project.options.sources]
        if config is None:
            return found
        origins = (Origin(config.path, partial(config.source_place, index)) for index in range(len(config.sources)))
        return [*zip(config.sources, origins, strict=True), *found]

    def _requirement_files(self) -> list[str]:
        config, asked = self.project.config, self.project.options.requirements
        found: list[str] = []
        if config is not None:
            origin = Origin(config.path, lambda key, index: config.requirement_place(index))
            found += find_files("pattern", config.requirements, self.tree, self.report, origin)
        found += find_files("pattern", asked, self.tree, self.report, Origin())
        return list(dict.fromkeys(found))

    def _in_requirement_file(self, path: str) -> list[Annotation]:
        extracted = self.project.extraction.annotations.get(path)
        if extracted is not None:
            return extracted
        try:
            annotations, problems = read(path, self.tree.read(path))
        except DuvetError as error:
            self.report(unreadable(error))
            return []
        for problem in problems:
            self.report(problem)
        return annotations
