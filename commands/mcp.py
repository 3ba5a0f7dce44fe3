"""`duvet mcp`"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from duvet.config.check import DocumentLocation
from duvet.config.project_file import find_config, read_config, require_config
from duvet.config.service_tables import ProviderKind
from duvet.config.toml import format_one_line_string
from duvet.console.application import make_application
from duvet.console.command import Subcommand
from duvet.console.options import add_trace_options
from duvet.console.service_options import (
    PACKS_KEY,
    SERVICE_KEY,
    ListenOptions,
    add_http_options,
    add_service_options,
    split_listen_options,
)
from duvet.console.settings import current_settings
from duvet.console.streams import OK, print_line, print_notice, write_stdout
from duvet.errors import DuvetError, QueryError
from duvet.llm.endpoint import make_endpoint
from duvet.model import Problem, ProblemsError, Severity
from duvet.reports.cells import escape_cell
from duvet.reports.tables import encode_json
from duvet.rules import CONFIG_BAD_VALUE
from duvet.server.application import HTTP_MODE, Application
from duvet.server.log import EventLevel, forward_logging
from duvet.text import format_count
from duvet.tools.schemas import input_schema, output_schema
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.server.http.guards import HttpLimits
    from duvet.server.http.listener import ServerAddress
    from duvet.tools.gateway import Gateway
    from duvet.tools.tool import Tool


@click.command(cls=Subcommand)
@click.option(
    "--print-config",
    "client",
    type=click.Choice(["claude", "vscode", "cursor", "codex"]),
    help="Print what that client has to read to start the server for this project.",
)
@click.option("--check", is_flag=True, help="Check the configuration, show what would be served, and serve nothing.")
@click.option("--describe", is_flag=True, help="Print tools, resources and prompts as JSON, and serve nothing.")
@add_service_options
@add_trace_options
@add_http_options
@click.pass_context
def mcp(ctx: click.Context, /, client: str | None, check: bool, describe: bool, **given: Any) -> None:
    """The server speaks the Model Context Protocol. An agent starts it, asks it about requirements and citations, and
    has its own citations checked before it writes them.

    On standard output stand only messages, one a line; whatever else there is to tell is on standard error. The server
    ends with its input, and at SIGINT or SIGTERM.

    With --http it serves many at once, at /mcp, and at /api/mcp for programs that don't speak the protocol; only this
    machine, unless DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN say what clients have to show: the first one to read, the second
    one to do what maintainers do, too.

    With KM_GATEWAY_URL, calls of the tools about what is known (km-search and others) are forwarded to the server of a team,
    which is shown KM_READER_TOKEN or KM_ADMIN_TOKEN. They switch on what can be called there: without the second one,
    nothing that maintainers alone may do. --check tells where they go.

    \b
    Examples:
      duvet mcp
      duvet -C ../project mcp
      duvet mcp --print-config claude > .mcp.json
      duvet mcp --check --config duvet.config.yaml
      duvet mcp --pack introspect --describe | jq .tools
      duvet mcp --http 8931
      DUVET_READER_TOKEN=… duvet mcp --http 0.0.0.0:8931 --allow-host duvet.example.org
      KM_GATEWAY_URL=https://duvet.example.org KM_READER_TOKEN=… duvet mcp
    """
    listening, where = split_listen_options(given)
    if listening.stdio and listening.http is not None:
        raise click.UsageError("--stdio and --http are two ways to serve: choose one", ctx)
    if client is not None:
        print_config(client, where)
        return
    if check or describe:
        (check_service if check else describe_service)(listening, where)
        return
    serve_service(listening, where)


_AT_A_TERMINAL = (
    "duvet mcp waits on standard input for an agent, which speaks the Model Context Protocol; Ctrl-C ends it.\n"
    "`duvet mcp --print-config claude` prints what makes that agent start it; the others are in `duvet mcp --help`.\n"
)


def serve_service(listening: ListenOptions, where: Mapping[str, Any]) -> None:
    """Serve whoever asks, by the way that is wanted."""
    assembly = make_application(where, mode=listening.mode)
    assembly.require_variables()
    if assembly.mode == HTTP_MODE:
        serve_http(assembly, listening)
    else:
        serve_stdio(assembly)


def serve_stdio(assembly: Application) -> None:
    """Serve the client at standard input and output until it leaves."""
    from duvet.server.stdio.handshake import take_standard_streams

    wire = take_standard_streams()
    _leave_when_told()
    if os.isatty(wire.reading):
        print_notice(_AT_A_TERMINAL)
    from duvet.server.stdio.handshake import answer_handshake

    opening = answer_handshake(wire, assembly.identity, assembly.instructions)
    if opening.read:
        # The client has its answer and waits for nothing while this is imported.
        assembly.live.begin()
        from duvet.server.stdio.session import serve_client

        log = assembly.log
        forward_logging(log)
        told = assembly.reloader.instructions
        serve_client(wire, opening, assembly.identity, told, assembly.live, assembly.make_dispatcher([log.saw]))


def _leave_when_told() -> None:
    """There is nothing to save, and whatever is being worked on has nobody to hear of it."""
    ##= man/spec/mcp.md#standard-input-and-output
    ##% The server MUST exit with 0 at the end of its input, after at most ten seconds for open requests, and
    ##% immediately on SIGINT, SIGTERM or a closed output.
    for sort in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sort, lambda number, frame: os._exit(OK))


def serve_http(assembly: Application, listening: ListenOptions) -> None:
    """Serve everybody who may ask at an address until a signal ends it."""
    from duvet.server.http.listener import ServedApplication, ServingOptions, serve_over_http
    from duvet.server.http.tokens import read_tokens
    from duvet.tools.gateway import GATEWAY_VARIABLE

    shown, server = current_settings(), assembly.service.config.server
    terms = ServingOptions(
        address=choose_address(assembly, listening),
        tokens=read_tokens(shown.environ),
        hosts=(*server.allowed_hosts, *listening.hosts),
        limits=_limits(server.rate if listening.rate is None else listening.rate, server.shutdown_timeout),
    )
    offer = ServedApplication(
        identity=assembly.identity,
        instructions=assembly.reloader.instructions,
        live=assembly.live,
        make_dispatcher=assembly.make_dispatcher,
    )
    if shown.environ.get(GATEWAY_VARIABLE):
        assembly.log.tell(EventLevel.WARN, f"{GATEWAY_VARIABLE} counts over standard input and output alone")
    serve_over_http(offer, terms, assembly.log, print_line)


def choose_address(assembly: Application, listening: ListenOptions) -> ServerAddress:
    """Where it is to listen, by the command line or else by the configuration."""
    from duvet.server.http.listener import parse_address

    try:
        server = assembly.service.config.server
        return parse_address(listening.http or f"{_bracketed(server.host)}:{server.port}")
    except QueryError as error:
        raise click.BadParameter(f"{error.message}: {error.hint}", param_hint="--http") from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _limits(rate: float, stopping: float) -> HttpLimits:
    from msgspec.structs import replace

    from duvet.server.http.guards import HttpLimits

    return replace(HttpLimits(), rate=rate, burst=2 * rate, stopping=stopping)


_NAME = "duvet"
"""What the server is called in their files."""


class ClientCommand(Struct, frozen=True):
    """How a client starts the server."""

    command: str
    args: tuple[str, ...]


class McpClient(Struct, frozen=True):
    """A program that starts servers."""

    written: Callable[[ClientCommand], str]
    where: str
    """Where it looks for that."""


def print_config(name: str, where: Mapping[str, Any]) -> None:
    """Write what this client has to read to start the server for this project, and say where to put it."""
    given = where["config_path"] or current_settings().config_path
    require_config(DiskTree(), given)
    client = CLIENTS[name]
    try:
        text = client.written(_command(given, where)).encode()
    except UnicodeEncodeError as error:
        raise DuvetError("the name of this folder is not UTF-8, and a client could not read it") from error
    write_stdout(text)
    if not current_settings().quiet:
        print_notice(f"put this into {client.where}; where that has other servers already, add this one to them\n")


def _command(config_path: str | None, where: Mapping[str, Any]) -> ClientCommand:
    """The very program that runs, in the working directory: a client may start it anywhere, with another path."""
    ##= man/spec/mcp.md#handshake
    ##% `duvet mcp --print-config` MUST print a configuration with which a client can start the server for this project
    ##% from any folder.
    begun = os.path.abspath(sys.argv[0])
    is_script = os.path.splitext(os.path.basename(begun))[0] == _NAME and os.access(begun, os.X_OK)
    command, *before = [begun] if is_script else [sys.executable, "-m", _NAME]
    return ClientCommand(command, (*before, "-C", os.getcwd(), "mcp", *_options(config_path, where)))


def _options(config_path: str | None, where: Mapping[str, Any]) -> Iterator[str]:
    if config_path:
        yield from ("--config-path", config_path)
    if where[SERVICE_KEY]:
        yield from ("--config", where[SERVICE_KEY])
    for pack in where[PACKS_KEY]:
        yield from ("--pack", pack)
    for name in ("offline", "allow_http"):
        if where[name]:
            yield f"--{name.replace('_', '-')}"


def _json(key: str, **more: str) -> Callable[[ClientCommand], str]:
    def written(command: ClientCommand) -> str:
        server = {**more, "command": command.command, "args": command.args}
        return f"{json.dumps({key: {_NAME: server}}, indent=2, ensure_ascii=False)}\n"

    return written


def _toml(command: ClientCommand) -> str:
    args = ", ".join(map(format_one_line_string, command.args))
    return f"[mcp_servers.{_NAME}]\ncommand = {format_one_line_string(command.command)}\nargs = [{args}]\n"


CLIENTS = {
    "claude": McpClient(
        _json("mcpServers"),
        "`.mcp.json` of the project for Claude Code, `claude_desktop_config.json` for Claude Desktop",
    ),
    "vscode": McpClient(
        _json("servers", type="stdio"), "`.vscode/mcp.json` of the project, or `mcp.json` of your profile"
    ),
    "cursor": McpClient(_json("mcpServers"), "`.cursor/mcp.json` of the project, or `~/.cursor/mcp.json`"),
    "codex": McpClient(_toml, "`~/.codex/config.toml`, or `.codex/config.toml` of a project that you trust"),
}
"""By the word that chooses it."""


def check_service(listening: ListenOptions, where: Mapping[str, Any]) -> None:
    """Write what would be served; DuvetError where something of it could not be."""
    assembly = make_application(where, mode=listening.mode)
    assembly.require_variables()
    ##= man/spec/service.md#calls
    ##% `duvet mcp --check` MUST fail for an invalid configuration, and otherwise show what would be served and where
    ##% calls are forwarded.
    address = _address(assembly, listening)
    lines = "".join(f"{escape_cell(line)}\n" for line in _summary(assembly, address))
    write_stdout(lines.encode())
    _require_whole(assembly)


def _address(assembly: Application, listening: ListenOptions) -> str:
    """Where it would listen; DuvetError where it couldn't."""
    if assembly.mode != "http":
        return assembly.mode
    from duvet.server.http.listener import check_reach
    from duvet.server.http.tokens import read_tokens

    address = choose_address(assembly, listening)
    check_reach(address, anywhere=bool(read_tokens(current_settings().environ)))
    return f"http at {address.authority}"


def _require_whole(assembly: Application) -> None:
    problems = (*find_workflow_problems(assembly), *_of_project(assembly), *_of_providers(assembly))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ProblemsError(problems)
    if assembly.tools.choice.unloaded:
        raise DuvetError(f"{format_count(len(assembly.tools.choice.unloaded), 'pack')} could not be loaded")


def find_workflow_problems(assembly: Application, name: str | None = None) -> tuple[Problem, ...]:
    """What is wrong with one of the workflows of the configuration, or with all."""
    from duvet.workflows.check import make_workflow_problems

    faults = {one: found for one, found in assembly.tools.offered.faults.items() if name in (None, one)}
    written = assembly.service.document
    return tuple(make_workflow_problems(written, faults)) if written else ()


def _of_project(assembly: Application) -> tuple[Problem, ...]:
    """What is wrong with the configuration of the project, without which nothing is known."""
    shown, tree = current_settings(), DiskTree()
    try:
        path = find_config(tree, assembly.settings.project_config_path)
        if path:
            read_config(tree.read(path), path, shown.environ)
    except ProblemsError as error:
        return error.problems
    return ()


def _of_providers(assembly: Application) -> Iterator[Problem]:
    """What is wrong with the addresses of providers."""
    for name, section in assembly.service.config.providers.items():
        if not section.enabled or section.kind is ProviderKind.CLIENT or not assembly.service.document:
            continue
        try:
            make_endpoint(name, section, None)
        except DuvetError as error:
            at = DocumentLocation(assembly.service.document, {}, keys=("providers", name, "baseUrl"), is_private=True)
            yield at.problem(CONFIG_BAD_VALUE, error.message, error.hint)


def _summary(assembly: Application, address: str) -> Iterator[str]:
    service, config = assembly.service, assembly.service.config
    yield f"configuration  {service.path or 'none'} ({service.origin})"
    yield f"server         {assembly.rule.name} {assembly.rule.version}, {address}"
    if assembly.line is not None:
        yield f"gateway        {_forwards(assembly.line.gateway)}"
    for pack in assembly.tools.shown_packs:
        names = [tool.name for tool in assembly.tools.shown_tools if assembly.tools.registry.pack_of(tool) is pack]
        yield f"pack           {pack.name}: {', '.join(names) or 'no tools'}"
    for one in assembly.tools.choice.unloaded:
        yield f"left out       {one.name}: {one.reason}"
    for name, provider in config.providers.items():
        yield f"provider       {name}: {provider.kind}{'' if provider.enabled else ', switched off'}"
    for task, route in config.routing.items():
        yield f"routing        {task}: {', '.join((route.model, *route.fallbacks))}"


def _forwards(gateway: Gateway) -> str:
    shown = f"showing {' or '.join(gateway.tokens)}" if gateway.tokens else "without a token"
    return f"{gateway.authority}: calls of km- tools but km-help are forwarded there, {shown}"


def describe_service(listening: ListenOptions, where: Mapping[str, Any]) -> None:
    """Write it as JSON."""
    from duvet.prompts.library import load_prompts
    from duvet.server.messages import CAPABILITIES
    from duvet.server.resources.documents import COLLECTIONS
    from duvet.server.resources.templates import TEMPLATES

    assembly = make_application(where, mode=listening.mode)
    identity = assembly.identity
    write_stdout(
        encode_json(
            {
                "server": {
                    "name": identity.name,
                    "title": identity.title,
                    "version": identity.version,
                    "description": identity.description,
                    "mode": assembly.mode,
                },
                "gateway": _gateway(assembly),
                "capabilities": CAPABILITIES,
                "instructions": assembly.instructions,
                "packs": [pack.name for pack in assembly.tools.shown_packs],
                "leftOut": [{"pack": one.name, "reason": one.reason} for one in assembly.tools.choice.unloaded],
                "tools": [_described(assembly, tool) for tool in assembly.tools.shown_tools],
                "resources": [{"name": name, "description": text} for name, _, text in COLLECTIONS.values()],
                "resourceTemplates": [
                    {"uriTemplate": one.uri, "name": one.name, "title": one.title, "description": one.description}
                    for one in TEMPLATES
                ],
                "prompts": load_prompts(),
                "workflows": [
                    {"name": one.name, "description": one.description} for one in assembly.tools.workflows.values()
                ],
                "models": assembly.router.known_models(),
            }
        )
    )


def _gateway(assembly: Application) -> dict[str, Any] | None:
    """Where calls are forwarded to."""
    if assembly.line is None:
        return None
    gateway = assembly.line.gateway
    return {"at": gateway.authority, "tokens": gateway.tokens}


def _described(assembly: Application, tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "pack": assembly.tools.registry.pack_of(tool).name,
        "scope": tool.scope.value,
        "readOnly": tool.only_reads,
        "labels": tool.labels,
        "safetyNotes": tool.safety_notes,
        "invocationHints": tool.invocation_hints,
        "inputSchema": input_schema(tool),
        "outputSchema": output_schema(tool),
    }
