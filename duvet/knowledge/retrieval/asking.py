"""From what callers send to what is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import convert
from msgspec.structs import fields

from duvet.errors import QueryError
from duvet.knowledge.retrieval.records import LEAST, MOST, Asked, Wanted
from duvet.queries.names import nearest_hint
from duvet.store.records import Filters, Kind
from duvet.text import shortened

SYMBOL_KINDS = ("class", "function", "method", "interface", "type", "module")
SYMBOL_LANGUAGES = ("python", "typescript", "tsx", "javascript", "go")
_DAY = 86_400
_LISTS = tuple(field.name for field in fields(Wanted) if field.default == ())
_CLOSED = {
    "artifact_types": ("artifact type", tuple(Kind)),
    "symbol_kinds": ("symbol kind", SYMBOL_KINDS),
    "symbol_languages": ("symbol language", SYMBOL_LANGUAGES),
}
"""Lists whose values are known."""


def asked_of(given: Mapping[str, Any]) -> Asked:
    """What a request asks; QueryError where a field is not what it has to be."""
    ##= man/spec/knowledge.md#search
    ##% A request that has no query, or a field or a filter that is unknown or of another type, MUST be refused by the
    ##% name of that field.
    _only(given, tuple(field.name for field in fields(Asked)), "field")
    if given.get("query") is None:
        raise QueryError("Field 'query' is required")
    checks: dict[str, tuple[Callable[[object], bool], str]] = {
        "query": (lambda value: isinstance(value, str), "a string"),
        "limit": (_is_integer, "an integer"),
        "include_graph": (lambda value: isinstance(value, bool), "a boolean"),
        "filters": (lambda value: isinstance(value, Mapping), "an object"),
        "sort_by_vector": (lambda value: isinstance(value, bool), "a boolean"),
    }
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        fits, what = checks[name]
        if not fits(value):
            raise QueryError(f"Field '{name}' must be {what}")
    return convert(said | {"filters": _filters(said.get("filters", {}))}, Asked)


def _filters(given: Mapping[str, Any]) -> Mapping[str, Any]:
    _only(given, tuple(field.name for field in fields(Wanted)), "filter")
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        if name in _LISTS and not (isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)):
            raise QueryError(f"filters.{name} must be an array of strings")
    if not isinstance(said.get("updated_after", ""), str):
        raise _not_iso()
    if not _is_integer(said.get("max_age_days", 1)):
        raise _not_days()
    return said


def _only(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    for name in given:
        if name not in known:
            raise QueryError(f"Unknown {what} '{shortened(str(name))}'", hint=nearest_hint(shortened(str(name)), known))


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def limit_of(asked: Asked) -> int:
    """How many results are answered."""
    ##= man/spec/knowledge.md#search
    ##% 10 results MUST be answered where no limit is given, and never more than 25.
    return min(max(asked.limit, LEAST), MOST)


def filters_of(wanted: Wanted, now: float) -> Filters:
    """What may be found; QueryError for what there can't be."""
    for name, (what, known) in _CLOSED.items():
        for value in getattr(wanted, name):
            if value.strip().lower() not in known:
                hint = nearest_hint(shortened(value), known) or f"there are {', '.join(known)}"
                raise QueryError(f"Unsupported {what} '{shortened(value)}'", hint=hint)
    return Filters(
        subsystems=_plain(wanted.subsystems),
        kinds=_plain(wanted.artifact_types),
        namespaces=_plain(wanted.namespaces),
        tags=_plain(wanted.tags),
        symbols=_plain(wanted.symbols),
        symbol_kinds=_plain(wanted.symbol_kinds),
        symbol_languages=_plain(wanted.symbol_languages),
        since=_since(wanted, now),
    )


def _plain(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip().lower() for value in values if value.strip()))


def _since(wanted: Wanted, now: float) -> float | None:
    ##= man/spec/knowledge.md#search
    ##% Where both `updated_after` and `max_age_days` are given, the later of the two MUST count; files without a time are
    ##% then left out, and a warning says so.
    moments = []
    if wanted.updated_after is not None:
        moments.append(_moment(wanted.updated_after))
    if wanted.max_age_days is not None:
        if wanted.max_age_days < 1:
            raise _not_days()
        moments.append(now - min(wanted.max_age_days * _DAY, now))
    return max(moments, default=None)


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _not_iso() from None


def _not_iso() -> QueryError:
    return QueryError("filters.updated_after must be an ISO-8601 string", hint="such as 2026-01-31T00:00:00Z")


def _not_days() -> QueryError:
    return QueryError("filters.max_age_days must be a positive integer")
