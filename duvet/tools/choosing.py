"""Which packs are switched on: what there is, and what is wanted of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from duvet.errors import QueryError
from duvet.tools.chosen import Chosen
from duvet.tools.introspect.pack import INTROSPECT
from duvet.tools.knowledge.pack import KNOWLEDGE
from duvet.tools.misnamed import Misnamed, no_pack, no_tools
from duvet.tools.pages.pack import PAGES
from duvet.tools.plugins import Found, Unloaded
from duvet.tools.registry import Registry
from duvet.tools.tool import Pack
from duvet.tools.trace.pack import TRACE

BUILT_IN = {pack.name: pack for pack in (TRACE, PAGES, KNOWLEDGE, INTROSPECT)}
BY_DEFAULT = ("trace",)
_ALWAYS = (PAGES.name,)
"""Packs that can be called whether they are switched on or not."""


class Wish(Struct, frozen=True, kw_only=True):
    """What is wanted of one pack."""

    enabled: bool = True
    writes: bool = True
    switches: Mapping[str, bool] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


class Choice(Struct, frozen=True):
    """The tools that are switched on, the packs that could not be, and names that mean nothing."""

    registry: Registry
    unloaded: Sequence[Unloaded] = ()
    misnamed: Sequence[Misnamed] = ()


_UNSAID = Wish()


def choice(on: Sequence[str], wishes: Mapping[str, Wish], found: Found, own: Sequence[Pack] = ()) -> Choice:
    """The packs of these names and those that are wished for; further packs are on unless somebody says otherwise."""
    ##= man/spec/service.md#packs
    ##% The pack `trace` MUST be on unless the configuration switches it off, `introspect` and `knowledge` MUST be off
    ##% unless they are asked for, and a further pack MUST be on once it is installed.
    guests = {pack.name: pack for pack in found.packs}
    mine = BUILT_IN | {pack.name: pack for pack in own}
    packs = {**mine, **guests}
    chosen: list[Chosen] = []
    refused: list[Unloaded] = list(found.unloaded)
    wanted = sorted([*on, *_ALWAYS, *(pack.name for pack in own), *guests, *wishes], key=guests.__contains__)
    for name in dict.fromkeys(wanted):
        wish = wishes.get(name, _UNSAID)
        if name not in packs or not (wish.enabled or name in _ALWAYS):
            continue
        shown = _shown(name, on, wishes)
        one = Chosen(packs[name], wish.writes, wish.switches, wish.settings, shown, is_guest=name not in mine)
        ##= man/spec/service.md#packs
        ##% A further pack with a tool whose name is taken MUST be left out and told of.
        reason = _refusal(chosen, one) if one.is_guest else ""
        if reason:
            refused.append(Unloaded(name, reason))
        else:
            chosen.append(one)
    return Choice(Registry(chosen), refused, list(_misnamed(on, wishes, packs, {one.name for one in found.unloaded})))


def _shown(name: str, on: Sequence[str], wishes: Mapping[str, Wish]) -> bool | None:
    """Whether a pack counts as switched on; None where nobody says."""
    if name in wishes:
        return wishes[name].enabled
    return True if name in on or name not in _ALWAYS else None


def named(names: Sequence[str]) -> Sequence[Chosen]:
    """Packs of ours by their names."""
    return [Chosen(BUILT_IN[name]) for name in names]


def _misnamed(
    on: Sequence[str], wishes: Mapping[str, Wish], packs: Mapping[str, Pack], unloaded: Collection[str]
) -> Iterator[Misnamed]:
    """The names that mean nothing, each once."""
    ##= man/spec/service.md#packs
    ##% A pack or a tool that is named in the configuration and isn't there MUST be an error with its place, as all of
    ##% them are.
    for name in dict.fromkeys([*wishes, *on]):
        wish = wishes.get(name)
        if name in packs and wish is not None:
            yield from no_tools(name, wish.switches, Chosen(packs[name], settings=wish.settings).every_name())
        elif name not in packs and name not in unloaded:
            yield no_pack(name, list(packs), () if wish is None else (name,))


def _refusal(chosen: Sequence[Chosen], one: Chosen) -> str:
    """Why a further pack can't join the others."""
    try:
        Registry([*chosen, one])
    except QueryError as error:
        return error.message
    return ""
