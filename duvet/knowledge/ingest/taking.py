"""Takes a project in: reads what has changed, and brings a store up to date in one step."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from duvet.config.schema import IngestRule
from duvet.errors import DuvetError
from duvet.knowledge.ingest.catalogue import read_catalogue
from duvet.knowledge.ingest.embedding import bring_vectors_up_to_date
from duvet.knowledge.ingest.files import Files, Updating
from duvet.knowledge.ingest.finding import find_files
from duvet.knowledge.ingest.graphing import graph_of
from duvet.knowledge.ingest.keeping import keep_changed, keep_graph
from duvet.knowledge.ingest.languages import finds_symbols
from duvet.knowledge.ingest.reading import Reader
from duvet.knowledge.ingest.remembered import Memo, decoded_memo
from duvet.knowledge.ingest.roots import roots_of
from duvet.knowledge.ingest.subsystems import Subsystems
from duvet.knowledge.ingest.times import Times, decoded_times, times_of
from duvet.knowledge.ingest.warnings import in_words, reason_of, warned, warning
from duvet.knowledge.reports.facts import facts_of
from duvet.knowledge.reports.history import keep_reports
from duvet.model import Problem
from duvet.project import Project
from duvet.queries.catalogue import Catalogue
from duvet.search.vectors.find import find_embedder
from duvet.search.vectors.protocol import Embedder
from duvet.store.errors import BusyError
from duvet.store.protocol import Store, Writing
from duvet.store.records import Artifact, Run

PATIENCE = 10.0
"""Seconds that a run waits for another one."""

_HOW = "2"
"""Tells what was read in this way from what another version has read."""
LOCAL = "local"
"""What runs are called that people begin."""
_FILES, _TIMES = "files", "times"
"""What is kept from run to run."""


class Wishes(Struct, frozen=True, kw_only=True):
    """How a project is taken in, beside what the configuration says."""

    profile: str = ""
    """What the run is called; where it is empty, the configuration says."""
    otherwise: str = LOCAL
    """What it is called where that doesn't say either."""
    dry_run: bool = False
    full: bool = False
    """Whether to read everything again."""
    dummy: bool = False
    """Whether to make vectors that mean nothing."""
    patience: float = PATIENCE
    run_id: str = ""
    """What the run is known by; made up where it is empty."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What has come of it."""

    run: Run
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    vectors: str = ""
    """The model that has made them; empty where there are none."""


def take_in(
    project: Project,
    store: Store | None,
    wanted: IngestRule,
    wishes: Wishes = Wishes(),  # noqa: B008 - frozen
    *,
    catalogue: Callable[[], Catalogue] | None = None,
    own: Sequence[str] = (),
) -> Outcome:
    """Bring the store up to date with the project, all or nothing; without a store, only look.

    `catalogue` is where the trace comes from, if it is known already; `own` are files that are no part of the project.
    """
    taking = _Taking(project, wanted, wishes, catalogue, own)
    if store is None or wishes.dry_run:
        return taking.look(store)
    try:
        with _written(store, project, wishes.patience) as writing:
            return taking.write(store, writing)
    except BusyError:
        raise
    except BaseException as error:
        ##= man/spec/knowledge.md#runs
        ##% A run that has failed MUST leave everything as it was, and MUST be recorded with the reason.
        with suppress(Exception), store.writing() as writing:
            writing.put_run(taking.failed(error))
        raise


@contextmanager
def _written(store: Store, project: Project, patience: float) -> Iterator[Writing]:
    """A change of the store, once nobody else makes one."""
    ##= man/spec/knowledge.md#runs
    ##% A second run at the same time MUST wait for the first for up to 10 seconds, MUST say so, and then fail.
    with ExitStack() as stack:
        try:
            writing = stack.enter_context(store.writing())
        except BusyError:
            project.progress.begin("Waiting for another run to end")
            writing = stack.enter_context(store.writing(patience))
        yield writing


class _Taking:
    """One run."""

    def __init__(
        self,
        project: Project,
        wanted: IngestRule,
        wishes: Wishes,
        catalogue: Callable[[], Catalogue] | None,
        own: Sequence[str],
    ) -> None:
        self._project = project
        self._wanted = wanted
        self._wishes = wishes
        self._catalogue = catalogue
        self._own = own
        self._problems: list[Problem] = []
        self._clock = time.perf_counter()
        run_id, profile = wishes.run_id or uuid4().hex, wishes.profile or wanted.profile or wishes.otherwise
        self._run = Run(run_id=run_id, profile=profile, started_at=time.time(), dry_run=wishes.dry_run)
        self._finds_symbols = finds_symbols(wanted.symbols)
        self._embedder: Embedder | None = None

    def look(self, store: Store | None) -> Outcome:
        """What would change."""
        ##= man/spec/knowledge.md#runs
        ##% A dry run MUST tell what would change, and change nothing.
        files, times = self._update(store, None, None)[:2]
        return self._outcome(files, times)

    def write(self, store: Store, writing: Writing) -> Outcome:
        """Change it."""
        self._embedder = find_embedder(self._wanted.semantic, self._wishes.dummy)
        ##= man/spec/knowledge.md#runs
        ##% Whoever asks while a run is under way MUST be answered as before it.
        trace = self._trace()
        files, times, subsystems = self._update(store, writing, trace)
        bring_vectors_up_to_date(
            *(store, writing, self._embedder, list(files.artifacts.values())),
            *((*files.added, *files.changed), self._project.progress),
        )
        graph = graph_of(files.artifacts, files.known, subsystems, trace)
        keep_graph(store, writing, graph)
        keep_changed(store, writing, _FILES, Memo(self._how, files.known).encoded())
        keep_changed(store, writing, _TIMES, times.encoded())
        outcome = self._outcome(files, times)
        writing.put_run(outcome.run)
        facts = facts_of(outcome.run, files.artifacts, graph.nodes, graph.edges, self._wanted)
        keep_reports(writing, facts, time.time())
        return outcome

    def failed(self, error: BaseException) -> Run:
        """The run, which came to nothing."""
        return replace(self._run, success=False, error=reason_of(error), duration_seconds=self._elapsed)

    @property
    def _how(self) -> str:
        """What was read in another way is read again."""
        return f"{_HOW} {self._finds_symbols} {self._wanted.max_file_bytes}"

    @property
    def _elapsed(self) -> float:
        return round(time.perf_counter() - self._clock, 3)

    def _update(
        self, store: Store | None, writing: Writing | None, trace: Catalogue | None
    ) -> tuple[Files, Times, Subsystems]:
        project, progress = self._project, self._project.progress
        before, memo, known_times = self._earlier(store)
        progress.begin("Looking for files")
        found = find_files(project, self._wanted, self._own)
        self._problems += found.problems
        catalogue = read_catalogue(project.tree)
        subsystems = Subsystems(catalogue, roots_of(project.tree, found.paths), found.paths, trace)
        times = times_of(project, known_times)
        if times.fault:
            self._problems.append(warning(f"without times of commits, those of the files count: {times.fault}"))
        progress.end(f"Found {len(found.paths)} files")
        reader = Reader(project, self._wanted.max_file_bytes, finds_symbols=self._finds_symbols)
        updating = Updating(before, memo, reader, subsystems, times, writing)
        with progress.counted("Reading files", len(found.paths)) as counted:
            files = updating.update(found.paths, counted)
        self._problems += (*files.problems, *subsystems.unknown())
        progress.end(f"Read {len(files.added) + len(files.changed)} files that are new or have changed")
        return files, times, subsystems

    def _earlier(self, store: Store | None) -> tuple[dict[str, Artifact], Memo, Times]:
        """What is known already."""
        if store is None:
            return {}, Memo(self._how), Times()
        memo = Memo(self._how) if self._wishes.full else decoded_memo(store.kept(_FILES), self._how)
        return dict(store.artifacts()), memo, decoded_times(store.kept(_TIMES))

    def _trace(self) -> Catalogue | None:
        """The trace; none where there is no project with a configuration, or it can't be read."""
        try:
            if self._project.config is None:
                return None
            return self._catalogue() if self._catalogue else self._project.catalogue
        except DuvetError as error:
            ##= man/spec/knowledge.md#runs
            ##% A trace that can't be read MUST be a warning of the run, which goes on without it.
            self._problems += warned(error)
            return None

    def _outcome(self, files: Files, times: Times) -> Outcome:
        artifacts = files.artifacts.values()
        run = replace(
            self._run,
            duration_seconds=self._elapsed,
            artifact_counts=dict(sorted(Counter(one.kind.value for one in artifacts).items())),
            chunk_count=sum(one.chunk_count for one in artifacts),
            repo_head=times.head,
            changed=len(files.added) + len(files.changed),
            removed=files.removed,
            warnings=tuple(map(in_words, self._problems)),
        )
        return Outcome(
            run=run,
            added=tuple(files.added),
            changed=tuple(files.changed),
            problems=tuple(self._problems),
            vectors=self._embedder.name if self._embedder else "",
        )
