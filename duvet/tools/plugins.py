"""Loads and checks packs: from the entry points of installed distributions, and from files of the project."""

from __future__ import annotations

import math
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint, distributions, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from threading import Thread
from types import MappingProxyType, ModuleType
from typing import Any

import msgspec

from duvet.text import shorten_text
from duvet.tools.arguments import Schema, input_schema, is_record, output_schema
from duvet.tools.tool import ArgumentShortcut, Pack, PackPrompt, PackResource, QueryTool, Scope, Tool

MAX_PACK_TOOLS = 200
MAX_SCHEMA_BYTES = 64 << 10
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SHORT, _LONG, _MOST = 200, 4000, 50
ENTRY_POINT_GROUP = "duvet.tool_packs"
LOAD_PATIENCE = 10.0  # Time limit for importing a pack and making its tools, in seconds.
PluginSettings = Mapping[str, Mapping[str, Any]]  # The configuration of packs, by name.
_ENTRY_POINTS = "entry_points.txt"


def find_pack_flaw(pack: object) -> str:
    if not isinstance(pack, Pack):
        return "found neither a duvet.tools.tool.Pack nor a declared tool, resource or prompt"
    if not _is_name(pack.name):
        return f"its name does not match {_NAME.pattern}"
    for name, kind in (("resources", PackResource), ("prompts", PackPrompt)):
        found = getattr(pack, name)
        if not _is_list(found) or not all(type(one) is kind for one in found):
            return f"{name} is not a list of at most {_MOST} duvet.tools.tool.{kind.__name__} objects"
        if flaw := find_tools_flaw([one.tool for one in found]):
            return flaw
    return next(_find_text_flaws(pack, {"description": _LONG, "version": _SHORT}), "")


def find_tools_flaw(tools: object) -> str:
    if type(tools) not in (list, tuple):
        return "its tools are not a list"
    if len(tools) > MAX_PACK_TOOLS:  # type: ignore[arg-type]
        return f"it has more than {MAX_PACK_TOOLS} tools"
    for tool in tools:  # type: ignore[attr-defined]
        if type(tool) not in (Tool, QueryTool):
            return "one of its tools is not a duvet.tools.tool.Tool"
        if not _is_name(tool.name):
            return f"the name of a tool does not match {_NAME.pattern}"
        for flaw in _find_tool_flaws(tool):
            return f"{tool.name}: {flaw}"
    names = Counter(name for tool in tools for name in (tool.name, *tool.aliases))  # type: ignore[attr-defined]
    name, count = next(iter(names.most_common(1)), ("", 0))
    return f"the name {name} occurs more than once" if count > 1 else ""


def _find_tool_flaws(tool: Tool) -> Iterator[str]:
    yield from _find_text_flaws(tool, {"title": _SHORT, "description": _LONG})
    for name, longest in {"labels": _SHORT, "safety_notes": _LONG, "invocation_hints": _LONG}.items():
        value = getattr(tool, name)
        if not _is_list(value) or not all(_is_text(one, longest) for one in value):
            yield f"{name} is not a list of at most {_MOST} strings, each of at most {longest:,} characters"
    if not _is_list(tool.aliases) or not all(map(_is_name, tool.aliases)):
        yield f"aliases is not a list of at most {_MOST} names that match {_NAME.pattern}"
    if type(tool.scope) is not Scope:
        yield "scope is not a duvet.tools.tool.Scope"
    if type(tool.is_idempotent) is not bool:
        yield "is_idempotent is not True or False"
    if tool.reads is not None and type(tool.reads) is not bool:
        yield "reads is not True, False or None"
    if not _is_list(tool.shortcuts) or not all(
        type(one) is ArgumentShortcut and all(map(_is_name, (one.flag, one.argument, one.key)))
        for one in tool.shortcuts
    ):
        yield f"shortcuts is not a list of at most {_MOST} duvet.tools.tool.ArgumentShortcut objects with names that match {_NAME.pattern}"
    limit: object = tool.time_limit
    if limit is not None and not (type(limit) in (int, float) and 0 < limit < math.inf):  # type: ignore[operator]
        yield "time_limit is not a positive number of seconds"
    # Without these checks, such a tool would fail only when agents use it.
    if tool.record_of is not None and not callable(tool.record_of):
        yield "record_of is not callable"
    if not callable(tool.handler):
        yield "handler is not callable"
    rows = tool.output.__args__ if tool.is_list else (tool.output,)
    if not is_record(tool.input):
        yield "input is not a msgspec.Struct"
    elif not _is_object(input_schema(tool)):
        yield f"input has no JSON Schema of at most {MAX_SCHEMA_BYTES:,} bytes"
    if not all(is_record(row) for row in rows if row is not ...):
        yield "output is neither a msgspec.Struct nor a tuple of such structs"
    elif not _is_object(output_schema(tool)):
        yield f"output has no JSON Schema of at most {MAX_SCHEMA_BYTES:,} bytes"


def _find_text_flaws(owner: object, lengths: dict[str, int]) -> Iterator[str]:
    for name, longest in lengths.items():
        if not _is_text(getattr(owner, name), longest):
            yield f"{name} is not a string of at most {longest:,} characters"


def _is_name(value: object) -> bool:
    # A subclass of str may behave differently each time.
    return type(value) is str and _NAME.fullmatch(value) is not None


def _is_text(value: object, longest: int) -> bool:
    # A surrogate can't be encoded.
    return type(value) is str and len(value) <= longest and not re.search("[\ud800-\udfff]", value)


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) <= _MOST


def _is_object(schema: Schema) -> bool:
    return schema.get("type") == "object" and len(msgspec.json.encode(schema)) <= MAX_SCHEMA_BYTES


class UnloadedPack(msgspec.Struct, frozen=True):
    name: str
    reason: str
    traceback: Sequence[str] = ()  # Lines of the exception that prevented the pack from loading.


class PluginPacks(msgspec.Struct, frozen=True):
    packs: Sequence[Pack] = ()
    unloaded: Sequence[UnloadedPack] = ()


class PackFile(msgspec.Struct, frozen=True):
    name: str
    path: str

    def load(self) -> Pack:
        module_name = f"duvet_pack_{self.name.replace('-', '_')}"
        spec = spec_from_file_location(module_name, self.path)
        if spec is None or spec.loader is None:
            raise ImportError(f"{self.path} is not a Python file")
        module = module_from_spec(spec)
        # The types of its functions are looked up there.
        sys.modules[module_name] = module
        # Compiled files are found by their time, which an editor that saves twice in a second doesn't change.
        source = spec.loader.get_source(module_name)  # type: ignore[attr-defined]
        exec(compile(source, self.path, "exec"), vars(module))  # noqa: S102 - the configuration says so
        pack = _find_pack(self.name, module)
        if not isinstance(pack, Pack):
            raise ImportError("the file declares no tool, resource or prompt")  # noqa: TRY004
        return msgspec.structs.replace(pack, name=self.name)


PackSource = EntryPoint | PackFile


def _find_pack(name: str, found: object) -> object:
    if not isinstance(found, ModuleType) or hasattr(found, "PACK"):
        return getattr(found, "PACK", found)
    from duvet.tools.toolkit import collect_pack

    return collect_pack(name, found) or found


def find_plugins() -> Sequence[EntryPoint | UnloadedPack]:
    try:
        found: list[EntryPoint | UnloadedPack] = list(entry_points(group=ENTRY_POINT_GROUP))
    except Exception:  # noqa: BLE001 - one broken distribution keeps all from being read
        found = list(_read_distributions())
    return sorted(found, key=lambda one: (one.name, one.value if isinstance(one, EntryPoint) else ""))


def _read_distributions() -> Iterator[EntryPoint | UnloadedPack]:
    names: set[str] = set()
    for one in distributions():
        with suppress(Exception):
            name = one.name
            if name in names or ENTRY_POINT_GROUP not in (one.read_text(_ENTRY_POINTS) or ""):
                continue
            names.add(name)
            try:
                yield from [point for point in one.entry_points if point.group == ENTRY_POINT_GROUP]
            except Exception as error:  # noqa: BLE001 - as above
                yield UnloadedPack(name, f"can't read its entry points: {describe_exception(error)}")


def load_plugins(
    points: Iterable[PackSource | UnloadedPack],
    taken: Iterable[str],
    settings: PluginSettings = MappingProxyType({}),
    patience: float = LOAD_PATIENCE,
) -> PluginPacks:
    packs: list[Pack] = []
    unloaded: list[UnloadedPack] = []
    names = set(taken)
    for point in points:
        found = point if isinstance(point, UnloadedPack) else _load(point, settings, patience)
        if isinstance(found, Pack) and found.name in names:
            found = UnloadedPack(point.name, f"another pack has the name {found.name}")
        if isinstance(found, Pack):
            names.add(found.name)
            packs.append(found)
        else:
            ##= man/spec/service.md#packs
            ##% If an installed pack cannot be loaded, takes too long to load, or is malformed, the server MUST report
            ##% it and serve only the other packs.
            unloaded.append(found)
    return PluginPacks(packs, unloaded)


def _load(point: PackSource, settings: PluginSettings, patience: float) -> Pack | UnloadedPack:
    # In a thread, because the code of a pack may never return.
    result: list[Pack | UnloadedPack] = []

    def load() -> None:
        try:
            pack: Any = _find_pack(point.name, point.load())
            if not (flaw := find_pack_flaw(pack)):
                tools = pack.tools(settings.get(pack.name, {})) if callable(pack.tools) else pack.tools
                flaw = find_tools_flaw(tools)
            if flaw:
                result.append(UnloadedPack(point.name, flaw))
            else:
                result.append(msgspec.structs.replace(pack, tools=tuple(tools)))
        except BaseException as error:  # noqa: BLE001 - foreign code may raise anything
            path = getattr(point, "path", None)  # Of a pack file.
            walked = traceback.walk_tb(error.__traceback__)
            lines = [line for frame, line in walked if frame.f_code.co_filename == path]
            place = f" (line {lines[-1]})" if lines else ""
            result.append(UnloadedPack(point.name, describe_exception(error) + place, format_traceback(error)))

    work = Thread(target=load, name=f"duvet loads {point.name}", daemon=True)
    work.start()
    work.join(patience)
    return result[0] if result else UnloadedPack(point.name, f"loading took longer than {patience:g} s")


def add_prefix(pack: Pack, prefix: str) -> Pack:
    def rename(tool: Tool) -> Tool:
        aliases = tuple(prefix + alias for alias in tool.aliases)
        return msgspec.structs.replace(tool, name=prefix + tool.name, aliases=aliases)

    # Only installed packs have prefixes; loading has made their tools a sequence.
    assert isinstance(pack.tools, Sequence)
    prompts = tuple(msgspec.structs.replace(one, tool=rename(one.tool)) for one in pack.prompts)
    return msgspec.structs.replace(pack, tools=tuple(map(rename, pack.tools)), prompts=prompts)


def describe_exception(error: BaseException) -> str:
    kind = type(error).__name__
    try:
        text = str(error).encode(errors="replace").decode().partition("\n")[0]
    except BaseException:  # noqa: BLE001 - even the text comes from the pack
        return kind
    return f"{kind}: {shorten_text(text)}" if text else kind


def find_place(error: BaseException) -> str:
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return f"{os.path.basename(places[-1][0])}:{places[-1][1]}" if places else ""


def format_traceback(error: BaseException) -> Sequence[str]:
    try:
        return "".join(traceback.format_exception(error)).splitlines()
    except BaseException:  # noqa: BLE001 - as above
        return ()


def find_entry_point_stamps(path: Iterable[str]) -> tuple[str, ...]:
    paths: list[str] = []
    for folder in dict.fromkeys(one or os.curdir for one in path):
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith((".dist-info", ".egg-info")))
            paths += (os.path.join(folder, name, _ENTRY_POINTS) for name in names)
        except NotADirectoryError:
            # An archive has one stamp for all its files.
            paths.append(folder)
        except OSError:
            continue
    return tuple(filter(None, map(stamp_file, paths)))


def stamp_file(path: str) -> str:
    try:
        info = os.stat(path)
    except OSError:
        return ""
    return f"{path} {info.st_size} {info.st_mtime_ns}"
