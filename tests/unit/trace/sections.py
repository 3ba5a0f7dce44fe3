"""Sections and annotations made up for tests."""

from __future__ import annotations

from duvet.model import Annotation, Kind, Level, Section
from duvet.progress import Progress
from duvet.specs.library import Library
from duvet.trace.build import build_trace
from duvet.trace.records import Trace
from duvet.tree.files import MemoryTree

HEADING = "# T\n"


def section_of(text: str, id: str = "t") -> Section:
    """A section with this text below the title of a file."""
    lines = tuple(text.split("\n"))
    starts = [len(HEADING)]
    for line in lines[:-1]:
        starts.append(starts[-1] + len(line.encode()) + 1)
    return Section(id, "T", (2, 3), "T", lines, tuple(starts))


def file_of(text: str) -> bytes:
    """The file that such a section stands in."""
    return f"{HEADING}{text}".encode()


def citing(
    quote: str, kind: Kind = Kind.CITATION, line: int = 1, level: Level = Level.AUTO, reason: str = ""
) -> Annotation:
    """An annotation of that section."""
    return Annotation("a.rs", line, kind, "t.md#t", quote, level, reason=reason)


def trace_of(text: str, *annotations: Annotation) -> Trace:
    """The trace of these annotations of a Markdown file with that section."""
    tree = MemoryTree({"t.md": file_of(text)})
    return build_trace(annotations, Library(tree, "d"), tree, "", (), Progress())
