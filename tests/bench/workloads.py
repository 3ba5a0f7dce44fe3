"""What is measured: the rows of the table."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import NamedTuple

from duvet.cli import COMMANDS
from tests.bench.budgets import ASKED, EXTRACT, PROJECTS, QUESTIONS, START, Budget, Project, State
from tests.bench.measure import nothing
from tests.bench.trees import PAGE_CONFIG, Edit, Size, forget, make_generated, make_golden

RFC = "rfc8446.txt"


class Workload(NamedTuple):
    """One row of the table: a command and the folder it runs in."""

    name: str
    budget: Budget
    arguments: tuple[str, ...]
    folder: Path
    prepare: Callable[[], None] = nothing
    """Called before each run, and not measured."""
    settles: bool = False
    """Whether it is measured once the files that it reads are old enough to be trusted without being read."""
    has_peers: bool = False
    """Whether another duvet can do the same."""


def workloads(shared: Path | None, scratch: Path, only: str, huge: bool) -> Iterator[Workload]:
    """The rows whose names match, each with its tree made when its turn comes."""
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
    """What the row of a question is called."""
    return f"{ASKED}, {' '.join(arguments)}"


def _questions(shared: Path, scratch: Path, only: str) -> Iterator[Workload]:
    names = {asked: question_name(asked) for asked in QUESTIONS if asked[0] in COMMANDS}
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
            _preparation(project, state, folder),
            settles=not cold,
            has_peers=cold,
        )
    shutil.rmtree(folder)


def _preparation(project: Project, state: State, folder: Path) -> Callable[[], None]:
    match state:
        case State.COLD | State.PAGE:
            return partial(forget, folder)
        case State.EDITED:
            return Edit(folder / project.source)
        case State.SAME:
            return nothing


def make_tree(name: str, shared: Path, folder: Path) -> None:
    """The tree of a project with that name."""
    requirements, _, sources = name.partition(" x ")
    if sources:
        make_generated(shared, Size(int(requirements), int(sources)), folder)
    else:
        make_golden(shared, name, folder)
