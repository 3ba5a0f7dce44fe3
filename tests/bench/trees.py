"""The trees that duvet is measured on."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CONFIG = ".duvet/config.toml"
PAGE_CONFIG = ".duvet/with-page.toml"
CITATION = re.compile(r"(?:^[ \t]*(?://|\*)[=#].*\n)+", re.MULTILINE)


class Size(NamedTuple):
    """How much a generated tree holds."""

    requirements: int
    sources: int
    citations: int = 5
    """In each source."""
    per_document: int = 100
    """Requirements in each specification."""


class Edit:
    """A source that gains or loses a citation at each call, while all its other lines move on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_text()
        first = CITATION.search(self._text)
        if first is None:
            raise ValueError(f"{path} cites nothing")
        self._citation = first[0]
        self._edits = 0

    def __call__(self) -> None:
        """One more line each time, so that no run meets a text that an earlier one has seen."""
        self._edits += 1
        citation = self._citation if self._edits % 2 else ""
        self._path.write_text(citation + "\n" * self._edits + self._text)


def forget(folder: Path) -> None:
    """Remove what duvet has kept from earlier runs."""
    shutil.rmtree(folder / ".duvet" / "cache", ignore_errors=True)


def make_golden(shared: Path, name: str, folder: Path) -> None:
    """A tree of some real project."""
    shutil.copytree(shared / "golden" / name / "project", folder, symlinks=True)
    _configure(folder)


def make_generated(shared: Path, size: Size, folder: Path) -> None:
    """A tree of that size."""
    command = [sys.executable, str(shared / "workload" / "gen.py"), str(folder), "--syntax", "duvet"]
    sizes = [f"--{name.replace('_', '-')}={value}" for name, value in size._asdict().items()]
    subprocess.run([*command, *sizes], check=True, capture_output=True)
    _configure(folder)


def _configure(folder: Path) -> None:
    """One configuration without the page, and another one with it."""
    config = (folder / CONFIG).read_text()
    (folder / CONFIG).write_text(_with_reports(config, page=False))
    (folder / PAGE_CONFIG).write_text(_with_reports(config, page=True))


def _with_reports(config: str, *, page: bool) -> str:
    """The configuration with JSON and the snapshot switched on, and the HTML page as asked."""
    switch = f"[report.html]\nenabled = {str(page).lower()}"
    config = re.sub(r"(?m)^\[report\.html\]\nenabled = true$", switch, config)
    for report in ("json", "snapshot"):
        if f"[report.{report}]" not in config:
            config += f"\n[report.{report}]\nenabled = true\n"
    return config
