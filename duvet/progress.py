"""How the library tells what it is doing; the terminal decides whether and how to show it."""

from __future__ import annotations

from typing import Self


class Progress:
    """Hears of each step; this one keeps it to itself."""

    wants_notes = False
    """Whether notes are listened to, and so worth their words."""

    def begin(self, step: str) -> None:
        """A step begins: `Scanning sources`."""

    def end(self, outcome: str) -> None:
        """A step is over: `Scanned 3 sources`. It is the one that began last, unless it is a download."""

    def note(self, detail: str) -> None:
        """Something that only those want to know who ask for more."""

    def downloads(self, count: int) -> Downloads:
        """So many downloads are about to begin; who hears of them."""
        return Downloads(self)

    def counted(self, step: str, count: int) -> CountedStep:
        """A step of so many parts begins: `Reading files`."""
        self.begin(step)
        return CountedStep(self)


class CountedStep:
    """Hears how far a step has come; this one keeps it to itself."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __enter__(self) -> Self:
        """The first part is about to begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """No part is under way any more, be it that the step is over or that the run is."""

    def advance(self, count: int = 1) -> None:
        """So many parts more are over."""


class Downloads:
    """Hears of downloads, of which several are under way at a time; this one makes a step of each."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __enter__(self) -> None:
        """The first one is about to begin."""

    def __exit__(self, *error: object) -> None:
        """Nothing is under way any more, be it that all are over or that the run is."""

    def begin(self, url: str) -> None:
        """A download begins."""
        self.progress.begin(f"Downloading {url}")

    def amount(self, url: str, size: int) -> None:
        """So many bytes of it have come."""

    def end(self, url: str) -> None:
        """Its text is where it should be."""
        self.progress.end(f"Downloaded {url}")

    def fail(self, url: str) -> None:
        """There is no text; why is told elsewhere."""
