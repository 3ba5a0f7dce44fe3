"""The steps of a run as lines on standard error, in the layout of awslabs duvet."""

from __future__ import annotations

import time

from duvet.progress import Counted, Downloads, Progress
from duvet.reports.cells import visible
from duvet.terminal.settings import Settings, wants_bar
from duvet.terminal.streams import say

WIDTH = 12
"""The cells that the verbs of all steps end in."""


class Lines(Progress):
    """Prints each step as it begins, and its outcome with the time that it took."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.wants_notes = settings.verbose
        # Elapsed times would differ from run to run where the lines are compared.
        self.timed = "DUVET_INTERNAL_CI" not in settings.environ
        self.started = 0.0

    def begin(self, step: str) -> None:
        self.started = time.perf_counter()
        self._print(step, "36;1")

    def end(self, outcome: str) -> None:
        elapsed = _elapsed(time.perf_counter() - self.started) if self.timed else ""
        self._print(outcome, "32;1", elapsed)

    def note(self, detail: str) -> None:
        say(f"{'':{WIDTH}} {visible(detail)}\n")

    def downloads(self, count: int) -> Downloads:
        if wants_bar(self.settings):
            from duvet.terminal.bar import Bar

            return Bar(self, count)
        from duvet.terminal.downloads import DownloadLines

        return DownloadLines(self)

    def counted(self, step: str, count: int) -> Counted:
        self.begin(step)
        if wants_bar(self.settings):
            from duvet.terminal.counting import CountedBar

            return CountedBar(self, step, count)
        return Counted(self)

    def _print(self, text: str, code: str, elapsed: str | None = None) -> None:
        if self.settings.quiet:
            return
        verb, _, rest = text.partition(" ")
        verb = verb.rjust(WIDTH)
        if self.settings.colour:
            verb = f"\x1b[{code}m{verb}\x1b[0m"
            elapsed = f"\x1b[2m{elapsed}\x1b[0m" if elapsed else elapsed
        tail = "" if elapsed is None else f" {elapsed}"
        ##= man/spec/trace.md#diagnostics
        ##% Text from files MUST NOT drive the terminal.
        say(f"{verb} {visible(rest)}{tail}\n")


class Quietly(Lines):
    """Prints downloads alone: nobody who asks a question wants to hear how it is answered."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.wants_notes = False

    def begin(self, step: str) -> None:
        if step.startswith("Downloading"):
            super().begin(step)

    def end(self, outcome: str) -> None:
        if outcome.startswith("Downloaded"):
            super().end(outcome)


def _elapsed(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f}s"
    for factor, unit in ((1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return f"{int(seconds * factor)}{unit}"
    return f"{int(seconds * 1e9)}ns"
