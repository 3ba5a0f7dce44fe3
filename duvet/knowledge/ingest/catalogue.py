"""The subsystems that a project lists in a file of its own."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from duvet import rules
from duvet.config.at import At
from duvet.config.check import checked, in_order
from duvet.config.documents.document import Document, DocumentError
from duvet.config.documents.reading import read_document
from duvet.config.read import as_table
from duvet.knowledge.ingest.catalogue_faults import faults
from duvet.model import Place, Problem, ProblemsError
from duvet.sources.patterns import Matches, any_of, compile_pattern
from duvet.tree.protocol import Tree

FOLDERS = ("", ".duvet/", ".metadata/", "docs/")
ENDINGS = ("yaml", "yml", "json")
CANDIDATES = tuple(f"{folder}subsystems.{ending}" for folder in FOLDERS for ending in ENDINGS)
"""What is looked for, the first one counts."""

_WHOLE = "subsystems"
_NEEDED = ("dependencies", "depends_on", "depends_on_subsystems")
_Words = str | tuple[str, ...]


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says of a subsystem."""

    description: str = ""
    criticality: str = ""
    owner: str = ""
    domain: str = ""
    tags: _Words = ()
    labels: _Words = ()
    paths: _Words = ()
    includes: _Words = ()
    dependencies: _Words = ()
    depends_on: _Words = ()
    depends_on_subsystems: _Words = ()


class _File(Struct, frozen=True):
    subsystems: dict[str, Entry] = field(default_factory=dict)


class Needed(Struct, frozen=True):
    """A subsystem that another one names, and where it does so."""

    name: str
    path: str
    place: Place


class Subsystem(Struct, frozen=True):
    """A part of the project, as the file has it."""

    name: str
    description: str = ""
    criticality: str = ""
    owner: str = ""
    domain: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    needed: tuple[Needed, ...] = ()
    """The subsystems that it depends on."""

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The names of these."""
        return tuple(one.name for one in self.needed)

    def matches(self) -> list[tuple[int, Matches]]:
        """What finds its files, each with how much of a path it says."""
        return [(len(one), any_of([compile_pattern(one)])) for one in self.paths]


def read_catalogue(tree: Tree) -> tuple[Subsystem, ...]:
    """The subsystems of the first file that there is; ProblemsError with all that is wrong with it."""
    ##= man/spec/knowledge.md#files
    ##% Subsystems MUST be read from the first of `subsystems.yaml`, `subsystems.yml` and `subsystems.json` at the top, in
    ##% `.duvet`, in `.metadata` or in `docs`.
    path = next((path for path in CANDIDATES if tree.is_file(path)), None)
    if path is None:
        return ()
    try:
        document = read_document(tree.read(path), path)
    except DocumentError as error:
        problem = rules.CONFIG_SYNTAX.problem(error.message, path, error.place, hint=error.hint)
        raise ProblemsError((problem,)) from None
    part = _Part(document)
    ##= man/spec/knowledge.md#files
    ##% What is wrong with that file MUST be an error with its line, and nothing be taken in.
    at = At(part, {})
    _require_none(checked(_File, at))
    found = {name: _subsystem(name, entry, at) for name, entry in as_table(part.values, _File).subsystems.items()}
    _require_none(faults(at / _WHOLE, [(name, one.criticality, one.paths) for name, one in found.items()]))
    return tuple(found.values())


def _require_none(problems: Iterable[Problem]) -> None:
    if found := in_order(problems):
        raise ProblemsError(found)


class _Part:
    """The file as if its names stood in a table, which they may."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._is_inside = set(document.values) == {_WHOLE}
        self.path = document.path
        inside = document.values[_WHOLE] if self._is_inside else document.values
        self.values: dict[str, Any] = {_WHOLE: inside}

    def value_place(self, *keys: str | int) -> Place:
        return self._document.value_place(*(keys if self._is_inside else keys[1:]))

    def key_place(self, *keys: str | int) -> Place:
        return self._document.key_place(*(keys if self._is_inside else keys[1:]))


def _subsystem(name: str, entry: Entry, at: At) -> Subsystem:
    needed = {one.name: one for key in _NEEDED for one in _needed(getattr(entry, key), at / _WHOLE / name / key)}
    return Subsystem(
        name.strip(),
        entry.description,
        entry.criticality.strip().lower(),
        entry.owner,
        entry.domain,
        _all(entry.tags, entry.labels),
        _all(entry.paths, entry.includes),
        tuple(needed.values()),
    )


def _needed(said: _Words, at: At) -> Iterator[Needed]:
    for index, word in enumerate((said,) if isinstance(said, str) else said):
        if word.strip():
            place = (at if isinstance(said, str) else at / index).place
            yield Needed(word.strip(), at.document.path, place)


def _all(*lists: _Words) -> tuple[str, ...]:
    words = [word for one in lists for word in ((one,) if isinstance(one, str) else one)]
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
