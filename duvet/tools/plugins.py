"""Packs of other distributions, by the entry points that they declare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points
from threading import Thread

from msgspec import Struct, inspect

from duvet.text import shortened
from duvet.tools.schemas import input_schema, output_schema
from duvet.tools.tool import Pack, Tool

GROUP = "duvet.tool_packs"
PATIENCE = 10.0
"""Seconds that the import of a pack may take."""


class Unloaded(Struct, frozen=True):
    """A pack that could not be had."""

    name: str
    reason: str


class Found(Struct, frozen=True):
    """What other distributions bring."""

    packs: Sequence[Pack] = ()
    unloaded: Sequence[Unloaded] = ()


def declared() -> Sequence[EntryPoint]:
    """What is installed, in the order of names."""
    return sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value))


def loaded(points: Iterable[EntryPoint], taken: Iterable[str], patience: float = PATIENCE) -> Found:
    """The packs that can be had, and why the others can't; names that are taken can't be taken again."""
    packs: list[Pack] = []
    unloaded: list[Unloaded] = []
    names = set(taken)
    for point in points:
        found = _loaded(point, patience)
        if isinstance(found, Pack) and found.name in names:
            found = f"another pack is called {shortened(found.name)}, too"
        if isinstance(found, Pack):
            names.add(found.name)
            packs.append(found)
        else:
            ##= man/spec/service.md#packs
            ##% A further pack that can't be loaded, for whatever reason, MUST be left out and told of, and the others MUST
            ##% be served.
            unloaded.append(Unloaded(point.name, found))
    return Found(packs, unloaded)


def _loaded(point: EntryPoint, patience: float) -> Pack | str:
    """The pack, or why there is none. It is imported in a thread, for that may never come back."""
    result: list[Pack | str] = []
    thread = Thread(target=lambda: result.append(_imported(point)), name=f"duvet loads {point.name}", daemon=True)
    thread.start()
    thread.join(patience)
    return result[0] if result else f"its import takes more than {patience:g} s"


def _imported(point: EntryPoint) -> Pack | str:
    try:
        found = point.load()
        pack = getattr(found, "PACK", found)
        return fault(pack) or pack
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is not ours
        reason = shortened(str(error).partition("\n")[0])
        return f"{type(error).__name__}: {reason}" if reason else type(error).__name__


def fault(pack: object) -> str:
    """Why something is no pack; nothing where it is one."""
    if not isinstance(pack, Pack):
        return "it is no duvet.tools.tool.Pack, and has none as PACK"
    tools = pack.tools({}) if callable(pack.tools) else pack.tools
    for tool in tools:
        if not isinstance(tool, Tool):
            return "not everything in it is a duvet.tools.tool.Tool"
        if not isinstance(inspect.type_info(tool.input), inspect.StructType) or not callable(tool.handler):
            return f"{tool.name} has no record as input, or no handler"
        # What can't be described raises here, and not when agents ask.
        input_schema(tool)
        output_schema(tool)
    return ""
