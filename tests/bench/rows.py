"""The table of rows: what is run, in which project, and its goal and gate."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatch
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import NamedTuple


class Budget(NamedTuple):
    """The goal and the gate for the cost of a command, as multiples of the calibration."""

    goal: float
    gate: float
    memory: float = 0  # Maximum resident MB; 0 means no limit.


class State(StrEnum):
    """The state in which a report starts; `page` also writes the HTML report."""

    COLD = "cold"
    PAGE = "cold with HTML"
    SAME = "nothing changed"
    EDITED = "one source changed"


class Row(NamedTuple):
    name: str
    budget: Budget
    arguments: tuple[str, ...]
    project: str = ""  # N x M stands for a generated project with N requirements and M sources.
    state: State | None = None
    source: str = ""  # The file that changes in the state `EDITED`.

    @property
    def is_huge(self) -> bool:
        return self.project.endswith("x 20000")

    @property
    def is_cold(self) -> bool:
        return self.state in (State.COLD, State.PAGE)


PAGE_CONFIG = ".duvet/with-page.toml"
ASKED, RFC = "s2n-tls-132053b", "rfc8446.txt"
_GENERATED_SOURCE = "src/package_000/file_00000.c"
# For each project: the gate of memory, and goal and gate in each state.
_REPORTS: Mapping[str, tuple[float, str, tuple[tuple[float, float], ...]]] = {
    "h3-704b37a": (60, "h3/src/connection.rs", ((0.22, 0.30), (0.30, 0.45), (0.17, 0.22), (0.20, 0.30))),
    ASKED: (70, "tls/s2n_server_hello.c", ((0.32, 0.42), (0.45, 0.65), (0.18, 0.24), (0.30, 0.42))),
    "hickory-dns-half": (70, "", ((0.35, 0.45), (0.50, 0.70), (0.18, 0.24))),
    "200 x 200": (60, _GENERATED_SOURCE, ((0.20, 0.28), (0.30, 0.45), (0.16, 0.22), (0.20, 0.30))),
    "2000 x 2000": (90, _GENERATED_SOURCE, ((0.70, 1.0), (1.1, 1.5), (0.22, 0.30), (0.40, 0.55))),
    "10000 x 2000": (160, _GENERATED_SOURCE, ((1.9, 2.6), (3.0, 4.0), (0.26, 0.36), (1.0, 1.4))),
    "10000 x 20000": (475, _GENERATED_SOURCE, ((4.5, 6.0), (7.0, 9.0), (0.60, 0.80), (1.6, 2.2))),
}
_QUESTIONS = {
    "validate tls/s2n_server_hello.c": Budget(0.20, 0.28),
    "show 3488d56fdf77": Budget(0.20, 0.28),
    "uncited": Budget(0.20, 0.28),
    "prioritize": Budget(0.20, 0.28),
    "search session ticket": Budget(0.22, 0.30),
    "search --semantic session ticket": Budget(0.5, 0.7),
}
ROWS = (
    Row("--version", Budget(0.11, 0.14), ("--version",)),
    Row("--help", Budget(0.11, 0.14), ("--help",)),
    *(
        Row(
            f"{project}, {state}",
            Budget(goal, gate, memory),
            ("report", "--config-path", PAGE_CONFIG) if state is State.PAGE else ("report",),
            project,
            state,
            source,
        )
        for project, (memory, source, budgets) in _REPORTS.items()
        for state, (goal, gate) in zip(State, budgets, strict=False)
    ),
    Row(f"extract {RFC}", Budget(0.20, 0.28), ("extract", RFC), RFC),
    *(
        Row(f"{ASKED}, {words}", budget, tuple(words.split()), ASKED, State.SAME)
        for words, budget in _QUESTIONS.items()
    ),
)
CONFIG = ".duvet/config.toml"
CITATION = re.compile(r"(?:^[ \t]*(?://|\*)[=#].*\n)+", re.MULTILINE)


class Size(NamedTuple):
    requirements: int
    sources: int
    citations: int = 5  # in each source
    per_document: int = 100  # requirements in each specification


class Edit:
    """An edit that adds or removes a citation, which moves all other lines of the source."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_text()
        first = CITATION.search(self._text)
        if first is None:
            raise ValueError(f"{path} cites nothing")
        self._citation = first[0]
        self._edits = 0

    def __call__(self) -> None:
        """Add another line each time, so that no run sees a text that an earlier one has cached."""
        self._edits += 1
        self._path.write_text((self._citation if self._edits % 2 else "") + "\n" * self._edits + self._text)


def forget(folder: Path) -> None:
    shutil.rmtree(folder / ".duvet" / "cache", ignore_errors=True)


def wanted_rows(
    shared: Path | None, scratch: Path, only: str, huge: bool
) -> Iterator[tuple[Row, Path, Callable[[], None]]]:
    """Yield the rows with matching names, each with its folder and what to do before each run.

    A project is created when its first row is due.
    """
    rows = [row for row in ROWS if fnmatch(row.name, only) and huge >= row.is_huge and (shared or not row.project)]
    for project, several in groupby(rows, lambda row: row.project):
        folder = scratch / "project"
        make_tree(project, shared, folder)
        for row in several:
            prepare = partial(forget, folder) if row.is_cold else lambda: None
            yield row, folder, Edit(folder / row.source) if row.state is State.EDITED else prepare
        shutil.rmtree(folder)


def make_tree(name: str, shared: Path | None, folder: Path) -> None:
    requirements, _, sources = name.partition(" x ")
    if not name or shared is None:
        folder.mkdir()
    elif name == RFC:
        folder.mkdir()
        shutil.copy(shared / "rfc" / RFC, folder)
    elif sources:
        make_generated(shared, Size(int(requirements), int(sources)), folder)
    else:
        shutil.copytree(shared / "golden" / name / "project", folder, symlinks=True)
        _configure(folder)


def make_generated(shared: Path, size: Size, folder: Path) -> None:
    command = [sys.executable, str(shared / "workload" / "gen.py"), str(folder), "--syntax", "duvet"]
    sizes = [f"--{name.replace('_', '-')}={value}" for name, value in size._asdict().items()]
    subprocess.run([*command, *sizes], check=True, capture_output=True)
    _configure(folder)


def _configure(folder: Path) -> None:
    config = (folder / CONFIG).read_text()
    for report in ("json", "snapshot"):
        if f"[report.{report}]" not in config:
            config += f"\n[report.{report}]\nenabled = true\n"
    (folder / PAGE_CONFIG).write_text(config)
    page = r"(?m)^\[report\.html\]\nenabled = true$"
    (folder / CONFIG).write_text(re.sub(page, "[report.html]\nenabled = false", config))
