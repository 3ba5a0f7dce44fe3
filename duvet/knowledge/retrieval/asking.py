"""From what callers send to what is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from msgspec import convert
from msgspec.structs import fields

from duvet.errors import QueryError
from duvet.knowledge.days import DAY
from duvet.knowledge.retrieval.records import (
    LEAST,
    MOST,
    ArtifactType,
    Asked,
    Wanted,
)
from duvet.queries.names import nearest_hint
from duvet.store.records import Filters, SymbolKind, SymbolLanguage
from duvet.text import shortened

MOST_ENTRIES, LONGEST = 1_000, 1_000
"""Entries of a filter, and characters of one."""
_LISTS = tuple(field.name for field in fields(Wanted) if field.default == ())
_CLOSED: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "artifact_types": ("artifact type", get_args(ArtifactType)),
    "symbol_kinds": ("symbol kind", get_args(SymbolKind)),
    "symbol_languages": ("symbol language", get_args(SymbolLanguage)),
}
"""Lists whose values are known."""
_CHECKS: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "query": (lambda value: isinstance(value, str), "a string"),
    "limit": (lambda value: _is_integer(value), "an integer"),
    "include_graph": (lambda value: isinstance(value, bool), "a boolean"),
    "filters": (lambda value: isinstance(value, Mapping), "an object"),
    "sort_by_vector": (lambda value: isinstance(value, bool), "a boolean"),
}


def asked_of(given: Mapping[str, Any]) -> Asked:
    """What a request asks; QueryError where it can't be asked."""
    ##= man/spec/knowledge.md#search
    ##% A request that has no query, or a field or a filter that is unknown or of another type, MUST be refused by the
    ##% name of that field.
    query = given.get("query")
    if query is None or (isinstance(query, str) and not query.strip()):
        unknown = _unknown(given, tuple(_CHECKS), "field")
        hint = f"{unknown.message}: {unknown.hint}" if unknown else "give words to look for"
        raise QueryError("Field 'query' is required", hint=hint)
    _only(given, tuple(_CHECKS), "field")
    said = {name: value for name, value in given.items() if value is not None}
    for name, value in said.items():
        fits, what = _CHECKS[name]
        if not fits(value):
            raise QueryError(f"Field '{name}' must be {what}")
    if said.get("limit", LEAST) < LEAST:
        raise QueryError(f"Field 'limit' must be {LEAST} or more")
    return convert(said | {"filters": _filters(said.get("filters", {}))}, Asked)


def _filters(given: Mapping[str, Any]) -> Mapping[str, Any]:
    _only(given, tuple(field.name for field in fields(Wanted)), "filter")
    said = {name: value for name, value in given.items() if value is not None}
    for name in _LISTS:
        if name in said:
            said[name] = _entries(name, said[name])
    if not isinstance(said.get("updated_after", ""), str):
        raise _not_iso()
    if "updated_after" in said:
        _moment(said["updated_after"])
    days = said.get("max_age_days", 1)
    if not _is_integer(days) or days < 1:
        raise QueryError("filters.max_age_days must be a positive integer")
    return said


def _entries(name: str, value: Any) -> list[str]:
    """The alternatives of a filter; those that there are only some of in lower case."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise QueryError(f"filters.{name} must be an array of strings")
    ##= man/spec/knowledge.md#search
    ##% A filter with a blank entry, or with more than 1,000 of them, MUST be refused by its name: nothing is let through
    ##% by mistake.
    if not all(one.strip() for one in value):
        raise QueryError(f"filters.{name} has a blank entry", hint="leave it out to let everything through")
    if len(value) > MOST_ENTRIES:
        raise QueryError(f"filters.{name} has more than {MOST_ENTRIES:,} entries")
    if any(len(one) > LONGEST for one in value):
        raise QueryError(f"filters.{name} has an entry of more than {LONGEST:,} characters")
    if name not in _CLOSED:
        return [*value]
    what, known = _CLOSED[name]
    for one in value:
        if one.strip().lower() not in known:
            hint = nearest_hint(shortened(one), known) or f"there are {', '.join(known)}"
            raise QueryError(f"Unsupported {what} '{shortened(one)}'", hint=hint)
    return [one.strip().lower() for one in value]


def _only(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    if unknown := _unknown(given, known, what):
        raise unknown


def _unknown(given: Mapping[str, Any], known: tuple[str, ...], what: str) -> QueryError | None:
    name = next((shortened(name) for name in given if name not in known), None)
    if name is None:
        return None
    return QueryError(f"Unknown {what} '{name}'", hint=nearest_hint(name, known) or f"there are {', '.join(known)}")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def limit_of(asked: Asked) -> int:
    """How many results are answered."""
    ##= man/spec/knowledge.md#search
    ##% 10 results MUST be answered where no limit is given, and never more than 25.
    return min(asked.limit, MOST)


def filters_of(wanted: Wanted, now: float) -> Filters:
    """What may be found."""
    return Filters(
        subsystems=_plain(wanted.subsystems),
        kinds=wanted.artifact_types,
        namespaces=_plain(wanted.namespaces),
        tags=_plain(wanted.tags),
        symbols=_plain(wanted.symbols),
        symbol_kinds=wanted.symbol_kinds,
        symbol_languages=wanted.symbol_languages,
        since=_since(wanted, now),
    )


def _plain(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value.strip().lower() for value in values))


def _since(wanted: Wanted, now: float) -> float | None:
    ##= man/spec/knowledge.md#search
    ##% Where both `updated_after` and `max_age_days` are given, the later of the two MUST count; files without a time are
    ##% then left out, and a warning says so.
    moments = []
    if wanted.updated_after is not None:
        moments.append(_moment(wanted.updated_after))
    if wanted.max_age_days is not None:
        moments.append(now - min(wanted.max_age_days * DAY, now))
    return max(moments, default=None)


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise _not_iso() from None


def _not_iso() -> QueryError:
    return QueryError("filters.updated_after must be an ISO-8601 string", hint="such as 2026-01-31T00:00:00Z")
