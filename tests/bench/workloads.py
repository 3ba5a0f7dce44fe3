"""What is measured, and what it may cost."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple


class Budget(NamedTuple):
    """What a command is meant to cost and what it may cost, as ratios to the calibration."""

    goal: float
    gate: float
    memory: float = 0
    """The most MB that may be resident; 0 is any."""


class Workload(NamedTuple):
    """One row of the table: a command and the folder it runs in."""

    name: str
    budget: Budget
    arguments: tuple[str, ...]
    folder: Path


class Project(NamedTuple):
    """A tree with its budgets without and with the HTML page; a size N x M is a generated tree."""

    name: str
    bare: Budget
    page: Budget
    huge: bool = False


PROJECTS = (
    Project("h3-704b37a", Budget(0.22, 0.30, 60), Budget(0.30, 0.45, 60)),
    Project("s2n-tls-132053b", Budget(0.32, 0.42, 70), Budget(0.45, 0.65, 70)),
    Project("hickory-dns-half", Budget(0.35, 0.45, 70), Budget(0.50, 0.70, 70)),
    Project("200 x 200", Budget(0.20, 0.28, 60), Budget(0.30, 0.45, 60)),
    Project("2000 x 2000", Budget(0.70, 1.0, 90), Budget(1.1, 1.5, 90)),
    Project("10000 x 2000", Budget(1.9, 2.6, 160), Budget(3.0, 4.0, 160)),
    Project("10000 x 20000", Budget(4.5, 6.0, 475), Budget(7.0, 9.0, 475), huge=True),
)
START = Budget(0.11, 0.14)
EXTRACT = Budget(0.20, 0.28)
RFC = "rfc8446.txt"
PAGE = ".duvet/with-page.toml"


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


def _reports(project: Project, shared: Path, scratch: Path, only: str) -> Iterator[Workload]:
    bare, page = project.name, f"{project.name}, HTML"
    wanted = [name for name in (bare, page) if fnmatch(name, only)]
    if not wanted:
        return
    folder = scratch / project.name.replace(" ", "")
    _make_tree(project.name, shared, folder)
    config = (folder / ".duvet" / "config.toml").read_text()
    (folder / ".duvet" / "config.toml").write_text(_with_reports(config, page=False))
    (folder / PAGE).write_text(_with_reports(config, page=True))
    if bare in wanted:
        yield Workload(bare, project.bare, ("report",), folder)
    if page in wanted:
        yield Workload(page, project.page, ("report", "--config-path", PAGE), folder)
    shutil.rmtree(folder)


def _make_tree(name: str, shared: Path, folder: Path) -> None:
    requirements, _, sources = name.partition(" x ")
    if not sources:
        shutil.copytree(shared / "golden" / name / "project", folder, symlinks=True)
        return
    command = [sys.executable, str(shared / "workload" / "gen.py"), str(folder), "--syntax", "duvet"]
    sizes = ["--requirements", requirements, "--sources", sources, "--citations", "5"]
    subprocess.run([*command, *sizes], check=True, capture_output=True)


def _with_reports(config: str, *, page: bool) -> str:
    """The configuration with JSON and the snapshot switched on, and the HTML page as asked."""
    switch = f"[report.html]\nenabled = {str(page).lower()}"
    config = re.sub(r"(?m)^\[report\.html\]\nenabled = true$", switch, config)
    for report in ("json", "snapshot"):
        if f"[report.{report}]" not in config:
            config += f"\n[report.{report}]\nenabled = true\n"
    return config
