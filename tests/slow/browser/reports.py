import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.cli.command import Done, run
from tests.sample_project import written
from tests.slow.test_conformance import copy_with_links

PAGE, JSON = "page.html", "report.json"


class Report:
    def __init__(self, command: str, folder: Path) -> None:
        self.folder = folder
        self.done: Done = run(command, folder, "report", "--html", PAGE, "--json", JSON)
        assert (folder / PAGE).exists(), self.done.err

    @property
    def url(self) -> str:
        return (self.folder / PAGE).as_uri()

    @cached_property
    def html(self) -> str:
        return (self.folder / PAGE).read_bytes().decode()

    @cached_property
    def json(self) -> dict[str, Any]:
        return dict(json.loads((self.folder / JSON).read_text()))


class Reports:
    def __init__(self, command: str, scratch: Path) -> None:
        self._command, self._scratch = command, scratch
        self._made: dict[str, Report] = {}

    def _report(self, name: str, write: Callable[[Path], object]) -> Report:
        if name not in self._made:
            write(self._scratch / name)
            self._made[name] = Report(self._command, self._scratch / name)
        return self._made[name]

    def of(self, name: str, files: Mapping[str, str | bytes]) -> Report:
        data = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        return self._report(name, lambda folder: written(folder, data))

    def golden(self, shared: Path, name: str) -> Report:
        return self._report(name, lambda folder: copy_with_links(shared / "golden" / name / "project", folder))


SMALL_CONFIG = """\
'$schema' = "duvet-cli/config/v1"
source = [{ language = "rust" }]
specification = [{ source = "tea.md" }]
"""
TEA = "# Tea\n\n## Pot\n\nThe pot MUST be warm.\n\nThe lid SHOULD be shut.\n"
CITED = "//= tea.md#pot\n//# The pot MUST be warm.\n"
PASSING = {
    ".duvet/config.toml": SMALL_CONFIG,
    "tea.md": TEA,
    "src/a.rs": CITED + CITED.replace("//#", "//= type=test\n//#"),
}
FAILING = PASSING | {"src/b.rs": "//= tea.md#pot\n//# The pot MUST be cold.\n"}
NO_REQUIREMENTS = PASSING | {"tea.md": "# Tea\n\n## Pot\n\nPots are warm.\n", "src/a.rs": "fn brew() {}\n"}
NO_SPECIFICATION = {".duvet/config.toml": "'$schema' = \"duvet-cli/config/v1\"\n", "src/a.rs": "fn brew() {}\n"}
