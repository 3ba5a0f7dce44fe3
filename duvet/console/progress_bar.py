"""Progress bars, drawn with rich."""

from __future__ import annotations

import io
import sys
import time
from contextlib import suppress
from typing import IO, cast

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from duvet.console.progress import LABEL_WIDTH, ProgressLines
from duvet.console.streams import print_notice
from duvet.progress import CountedStep, Downloads
from duvet.reports.cells import escape_cell
from duvet.text import format_count

_CELLS = 20
_A_SECOND = 10


class DownloadBar(Downloads):
    """Shows how many downloads are over, what they come to, and which are under way."""

    def __init__(self, lines: ProgressLines, count: int) -> None:
        super().__init__(lines)
        self.lines = lines
        self.step, self.started = lines.started, time.perf_counter()
        self.sizes: dict[str, int] = {}
        self.under_way: dict[str, str] = {}
        self.over = self.kept = 0
        self.drawn = Progress(
            TextColumn("Downloading".rjust(LABEL_WIDTH), style="bold cyan"),
            BarColumn(_CELLS),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("{task.fields[size]}"),
            _Names(),
            console=make_console(lines),
            refresh_per_second=_A_SECOND,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self.task = self.drawn.add_task("", total=count, size=self._size(), names="")

    def __enter__(self) -> None:
        self.drawn.start()

    def __exit__(self, *error: object) -> None:
        self.drawn.stop()
        if self.kept and error[:1] == (None,):
            self.lines.started = self.started
            self.lines.end(f"Downloaded {format_count(self.kept, 'specification')}, {self._size()}")
        self.lines.started = self.step

    def begin(self, url: str) -> None:
        self.under_way[url] = escape_cell(url.rstrip("/").rpartition("/")[2])
        self._update()

    def amount(self, url: str, size: int) -> None:
        self.sizes[url] = size
        self._update()

    def end(self, url: str) -> None:
        self.kept += 1
        self._leave(url)

    def fail(self, url: str) -> None:
        self.sizes.pop(url, None)
        self._leave(url)

    def _leave(self, url: str) -> None:
        self.over += 1
        del self.under_way[url]
        self._update()

    def _update(self) -> None:
        names = ", ".join(self.under_way.values())
        self.drawn.update(self.task, completed=self.over, size=self._size(), names=names)

    def _size(self) -> str:
        return decimal(sum(self.sizes.values()))


def make_console(lines: ProgressLines) -> Console:
    """Standard error, to draw on."""
    colour = lines.settings.colour
    return Console(
        file=cast("IO[str]", _StandardError()),
        force_terminal=True,
        color_system="standard" if colour else None,
        no_color=not colour,
    )


class _Names(ProgressColumn):
    """What is under way, cut where the line ends: of all columns this one gives way first."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["names"], no_wrap=True, overflow="ellipsis")


class _StandardError(io.TextIOBase):
    """Standard error for those who know nothing of readers that have gone."""

    encoding = sys.stderr.encoding

    def write(self, text: str) -> int:
        print_notice(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


BAR_DELAY = 0.5
"""Seconds after which a step takes long enough to be watched."""


class CountedBar(CountedStep):
    """Shows how many parts are over."""

    def __init__(self, lines: ProgressLines, step: str, count: int, soon: float = BAR_DELAY) -> None:
        super().__init__(lines)
        verb, _, rest = step.partition(" ")
        self._from = time.perf_counter() + soon
        self._over = 0
        self._is_drawn = False
        self._drawn = Progress(
            TextColumn(verb.rjust(LABEL_WIDTH), style="bold cyan"),
            TextColumn(rest),
            BarColumn(_CELLS),
            TextColumn("{task.completed}/{task.total}"),
            TimeRemainingColumn(),
            console=make_console(lines),
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
