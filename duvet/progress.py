"""The library's progress; the console decides whether and how to show it."""

from __future__ import annotations

from typing import Self

from duvet.text import format_count


class Progress:
    """Receives each step of a run; this base class ignores them."""

    wants_notes = False  # False if notes are ignored, so that callers need not format them.

    counts_like_upstream = True  # Whether counts are written as awslabs duvet writes them: `1 sources`.

    def count(self, number: int, noun: str) -> str:
        """Return a number of things, for an outcome."""
        return f"{number} {noun}s" if self.counts_like_upstream else format_count(number, noun)

    def begin(self, step: str) -> None:
        """Begin a step: `Scanning sources`."""

    def end(self, outcome: str) -> None:
        """End the current step or download: `Scanned 3 sources`."""

    def note(self, path: str, detail: str) -> None:
        """Report a detail about a file for verbose output."""

    def downloads(self, count: int) -> Downloads:
        """Begin this many downloads."""
        return Downloads(self)

    def counted(self, step: str, count: int) -> CountedStep:
        """Begin a step of this many parts: `Reading files`."""
        self.begin(step)
        return CountedStep(self)


class CountedStep:
    """The progress of a step of many parts; this base class ignores it."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Stop showing progress, whether the step is complete or was interrupted."""

    def advance(self, count: int = 1) -> None:
        """Count parts as complete."""


class Downloads:
    """The progress of parallel downloads; this base class reports each as a step."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __enter__(self) -> None:
        """Show the downloads."""

    def __exit__(self, *error: object) -> None:
        """Stop showing downloads, whether all are complete or the run was interrupted."""

    def begin(self, url: str) -> None:
        self.progress.begin(f"Downloading {url}")

    def amount(self, url: str, size: int) -> None:
        """Report the number of bytes received so far."""

    def end(self, url: str) -> None:
        self.progress.end(f"Downloaded {url}")

    def fail(self, url: str) -> None:
        """Report that a download failed; its problem contains the reason."""
