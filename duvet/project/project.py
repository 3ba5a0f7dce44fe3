"""The Project class, through which everything in a project is read, and the checks of its setup."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.config.project_file import read_config, require_config
from duvet.config.settings import CONFIG_PATH, Config, PagesTable, SourceRule
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Annotation, Format, Kind, Place, Problem, RequirementForm, Specification, sort_problems
from duvet.progress import Progress
from duvet.sources import scan
from duvet.sources.comments import SourceStyle
from duvet.sources.glob import parse_legacy_pattern, spell_paths
from duvet.specs.extraction import Extraction, extract_configured, list_unneeded_files, locate_configured
from duvet.specs.library import DownloadOutcome, Library, Policy
from duvet.specs.locator import locate_specification, resolve_specification, strip_extension
from duvet.specs.requirement_files import read_requirement_file
from duvet.text import format_count, quote_text
from duvet.trace import records
from duvet.trace.catalogue import NO_REQUIREMENTS_HINT, NotApplicable, build_catalogue, list_unreferenced_specifications
from duvet.tree.cache import Cache
from duvet.tree.files import DiskTree, MemoryTree, Tree
from duvet.tree.recorder import RecordedTree

if TYPE_CHECKING:
    from duvet.specs.census import Census
    from duvet.trace.catalogue import Catalogue, SpecificationCard
    from duvet.trace.gates import RequirementsByTarget


def find_setup_problems(project: Project) -> Iterator[Problem]:
    config = project.config
    if config is None or not config.extended:
        return
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% Without a gate, `duvet report` MUST warn, but not fail, if there is no configuration, no specification or no
    ##% requirement, or if a source pattern matches no file.
    yield from project.setup_problems
    trace, places = project.trace, records.AnnotationPlaces(project.tree)
    known = {locate_specification(rule.source, rule.format).name for rule in config.specifications}
    # A second spelling has a separate problem.
    known |= {other.locator.name for other, _ in records.find_second_spellings(trace.coverages, project.root)}
    for coverage in trace.coverages:
        specification = coverage.specification
        ids = [id for match in coverage.matches for id in match.ids]
        is_stated = any(trace.annotations[id].kind is Kind.SPEC for id in ids)
        ##= man/spec/gates.md#gates-with-nothing-to-check
        ##% duvet MUST warn about a cited specification that is not configured.
        if not ids or is_stated or specification.locator.name in known:
            continue
        first = trace.annotations[min(ids)]
        message = f"{quote_text(specification.locator.name)} is cited, but not configured"
        hint = f"add a `[[specification]]` table with `source = {quote_text(specification.locator.name)}`"
        place = places.of(first, first.source.target)
        label = "its requirements are unknown"
        yield rules.SPECIFICATION_UNCONFIGURED.problem(message, first.path, place, label=label, hint=hint)


def find_missing_reasons(trace: records.Trace, places: records.AnnotationPlaces) -> Iterator[tuple[int, Problem]]:
    ##= man/spec/validate.md#checks
    ##% `duvet validate` MUST report an exception without a reason as an error.
    for id, annotation in enumerate(trace.annotations):
        if annotation.kind is Kind.EXCEPTION and not annotation.reason.strip():
            place, label = places.of(annotation, annotation.source.target), "exception without a reason"
            message, hint = "this exception has no reason", "add a line `reason=…` below the target"
            hint = 'write the reason as `reason = "…"`' if annotation.from_file else hint
            yield id, rules.EXCEPTION_NO_REASON.problem(message, annotation.path, place, label=label, hint=hint)


StyleGroups = list[tuple[tuple[SourceStyle, ...], list[str]]]  # Sources by the styles that they are read in.


class InputFiles(Struct, frozen=True):
    sources: StyleGroups
    requirements: list[str]
    problems: list[Problem]
    unmatched: list[Problem] = []  # A warning for each pattern of a source that matches no file.


class InputPatterns(Struct, frozen=True):
    config: Config | None
    sources: tuple[SourceRule, ...]
    requirements: tuple[str, ...]
    extracted: Mapping[str, bytes]  # Requirement files that may not be on disk yet.
    root: str  # The working directory.

    def match(self, tree: Tree, memory: Cache) -> InputFiles:
        config = self.config
        # Problems with patterns have places in the configuration.
        places = (config.path, config.toml.text) if config else ("", "")
        rules = [(rule, scan.RuleOrigin()) for rule in self.sources]
        if config is not None:
            origins = (
                scan.RuleOrigin(config.path, partial(config.toml.value_place, "source", index))
                for index in range(len(config.sources))
            )
            rules = [*zip(config.sources, origins, strict=True), *rules]

        def list_sources() -> InputFiles:
            problems: list[Problem] = []
            unmatched: list[Problem] = []
            groups: dict[tuple[SourceStyle, ...], list[str]] = {}
            found = scan.find_sources(rules, tree, self.root, problems.append, unmatched=unmatched.append)
            for path, styles in found.items():
                groups.setdefault(styles, []).append(path)
            return InputFiles(list(groups.items()), [], problems, unmatched)

        def list_requirement_files() -> InputFiles:
            problems: list[Problem] = []
            view = MemoryTree(self.extracted, tree)
            found: list[str] = []
            if config is not None:
                origin = scan.RuleOrigin(config.path, lambda key, index: config.requirement_place(index))
                found += scan.find_matching_files("pattern", config.requirements, view, problems.append, origin)
            found += scan.find_matching_files("pattern", self.requirements, view, problems.append, scan.RuleOrigin())
            return InputFiles([], list(dict.fromkeys(found)), problems)

        key: object = (self.root, [rule for rule, _ in rules], *places)
        listed = memory.compute("sources", InputFiles, key, list_sources)
        configured = config.requirements if config else ()
        key = (list(self.extracted), configured, self.requirements, *places)
        found = memory.compute("requirement-files", InputFiles, key, list_requirement_files)
        return replace(listed, requirements=found.requirements, problems=[*listed.problems, *found.problems])


class Options(Struct, frozen=True):
    """The settings of a run that are not in the configuration."""

    config_path: str | None = None
    finds_config: bool = True  # Whether to read `.duvet/config.toml` if no configuration is named.
    sources: tuple[SourceRule, ...] = ()
    requirements: tuple[str, ...] = ()  # Patterns of additional requirement files.
    spec_path: str | None = None  # The parent of the folder for downloads in projects without a configuration.
    policy: Policy = Policy()
    notes: tuple[PagesTable, ...] | None = None

    @classmethod
    def from_flags(
        cls,
        *,
        offline: bool,
        allow_http: bool,
        source_patterns: tuple[str, ...],
        spec_patterns: tuple[str, ...],
        **others: Any,
    ) -> Options:
        return cls(
            sources=tuple(map(parse_legacy_pattern, source_patterns)),
            requirements=spec_patterns,
            policy=Policy(offline=offline, allow_http=allow_http),
            **others,
        )


class Project:
    r"""A folder with specifications, sources and usually a configuration; reading it writes only downloads and a cache.

    `trace.problems` lists the problems of annotations. A DuvetError is raised only if the project can't be read, for
    example because its configuration is invalid or the file in `options.config_path` does not exist.

    >>> from duvet import MemoryTree, Project
    >>> files = {
    ...     ".duvet/config.toml": b"'$schema' = 'duvet-cli/config/v1'\n"
    ...     b"source = [{ language = 'python' }]\n"
    ...     b"specification = [{ source = 'tea.md' }]\n",
    ...     "tea.md": b"# Tea\n\nThe pot MUST be warm.\nIt MAY be blue.\n",
    ...     "pot.py": b"##= tea.md#tea\n##% The pot MUST be warm.\n",
    ... }
    >>> project = Project(tree=MemoryTree(files))
    >>> [(one.level.name, one.state.words, one.text) for one in project.requirements]
    [('MUST', 'needs tests', 'The pot MUST be warm.'), ('MAY', 'uncited', 'It MAY be blue.')]
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
        disk = tree.disk if isinstance(tree, RecordedTree) else tree
        self.disk = disk if isinstance(disk, DiskTree) else DiskTree(self.root if root else "")
        self.tree = self.disk if tree is None else tree
        self.on_disk = tree is None or disk is self.disk
        self.memory = memory or Cache()
        self.progress = progress or Progress()
        self.today = today  # The date to compare expiry dates with; without it, no entry expires.
        self.matched: tuple[InputPatterns, InputFiles] | None = None
        """The patterns of the inputs, and the inputs themselves, once they are known."""
        self.listings: list[tuple[Callable[[Tree], Sequence[str]], Sequence[str]]] = []
        """Functions that list further input files, such as pages, with their results."""

    @cached_property
    def config(self) -> Config | None:
        """The configuration, or None if the project has none; raises DuvetError if it can't be used."""
        if self.on_disk and not (self.tree.exists("") and os.path.isdir(self.disk.at(""))):
            raise UnreadableError("no such folder", path=self.root)
        named = self.options.config_path
        if named is None:
            path = CONFIG_PATH
            if not (self.options.finds_config and self.tree.exists(path)):
                return None
        else:
            # Use one name for the file, because extracted requirements are found by it.
            path = posixpath.normpath(named.replace(os.sep, "/"))
            whole = posixpath.normpath(posixpath.join(self.root, path))
            path = whole.removeprefix(f"{self.root}/") if whole.startswith(f"{self.root}/") else path
        return read_config(self.tree.read(path), path, self.environ)

    def require_contents(self) -> None:
        if not (self.config or self.options.sources or self.options.requirements):
            require_config(self.tree)

    @property
    def is_like_upstream(self) -> bool:
        if self.config is None:
            return bool(self.options.sources or self.options.requirements)
        return not self.config.extended

    @property
    def snapshot_path(self) -> str | None:
        return self.config.report.snapshot.path if self.config and self.config.report.snapshot.enabled else None

    @cached_property
    def library(self) -> Library:
        ##= man/spec/trace.md#commands
        ##% `duvet search`, `duvet show`, `duvet ask` and the library MUST NOT write anything into a project except
        ##% downloads and the cache.
        # Only a project on disk gets missing specifications by download.
        fetch = self._fetch if self.on_disk else None
        # Without a configuration, `duvet extract` writes the files of awslabs duvet.
        forms: dict[str, RequirementForm] | None = None
        if self.config and self.config.extended:
            forms = {}
            for rule, locator in locate_configured(self.config):
                forms.setdefault(locator.name, rule.form)
        return Library(self.tree, self.downloads, fetch, self.root, self.memory, forms)

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
        if self.config is None:
            return Extraction({}, {}, {}, [])
        self.progress.begin("Extracting requirements")
        extraction = extract_configured(self.config, self.library, self.root)
        count = len(self.config.specifications)
        self.progress.end(
            f"Extracted requirements from {self.progress.count(count, 'specification')}"
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
        found, extracted = patterns.match(self.tree, self.memory), self.extraction
        # Leave out requirement files that an earlier run extracted and that are no longer needed. A folder that can't
        # be listed is a problem of the patterns.
        with suppress(DuvetError):
            if self.config and self.config.extended:
                unneeded = list_unneeded_files(extracted, self.library, writes=self.config.writes_requirements)
                kept = [path for path in found.requirements if path in extracted.files or path not in unneeded]
                found = replace(found, requirements=kept)
        count = sum([len(styles) * len(paths) for styles, paths in found.sources]) + len(found.requirements)
        count -= len(extracted.files) if self._hides_extracted else 0
        self.progress.end(f"Scanned {self.progress.count(count, 'source')}")
        self.matched = (patterns, found)
        return found

    @cached_property
    def trace(self) -> records.Trace:
        return records.add_problems(self._built, self._settled.problems) if self._settled else self._built

    @cached_property
    def _built(self) -> records.Trace:
        from duvet.trace.build import build_trace
        from duvet.trace.names import find_name_problems

        extraction, inputs = self.extraction, self.inputs
        problems = [*extraction.problems, *inputs.problems]
        # The last part of each configured source, without extension; targets of the source contain it.
        ours = self.config.specifications if self.config and not self.is_like_upstream else ()
        names = {strip_extension(rule.source.rstrip("/").rpartition("/")[2]).encode() for rule in ours}
        annotations, unread = self._read_annotations(tuple(sorted(filter(None, names))), problems)
        trace = build_trace(
            annotations,
            self.library,
            self.tree,
            self.root,
            problems,
            self.progress,
            allows_cuts=self.allows_cuts,
            configured=tuple(self._list_configured()),
        )
        if self.is_like_upstream:
            return trace
        trace = records.add_problems(trace, [*find_name_problems(trace), *self._find_unread_styles(trace, unread)])
        config, generated = self.config, extraction.files
        if config is None or not any(one.path in generated for one in trace.problems):
            return trace
        # Problems of extracted requirements, which are in no file, are moved to the configuration.
        moved = {
            replace(one, path=config.path, place=Place(), label="", notes=()) if one.path in generated else one
            for one in trace.problems
        }
        return replace(trace, problems=sort_problems(moved))

    def _read_annotations(
        self, specifications: tuple[bytes, ...], problems: list[Problem]
    ) -> tuple[tuple[Annotation, ...], dict[str, list[scan.UnreadCitation]]]:
        by_path: dict[str, list[Annotation]] = {}
        unread: dict[str, list[scan.UnreadCitation]] = {}
        extracted = self.extraction.annotations

        def add(path: str, annotations: list[Annotation], *, is_noted: bool = True) -> None:
            if annotations:
                by_path[path] = by_path[path] + annotations if path in by_path else annotations
                if is_noted and self.progress.wants_notes:
                    self.progress.note(path, format_count(len(annotations), "annotation"))

        def add_files(paths: Iterable[str], styles: tuple[SourceStyle, ...] | None) -> None:
            key: object = "requirements" if styles is None else (styles, *specifications)

            def read(path: str) -> scan.ScannedFile | None:
                try:
                    if styles is None:
                        return scan.ScannedFile(*read_requirement_file(path, self.tree.read(path)))
                    return scan.scan_file(path, styles, self.tree, specifications)
                except DuvetError as error:
                    problems.append(scan.make_unreadable_problem(error))
                    return None

            for path, scanned in self.memory.parse_files("annotations", scan.ScannedFile, paths, key, read):
                problems.extend(scanned.problems)
                if scanned.unread:
                    unread[path] = scanned.unread
                add(path, scanned.annotations)

        self.progress.begin("Parsing annotations")
        for styles, paths in self.inputs.sources:
            add_files(paths, styles)
        for path in self.inputs.requirements:
            add(path, extracted.get(path, []), is_noted=not self._hides_extracted)
        add_files([path for path in self.inputs.requirements if path not in extracted], None)
        found = scan.order_annotations(by_path)
        hidden = sum(map(len, extracted.values())) if self._hides_extracted else 0
        self.progress.end(f"Parsed {self.progress.count(len(found) - hidden, 'annotation')}")
        return found, unread

    @property
    def _hides_extracted(self) -> bool:
        return self.config is not None and self.config.extended and not self.config.writes_requirements

    def _find_unread_styles(
        self, trace: records.Trace, unread: Mapping[str, list[scan.UnreadCitation]]
    ) -> Iterator[Problem]:
        if not unread:
            return
        ##= man/spec/trace.md#annotations
        ##% With its own schema, duvet MUST warn about citations that it does not read because their `[[source]]` has
        ##% another comment style, and name both styles.
        known = {coverage.specification.locator.name for coverage in trace.coverages}
        known |= {specification.locator.name for specification in self._list_configured()}
        styles_by_path = {path: styles for styles, paths in self.inputs.sources if styles for path in paths}
        for path, own in unread.items():
            styles = dict.fromkeys(f"`{one.meta}` and `{one.content}`" for one in styles_by_path[path])
            for one in own:
                cited = [self._locate_name(target.partition("#")[0]) in known for target in one.targets]
                if not any(cited):
                    continue
                count = f"{format_count(sum(cited), 'citation')} here" if sum(cited) > 1 else "this citation"
                style = f"`{one.mark.rstrip('=')}=`"
                message = f"duvet does not read {count}: no `[[source]]` of this file has the comment style {style}"
                hint = f"write {' or '.join(styles)}, or add a `[[source]]` with this `comment-style`"
                place = one.places[cited.index(True)]
                yield rules.COMMENT_STYLE_UNREAD.problem(message, path, place, label="not read", hint=hint)

    def _locate_name(self, name: str) -> str:
        with suppress(DuvetError):
            return resolve_specification(name, Format.AUTO, self.root, self.tree).name
        return ""

    @property
    def allows_cuts(self) -> bool:
        """True if a quote may differ from its section in any one byte, as in awslabs duvet."""
        return self.config is None or not self.config.extended

    @cached_property
    def requirements(self) -> tuple[records.Requirement, ...]:
        return self._settled.requirements if self._settled else self._stated

    @property
    def setup_problems(self) -> tuple[Problem, ...]:
        config = self.config
        if config is None or not config.extended:
            return ()
        found = list(self.inputs.unmatched)
        # The requirements of a specification that can't be loaded are unknown.
        if config.specifications and not self.requirements and not self.library.failures:
            message = "the specifications contain no requirements"
            found.append(rules.NO_REQUIREMENTS.problem(message, config.path, hint=NO_REQUIREMENTS_HINT))
        elif not config.specifications and not self.requirements:
            commands = "`duvet init --yes` to add the specifications in this folder"
            hint = f"run {commands}, or `duvet init --specification URL|FILE`"
            found.append(rules.NO_SPECIFICATION.problem("no specification is configured", config.path, hint=hint))
        return tuple(found)

    @property
    def not_applicable(self) -> tuple[NotApplicable, ...]:
        return self._settled.entries if self._settled else ()

    @cached_property
    def _stated(self) -> tuple[records.Requirement, ...]:
        trace = self._built
        return tuple(
            one for coverage in trace.coverages for one in records.list_requirements(coverage, trace.annotations)
        )

    @cached_property
    def _settled(self) -> records.SettledRequirements | None:
        if self.config is None or not self.config.not_applicable:
            return None
        return self.scopes.resolve_not_applicable(self.config, self.today, self.memory)

    @cached_property
    def scopes(self) -> RequirementsByTarget:
        from duvet.trace.gates import RequirementsByTarget

        cited = [coverage.specification for coverage in self._built.coverages]
        # Specifications that nothing cites have no requirements.
        known = (*cited, *list_unreferenced_specifications(self._list_configured(), cited))
        unavailable = [locator.name for locator in self.library.failures]
        return RequirementsByTarget(known, self._stated, self.tree, self.root, unavailable)

    @cached_property
    def catalogue(self) -> Catalogue:
        known = self.finished()
        found = build_catalogue(known.trace, known.requirements, self._list_configured())
        excuses = self._settled.excuses if self._settled else {}
        setup = self.setup_problems
        return replace(found, blob_link=known.blob_link, issue_link=known.issue_link, excuses=excuses, setup=setup)

    def specification(self, card: SpecificationCard) -> Specification:
        return card.load(self.library)

    @property
    def censuses(self) -> Iterator[tuple[Specification, Census]]:
        from duvet.specs.census import Census, take_census

        for one in () if self.is_like_upstream else self._list_configured():
            key = f"{one.locator.format.name}\n{one.form}"
            count = partial(take_census, one)
            yield one, self.memory.parse_text("census", Census, one.path, key, one.data, count)

    def _list_configured(self) -> Iterator[Specification]:
        for _, locator in locate_configured(self.config):
            # The trace reports specifications that can't be loaded.
            with suppress(DuvetError):
                yield self.library.load(locator)

    def finished(self, blob_link: str | None = None, issue_link: str | None = None) -> records.Finished:
        if self.config:
            html = self.config.report.html
            blob_link = html.blob_link if blob_link is None else blob_link
            issue_link = html.issue_link if issue_link is None else issue_link
        sources = [*(self.config.sources if self.config else ()), *self.options.sources]
        requirements = [*(self.config.requirements if self.config else ()), *self.options.requirements]
        patterns = [*[pattern for rule in sources for pattern in rule.patterns], *requirements]
        has_odd = "/./" in "\n".join(patterns)
        spelled = spell_paths(patterns, [one.path for one in self.trace.annotations]) if has_odd else {}
        return records.Finished(
            self.trace, self.requirements, self.root, blob_link, issue_link, self.not_applicable, spelled
        )
