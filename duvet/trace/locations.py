"""Lines of files: annotations and the code around them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.text import find_line_index, line_starts, trim
from duvet.tree.files import Tree

if TYPE_CHECKING:
    from duvet.trace.catalogue import Catalogue

_LONG = ("'''", '"""')


class SourceText(Struct, frozen=True):
    lines: tuple[str, ...]
    starts: tuple[int, ...]

    def is_blank(self, number: int) -> bool:
        """True if the line is blank or outside the file."""
        return not 0 < number <= len(self.lines) or not trim(self.lines[number - 1])

    def has_code(self, number: int) -> bool:
        """True if the line has letters or digits, and not only comment signs."""
        return any(char.isalnum() for char in self.lines[number - 1])


def split_source_text(written: str) -> SourceText:
    """The lines of a text; a final line end begins no further line."""
    lines = written.split("\n")
    if lines[-1] == "":
        lines.pop()
    return SourceText(tuple(line.removesuffix("\r") for line in lines), tuple(line_starts(written)))


class WrittenAnnotation(Protocol):
    @property
    def line(self) -> int:
        """Its first line."""

    @property
    def span(self) -> tuple[int, int]:
        """Its characters in the file; in a requirement file those of the head of its table."""


def find_last_line(text: SourceText, one: WrittenAnnotation) -> int:
    _, end = one.span
    last = one.line
    if text.is_blank(last) or not text.lines[last - 1].startswith("[["):
        return max(last, find_line_index(text.starts, end - 1) + 1 if end else 0)
    # An entry of a requirement file ends at a blank line or the next table, except inside a string.
    is_within = False
    while last < len(text.lines) and (is_within or not (text.is_blank(last + 1) or text.lines[last].startswith("["))):
        is_within ^= sum(map(text.lines[last].count, _LONG)) % 2 == 1
        last += 1
    return last


class Snippet(Struct, frozen=True):
    """The text of an annotation, and the lines around it."""

    comment: str
    last: int
    start: int
    """The number of the first line around it."""
    lines: tuple[str, ...]


def make_snippet(text: SourceText, one: WrittenAnnotation, around: int) -> Snippet:
    last = find_last_line(text, one)
    start = max(one.line - around, 1)
    return Snippet(read_comment(text, one), last, start, text.lines[start - 1 : last + around])


def read_comment(text: SourceText, one: WrittenAnnotation) -> str:
    """The lines of the annotation without their indentation."""
    return "\n".join(trim(line) for line in text.lines[one.line - 1 : find_last_line(text, one)])


_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?::\d+)?:?\Z", re.DOTALL)
_NEAR = 3


class ProjectFiles(Struct, frozen=True):
    tree: Tree
    root: str
    """The folder that paths start at."""

    def has(self, path: str) -> bool:
        return self.tree.is_file(path)

    def text(self, path: str) -> SourceText:
        """The text of a file; empty if it can't be read."""
        try:
            return split_source_text(self.tree.read(path).decode(errors="replace"))
        except DuvetError:
            return split_source_text("")


class FileLine(Struct, frozen=True):
    path: str
    line: int


class AnnotationLines(Struct, frozen=True):
    """The lines of an annotation, and its index in the catalogue."""

    number: int
    first: int
    last: int


def parse_file_line(reference: str) -> FileLine | None:
    """Parse `file:line` or `file:line:column`."""
    found = _PLACE.match(reference)
    return FileLine(found["path"], int(found["line"])) if found else None


def list_possible_paths(path: str, root: str = "") -> tuple[str, ...]:
    """The names that the project may use for a file: as written, with other separators, and relative to its root."""
    ##= man/spec/show.md#references
    ##% duvet MUST find a file by its relative or absolute path, with the separators of any system.
    plain = [posixpath.normpath(one) for one in (path, path.replace("\\", "/"))]
    below = [one.removeprefix(f"{root.rstrip('/')}/") for one in plain] if root else []
    return tuple(dict.fromkeys([*plain, *below]))


def list_citation_spellings(id: str) -> list[str]:
    """The same for the `file:line` of a citation."""
    place = parse_file_line(id)
    return [id, *(f"{path}:{place.line}" for path in list_possible_paths(place.path))] if place else [id]


def find_annotations_in_file(catalogue: Catalogue, paths: Sequence[str]) -> tuple[int, ...]:
    return tuple(sorted({number for path in paths for number in catalogue.cited_in.get(path, ())}))


def find_annotation_lines(catalogue: Catalogue, numbers: Iterable[int], text: SourceText) -> list[AnnotationLines]:
    cards = [(number, catalogue.citations[number]) for number in numbers]
    return sorted(
        (AnnotationLines(number, card.line, find_last_line(text, card)) for number, card in cards),
        key=lambda one: one.first,
    )


def find_covering_annotations(found: Sequence[AnnotationLines], text: SourceText, line: int) -> tuple[int, ...]:
    """The annotations on a line, or else those right above the code on it.

    Code belongs to the annotations above it up to the next blank line or annotation. Annotations with no code between
    them belong to the same code.
    """
    ##= man/spec/show.md#references
    ##% duvet MUST read a line of code as the annotations right above it, and a line of a specification as the
    ##% requirement that begins there.
    own = tuple(one.number for one in found if one.first <= line <= one.last)
    if own:
        return own
    reached: list[int] = []
    below = line + 1
    for one in sorted(found, key=lambda one: one.last, reverse=True):
        if one.last > line:
            continue
        between = range(one.last + 1, below)
        if any(map(text.is_blank, between)) or (reached and any(map(text.has_code, between))):
            break
        reached.append(one.number)
        below = one.first
    return tuple(reversed(reached))


def find_nearest_lines(lines: Iterable[int], line: int) -> list[int]:
    return sorted(sorted(set(lines), key=lambda one: abs(one - line))[:_NEAR])
