"""Which pieces may be found at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from duvet.store.database import Database, marks
from duvet.store.records import KIND_LABELS, Filters, Label, Relation
from duvet.store.schema import LABEL_NUMBERS, NAMESPACE, RELATION_NUMBERS, SUBSYSTEM, TAG
from duvet.store.values import bound, coded, counted, pieces_from, unbound
from duvet.store.words import folded

_SUBSYSTEMS = "SELECT id, key, name FROM node WHERE label = ?"
_TRAIT = "id IN (SELECT artifact FROM trait WHERE what = {} AND value IN ({}))"
_FILES = "SELECT first, count FROM artifact WHERE count > 0{} ORDER BY first"
_SYMBOLS = """SELECT DISTINCT number FROM symbol
JOIN artifact ON artifact.id = symbol.artifact
JOIN piece ON number >= first AND number < first + count
AND piece.line_start <= symbol.line_end AND piece.line_end >= symbol.line_start
WHERE count > 0{} ORDER BY number"""
_BELONG = ",".join(str(RELATION_NUMBERS[one]) for one in (Relation.BELONGS_TO, Relation.DESCRIBES, Relation.VALIDATES))
_OF_FILES = ",".join(str(LABEL_NUMBERS[one]) for one in sorted(set(KIND_LABELS.values())))
# A subsystem, then what belongs to it, then the files that hang together with one of these.
_LINKED = f"""id IN (
WITH core(node) AS (SELECT id FROM node WHERE id IN ({{}})),
near(node) AS (SELECT node FROM core UNION
    SELECT source FROM edge JOIN core ON target = core.node WHERE relation IN ({_BELONG})),
file(node) AS (SELECT target FROM near JOIN edge ON source = near.node UNION
    SELECT source FROM near JOIN edge ON target = near.node)
SELECT artifact.id FROM file JOIN node ON node.id = file.node AND node.label IN ({_OF_FILES})
JOIN artifact ON artifact.path = node.key)"""

Condition = tuple[str, Sequence[object]]
"""What has to hold, and the values of its marks."""


def allowed(database: Database, filters: Filters) -> Sequence[int] | None:
    """The pieces that may be found, in ascending order; None is all."""
    if filters == Filters():
        return None
    ##= man/spec/knowledge.md#store
    ##% What a filter leaves out MUST NOT take the place of what it lets through: pieces are left out before they are
    ##% ranked.
    conditions = [*_of_files(database, filters), *_of_symbols(filters)]
    where = "".join(f" AND {condition}" for condition, _ in conditions)
    values = list(chain.from_iterable(values for _, values in conditions))
    if filters.symbols or filters.symbol_kinds or filters.symbol_languages:
        return database.read(lambda row: counted(*row), _SYMBOLS.format(where), *values)
    return list(chain.from_iterable(database.read(lambda row: pieces_from(*row), _FILES.format(where), *values)))


def _of_files(database: Database, filters: Filters) -> Iterator[Condition]:
    ##= man/spec/knowledge.md#store
    ##% Names in filters MUST be compared without case.
    if filters.subsystems:
        yield _of_subsystems(database, _folded(filters.subsystems))
    if filters.kinds:
        yield _one_of("artifact.kind", _folded(filters.kinds))
    for what, wanted in ((NAMESPACE, filters.namespaces), (TAG, filters.tags)):
        if wanted:
            names = _folded(wanted)
            yield f"artifact.{_TRAIT.format(what, marks(names))}", names
    if filters.since is not None:
        yield "git_timestamp >= ?", (filters.since,)


def _of_subsystems(database: Database, names: Sequence[object]) -> Condition:
    subsystems = database.read(
        lambda row: (counted(row[0]), [*map(unbound, row[1:])]), _SUBSYSTEMS, LABEL_NUMBERS[Label.SUBSYSTEM]
    )
    nodes = [id for id, called in subsystems if any(bound(folded(name)) in names for name in called)]
    ##= man/spec/knowledge.md#store
    ##% The filter for a subsystem MUST let through the files of that subsystem, and those that are linked with it or with
    ##% what belongs to it.
    own = _TRAIT.format(SUBSYSTEM, marks(names))
    return f"(artifact.{own} OR artifact.{_LINKED.format(marks(nodes))})", [*names, *nodes]


def _of_symbols(filters: Filters) -> Iterator[Condition]:
    ##= man/spec/knowledge.md#store
    ##% Filters for the names, the kinds and the languages of symbols MUST hold for one and the same symbol, of which some
    ##% line is one of the piece.
    if filters.symbols:
        yield _one_of("coalesce(symbol.folded, symbol.qualified_name)", _folded(filters.symbols))
    if filters.symbol_kinds:
        yield _one_of("symbol.kind", _coded(filters.symbol_kinds))
    if filters.symbol_languages:
        yield _one_of("symbol.language", _coded(filters.symbol_languages))


def _one_of(column: str, values: Sequence[object]) -> Condition:
    return f"{column} IN ({marks(values)})", values


def _coded(names: Iterable[str]) -> Sequence[object]:
    return [coded(name) for name in dict.fromkeys(map(folded, names))]


def _folded(names: Iterable[str]) -> Sequence[object]:
    return [bound(name) for name in dict.fromkeys(map(folded, names))]
