"""A project like that in the server's description, and calls of its tools."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import anyio
from msgspec import json, to_builtins

from duvet.project.project import Project
from duvet.tools.call_context import Caller
from duvet.tools.context import ProjectSnapshot
from duvet.tools.dispatcher import ToolDispatcher
from duvet.tools.packs import Registry
from duvet.tools.tool import EnabledPack, Pack, Scope, Tool, ToolAnswer, ToolError
from duvet.tree.files import MemoryTree
from tests.cli.tea_project import TEA_PROJECT
from tests.sample_project import read_files

FILES = read_files(Path(__file__).with_name("projects") / "coffee")
_REGISTRY = Registry()
Result = TypeVar("Result")


class Fixed:
    def __init__(self, context: ProjectSnapshot) -> None:
        self._context = context

    async def context(self) -> ProjectSnapshot:
        return self._context

    async def ask(self, question: Callable[[ProjectSnapshot], Result]) -> Result:
        return question(self._context)

    async def catch_up(self) -> None:
        pass


def call(
    tool: Tool, context: ProjectSnapshot, arguments: Mapping[str, object], scopes: Iterable[Scope] = Scope
) -> ToolAnswer:
    desk = ToolDispatcher(Registry([EnabledPack(Pack("made", [tool]))]), Fixed(context))
    return anyio.run(desk.call, tool.name, arguments, Caller(scopes=frozenset(scopes)))


def context_of(files: dict[str, str], page_size: int = 50) -> ProjectSnapshot:
    project = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()}))
    return ProjectSnapshot(project, project.catalogue, page_size)


def context_in(folder: Path, page_size: int = 50) -> ProjectSnapshot:
    project = Project(str(folder))
    return ProjectSnapshot(project, project.catalogue, page_size)


TEA = context_of(TEA_PROJECT)


def ask(context: ProjectSnapshot, name: str, arguments: dict[str, object] | None = None) -> ToolAnswer:
    return call(_REGISTRY.require(name), context, arguments or {})


def answer(context: ProjectSnapshot, tool: str, /, **arguments: object) -> tuple[Any, str]:
    found = ask(context, tool, arguments)
    return to_builtins(found.value), found.next_step


def value(context: ProjectSnapshot, tool: str, /, **arguments: object) -> Any:
    return answer(context, tool, **arguments)[0]


def refusal(context: ProjectSnapshot, tool: str, /, **arguments: object) -> tuple[str, str, str]:
    try:
        found = ask(context, tool, arguments)
    except ToolError as error:
        return error.code.value, error.message, error.hint
    raise AssertionError(f"it answered {found}")


def format_value(value: object) -> str:
    return json.format(json.encode(value)).decode()


Call = tuple[str, dict[str, Any]]


def describe_calls(call: Callable[..., ToolAnswer], calls: Iterable[Call], show: Any = format_value) -> str:
    """Return each call with its answer, whole or as shown, or with the code, message and hint of its refusal."""
    lines = []
    for tool, arguments in calls:
        lines.append(f"# {tool} {arguments!a:.110}")
        try:
            found = call(tool, arguments)
        except ToolError as error:
            told = "; ".join(filter(None, (error.code, error.message, error.hint)))
            lines += [told.replace("\0", "\\0"), ""]
        else:
            notes = filter(None, (found.warning, found.next_step))
            lines += [show(found.value), *notes, ""]
    return "\n".join(lines)


def every(context: ProjectSnapshot, tool: str, /, **arguments: object) -> list[Any]:
    found = ask(context, tool, arguments)
    rows = to_builtins(found.value)
    while found.page and found.page.next_cursor:
        found = ask(context, tool, {**arguments, "cursor": found.page.next_cursor})
        rows += to_builtins(found.value)
    assert found.page is not None and len(rows) == found.page.total
    return list(rows)
