"""From a place in a file to the annotations that a person there means."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.queries.catalogue import Catalogue
from duvet.queries.snippets import Text, last_line, text_of
from duvet.tree.protocol import Tree

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9})(?::\d+)?:?\Z", re.DOTALL)
_NEAR = 3


class Files(Struct, frozen=True):
    """The files of a project, for those who know what they hold by a place in them."""

    tree: Tree
    root: str
    """The folder that paths start at."""

    def has(self, path: str) -> bool:
        """Whether there is such a file."""
        return self.tree.is_file(path)

    def text(self, path: str) -> Text:
        """The text of a file, whatever it holds; nothing where it can't be read."""
        try:
            return text_of(self.tree.read(path).decode(errors="replace"))
        except DuvetError:
            return text_of("")


class Place(Struct, frozen=True):
    """A line of a file."""

    path: str
    line: int


class Stretch(Struct, frozen=True):
    """The lines of an annotation, and its number in the catalogue."""

    number: int
    first: int
    last: int


def place_of(reference: str) -> Place | None:
    """The place that is written `file:line` or `file:line:column`, the path as it is written."""
    found = _PLACE.match(reference)
    return Place(found["path"], int(found["line"])) if found else None


def plain_paths(path: str, root: str = "") -> tuple[str, ...]:
    """How the project may call a file: as it is written, as it would be elsewhere, and below its own folder."""
    ##= man/spec/show.md#references
    ##% A file MUST be found by its path with the separators of any system, by its absolute path, and percent-encoded in
    ##% the path of a resource.
    plain = [posixpath.normpath(one) for one in (path, path.replace("\\", "/"))]
    below = [one.removeprefix(f"{root.rstrip('/')}/") for one in plain] if root else []
    return tuple(dict.fromkeys([*plain, *below]))


def spellings_of_citation(id: str) -> list[str]:
    """How the project may call a citation: as it is written, and with the separators of other systems."""
    place = place_of(id)
    return [id, *(f"{path}:{place.line}" for path in plain_paths(place.path))] if place else [id]


def annotations_in(catalogue: Catalogue, paths: Sequence[str]) -> tuple[int, ...]:
    """The numbers of all annotations in a file."""
    return tuple(sorted({number for path in paths for number in catalogue.cited_in.get(path, ())}))


def stretches(catalogue: Catalogue, numbers: Iterable[int], text: Text) -> list[Stretch]:
    """The lines of the annotations of a file in its order."""
    cards = [(number, catalogue.citations[number]) for number in numbers]
    return sorted(
        (Stretch(number, card.line, last_line(text, card)) for number, card in cards), key=lambda one: one.first
    )


def covering(found: Sequence[Stretch], text: Text, line: int) -> tuple[int, ...]:
    """The numbers of the annotations whose own line that is, or else of those right above the code on it.

    Code belongs to the annotations above it as far as the next blank line or the next annotation. Annotations with
    no code between them belong to the same code.
    """
    ##= man/spec/show.md#references
    ##% A line of code MUST mean the annotations right above it, up to the next blank line or annotation.
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


def nearest(lines: Iterable[int], line: int) -> list[int]:
    """The few of these lines that are nearest to one, in order."""
    return sorted(sorted(set(lines), key=lambda one: abs(one - line))[:_NEAR])
