"""`duvet mcp`"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit
from msgspec import Struct
from msgspec.structs import replace

from duvet.config import project_file, service_tables, toml
from duvet.config.service import find_service_file
from duvet.console.application import enter_page_folder, find_service_problems, make_application, wants_json_log
from duvet.console.command import Subcommand, current_settings
from duvet.console.options import PACKS_KEY, SERVICE_KEY, add_pages_option, add_service_options, add_trace_options
from duvet.console.problems import has_errors, list_error_problems, print_problems
from duvet.console.project import load_catalogue
from duvet.console.streams import FAILED, OK, print_line, print_remark, write_stdout
from duvet.errors import DuvetError, ProblemsError, QueryError
from duvet.llm.records import ModelError, NoModelError
from duvet.model import Problem, Severity, sort_problems
from duvet.queries.records import describe_incompleteness
from duvet.reports.cells import encode_json, escape_cell
from duvet.rules import PAGE_LINK_DANGLING, PATTERN_UNMATCHED
from duvet.server.application import HTTP_MODE, Application, has_trace, is_forwarded, read_tokens
from duvet.server.log import EventLevel, ServerLog
from duvet.text import format_count
from duvet.tools.packs import TRACE
from duvet.tools.tool import GATEWAY_VARIABLE
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.server.http.listener import ServerAddress

_SERVER_NAME = "duvet"  # The name of the server in the configuration of clients.
_MAX_PINGS = 20  # Models of a provider to ask.
CLIENTS = {
    "claude": "`.mcp.json` of the project (Claude Code), or `claude_desktop_config.json` (Claude Desktop)",
    "vscode": "`.vscode/mcp.json` of the project, or `mcp.json` of your profile",
    "cursor": "`.cursor/mcp.json` of the project, or `~/.cursor/mcp.json`",
    "codex": "`~/.codex/config.toml`, or `.codex/config.toml` of a project that you trust",
}
"""The clients of `--print-config`, with the files that they read their configuration from."""
_TERMINAL_NOTICE = (
    "{0} is waiting for MCP messages from an agent on standard input; press Ctrl-C to stop.\n"
    "To configure an agent, run `{0} --print-config claude`; `{0} --help` lists the other agents."
)


@click.command(cls=Subcommand)
@click.option(
    "--print-config",
    "client",
    type=click.Choice([*CLIENTS]),
    help="Print a configuration for this client.",
)
@click.option("--check", is_flag=True, help="Check the configuration, list the tools to be served, and exit.")
@click.option("--models", is_flag=True, help="With --check, also send a short test prompt to the models.")
@click.option("--describe", is_flag=True, help="Print tools, resources and prompts as JSON, and exit.")
@add_pages_option
@add_service_options
@add_trace_options
@click.option("--stdio", is_flag=True, help="Serve over standard input and output, overriding the configuration.")
@click.option("--http", metavar="[HOST:]PORT", help="Serve over HTTP at this address.")
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="With --http, accept this Host header, such as the name of a proxy; repeatable.",
)
@click.option(
    "--rate",
    type=click.FloatRange(min=0),
    metavar="NUMBER",
    help="With --http, limit each client to this many requests per second; 0 means no limit [default: `server.rate`, else 1000].",
)
def mcp(client: str | None, check: bool, models: bool, describe: bool, **options: Any) -> None:
    """An agent starts this server to ask about requirements and to check its citations before it writes them. The
    server ends on SIGINT or SIGTERM and, without --http, when its input ends.

    With --pages, the server serves a folder of Markdown notes, which needs no project.

    With --http, the server accepts many clients, at /mcp for MCP and at /api/mcp for other programs. To
    listen on an address that other machines can reach, set DUVET_READER_TOKEN or DUVET_ADMIN_TOKEN; clients must then
    send one of these tokens.

    With KM_GATEWAY_URL and without --http, the server forwards km- tool calls to the server at that URL,
    with KM_READER_TOKEN or KM_ADMIN_TOKEN. Without KM_ADMIN_TOKEN, tools for maintainers are not available.

    \b
    Examples:
      duvet mcp
      duvet mcp --print-config claude > .mcp.json
      duvet mcp --check --service-config duvet.config.yaml
      duvet mcp --pages ~/notes
      duvet mcp --http 8931
      DUVET_READER_TOKEN=… duvet mcp --http 0.0.0.0:8931 --allow-host my.example
    """
    listening = _ListenOptions(*(options.pop(name) for name in _ListenOptions.__struct_fields__))
    # Without these options, the configuration decides.
    mode = "http" if listening.http is not None else "stdio" if listening.stdio else ""
    if listening.stdio and listening.http is not None:
        raise click.UsageError("--stdio and --http can't be used together")
    if models and not check:
        raise click.UsageError("--models only applies to --check")
    if client is not None:
        _print_client_config(client, options)
        return
    enter_page_folder(options)
    if check or describe:
        application = make_application(options, mode=mode)
        if check:
            application.require_variables()
            _check_service(application, listening, asks_models=models)
        else:
            from duvet.server.messages import describe_service

            write_stdout(encode_json(describe_service(application)))
        return
    serving: Application | None = None
    try:
        serving = application = make_application(options, mode=mode)
        application.require_variables()
        if application.mode == HTTP_MODE:
            _serve_http(application, listening)
        else:
            _serve_stdio(application)
    except DuvetError as error:
        if not (serving.logs_json if serving else wants_json_log(options)):
            raise
        log = ServerLog(print_line, as_json=True)
        for one in list_error_problems(error):
            place = ":".join(str(part) for part in (one.path, one.place.line, one.place.column) if part)
            fields = {"code": one.code, "at": place, "hint": one.hint}
            log.write_event(EventLevel.ERROR, one.message, **{name: text for name, text in fields.items() if text})
        raise Exit(FAILED) from error


class _ListenOptions(Struct, frozen=True):
    stdio: bool
    http: str | None
    hosts: tuple[str, ...]
    rate: float | None


def _print_message(application: Application, text: str, **fields: object) -> None:
    ##= man/spec/service.md#operations
    ##% With `logFormat: json`, the server MUST print only JSON lines on standard error, even while it starts.
    if application.logs_json:
        application.log.write_line(EventLevel.INFO, text, **fields)
    else:
        print_line(" ".join([text, *map(str, fields.values())]))


def _serve_stdio(application: Application) -> None:
    from duvet.server.stdio.handshake import answer_handshake, take_standard_streams

    streams = take_standard_streams()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: os._exit(OK))
    if os.isatty(streams.reading):
        _print_message(application, _TERMINAL_NOTICE.format(click.get_current_context().command_path))
    opening = answer_handshake(streams, application.service.config.server, application.instructions)
    if opening.read:
        # The client has its answer, so it doesn't wait for these imports.
        application.live.begin()
        from duvet.server.stdio.session import StopSignal, serve_client

        stopping = StopSignal(application.service.config.server.shutdown_timeout, lambda: os._exit(OK))
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stopping)
        serve_client(streams, opening, application, stopping)


def _serve_http(application: Application, listening: _ListenOptions) -> None:
    from duvet.server.http.listener import serve_over_http

    environ, server = current_settings().environ, application.service.config.server
    address, tokens = _choose_address(application, listening), read_tokens(environ)
    rate = server.rate if listening.rate is None else listening.rate
    hosts = (*server.allowed_hosts, *listening.hosts)
    if is_forwarded(environ):
        application.log.write_event(EventLevel.WARN, f"{GATEWAY_VARIABLE} is ignored over HTTP")
    text = f"{click.get_current_context().command_path}: serving"
    serve_over_http(application, address, tokens, hosts, rate, lambda url: _print_message(application, text, url=url))


def _choose_address(application: Application, listening: _ListenOptions) -> ServerAddress:
    from duvet.server.http.listener import parse_address

    try:
        server = application.service.config.server
        host = f"[{server.host}]" if ":" in server.host else server.host
        return parse_address(listening.http or f"{host}:{server.port}")
    except QueryError as error:
        raise click.BadParameter(f"{error.message}: {error.hint}", param_hint="--http") from error


def _print_client_config(client: str, options: dict[str, Any]) -> None:
    enter_page_folder(options)
    config_path = options["config_path"] or current_settings().config_path
    has_only_pages = current_settings().has_only_pages
    # A service configuration is enough for packs, which need no project.
    terminal, tree = current_settings(), DiskTree()
    if not has_only_pages and not find_service_file(tree, terminal.environ, options[SERVICE_KEY], terminal.folder).path:
        project_file.require_config(tree, config_path)
    # A client may start the server in any folder and with another PATH, so the paths are absolute.
    ##= man/spec/mcp.md#connecting
    ##% `duvet mcp --print-config` MUST print a client configuration that can start the server for this project from any
    ##% folder.
    # With -P, Python imports no module from the folder that the client happens to be in.
    command = [sys.executable, "-P", "-m", _SERVER_NAME]
    # The working directory may have changed, so the name of this process may be relative to another one.
    for script in map(os.path.abspath, (os.path.join(os.path.dirname(sys.executable), _SERVER_NAME), sys.argv[0])):
        if os.path.splitext(os.path.basename(script))[0] == _SERVER_NAME and os.access(script, os.X_OK):
            command = [script]
    command += ["mcp", "--pages", os.getcwd()] if has_only_pages else ["-C", os.getcwd(), "mcp"]
    command += ["--config", config_path] if config_path else []
    command += ["--service-config", options[SERVICE_KEY]] if options[SERVICE_KEY] else []
    for pack in options[PACKS_KEY]:
        command += ["--pack", pack]
    command += [f"--{name.replace('_', '-')}" for name in ("offline", "allow_http") if options[name]]
    if client == "codex":
        program, *args = map(toml.format_one_line_string, command)
        text = f"[mcp_servers.{_SERVER_NAME}]\ncommand = {program}\nargs = [{', '.join(args)}]\n"
    else:
        is_code = client == "vscode"
        server = {**({"type": "stdio"} if is_code else {}), "command": command[0], "args": command[1:]}
        key = "servers" if is_code else "mcpServers"
        text = f"{json.dumps({key: {_SERVER_NAME: server}}, indent=2, ensure_ascii=False)}\n"
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise DuvetError("the path of this folder is not valid UTF-8, so a client can't use it") from error
    write_stdout(data)
    note = "note: these paths are valid only on this machine"
    if not has_only_pages:
        note += f"; in a file that you commit, use the command `{_SERVER_NAME}` without -C"
    print_remark(note)
    print_remark(f"add this to {CLIENTS[client]}; keep any servers that are already there")


def _check_service(application: Application, listening: _ListenOptions, *, asks_models: bool) -> None:
    address = application.mode
    if application.mode == HTTP_MODE:
        http_address = _choose_address(application, listening)
        http_address.check_reach(anywhere=bool(read_tokens(current_settings().environ)))
        address = f"http at {http_address.authority}"
    if application.tools.list_unknown_names():
        raise ProblemsError(sort_problems(find_service_problems(application)))
    lines, project_problems = _summarise_project(application)
    lines = [*lines, *_summarise_service(application, address)]
    silent: Sequence[str] = ()
    if asks_models:
        answers, silent = _ask_models(application)
        lines += answers or ["model          no HTTP provider is enabled"]
    write_stdout("".join(f"{escape_cell(line)}\n" for line in lines).encode())
    problems = (
        *application.service.ignored,
        *application.service.warnings,
        *find_service_problems(application),
        *project_problems,
    )
    ##= man/spec/service.md#configuration
    ##% `duvet mcp --check` MUST fail if a configuration is invalid.
    if has_errors(problems):
        raise ProblemsError(problems)
    print_problems(problems)
    if unloaded := application.tools.choice.unloaded:
        raise DuvetError(f"{format_count(len(unloaded), 'pack')} could not be loaded")
    if silent:
        names = " and ".join(f"`{name}`" for name in silent)
        noun = "provider" if len(silent) == 1 else "providers"
        raise DuvetError(f"no model of the {noun} {names} answered", hint="see the reasons above")


def _ask_models(application: Application) -> tuple[Sequence[str], Sequence[str]]:
    import anyio

    router = application.router
    lines: list[str] = []
    answering: set[str] = set()
    usable = [
        name
        for name, one in router.providers.items()
        if one.enabled and one.kind is not service_tables.ProviderKind.CLIENT
    ]

    async def ask() -> None:
        try:
            await router.discover()
            for provider in usable:
                models = router.list_models(provider)[:_MAX_PINGS]
                if not models:
                    lines.append(f"model          {provider}: no known model; set `providers.{provider}.defaultModel`")
                for model in models:
                    ##= man/spec/ask.md#discovery
                    ##% `duvet mcp --check --models` MUST send a short prompt to at most 20 configured and discovered
                    ##% models of each HTTP provider, and print the latency or the error of each model.
                    try:
                        call = await router.ping(provider, model)
                        outcome = f"answered in {call.seconds * 1000:.0f} ms"
                        outcome += "; the default model" if model == router.providers[provider].default_model else ""
                        answering.add(provider)
                    except (ModelError, NoModelError) as error:
                        outcome = error.message
                    lines.append(f"model          {provider}/{model}: {outcome}")
        finally:
            await router.aclose()

    anyio.run(ask)
    for name in usable:
        for limit in router.budget.list_limits(name, router.providers[name]):
            lines.append(f"spent today    {name}: {limit}")
    return lines, [name for name in usable if name not in answering]


def _summarise_pages(application: Application) -> tuple[list[str], Sequence[Problem]]:
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, `duvet mcp --check` MUST print the number of pages and of broken links, list these links with
    ##% `--verbose`, and fail if there are no pages.
    from duvet.knowledge.pages.catalogue import find_page_problems

    project = application.settings.open_project(None, None, notes=application.service.config.pages or None)
    findings = find_page_problems(project)
    broken = [problem for problem in findings.problems if problem.code == PAGE_LINK_DANGLING.code]
    is_verbose = application.settings.is_verbose
    links = f"{format_count(findings.links, 'link')}, {len(broken):,} broken"
    links += " (-v lists them)" if broken and not is_verbose else ""
    lines = [f"folder         {os.getcwd()}", f"pages          {format_count(findings.pages, 'page')}, {links}"]
    if findings.pages:
        return lines, broken if is_verbose else ()
    message = "no Markdown files in this folder"
    hint = "hidden files, files that git ignores and vendored folders are not served; name another folder after --pages"
    problem = PATTERN_UNMATCHED.problem(message, os.getcwd(), hint=hint)
    return lines, [replace(problem, severity=Severity.ERROR)]


def _summarise_project(application: Application) -> tuple[list[str], Sequence[Problem]]:
    if application.settings.has_only_pages:
        return _summarise_pages(application)
    # Tools don't download anything either.
    options = {**application.settings.project_options, "offline": True}
    tree, has_legacy_flags = DiskTree(), bool(options["source_patterns"] or options["spec_patterns"])
    path = project_file.find_config(tree, application.settings.project_config_path)
    try:
        catalogue = load_catalogue(options)
    except DuvetError as error:
        problems = list_error_problems(error)
        if path or has_legacy_flags:
            return [f"project        {path or 'command-line options'}: cannot be read"], problems
        if not has_trace(application.service):
            return ["project        none"], ()
        lines = [f"project        none; the tools of the pack `{TRACE.name}` need one"]
        return lines, [replace(problem, severity=Severity.WARNING) for problem in problems]
    counts = (
        format_count(len(catalogue.requirements), "requirement"),
        format_count(len(catalogue.citations), "citation"),
    )
    notice = describe_incompleteness(catalogue)
    return [f"project        {path or 'command-line options'}: {', '.join(counts)}{notice and '; '}{notice}"], ()


def _summarise_service(application: Application, address: str) -> Iterator[str]:
    service, config = application.service, application.service.config
    ##= man/spec/service.md#configuration
    ##% `duvet mcp --check` MUST print the path of the service configuration and the tools that the server would offer.
    path = f"{service.path} ({service.origin})" if service.path else "no configuration; the defaults apply"
    path += f"; overridden by {', '.join(service.overrides)}" if service.overrides else ""
    yield f"service        {path}"
    yield f"server         {application.service.config.server.name} {application.service.config.server.version}, {address}"
    if application.gateway_connection is not None:
        gateway = application.gateway_connection.gateway
        tokens = f"with {' or '.join(gateway.tokens)}" if gateway.tokens else "without a token"
        yield f"gateway        {gateway.authority}: calls to km- tools, except km-help, are forwarded there, {tokens}"
    for pack in application.tools.shown_packs:
        names = [
            tool.name for tool in application.tools.shown_tools if application.tools.registry.pack_of(tool) is pack
        ]
        parts = {"tool": names, "resource": pack.pack.resources, "prompt": pack.pack.prompts}
        counts = (format_count(len(found), noun) for noun, found in parts.items() if found or noun == "tool")
        yield f"pack           {pack.name}: {', '.join(counts)}"
        yield from (f"{'':15}{name}" for name in names)
    for one in application.tools.choice.unloaded:
        yield f"left out       {one.name}: {one.reason}"
    for name, provider in config.providers.items():
        yield f"provider       {name}: kind {provider.kind}{'' if provider.enabled else ', switched off'}"
    for task, route in config.routing.items():
        yield f"routing        {task}: {', '.join((route.model, *route.fallbacks))}"
