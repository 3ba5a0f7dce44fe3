"""Tools from the shell: a call, the list of them, and the help of one."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from duvet.errors import DuvetError
from duvet.reports.cells import visible
from duvet.reports.json_document import document
from duvet.terminal.one_tool import pour_help
from duvet.terminal.reaching import assembly_reaching
from duvet.terminal.service import Assembly
from duvet.terminal.settings import settings
from duvet.terminal.shell_arguments import arguments_from, without_json
from duvet.terminal.streams import pour, say
from duvet.tools.ctx import Caller, nobody
from duvet.tools.errors import Code, ToolError
from duvet.tools.faces import SHELL
from duvet.tools.tool import Answer, Tool


def call_tool(name: str, words: Sequence[str], given: str | None, where: Mapping[str, Any]) -> None:
    """Call a tool with what the command line says, and write what it answers."""
    assembly = assembly_reaching(name, where)
    try:
        tool = assembly.registry.require(name)
        if {"--help", "-h"} & set(words):
            pour_help(tool, assembly.registry)
            return
        rest, late = without_json(tool, words)
        if given is not None and late is not None:
            raise ToolError(Code.INVALID_REQUEST, "--json is given twice")
        arguments = arguments_from(tool, rest, text_of(late if given is None else given))
        answer = called(assembly, tool, arguments)
    except ToolError as error:
        raise as_shell_error(error) from error
    pour(document(answer.value))
    _tell(answer)


def called(
    assembly: Assembly, tool: Tool, arguments: Mapping[str, object], *, tells: bool = False, **services: object
) -> Answer:
    """What the tool answers to whoever is at the keyboard, who may do everything, and may want to hear how far it is."""
    import anyio

    desk = assembly.desk([assembly.log.saw], **services)
    progress = _progress if tells or settings().verbose else nobody

    async def ask() -> Answer:
        try:
            return await desk.call(tool.name, arguments, Caller(face=SHELL, progress=progress))
        finally:
            await desk.aclose()

    return anyio.run(ask)


async def _progress(done: float, total: float | None, message: str) -> None:
    whole = f"/{total:g}" if total else ""
    say(f"{done:g}{whole} {visible(message)}\n")


def text_of(given: str | None) -> bytes | None:
    """The JSON that stands on the command line, or comes from standard input."""
    if given != "-":
        return None if given is None else given.encode(errors="surrogateescape")
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def _tell(answer: Answer) -> None:
    if settings().quiet:
        return
    for words in filter(None, (answer.warning, answer.next_step)):
        say(f"{visible(words)}\n")


def as_shell_error(error: ToolError) -> Exception:
    """The same as every command tells it: what was asked wrongly is wrong usage."""
    ##= man/spec/service.md#calls
    ##% What `duvet call` does not understand of its arguments MUST be wrong usage that names the argument.
    if error.code in (Code.INVALID_REQUEST, Code.INVALID_IDENTIFIER):
        return click.UsageError("\n".join(filter(None, [visible(error.message), visible(error.hint)])))
    return DuvetError(error.message, hint=error.hint)
