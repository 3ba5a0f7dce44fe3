"""Packs of other distributions, loaded by entry point and checked."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint, distributions, entry_points
from threading import Thread
from typing import Any

import msgspec
from msgspec import Struct

from duvet.text import shorten_text
from duvet.tools.schemas import Schema, input_schema, output_schema
from duvet.tools.tool import ArgumentShortcut, Pack, QueryTool, Scope, Tool

MAX_PACK_TOOLS = 200
MAX_SCHEMA_BYTES = 64 << 10
"""Bytes of JSON that say what a tool takes, or what it answers."""
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SHORT, _LONG, _MOST = 200, 4000, 50


def find_pack_flaw(pack: object) -> str:
    """Why something is no pack, its tools left aside; nothing where it is one."""
    if not isinstance(pack, Pack):
        return "it is no duvet.tools.tool.Pack, and has none as PACK"
    if not _is_name(pack.name):
        return f"its name is not {_A_NAME}"
    return next(_texts(pack, {"description": _LONG, "version": _SHORT}), "")


def find_tools_flaw(tools: object) -> str:
    """Why something is no list of tools; nothing where it is one."""
    if type(tools) not in (list, tuple):
        return "its tools are no list"
    if len(tools) > MAX_PACK_TOOLS:  # type: ignore[arg-type]
        return f"it has more than {MAX_PACK_TOOLS} tools"
    return next((flaw for tool in tools for flaw in _tool(tool)), "")  # type: ignore[attr-defined]


def _tool(tool: object) -> Iterator[str]:
    if type(tool) not in (Tool, QueryTool):
        yield "not everything in it is a duvet.tools.tool.Tool"
        return
    assert isinstance(tool, Tool)
    if not _is_name(tool.name):
        yield f"the name of a tool is not {_A_NAME}"
        return
    yield from (f"{tool.name}: {flaw}" for flaw in (*_words(tool), *_terms(tool), *_shapes(tool)))


def _words(tool: Tool) -> Iterator[str]:
    """Flaws of what is told to people and agents."""
    yield from _texts(tool, {"title": _SHORT, "description": _LONG})
    for name, longest in {"labels": _SHORT, "safety_notes": _LONG, "invocation_hints": _LONG}.items():
        value = getattr(tool, name)
        if not _is_list(value) or not all(_is_text(one, longest) for one in value):
            yield f"{name} is no list of at most {_MOST} texts of {longest:,} characters"
    if not _is_list(tool.aliases) or not all(_is_name(one) for one in tool.aliases):
        yield f"aliases is no list of names, each {_A_NAME}"


def _terms(tool: Tool) -> Iterator[str]:
    """Flaws of the terms on which it is called."""
    if type(tool.scope) is not Scope:
        yield "scope is no duvet.tools.tool.Scope"
    if type(tool.is_idempotent) is not bool:
        yield "is_idempotent is neither True nor False"
    if tool.reads is not None and type(tool.reads) is not bool:
        yield "reads is none of True, False and None"
    if not _is_list(tool.shortcuts) or not all(_is_shortcut(one) for one in tool.shortcuts):
        yield f"shortcuts is no list of duvet.tools.tool.Shortcut, each of names {_A_NAME}"
    limit: object = tool.time_limit
    if limit is not None and not (type(limit) in (int, float) and 0 < limit < math.inf):  # type: ignore[operator]
        yield "time_limit is no number of seconds"
    if tool.record_of is not None and not callable(tool.record_of):
        yield "record_of can't be called"
    if not callable(tool.handler):
        yield "handler can't be called"


def _shapes(tool: Tool) -> Iterator[str]:
    """Flaws of the records that go in and come out; what can't be described raises here, and not when agents ask."""
    rows = tool.output.__args__ if tool.is_list else (tool.output,)
    if not _is_record(tool.input):
        yield "input is no record"
    elif not _is_object(input_schema(tool)):
        yield "input can't be described in JSON"
    if not all(_is_record(row) for row in rows if row is not ...):
        yield "output is no record, nor a tuple of them"
    elif not _is_object(output_schema(tool)):
        yield "output can't be described in JSON"


_A_NAME = f"like {_NAME.pattern}"


def _texts(owner: object, lengths: dict[str, int]) -> Iterator[str]:
    for name, longest in lengths.items():
        if not _is_text(getattr(owner, name), longest):
            yield f"{name} is no text of at most {longest:,} characters"


def _is_name(value: object) -> bool:
    # A subclass could be anything but a text when it is looked at again.
    return type(value) is str and _NAME.fullmatch(value) is not None


def _is_text(value: object, longest: int) -> bool:
    # Half a character can't be sent to anybody.
    return type(value) is str and len(value) <= longest and not re.search("[\ud800-\udfff]", value)


def _is_shortcut(value: object) -> bool:
    return type(value) is ArgumentShortcut and all(_is_name(one) for one in (value.flag, value.argument, value.key))


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) <= _MOST


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" and len(msgspec.json.encode(schema)) <= MAX_SCHEMA_BYTES


ENTRY_POINT_GROUP = "duvet.tool_packs"
LOAD_PATIENCE = 10.0
"""Seconds that a pack may take until it is imported and has made its tools."""
PluginSettings = Mapping[str, Mapping[str, Any]]
"""What the configuration says to packs, by their names."""
_NOTHING_SAID: PluginSettings = {}


class UnloadedPack(Struct, frozen=True):
    """A pack that could not be had."""

    name: str
    reason: str


class PluginPacks(Struct, frozen=True):
    """What other distributions bring."""

    packs: Sequence[Pack] = ()
    unloaded: Sequence[UnloadedPack] = ()


def find_plugins() -> Sequence[EntryPoint | UnloadedPack]:
    """What is installed, in the order of names."""
    try:
        found: list[EntryPoint | UnloadedPack] = list(entry_points(group=ENTRY_POINT_GROUP))
    except Exception:  # noqa: BLE001 - one distribution that is broken keeps all from being read
        found = list(_one_by_one())
    return sorted(found, key=lambda one: (one.name, one.value if isinstance(one, EntryPoint) else ""))


def _one_by_one() -> Iterator[EntryPoint | UnloadedPack]:
    names: set[str] = set()
    for one in distributions():
        with suppress(Exception):
            name = one.name
            if name in names or ENTRY_POINT_GROUP not in (one.read_text("entry_points.txt") or ""):
                continue
            names.add(name)
            try:
                yield from [point for point in one.entry_points if point.group == ENTRY_POINT_GROUP]
            except Exception as error:  # noqa: BLE001 - as above
                yield UnloadedPack(name, f"its entry points can't be read: {_reason(error)}")


def load_plugins(
    points: Iterable[EntryPoint | UnloadedPack],
    taken: Iterable[str],
    settings: PluginSettings = _NOTHING_SAID,
    patience: float = LOAD_PATIENCE,
) -> PluginPacks:
    """The packs that can be had, with the tools that they make; and why the others can't.

    Names that are taken can't be taken again.
    """
    packs: list[Pack] = []
    unloaded: list[UnloadedPack] = []
    names = set(taken)
    for point in points:
        found = point.reason if isinstance(point, UnloadedPack) else _loaded(point, settings, patience)
        if isinstance(found, Pack) and found.name in names:
            found = f"another pack is called {found.name}, too"
        if isinstance(found, Pack):
            names.add(found.name)
            packs.append(found)
        else:
            ##= man/spec/service.md#packs
            ##% The server MUST leave out an installed pack that cannot be loaded, takes too long, is malformed or
            ##% repeats the name of a tool, say so, and serve the others.
            unloaded.append(UnloadedPack(point.name, found))
    return PluginPacks(packs, unloaded)


def _loaded(point: EntryPoint, settings: PluginSettings, patience: float) -> Pack | str:
    """The pack, or why there is none. Its code runs in a thread, for that may never come back."""
    result: list[Pack | str] = []
    work = Thread(target=lambda: result.append(_had(point, settings)), name=f"duvet loads {point.name}", daemon=True)
    work.start()
    work.join(patience)
    return result[0] if result else f"it is not there after {patience:g} s"


def _had(point: EntryPoint, settings: PluginSettings) -> Pack | str:
    try:
        found = point.load()
        return _made(getattr(found, "PACK", found), settings)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is not ours
        return _reason(error)


def _made(pack: Any, settings: PluginSettings) -> Pack | str:
    """The pack with its tools as they are now and stay, or what is wrong with it."""
    flaw = find_pack_flaw(pack)
    if flaw:
        return flaw
    tools = pack.tools(settings.get(pack.name, {})) if callable(pack.tools) else pack.tools
    return find_tools_flaw(tools) or Pack(pack.name, tuple(tools), pack.description, pack.version)


def _reason(error: BaseException) -> str:
    """What was raised, in a line; even the text of it is made by the pack."""
    kind = type(error).__name__
    try:
        text = str(error).encode(errors="replace").decode().partition("\n")[0]
    except BaseException:  # noqa: BLE001 - as above
        return kind
    return f"{kind}: {shorten_text(text)}" if text else kind


_ENTRY_POINTS = "entry_points.txt"
_INFO = (".dist-info", ".egg-info")


def find_entry_point_stamps(path: Iterable[str]) -> tuple[str, ...]:
    """The distributions in these folders that declare entry points, each with the time and size of what it declares.

    The names of their folders have their versions. A pack that is edited where it stands, without being installed anew,
    looks as before.
    """
    return tuple(mark for folder in dict.fromkeys(path) for mark in _marks(folder or os.curdir))


def _marks(folder: str) -> Iterator[str]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_INFO))
    except NotADirectoryError:
        # An archive: it changes as a whole.
        yield from _mark(folder)
        return
    except OSError:
        return
    for name in names:
        yield from _mark(os.path.join(folder, name, _ENTRY_POINTS))


def _mark(path: str) -> Iterator[str]:
    try:
        info = os.stat(path)
    except OSError:
        return
    yield f"{path} {info.st_size} {info.st_mtime_ns}"
