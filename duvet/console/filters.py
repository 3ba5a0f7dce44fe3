"""Options that filter requirements: by specification, section, level, state and annotation type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from shlex import quote as quote_shell
from typing import Any, TypeVar

import click

from duvet.console.command import ReferenceType, complete_values, note_deprecation
from duvet.model import Kind
from duvet.queries.records import LEVEL_SYNONYMS, LEVELS_BY_WORD, STATES_BY_WORD, RequirementFilter, fold_word
from duvet.trace.catalogue import State

Function = TypeVar("Function", bound=Callable[..., Any])


class _Words(click.Choice[str]):
    def __init__(
        self,
        words: Iterable[str],
        synonyms: Mapping[str, str],
        current: Callable[[str], Iterable[str]] = lambda word: (word,),
    ) -> None:
        super().__init__(list(words), case_sensitive=False)
        self.synonyms = synonyms
        self.current = current  # Returns the words that a synonym stands for now.

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        word = fold_word(str(value))
        if word not in self.synonyms:
            return super().convert(word, param, ctx)
        known = [fold_word(name) for name in self.current(self.synonyms[word])]
        if word not in known and ctx is not None and param is not None:
            option = param.opts[0]
            note_deprecation(ctx, f"{option} {quote_shell(value)}", " ".join(f"{option} {name}" for name in known))
        return self.synonyms[word]


_KINDS = {kind.name.lower(): kind for kind in (Kind.CITATION, Kind.TEST, Kind.EXCEPTION, Kind.IMPLICATION, Kind.TODO)}
_STATUS_TYPE = _Words(
    [fold_word(state.words) for state in State],
    {word: word for word in STATES_BY_WORD},
    lambda word: [state.words for state in STATES_BY_WORD[word]],
)
_LEVEL_TYPE = _Words(LEVELS_BY_WORD, LEVEL_SYNONYMS)
KIND_TYPE = _Words(_KINDS, {"implementation": "citation"})  # The types of annotations that are citations.

add_spec_option = click.option(
    "--spec",
    "specs",
    type=ReferenceType(),
    metavar="NAME",
    shell_complete=complete_values("specification_ids"),
    multiple=True,
    help="Only this specification: an id, name, URL or path; repeatable.",
)
add_section_option = click.option(
    "--section",
    "sections",
    type=ReferenceType(),
    metavar="ID",
    shell_complete=complete_values("section_ids"),
    multiple=True,
    help="Only this section (in IETF documents, with subsections), as ID or SPEC#ID; repeatable.",
)
add_level_option = click.option(
    "--level", "levels", type=_LEVEL_TYPE, multiple=True, help="Only this level; repeatable."
)
add_status_option = click.option(
    "--status", "statuses", type=_STATUS_TYPE, multiple=True, help="Only requirements in this state; repeatable."
)
add_kind_option = click.option(
    "--type",
    "kinds",
    type=KIND_TYPE,
    multiple=True,
    help="Only requirements with an annotation of this type; repeatable.",
)


def add_filters(function: Function) -> Function:
    return add_status_option(add_level_option(add_spec_option(add_section_option(function))))


def split_filter(options: dict[str, Any]) -> tuple[RequirementFilter, dict[str, Any]]:
    rest = dict(options)
    specs, sections, levels, statuses, kinds = (
        rest.pop(name, ()) for name in ("specs", "sections", "levels", "statuses", "kinds")
    )
    filters = RequirementFilter(
        specs,
        sections,
        tuple(LEVELS_BY_WORD[name] for name in levels),
        tuple(dict.fromkeys(state for name in statuses for state in STATES_BY_WORD[name])),
        tuple(_KINDS[name] for name in kinds),
    )
    return filters, rest
