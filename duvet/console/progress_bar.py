"""Draws progress bars with rich."""

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

BAR_DELAY = 0.5  # Seconds after which a step gets a bar.
_BAR_WIDTH = 20
_COUNT = "{task.completed}/{task.total}"


class DownloadBar(Downloads):
    def __init__(self, lines: ProgressLines, count: int) -> None:
        super().__init__(lines)
        self._lines = lines
        self._step, self._started = lines.started, time.perf_counter()
        self._sizes: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._finished = self._succeeded = 0
        columns = BarColumn(_BAR_WIDTH), TextColumn(_COUNT), TextColumn("{task.fields[size]}"), _NamesColumn()
        self._bar = _make_bar(lines, "Downloading", *columns)
        self._task = self._bar.add_task("", total=count, size=self._format_size(), names="")

    def __enter__(self) -> None:
        self._bar.start()

    def __exit__(self, *error: object) -> None:
        self._bar.stop()
        if self._succeeded and error[:1] == (None,):
            self._lines.started = self._started
            self._lines.end(f"Downloaded {format_count(self._succeeded, 'specification')}, {self._format_size()}")
        self._lines.started = self._step

    def begin(self, url: str) -> None:
        self._names[url] = escape_cell(url.rstrip("/").rpartition("/")[2])
        self._update()

    def amount(self, url: str, size: int) -> None:
        self._sizes[url] = size
        self._update()

    def end(self, url: str) -> None:
        self._succeeded += 1
        self._finish(url)

    def fail(self, url: str) -> None:
        self._sizes.pop(url, None)
        self._finish(url)

    def _finish(self, url: str) -> None:
        self._finished += 1
        del self._names[url]
        self._update()

    def _update(self) -> None:
        names = ", ".join(self._names.values())
        self._bar.update(self._task, completed=self._finished, size=self._format_size(), names=names)

    def _format_size(self) -> str:
        return decimal(sum(self._sizes.values()))


class CountedBar(CountedStep):
    def __init__(self, lines: ProgressLines, step: str, count: int, delay: float = BAR_DELAY) -> None:
        super().__init__(lines)
        self._drawn_from = time.perf_counter() + delay
        self._finished = 0
        self._is_drawn = False
        verb, _, rest = step.partition(" ")
        columns = TextColumn(rest), BarColumn(_BAR_WIDTH), TextColumn(_COUNT), TimeRemainingColumn()
        self._bar = _make_bar(lines, verb, *columns)
        self._task = self._bar.add_task("", total=count)

    def __exit__(self, *error: object) -> None:
        if self._is_drawn:
            self._bar.stop()

    def advance(self, count: int = 1) -> None:
        self._finished += count
        if not self._is_drawn and time.perf_counter() >= self._drawn_from:
            self._is_drawn = True
            self._bar.start()
        if self._is_drawn:
            self._bar.update(self._task, completed=self._finished)


def _make_bar(lines: ProgressLines, verb: str, *columns: ProgressColumn) -> Progress:
    colour = lines.settings.colour
    console = Console(
        file=cast("IO[str]", _StandardError()),
        force_terminal=True,
        color_system="standard" if colour else None,
        no_color=not colour,
    )
    return Progress(
        TextColumn(verb.rjust(LABEL_WIDTH), style="bold cyan"),
        *columns,
        console=console,
        refresh_per_second=10,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _NamesColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(task.fields["names"], no_wrap=True, overflow="ellipsis")


class _StandardError(io.TextIOBase):
    encoding = sys.stderr.encoding

    def write(self, text: str) -> int:
        print_notice(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()
