"""Creates the application from a command's options, and calls tools from the shell."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from duvet.config.service import SERVICE_VARIABLES, Service, asks_for_json_log, load_service
from duvet.config.service_tables import ProviderKind
from duvet.console.command import TerminalSettings, current_settings, wants_cache
from duvet.console.options import PACKS_KEY, PAGES_KEY, SERVICE_KEY, select_trace_options
from duvet.console.project import find_spending_folder, open_blobs, open_project
from duvet.console.streams import is_stderr_writable, make_usage_error, print_line, print_notice, write_stdout
from duvet.errors import DuvetError, NotFoundError, ProblemsError, UnreadableError, describe_os_error
from duvet.model import sort_problems
from duvet.reports.cells import escape_cell
from duvet.rules import CONFIG_BAD_VALUE
from duvet.server.application import Application, ApplicationSettings
from duvet.text import quote_text, suggest_nearest
from duvet.tools.arguments import Schema, describe_type, input_schema, make_argument_lines, output_schema
from duvet.tools.call_context import Caller, ignore_progress
from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs
from duvet.tools.tool import (
    GATEWAY_VARIABLE,
    SHELL_SOURCE,
    EnabledPack,
    ErrorCode,
    Tool,
    ToolAnswer,
    ToolError,
    make_tool_error,
)
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.config.settings import PagesTable
    from duvet.model import Problem
    from duvet.progress import Progress
    from duvet.project.project import Project
    from duvet.tree.cache import DiskCache


def enter_page_folder(where: dict[str, Any]) -> None:
    folder = where.pop(PAGES_KEY)
    if folder is None:
        return
    terminal = current_settings()
    path = os.path.join(terminal.folder, os.path.expanduser(folder))
    # Otherwise a relative path would name a file of the folder.
    where |= {key: os.path.abspath(where[key]) for key in (SERVICE_KEY, "config_path") if where[key]}
    config_path = terminal.config_path and os.path.abspath(terminal.config_path)
    named = {name: os.path.abspath(terminal.environ[name]) for name in SERVICE_VARIABLES if terminal.environ.get(name)}
    try:
        os.chdir(path)
    except OSError as error:
        message = f"can't change to this folder: {describe_os_error(error)}"
        raise DuvetError(message, path=folder, hint="after --pages, name a folder that duvet can open") from error
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT forward calls to a gateway.
    environ = {name: value for name, value in {**terminal.environ, **named}.items() if name != GATEWAY_VARIABLE}
    settings = replace(terminal, environ=environ, folder="", config_path=config_path, has_only_pages=True)
    click.get_current_context().obj = settings


def make_application(where: Mapping[str, Any], *, mode: str = SHELL_SOURCE) -> Application:
    settings = make_application_settings(where, current_settings(), mode)
    try:
        return Application(settings, settings.read_service(DiskTree()))
    except ProblemsError as error:
        from duvet.config.service_file import salvage_service

        problems = error.problems
        # Unless it has a syntax error, its valid parts may cause further problems.
        with suppress(DuvetError):
            service = salvage_service(DiskTree(), settings.environ, settings.service_path, settings.folder)
            known = {(one.message, one.place) for one in problems}
            found = find_service_problems(Application(settings, service))
            problems = sort_problems([*problems, *(one for one in found if (one.message, one.place) not in known)])
        raise ProblemsError(problems) from None


def wants_json_log(where: Mapping[str, Any]) -> bool:
    settings = make_application_settings(where, current_settings(), "")
    return asks_for_json_log(DiskTree(), settings.environ, settings.service_path, settings.folder)


def find_service_problems(application: Application) -> list[Problem]:
    from duvet.llm.endpoint import make_endpoint

    problems = [*application.tools.list_unknown_names(), *find_workflow_problems(application)]
    document = application.service.document
    for name, provider in application.service.config.providers.items():
        if not provider.enabled or provider.kind is ProviderKind.CLIENT or not document:
            continue
        try:
            make_endpoint(name, provider, None)
        except DuvetError as error:
            location = document.locate("providers", name, "baseUrl")
            problems.append(location.problem(CONFIG_BAD_VALUE, error.message, error.hint))
    return problems


def make_tool_application(name: str, where: Mapping[str, Any]) -> Application:
    application = make_application(where)
    if name in application.tools.registry:
        return application
    packs = [pack.name for pack in enable_packs(tuple(BUILT_IN_PACKS)) if name in pack.every_name()]
    unconfigured = [pack for pack in packs if pack not in application.service.config.tool_packs]
    if not unconfigured:
        return application
    return make_application({**where, PACKS_KEY: (*where[PACKS_KEY], *unconfigured)})


def make_application_settings(where: Mapping[str, Any], terminal: TerminalSettings, mode: str) -> ApplicationSettings:
    options = select_trace_options(where)

    def open_from_options(
        cache: DiskCache | None,
        progress: Progress | None,
        *,
        root: str = "",
        notes: tuple[PagesTable, ...] | None = None,
    ) -> Project:
        return open_project(cache, progress, is_quiet=True, settings=terminal, root=root, rules=notes, **options)

    return ApplicationSettings(
        environ=terminal.environ,
        project_options=options,
        config_path=terminal.config_path,
        service_path=where.get(SERVICE_KEY),
        ##= man/spec/pages.md#folders-of-notes
        ##% With `--pages`, duvet MUST ignore configurations in the folder unless an option or an environment variable
        ##% names them.
        folder=None if terminal.has_only_pages else terminal.folder,
        packs=where.get(PACKS_KEY, ()),
        mode=mode,
        is_verbose=terminal.verbose,
        open_project=open_from_options,
        has_only_pages=terminal.has_only_pages,
        has_cache=lambda root: wants_cache(terminal, root),
        blobs=open_blobs(terminal),
        spending_folder=find_spending_folder(terminal),
        today=lambda: terminal.today,
        write_line=print_line,
        is_writable=is_stderr_writable,
    )


def read_service(service_path: str | None, config_path: str | None) -> Service:
    terminal = current_settings()
    return load_service(
        DiskTree(), terminal.environ, service_path, config_path or terminal.config_path, terminal.folder
    )


def find_workflow_problems(application: Application, name: str | None = None) -> tuple[Problem, ...]:
    from duvet.workflows.check import make_workflow_problems

    faults = {one: found for one, found in application.tools.offered.faults.items() if name in (None, one)}
    document = application.service.document
    return tuple(make_workflow_problems(document, faults)) if document else ()


_WIDTH = 100
_SWITCHES = {"true": True, "false": False}
_SHORTCUT_SCHEMA: Schema = {"type": "array", "description": "comma-separated words"}
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?\Z")


def invoke_tool(
    application: Application,
    tool: Tool,
    arguments: Mapping[str, object],
    *,
    prints_progress: bool = False,
    part_of: EnabledPack | None = None,
    services: Mapping[str, object] | None = None,
) -> ToolAnswer:
    import anyio

    # Only a server logs each call to a km- tool, so the log does not get the pack.
    recorders = [lambda record: application.log.record_call(replace(record, pack=""))]
    dispatcher = application.make_dispatcher(recorders, **(services or {}))
    progress = _print_progress if prints_progress or current_settings().verbose else ignore_progress

    async def call() -> ToolAnswer:
        try:
            caller = Caller(scopes=application.scopes, face=SHELL_SOURCE, progress=progress)
            return await dispatcher.call_tool(tool, arguments, caller, part_of)
        finally:
            await dispatcher.aclose()

    return anyio.run(call)


async def _print_progress(done: float, total: float | None, message: str) -> None:
    of_total = f"/{total:g}" if total else ""
    print_notice(f"{done:g}{of_total} {escape_cell(message)}\n")


def make_shell_error(error: ToolError) -> Exception:
    if error.code in (ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_IDENTIFIER):
        return make_usage_error(error.message, error.hint)
    if isinstance(error.__cause__, UnreadableError):
        return error.__cause__
    kind = NotFoundError if error.code in (ErrorCode.NOT_FOUND, ErrorCode.RECIPE_NOT_FOUND) else DuvetError
    return kind(error.message, hint=error.hint)


def describe_failure(error: ToolError | DuvetError) -> dict[str, object]:
    failure = error if isinstance(error, ToolError) else make_tool_error(error)
    details = {} if failure.details is None else {"details": failure.details}
    return {"status": "error", "error": failure.message, "code": failure.code.value, "hint": failure.hint, **details}


def require_tool(application: Application, name: str) -> Tool:
    try:
        return application.tools.registry.require(name)
    except ToolError as error:
        # A pack or workflow that was not loaded may be this tool.
        application.log_unloaded_tools()
        if application.settings.has_only_pages:
            known = ", ".join(tool.name for tool in application.tools.shown_tools)
            hint = error.hint or f"available: {known}"
        else:
            # `duvet call` enables the pack that contains the tool, unless that pack is configured.
            configured = application.service.config.tool_packs
            packs = [pack for pack in enable_packs(tuple(BUILT_IN_PACKS)) if pack.name not in configured]
            others = [tool for pack in packs for tool in pack.every_name()]
            names = [*(tool.name for tool in application.tools.registry.list_all()), *others]
            hint = suggest_nearest(name, names) or "run `duvet tools` to list the tools"
        raise NotFoundError(f"no tool is named {quote_text(name)}", hint=hint) from error


def read_json_argument(text: str | None) -> bytes | None:
    if text != "-":
        return None if text is None else text.encode(errors="surrogateescape")
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def split_json_option(tool: Tool, words: Sequence[str]) -> tuple[list[str], str | None]:
    rest = list(words)
    if "json" in input_schema(tool)["properties"]:
        return rest, None
    for index, word in enumerate(rest):
        if word == "--json" and index + 1 < len(rest):
            return [*rest[:index], *rest[index + 2 :]], rest[index + 1]
        if word.startswith("--json="):
            return [*rest[:index], *rest[index + 1 :]], word.partition("=")[2]
    return rest, None


def parse_arguments(tool: Tool, words: Sequence[str], json: bytes | None) -> dict[str, Any]:
    schemas = input_schema(tool)["properties"]
    try:
        arguments = {} if json is None else msgspec.json.decode(json)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ToolError(ErrorCode.INVALID_REQUEST, f"--json is not JSON: {error}", "pass one JSON object") from error
    if not isinstance(arguments, dict):
        raise ToolError(ErrorCode.INVALID_REQUEST, "--json is not an object", """write it as '{"name": "value"}'""")
    shortcuts = {one.flag: one for one in tool.shortcuts if one.flag not in schemas}
    shortcut_words: dict[str, list[str]] = {}
    for name, value in _split_pairs(tool, schemas | dict.fromkeys(shortcuts, _SHORTCUT_SCHEMA), words):
        items = [] if value is None else value.split(",")
        if name in shortcuts:
            # Ignore empty words, which are typos.
            if not (stripped := [item.strip() for item in items if item.strip()]):
                hint = "pass one or more comma-separated words"
                raise ToolError(ErrorCode.INVALID_REQUEST, f"--{name} needs a value", hint)
            shortcut_words.setdefault(name, []).extend(stripped)
        elif schemas[name].get("type") == "array" and not (value or "").startswith("["):
            arguments.setdefault(name, []).extend(items)
        else:
            arguments[name] = _parse_value(name, schemas[name].get("type"), value)
    for flag, more in shortcut_words.items():
        # A shortcut adds its words to a list inside an object.
        shortcut = shortcuts[flag]
        parent = arguments.setdefault(shortcut.argument, {})
        before = parent.get(shortcut.key, []) if isinstance(parent, dict) else None
        if not isinstance(before, list):
            path = f"{shortcut.argument}.{shortcut.key}"
            message = f"--{shortcut.flag} adds to {path}, which must be a list"
            hint = f"make {path} a list, or use only --{shortcut.flag}"
            raise ToolError(ErrorCode.INVALID_REQUEST, message, hint)
        arguments[shortcut.argument] = {**parent, shortcut.key: [*before, *more]}
    return arguments


def _split_pairs(tool: Tool, schemas: Mapping[str, Schema], words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    usage = f"run `duvet tools {tool.name}` to list the tool's arguments"
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--") or len(word) == 2:
            raise ToolError(ErrorCode.INVALID_REQUEST, f"unexpected argument {quote_text(word)}", usage)
        option, equals, value = word[2:].partition("=")
        name = option if option in schemas else option.replace("-", "_")
        if name not in schemas:
            hint = suggest_nearest(option, tuple(schemas)) or usage
            context = click.get_current_context(silent=True)
            if context and any(f"--{option}" in one.opts for one in context.command.params):
                hint = f"write --{option} before `{tool.name}`, because it is an option of `{context.command_path}`"
            raise ToolError(ErrorCode.INVALID_REQUEST, f"{tool.name} has no argument {quote_text(option)}", hint)
        if equals:
            yield name, value
        elif schemas[name].get("type") == "boolean" and not (rest and rest[0] in _SWITCHES):
            yield name, None
        elif rest:
            yield name, rest.pop(0)
        else:
            hint = str(schemas[name].get("description", ""))
            raise ToolError(ErrorCode.INVALID_REQUEST, f"--{option} needs a value", hint)


def _parse_value(name: str, kind: object, value: str | None) -> object:
    if value is None:
        return True
    match kind:
        case "boolean":
            return _SWITCHES.get(value, value)
        case "integer" | "number" if _NUMBER.match(value):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(value)
        case "object" | "array" | None:
            try:
                return msgspec.json.decode(value)
            except msgspec.MsgspecError as error:
                raise ToolError(ErrorCode.INVALID_REQUEST, f"--{name} is not JSON: {error}") from error
    return value


def print_tool_help(tool: Tool, registry: Registry) -> None:
    schema, properties = input_schema(tool), output_schema(tool)["properties"]
    arguments = []
    for line in make_argument_lines(schema):
        # A field of an object is not a separate option.
        name = line.name if "." in line.name else f"--{line.name.replace('_', '-')}"
        arguments.append(f"{name} ({line.terms}){line.description and ': '}{line.description}")
    fields = properties["result"]["items"]["required"] if tool.is_list else list(properties)
    if fields == ["result"]:
        fields = [f"result ({describe_type(properties['result'])})"]
    words = ["duvet call", tool.name]
    for name in schema.get("required", ()):
        argument = schema["properties"][name]
        samples = {"integer": "1", "number": "1", "boolean": "true", "object": "'{}'"}
        sample = argument["enum"][0] if "enum" in argument else samples.get(str(argument.get("type")), "...")
        words.append(f"--{name.replace('_', '-')} {sample}")
    sections = {
        "Arguments": arguments,
        "Shortcuts": [f"--{one.flag} WORD,…: adds to {one.argument}.{one.key}" for one in tool.shortcuts],
        "Returns a list of" if tool.is_list else "Returns": [", ".join(fields)],
        "Before you call it": tool.safety_notes,
        "Hints": tool.invocation_hints,
        "Example": [" ".join(words)],
    }
    lines = [f"{tool.name}: {tool.title}", "", *textwrap.wrap(tool.description, _WIDTH)]
    for title, texts in sections.items():
        lines += ["", f"{title}:"] if texts else []
        for text in texts:
            lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ")
    labels = f", labels {', '.join(tool.labels)}" if tool.labels else ""
    lines += ["", f"pack {registry.pack_of(tool).name}, scope {tool.scope}{labels}"]
    write_stdout("".join(f"{escape_cell(line)}\n" for line in lines).encode())
