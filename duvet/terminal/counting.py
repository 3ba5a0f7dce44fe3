"""A step of many parts as one line that is drawn again and again, and is gone in the end; imported only to draw it."""

from __future__ import annotations

import time

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from duvet.progress import Counted
from duvet.terminal.bar import console_of
from duvet.terminal.progress import WIDTH, Lines

_CELLS = 20
_A_SECOND = 10
SOON = 0.5
"""Seconds after which a step takes long enough to be watched."""


class CountedBar(Counted):
    """Shows how many parts are over."""

    def __init__(self, lines: Lines, step: str, count: int, soon: float = SOON) -> None:
        super().__init__(lines)
        verb, _, rest = step.partition(" ")
        self._from = time.perf_counter() + soon
        self._over = 0
        self._is_drawn = False
        self._drawn = Progress(
            TextColumn(verb.rjust(WIDTH), style="bold cyan"),
            TextColumn(rest),
            BarColumn(_CELLS),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            console=console_of(lines),
            refresh_per_second=_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._drawn.add_task("", total=count)

    def __exit__(self, *error: object) -> None:
        if self._is_drawn:
            self._drawn.stop()

    def advance(self, count: int = 1) -> None:
        self._over += count
        if not self._is_drawn and time.perf_counter() >= self._from:
            self._is_drawn = True
            self._drawn.start()
        if self._is_drawn:
            self._drawn.update(self._task, completed=self._over)
