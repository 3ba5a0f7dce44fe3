"""The files that a run of `duvet report` writes, in upstream's order."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import BinaryIO

from duvet.model import Problem
from duvet.project import Project
from duvet.terminal.outputs import is_poured, rendered
from duvet.terminal.wishes import Wishes
from duvet.trace.finished import Finished

Files = Iterator[tuple[str, Callable[[], bytes]]]
"""Names, and what makes the bytes when their turn has come."""
_Render = Callable[[Finished, BinaryIO], None]


def all_files(
    project: Project,
    wishes: Wishes,
    finished: Finished,
    problems: tuple[Problem, ...],
    snapshot: bytes,
    *,
    keeps_snapshot: bool,
) -> Files:
    """Every report that is wished for or configured; the snapshot is not kept where it was checked instead."""
    config = project.config
    configured = config.report.json.path if config and config.report.json.enabled else None
    yield from _copies((wishes.json, configured, _internal(project, "JSON")), _json_v1, finished)
    yield from _copies((wishes.json_v2, _internal(project, "JSON_V2")), _json_v2, finished)
    yield from pages(project, wishes, finished, problems, snapshot)
    if wishes.lcov is not None:
        yield from _coverage_files(wishes.lcov, wishes, finished)
    if keeps_snapshot:
        yield from _snapshots(project, snapshot)


# A format is imported where it is wanted.
def _json_v1(finished: Finished, out: BinaryIO) -> None:
    from duvet.reports import json_v1

    json_v1.render(finished, out)


def _json_v2(finished: Finished, out: BinaryIO) -> None:
    from duvet.reports import json_v2

    json_v2.render(finished, out)


def _coverage_files(folder: str, wishes: Wishes, finished: Finished) -> Files:
    from duvet.reports import lcov

    for name, data in lcov.render(finished, wishes.require_citations.everything, wishes.require_tests.everything):
        yield os.path.join(folder, name), partial(bytes, data)


def pages(
    project: Project, wishes: Wishes, finished: Finished, problems: tuple[Problem, ...], snapshot: bytes | None
) -> Files:
    """The page, which is written also when something is wrong; then there is no snapshot."""
    wanted = (*_page_paths(project, wishes), _internal(project, "HTML"))
    if any(path is not None for path in wanted):
        yield from _copies(wanted, partial(_page, project, problems, snapshot), finished)


def _page_paths(project: Project, wishes: Wishes) -> tuple[str | None, str | None]:
    config = project.config
    return wishes.html, config.report.html.path if config and config.report.html.enabled else None


def page_path(project: Project, wishes: Wishes) -> str:
    """The file that holds the page after the run; nothing where there is none."""
    return next((path for path in _page_paths(project, wishes) if path is not None and not is_poured(path)), "")


def _page(
    project: Project, problems: tuple[Problem, ...], snapshot: bytes | None, finished: Finished, out: BinaryIO
) -> None:
    from duvet.reports import html
    from duvet.terminal.page import page_of

    html.render(page_of(project, finished, problems, snapshot), out)


def _copies(paths: tuple[str | None, ...], render: _Render, finished: Finished) -> Files:
    """One rendering under each of the names that are given."""
    make = cache(partial(rendered, partial(render, finished)))
    yield from ((path, make) for path in dict.fromkeys(paths) if path is not None)


def _internal(project: Project, kind: str) -> str | None:
    """Where awslabs duvet's own tests want a further copy."""
    return project.environ.get(f"DUVET_INTERNAL_CI_{kind}") or None


def snapshot_path(project: Project) -> str | None:
    """Where the snapshot is kept, if the configuration wants one."""
    config = project.config
    return config.report.snapshot.path if config and config.report.snapshot.enabled else None


def _snapshots(project: Project, snapshot: bytes) -> Files:
    for path in (snapshot_path(project), _internal(project, "SNAPSHOT")):
        if path is not None:
            yield path, partial(bytes, snapshot)
