"""The options that choose requirements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from duvet.model import Kind, Level
from duvet.queries.filters import LEVELS
from duvet.terminal.known_names import section_ids, specification_ids
from duvet.trace.states import Status

if TYPE_CHECKING:
    from duvet.queries.filters import Filter

GATES = {"must": Level.MUST, "should": Level.SHOULD, "may": Level.MAY, "any": Level.AUTO}
"""By the word for a gate, the weakest level that it holds for."""

_STATUSES = {status.words.replace(" ", "-"): status for status in Status}
_KINDS = {kind.name.lower(): kind for kind in (Kind.CITATION, Kind.TEST, Kind.EXCEPTION, Kind.IMPLICATION, Kind.TODO)}


class _Words(click.Choice[str]):
    """One of a few words, some of which can be written in another way, too."""

    def __init__(self, words: Iterable[str], also: Mapping[str, str]) -> None:
        super().__init__(list(words), case_sensitive=False)
        self.also = also

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(self.also.get(str(value).lower(), value), param, ctx)


_MINE = ("specs", "sections", "levels", "statuses", "kinds")
KIND = _Words(_KINDS, {"implementation": "citation"})
"""A type of annotations that cite."""
_STATUS = _Words(_STATUSES, {status.words: name for name, status in _STATUSES.items()})


def spec_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--spec",
        "specs",
        metavar="NAME",
        shell_complete=specification_ids,
        multiple=True,
        help="Only of this specification: an id, a name, a URL or a path.",
    )(function)


def section_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--section",
        "sections",
        metavar="ID",
        shell_complete=section_ids,
        multiple=True,
        help="Only of this section: an id, or SPEC#ID; a numbered one with those below it.",
    )(function)


def level_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--level",
        "levels",
        type=click.Choice(list(LEVELS), case_sensitive=False),
        multiple=True,
        help="Only of this level.",
    )(function)


def status_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option("--status", "statuses", type=_STATUS, multiple=True, help="Only with this status.")(function)


def kind_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option("--type", "kinds", type=KIND, multiple=True, help="Only with an annotation of this type.")(
        function
    )


def without_filter(options: dict[str, Any]) -> tuple[Filter, dict[str, Any]]:
    """The filter among the options of a command, and the other options."""
    from duvet.queries.filters import Filter

    rest = dict(options)
    specs, sections, levels, statuses, kinds = (rest.pop(name, ()) for name in _MINE)
    chosen = Filter(
        specs,
        sections,
        tuple(LEVELS[name] for name in levels),
        tuple(_STATUSES[name] for name in statuses),
        tuple(_KINDS[name] for name in kinds),
    )
    return chosen, rest
