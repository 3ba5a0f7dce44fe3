"""Prints progress as lines on standard error."""

from __future__ import annotations

import time

from duvet.console.command import TerminalSettings, show_path, wants_bar
from duvet.console.streams import print_notice
from duvet.progress import CountedStep, Downloads, Progress
from duvet.reports.cells import escape_cell

LABEL_WIDTH = 12  # The width of the column with the verbs, which are aligned to the right.


class ProgressLines(Progress):
    def __init__(self, settings: TerminalSettings, slow: float | None = None) -> None:
        self.settings = settings
        self.wants_notes = settings.verbose and slow is None
        # The tests of awslabs duvet compare these lines, so times are left out there.
        self.timed = "DUVET_INTERNAL_CI" not in settings.environ
        self.slow = slow
        self.started = 0.0

    def begin(self, step: str) -> None:
        self.started = time.perf_counter()
        if self.slow is None or step.startswith("Downloading"):
            self._print(step, "36;1")

    def end(self, outcome: str) -> None:
        seconds = time.perf_counter() - self.started
        if self.slow is None or seconds >= self.slow or outcome.startswith("Downloaded"):
            self._print(outcome, "32;1", format_seconds(seconds) if self.timed else "")

    def note(self, path: str, detail: str) -> None:
        shown = escape_cell(show_path(path, self.settings.folder))
        print_notice(f"{'':{LABEL_WIDTH}} {shown}: {escape_cell(detail)}\n")

    def downloads(self, count: int) -> Downloads:
        if wants_bar(self.settings):
            from duvet.console.progress_bar import DownloadBar

            return DownloadBar(self, count)
        return DownloadLines(self)

    def counted(self, step: str, count: int) -> CountedStep:
        self.begin(step)
        if wants_bar(self.settings):
            from duvet.console.progress_bar import CountedBar

            return CountedBar(self, step, count)
        return CountedStep(self)

    def _print(self, text: str, code: str, elapsed: str | None = None) -> None:
        if self.settings.quiet:
            return
        verb, _, rest = text.partition(" ")
        verb = verb.rjust(LABEL_WIDTH)
        if self.settings.colour:
            verb = f"\x1b[{code}m{verb}\x1b[0m"
            elapsed = f"\x1b[2m{elapsed}\x1b[0m" if elapsed else elapsed
        tail = "" if elapsed is None else f" {elapsed}"
        print_notice(f"{verb} {escape_cell(rest)}{tail}\n")


def format_seconds(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f}s"
    factor, unit = (1e3, "ms") if seconds >= 1e-3 else (1e6, "µs") if seconds >= 1e-6 else (1e9, "ns")
    return f"{int(seconds * factor)}{unit}"


class DownloadLines(Downloads):
    def __init__(self, lines: ProgressLines) -> None:
        super().__init__(lines)
        self._lines = lines
        self._step = lines.started
        self._started: dict[str, float] = {}

    def __exit__(self, *error: object) -> None:
        self._lines.started = self._step

    def begin(self, url: str) -> None:
        super().begin(url)
        self._started[url] = self._lines.started

    def end(self, url: str) -> None:
        self._lines.started = self._started[url]
        super().end(url)
