"""What two reports may not say differently of one id, and the words for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from duvet.reports.v2_records import (
    CiteRecord,
    InlineSource,
    LinkedSource,
    NotApplicableRecord,
    Record,
    Repository,
    RequirementRecord,
    SectionRecord,
    SpecificationRecord,
)
from duvet.text import quoted


class Conflict(NamedTuple):
    """A difference. A broken id stands for two things, which the hash in it should prevent."""

    words: str
    broken: bool


class _Rule(NamedTuple):
    """The words for a field that differs; the whole record where no field is named."""

    field: str
    words: str
    show: Callable[[Any], str] = str
    broken: bool = False
    may_be_absent: bool = False


def _in_quotes(value: str | None) -> str:
    return "none" if value is None else quoted(value)


def _source(noun: str) -> _Rule:
    return _Rule("source", f"{noun} '{{id}}' with source differing from previously seen", broken=True)


_RULES: dict[type[Record], tuple[_Rule, ...]] = {
    Repository: (
        _Rule(
            "blob_link",
            "repository '{id}' with blob_link '{new}' conflicting with previously seen '{old}'",
            broken=True,
        ),
    ),
    InlineSource: (
        _Rule(
            "contents",
            "inline source '{id}' with contents conflicting with previously seen contents",
            broken=True,
        ),
        _Rule("file_name", "inline source '{id}' with file_name '{new}' conflicting with previously seen '{old}'"),
    ),
    LinkedSource: (
        _Rule("", "linked source '{id}' that differs from previously seen entry under the same id", broken=True),
    ),
    SpecificationRecord: (
        _Rule(
            "title",
            "specification annotation '{id}' with title {new} conflicting with previously seen {old}",
            _in_quotes,
        ),
        _Rule("format", "specification annotation '{id}' with format '{new}' conflicting with previously seen '{old}'"),
        _Rule(
            "url",
            "specification annotation '{id}' with url {new} conflicting with previously seen {old}",
            _in_quotes,
            may_be_absent=True,
        ),
        _source("specification"),
    ),
    SectionRecord: (
        _Rule(
            "short_name", "section annotation '{id}' with short_name '{new}' conflicting with previously seen '{old}'"
        ),
        _Rule(
            "long_name",
            "section annotation '{id}' with long_name {new} conflicting with previously seen {old}",
            _in_quotes,
        ),
        _source("section"),
    ),
    RequirementRecord: (
        _Rule(
            "level",
            "requirement annotation '{id}' with level {new} conflicting with previously seen {old}",
            str.capitalize,
        ),
        _source("requirement"),
        _Rule("origin", "requirement '{id}' with origin differing from previously seen", broken=True),
    ),
    CiteRecord: (
        _Rule("type", "cite annotation '{id}' with type {new} conflicting with previously seen {old}", str.capitalize),
        _Rule(
            "level", "cite annotation '{id}' with level {new} conflicting with previously seen {old}", str.capitalize
        ),
        _Rule("target", "cite annotation '{id}' with target conflicting with previously seen"),
        _source("cite"),
    ),
    # All that two of one id can differ in is how much of the specification a package has cited.
    NotApplicableRecord: (),
}


def conflicts(id: str, earlier: Record, later: Record) -> Iterator[Conflict]:
    """What can't be reconciled in two records of one id."""
    ##= man/spec/trace.md#reports
    ##% `duvet merge` MUST refuse reports that contradict one another, and name what does.
    for rule in _RULES[type(earlier)]:
        old, new = (getattr(record, rule.field) if rule.field else record for record in (earlier, later))
        if old == new or (rule.may_be_absent and None in (old, new)):
            continue
        yield Conflict(rule.words.format(id=id, old=rule.show(old), new=rule.show(new)), rule.broken)
