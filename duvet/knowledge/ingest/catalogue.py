"""The subsystems that a project lists in a file of its own."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from duvet import rules
from duvet.config.at import At
from duvet.config.check import checked, in_order
from duvet.config.documents.document import Document, DocumentError
from duvet.config.documents.reading import read_document
from duvet.config.read import as_table
from duvet.model import Place, ProblemsError
from duvet.sources.patterns import Matches, PatternError, any_of, compile_pattern
from duvet.tree.protocol import Tree

FOLDERS = ("", ".duvet/", ".metadata/", "docs/")
ENDINGS = ("yaml", "yml", "json")
CANDIDATES = tuple(f"{folder}subsystems.{ending}" for folder in FOLDERS for ending in ENDINGS)
"""What is looked for, the first one counts."""

_WHOLE = "subsystems"
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


class Subsystem(Struct, frozen=True):
    """A part of the project, as the file has it."""

    name: str
    description: str = ""
    criticality: str = ""
    owner: str = ""
    domain: str = ""
    tags: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    dependencies: tuple[str, ...] = ()

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
    problems = [*checked(_File, At(part, {}))]
    if problems:
        raise ProblemsError(in_order(problems))
    found = [_subsystem(name, entry) for name, entry in as_table(part.values, _File).subsystems.items()]
    _require_patterns(part, found)
    return tuple(found)


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


def _subsystem(name: str, entry: Entry) -> Subsystem:
    return Subsystem(
        name.strip(),
        entry.description,
        entry.criticality.strip().lower(),
        entry.owner,
        entry.domain,
        _all(entry.tags, entry.labels),
        _all(entry.paths, entry.includes),
        _all(entry.dependencies, entry.depends_on, entry.depends_on_subsystems),
    )


def _all(*lists: _Words) -> tuple[str, ...]:
    words = [word for one in lists for word in ((one,) if isinstance(one, str) else one)]
    return tuple(dict.fromkeys(word.strip() for word in words if word.strip()))


def _require_patterns(part: _Part, found: list[Subsystem]) -> None:
    problems = list(_bad_patterns(part, found))
    if problems:
        raise ProblemsError(in_order(problems))


def _bad_patterns(part: _Part, found: list[Subsystem]) -> Iterator[Any]:
    for one, name in zip(found, part.values[_WHOLE], strict=True):
        for pattern in one.paths:
            try:
                compile_pattern(pattern)
            except PatternError as error:
                place = part.value_place(_WHOLE, name, "paths")
                yield rules.CONFIG_BAD_PATTERN.problem(error.message, part.path, place, hint=error.hint)
