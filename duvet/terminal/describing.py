"""What a server would serve, without serving it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from duvet.errors import DuvetError
from duvet.model import Problem, ProblemsError, Severity
from duvet.reports.cells import visible
from duvet.reports.json_document import document
from duvet.terminal.service import Assembly, assembly_of
from duvet.terminal.service_options import Listening
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour
from duvet.text import plural

if TYPE_CHECKING:
    from duvet.tools.gateway.gateway import Gateway
    from duvet.tools.tool import Tool


def check_service(listening: Listening, where: Mapping[str, Any]) -> None:
    """Write what would be served; DuvetError where something of it could not be."""
    assembly = assembly_of(where, mode=listening.mode)
    assembly.require_variables()
    ##= man/spec/service.md#calls
    ##% `duvet mcp --check` MUST fail where the configuration is wrong, and otherwise show what would be served.
    address = _address(assembly, listening)
    lines = "".join(f"{visible(line)}\n" for line in _summary(assembly, address))
    pour(lines.encode())
    _require_whole(assembly)


def _address(assembly: Assembly, listening: Listening) -> str:
    """Where it would listen; DuvetError where it couldn't."""
    if assembly.mode != "http":
        return assembly.mode
    from duvet.server.http.address import require_reach
    from duvet.server.http.tokens import tokens
    from duvet.terminal.serving_http import address_of

    address = address_of(assembly, listening)
    require_reach(address, anywhere=bool(tokens(settings().environ)))
    return f"http at {address.authority}"


def _require_whole(assembly: Assembly) -> None:
    problems = (*problems_in(assembly), *_of_project(assembly), *_of_providers(assembly))
    if any(problem.severity is Severity.ERROR for problem in problems):
        raise ProblemsError(problems)
    if assembly.choice.unloaded:
        raise DuvetError(f"{plural(len(assembly.choice.unloaded), 'pack')} could not be loaded")


def problems_in(assembly: Assembly, name: str | None = None) -> tuple[Problem, ...]:
    """What is wrong with one of the workflows of the configuration, or with all."""
    from duvet.workflows.problems import problems_of

    faults = {one: found for one, found in assembly.offered.faults.items() if name in (None, one)}
    written = assembly.service.document
    return tuple(problems_of(written, faults)) if written else ()


def _of_project(assembly: Assembly) -> tuple[Problem, ...]:
    """What is wrong with the configuration of the project, without which nothing is known."""
    from duvet.config.find import find_config
    from duvet.config.read import read_config
    from duvet.tree.disk import DiskTree

    shown, tree = settings(), DiskTree()
    try:
        path = find_config(tree, assembly.where["config_path"] or shown.config_path)
        if path:
            read_config(tree.read(path), path, shown.environ)
    except ProblemsError as error:
        return error.problems
    return ()


def _of_providers(assembly: Assembly) -> Iterator[Problem]:
    """What is wrong with the addresses of providers."""
    from duvet.config.at import At
    from duvet.config.service.providers import ProviderKind
    from duvet.llm.endpoint import endpoint_of
    from duvet.rules import CONFIG_BAD_VALUE

    for name, section in assembly.service.config.providers.items():
        if not section.enabled or section.kind is ProviderKind.CLIENT or not assembly.service.document:
            continue
        try:
            endpoint_of(name, section, None)
        except DuvetError as error:
            at = At(assembly.service.document, {}, keys=("providers", name, "baseUrl"), is_private=True)
            yield at.problem(CONFIG_BAD_VALUE, error.message, error.hint)


def _summary(assembly: Assembly, address: str) -> Iterator[str]:
    service, config = assembly.service, assembly.service.config
    yield f"configuration  {service.path or 'none'} ({service.origin})"
    yield f"server         {assembly.rule.name} {assembly.rule.version}, {address}"
    if assembly.line is not None:
        yield f"gateway        {_forwards(assembly.line.gateway)}"
    for pack in assembly.shown_packs:
        names = [tool.name for tool in assembly.shown_tools if assembly.registry.pack_of(tool) is pack]
        yield f"pack           {pack.name}: {', '.join(names) or 'no tools'}"
    for one in assembly.choice.unloaded:
        yield f"left out       {one.name}: {one.reason}"
    for name, provider in config.providers.items():
        yield f"provider       {name}: {provider.kind}{'' if provider.enabled else ', switched off'}"
    for task, route in config.routing.items():
        yield f"routing        {task}: {', '.join((route.model, *route.fallbacks))}"


def _forwards(gateway: Gateway) -> str:
    ##= man/spec/gateway.md#access
    ##% `duvet mcp --check` and `--describe` MUST tell that calls are forwarded, where to, and with which tokens.
    shown = f"showing {' or '.join(gateway.tokens)}" if gateway.tokens else "without a token"
    return f"{gateway.authority}: calls of km- tools but km-help are forwarded there, {shown}"


def describe_service(listening: Listening, where: Mapping[str, Any]) -> None:
    """Write it as JSON."""
    from duvet.prompts.library import prompts
    from duvet.server.capabilities import CAPABILITIES
    from duvet.server.resources.descriptions import COLLECTIONS
    from duvet.server.resources.templates import TEMPLATES

    assembly = assembly_of(where, mode=listening.mode)
    identity = assembly.identity
    pour(
        document(
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
                "packs": [pack.name for pack in assembly.shown_packs],
                "leftOut": [{"pack": one.name, "reason": one.reason} for one in assembly.choice.unloaded],
                "tools": [_described(assembly, tool) for tool in assembly.shown_tools],
                "resources": [{"name": name, "description": text} for name, _, text in COLLECTIONS.values()],
                "resourceTemplates": [
                    {"uriTemplate": one.uri, "name": one.name, "title": one.title, "description": one.description}
                    for one in TEMPLATES
                ],
                "prompts": prompts(),
                "workflows": [
                    {"name": one.name, "description": one.description} for one in assembly.workflows.values()
                ],
                "models": assembly.router.known_models(),
            }
        )
    )


def _gateway(assembly: Assembly) -> dict[str, Any] | None:
    """Where calls are forwarded to."""
    if assembly.line is None:
        return None
    gateway = assembly.line.gateway
    return {"at": gateway.authority, "tokens": gateway.tokens}


def _described(assembly: Assembly, tool: Tool) -> dict[str, Any]:
    from duvet.tools.schemas import input_schema, output_schema

    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "pack": assembly.registry.pack_of(tool).name,
        "scope": tool.scope.value,
        "readOnly": tool.only_reads,
        "labels": tool.labels,
        "safetyNotes": tool.safety_notes,
        "invocationHints": tool.invocation_hints,
        "inputSchema": input_schema(tool),
        "outputSchema": output_schema(tool),
    }
