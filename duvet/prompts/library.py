"""The prompts: their list, arguments, completion and rendering."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

from msgspec import Struct, json, yaml

from duvet.config.settings import ServerTable
from duvet.errors import NotFoundError, QueryError
from duvet.queries.records import LEVELS_BY_WORD
from duvet.reports.cells import escape_cell
from duvet.templates import PAGES_TEMPLATE, environment, prompt_names, prompt_template, prompt_text
from duvet.text import quote_text, suggest_nearest
from duvet.tools.arguments import input_schema, list_arguments
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue

if TYPE_CHECKING:
    from duvet.config.service_tables import ServerSection
    from duvet.tools.packs import Registry

_FENCE = "---\n"
REQUIREMENT_PROMPTS = ("implement_requirement", "write_test")  # The prompts whose only argument is a requirement.
SYSTEM_PROMPT = "system"


class PromptArgument(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    description: str
    required: bool = True


class Prompt(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()
    pack: str = "trace"  # The pack that the prompt is about.


def load_prompts() -> tuple[Prompt, ...]:
    return tuple(map(describe_prompt, prompt_names()))


def list_prompts(registry: Registry) -> tuple[Prompt, ...]:
    ##= man/spec/service.md#packs
    ##% If the configuration disables the pack `trace`, the server MUST NOT offer the prompts and resources of the
    ##% pack, or mention them in its instructions.
    pack = "pages" if registry.has_only_pages else "trace" if registry.has_trace else ""
    own = (prompt for prompt in load_prompts() if prompt.name == SYSTEM_PROMPT or prompt.pack == pack)
    return (*own, *list_pack_prompts(registry))


def list_pack_prompts(registry: Registry) -> Iterator[Prompt]:
    for prompt, _ in registry.prompts.values():
        schema = input_schema(prompt.tool)
        required = schema.get("required", ())
        arguments = (
            PromptArgument(name, str(one.get("description", "")), name in required)
            for name, one in schema["properties"].items()
        )
        yield Prompt(prompt.tool.name, prompt.tool.title, prompt.tool.description, tuple(arguments))


@cache
def describe_prompt(name: str) -> Prompt:
    require_prompt(name)
    return yaml.decode(_split_prompt(prompt_text(name))[0], type=Prompt)


def require_prompt(name: str, among: Sequence[str] = ()) -> None:
    known = among or prompt_names()
    if name not in known:
        hint = suggest_nearest(name, known) or f"available: {', '.join(known)}"
        raise NotFoundError(f"unknown prompt {quote_text(name)}", hint=hint)


def render_prompt(name: str, values: Mapping[str, object]) -> str:
    """A missing value is an error."""
    # Render the whole file, because templates are cached by file.
    text = _split_prompt(environment().get_template(prompt_template(name)).render(values))[1]
    return "".join(f"{escape_cell(line)}\n" for line in text.splitlines())


def _split_prompt(text: str) -> tuple[str, str]:
    _, front, body = text.split(_FENCE, 2)
    return front, body


class ResourceKind(Struct, frozen=True):
    path: str  # The path of such resources, with variables in braces.
    holds: str


def render_system_prompt(server: ServerSection, registry: Registry, resources: Iterable[ResourceKind]) -> str:
    ##= man/spec/mcp.md#connecting
    ##% The server's instructions MUST name exactly the enabled tools, the kinds of resources and the supported methods.
    tools = []
    for tool in registry:
        required = list_arguments(tool.input)[1]
        ##= man/spec/mcp.md#connecting
        ##% The list of tools and the instructions together MUST have fewer than 4,000 tokens.
        example, purpose = json.encode(dict.fromkeys(required, "...")).decode(), tool.description.partition(". ")[0]
        tools.append({"name": tool.name, "arguments": required, "example": example, "purpose": purpose.rstrip(".")})
    values = {
        "title": "the Duvet MCP server" if server.title == ServerTable().title else server.title,
        "description": server.description.rstrip("."),
        "page_size": server.page_size,
        "tools": tools,
        "tool_for": lambda name: f" (`{name}`)" if name in registry else "",
        "has_trace": registry.has_trace,
        "resources": list(resources),
        "prompts": [f"`{prompt.name}`" for prompt in list_prompts(registry) if prompt.name != SYSTEM_PROMPT],
    }
    if registry.has_only_pages:
        return environment().get_template(PAGES_TEMPLATE).render(values)
    return render_prompt(SYSTEM_PROMPT, values)


def check_prompt_arguments(name: str, given: Mapping[str, str]) -> Mapping[str, str]:
    prompt = describe_prompt(name)
    values = {key: value for key, value in given.items() if value.strip()}
    known = [argument.name for argument in prompt.arguments]
    for key in given:
        if key not in known:
            hint = suggest_nearest(key, known) or (
                f"available: {', '.join(known)}" if known else "the prompt has no arguments"
            )
            raise QueryError(f"the prompt {prompt.name} has no argument {quote_text(key)}", hint=hint)
    for argument in prompt.arguments:
        if argument.required and argument.name not in values:
            message = f"the prompt {prompt.name} requires the argument {quote_text(argument.name)}"
            raise QueryError(message, hint=argument.description)
    return values


def complete_prompt_argument(catalogue: Catalogue, argument: str, value: str) -> list[str]:
    found: Iterable[str] = ()
    match argument:
        case "requirement":
            found = chain(catalogue.named, (id[:SHORT_ID_DIGITS] for id in catalogue.ids))
        case "spec":
            found = (card.id for card in catalogue.specifications)
        case "section":
            found = (f"{card.id}#{section.name}" for card in catalogue.specifications for section in card.sections)
        case "file":
            found = (card.path for card in catalogue.citations)
        case "level":
            found = LEVELS_BY_WORD
    return list(dict.fromkeys(one for one in found if one.lower().startswith(value.lower())))
