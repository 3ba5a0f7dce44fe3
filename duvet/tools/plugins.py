"""Packs of other distributions, by the entry points that they declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint, distributions, entry_points
from threading import Thread
from typing import Any

from msgspec import Struct

from duvet.text import shortened
from duvet.tools.flaws import pack_flaw, tools_flaw
from duvet.tools.tool import Pack

GROUP = "duvet.tool_packs"
PATIENCE = 10.0
"""Seconds that a pack may take until it is imported and has made its tools."""
Settings = Mapping[str, Mapping[str, Any]]
"""What the configuration says to packs, by their names."""
_NOTHING_SAID: Settings = {}


class Unloaded(Struct, frozen=True):
    """A pack that could not be had."""

    name: str
    reason: str


class Found(Struct, frozen=True):
    """What other distributions bring."""

    packs: Sequence[Pack] = ()
    unloaded: Sequence[Unloaded] = ()


def declared() -> Sequence[EntryPoint | Unloaded]:
    """What is installed, in the order of names."""
    try:
        found: list[EntryPoint | Unloaded] = list(entry_points(group=GROUP))
    except Exception:  # noqa: BLE001 - one distribution that is broken keeps all from being read
        found = list(_one_by_one())
    return sorted(found, key=lambda one: (one.name, one.value if isinstance(one, EntryPoint) else ""))


def _one_by_one() -> Iterator[EntryPoint | Unloaded]:
    names: set[str] = set()
    for one in distributions():
        with suppress(Exception):
            name = one.name
            if name in names or GROUP not in (one.read_text("entry_points.txt") or ""):
                continue
            names.add(name)
            try:
                yield from [point for point in one.entry_points if point.group == GROUP]
            except Exception as error:  # noqa: BLE001 - as above
                yield Unloaded(name, f"its entry points can't be read: {_reason(error)}")


def loaded(
    points: Iterable[EntryPoint | Unloaded],
    taken: Iterable[str],
    settings: Settings = _NOTHING_SAID,
    patience: float = PATIENCE,
) -> Found:
    """The packs that can be had, with the tools that they make; and why the others can't.

    Names that are taken can't be taken again.
    """
    packs: list[Pack] = []
    unloaded: list[Unloaded] = []
    names = set(taken)
    for point in points:
        found = point.reason if isinstance(point, Unloaded) else _loaded(point, settings, patience)
        if isinstance(found, Pack) and found.name in names:
            found = f"another pack is called {found.name}, too"
        if isinstance(found, Pack):
            names.add(found.name)
            packs.append(found)
        else:
            ##= man/spec/service.md#packs
            ##% A further pack that can't be loaded, for whatever reason, MUST be left out and told of, and the others MUST
            ##% be served.
            unloaded.append(Unloaded(point.name, found))
    return Found(packs, unloaded)


def _loaded(point: EntryPoint, settings: Settings, patience: float) -> Pack | str:
    """The pack, or why there is none. Its code runs in a thread, for that may never come back."""
    result: list[Pack | str] = []
    work = Thread(target=lambda: result.append(_had(point, settings)), name=f"duvet loads {point.name}", daemon=True)
    work.start()
    work.join(patience)
    ##= man/spec/service.md#packs
    ##% A further pack that takes too long to be imported, or to make its tools, MUST be left out.
    return result[0] if result else f"it is not there after {patience:g} s"


def _had(point: EntryPoint, settings: Settings) -> Pack | str:
    try:
        found = point.load()
        return _made(getattr(found, "PACK", found), settings)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is not ours
        return _reason(error)


def _made(pack: Any, settings: Settings) -> Pack | str:
    """The pack with its tools as they are now and stay, or what is wrong with it."""
    flaw = pack_flaw(pack)
    if flaw:
        return flaw
    tools = pack.tools(settings.get(pack.name, {})) if callable(pack.tools) else pack.tools
    ##= man/spec/service.md#packs
    ##% A further pack MUST be left out where anything in it is of another type than it is to be, or longer than agents
    ##% can read.
    return tools_flaw(tools) or Pack(pack.name, tuple(tools), pack.description, pack.version)


def _reason(error: BaseException) -> str:
    """What was raised, in a line; even the text of it is made by the pack."""
    kind = type(error).__name__
    try:
        text = str(error).encode(errors="replace").decode().partition("\n")[0]
    except BaseException:  # noqa: BLE001 - as above
        return kind
    return f"{kind}: {shortened(text)}" if text else kind
