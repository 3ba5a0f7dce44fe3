"""Packs and tools that somebody names and that aren't there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from duvet.model import Problem
from duvet.queries.names import nearest_hint
from duvet.rules import CONFIG_BAD_VALUE
from duvet.text import quoted

if TYPE_CHECKING:
    from duvet.config.documents.document import Document

_MOST = 20


class Misnamed(Struct, frozen=True):
    """A pack or a tool that is named and isn't there."""

    message: str
    hint: str
    keys: tuple[str, ...] = ()
    """What leads to the name in the table of packs; nothing where it stands elsewhere."""


def no_pack(name: str, known: Sequence[str], keys: tuple[str, ...]) -> Misnamed:
    """There is no such pack."""
    return Misnamed(f"there is no pack {quoted(name)}", _hint(name, known), keys)


def no_tools(pack: str, switched: Iterable[str], known: Sequence[str]) -> Iterator[Misnamed]:
    """Those that are switched, and that the pack doesn't have."""
    for name in switched:
        if name not in known:
            yield Misnamed(f"the pack {pack} has no tool {quoted(name)}", _hint(name, known), (pack, "tools", name))


def _hint(name: str, known: Sequence[str]) -> str:
    more = f" and {len(known) - _MOST} more" if len(known) > _MOST else ""
    every = f"there are {', '.join(known[:_MOST])}{more}" if known else "there are none"
    return nearest_hint(name, known) or every


def problems_of(found: Iterable[Misnamed], document: Document | None) -> tuple[Problem, ...]:
    """Where they stand in the configuration, as far as they do."""
    from duvet.config.at import At

    return tuple(
        At(document, {}, keys=("toolPacks", *one.keys), is_private=True).problem(
            CONFIG_BAD_VALUE, one.message, one.hint, at_key=True
        )
        if one.keys and document
        else Problem("", one.message, hint=one.hint)
        for one in found
    )
