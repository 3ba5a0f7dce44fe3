"""The progress of a run; the console decides how to show it."""

from __future__ import annotations

from typing import Self

from duvet.text import format_count


class Progress:
    """Receives the steps of a run; this base class ignores them."""

    wants_notes = False  # False if notes are ignored, so that callers need not format them.

    counts_like_upstream = True  # Whether counts are written as awslabs duvet writes them: `1 sources`.

    def count(self, number: int, noun: str) -> str:
        return f"{number} {noun}s" if self.counts_like_upstream else format_count(number, noun)

    def begin(self, step: str) -> None:
        """Begin a step, such as `Scanning sources`."""

    def end(self, outcome: str) -> None:
        """End the step with its outcome, such as `Scanned 3 sources`."""

    def note(self, path: str, detail: str) -> None:
        """Report a detail about a file, for verbose output."""

    def downloads(self, count: int) -> Downloads:
        return Downloads(self)

    def counted(self, step: str, count: int) -> CountedStep:
        self.begin(step)
        return CountedStep(self)


class CountedStep:
    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None: ...

    def advance(self, count: int = 1) -> None: ...


class Downloads:
    """The progress of parallel downloads; this base class reports each as a step."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def begin(self, url: str) -> None:
        self.progress.begin(f"Downloading {url}")

    def amount(self, url: str, size: int) -> None: ...

    def end(self, url: str) -> None:
        self.progress.end(f"Downloaded {url}")

    def fail(self, url: str) -> None: ...
