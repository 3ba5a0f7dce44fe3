"""What is measured: the projects, and the rows of the table."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.bench.budgets import ASKED, EXTRACT, PROJECTS, QUESTIONS, START, Budget, Project, State
from tests.bench.measure import nothing

CONFIG = ".duvet/config.toml"
PAGE_CONFIG = ".duvet/with-page.toml"
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
        citation = self._citation if self._edits % 2 else ""
        self._path.write_text(citation + "\n" * self._edits + self._text)


def forget(folder: Path) -> None:
    shutil.rmtree(folder / ".duvet" / "cache", ignore_errors=True)


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


RFC = "rfc8446.txt"


class Workload(NamedTuple):
    name: str
    budget: Budget
    arguments: tuple[str, ...]
    folder: Path
    prepare: Callable[[], None] = nothing  # called before each run, and not measured
    settles: bool = False
    """Whether it is measured once the files that it reads are old enough to be trusted without being read."""
    has_peers: bool = False  # whether another duvet can do the same


def workloads(shared: Path | None, scratch: Path, only: str, huge: bool) -> Iterator[Workload]:
    """Yield the rows with matching names; each project is created when its row is due."""
    for option in ("--version", "--help"):
        if fnmatch(option, only):
            yield Workload(option, START, (option,), scratch)
    if shared is None:
        return
    for project in PROJECTS:
        if huge or not project.huge:
            yield from _reports(project, shared, scratch, only)
    if fnmatch(f"extract {RFC}", only):
        shutil.copy(shared / "rfc" / RFC, scratch)
        yield Workload(f"extract {RFC}", EXTRACT, ("extract", RFC), scratch)
    yield from _questions(shared, scratch, only)


def question_name(arguments: tuple[str, ...]) -> str:
    return f"{ASKED}, {' '.join(arguments)}"


def _questions(shared: Path, scratch: Path, only: str) -> Iterator[Workload]:
    names = {asked: question_name(asked) for asked in QUESTIONS}
    wanted = [asked for asked, name in names.items() if fnmatch(name, only)]
    if not wanted:
        return
    folder = scratch / "questions"
    make_tree(ASKED, shared, folder)
    for asked in wanted:
        yield Workload(names[asked], QUESTIONS[asked], asked, folder, settles=True)
    shutil.rmtree(folder)


def _reports(project: Project, shared: Path, scratch: Path, only: str) -> Iterator[Workload]:
    names = {state: f"{project.name}, {state}" for state in project.budgets}
    wanted = [state for state, name in names.items() if fnmatch(name, only)]
    if not wanted:
        return
    folder = scratch / project.name.replace(" ", "")
    make_tree(project.name, shared, folder)
    for state in wanted:
        cold = state in (State.COLD, State.PAGE)
        yield Workload(
            names[state],
            project.budgets[state],
            ("report", "--config-path", PAGE_CONFIG) if state is State.PAGE else ("report",),
            folder,
            partial(forget, folder) if cold else Edit(folder / project.source) if state is State.EDITED else nothing,
            settles=not cold,
            has_peers=cold,
        )
    shutil.rmtree(folder)


def make_tree(name: str, shared: Path, folder: Path) -> None:
    requirements, _, sources = name.partition(" x ")
    if sources:
        make_generated(shared, Size(int(requirements), int(sources)), folder)
    else:
        shutil.copytree(shared / "golden" / name / "project", folder, symlinks=True)
        _configure(folder)
