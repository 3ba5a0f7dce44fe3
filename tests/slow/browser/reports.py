"""Pages as the command writes them, each made once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.bench.workloads import CONFIG, Size, make_generated
from tests.cli.running import Done, run
from tests.made import written
from tests.slow.test_conformance import copy_with_links

SCHEMA = re.compile(r"(?m)^'\$schema' = .*$")
PAGE, JSON = "page.html", "report.json"


def set_lines(config: Path, lines: int) -> None:
    """Have so many lines of code shown, which only our own configuration can ask for."""
    text = SCHEMA.sub("'$schema' = \"duvet-cli/config/v1\"", config.read_text())
    config.write_text(text.replace("[report.html]", f"[report.html]\nsnippet-lines = {lines}"))


class Report:
    """What one run of the command has written and said."""

    def __init__(self, command: str, folder: Path, *args: str, **environ: str) -> None:
        self.folder = folder
        self.done: Done = run(command, folder, "report", "--html", PAGE, "--json", JSON, *args, environ=environ)
        assert (folder / PAGE).exists(), self.done.err

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        return (self.folder / PAGE).as_uri()

    @cached_property
    def html(self) -> str:
        """The page as it was written."""
        return (self.folder / PAGE).read_bytes().decode()

    @cached_property
    def json(self) -> dict[str, Any]:
        """What the same run says to programs."""
        read: dict[str, Any] = json.loads((self.folder / JSON).read_text())
        return read


class Reports:
    """The reports of a session, by the names of their projects."""

    def __init__(self, command: str, scratch: Path) -> None:
        self._command, self._scratch = command, scratch
        self._made: dict[str, Report] = {}

    def of(self, name: str, files: Mapping[str, str | bytes], *args: str, **environ: str) -> Report:
        """The report on a project of these files."""
        if name not in self._made:
            data = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
            self._made[name] = self._report(written(self._scratch / name, data), *args, **environ)
        return self._made[name]

    def golden(self, shared: Path, name: str) -> Report:
        """The report on a real project."""
        if name not in self._made:
            folder = copy_with_links(shared / "golden" / name / "project", self._scratch / name)
            self._made[name] = self._report(folder)
        return self._made[name]

    def generated(
        self, shared: Path, requirements: int, sources: int, citations: int = 5, lines: int | None = None
    ) -> Report:
        """The report on a generated project, with so many lines of code below each reference."""
        name = f"{requirements}-{sources}-{citations}-{lines}"
        if name not in self._made:
            folder = self._scratch / name
            make_generated(shared, Size(requirements, sources, citations), folder)
            if lines is not None:
                set_lines(folder / CONFIG, lines)
            self._made[name] = self._report(folder)
        return self._made[name]

    def _report(self, folder: Path, *args: str, **environ: str) -> Report:
        return Report(self._command, folder, *args, **environ)
