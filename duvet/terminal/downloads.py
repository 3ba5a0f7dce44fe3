"""Downloads as lines: one as each begins, and one with the time that it took as it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from duvet.progress import Downloads

if TYPE_CHECKING:
    from duvet.terminal.progress import Lines


class DownloadLines(Downloads):
    """Prints each download with a time of its own: they are under way side by side, within a step."""

    def __init__(self, lines: Lines) -> None:
        super().__init__(lines)
        self.lines = lines
        self.step = lines.started
        self.started: dict[str, float] = {}

    def __exit__(self, *error: object) -> None:
        self.lines.started = self.step

    def begin(self, url: str) -> None:
        super().begin(url)
        self.started[url] = self.lines.started

    def end(self, url: str) -> None:
        self.lines.started = self.started[url]
        super().end(url)
