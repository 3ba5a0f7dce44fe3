"""The prompts: list, arguments, completion, rendering."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from msgspec import Struct, inspect, json

from duvet.config.settings import ServerRule
from duvet.errors import NotFoundError, QueryError
from duvet.queries.gaps import LEVELS_BY_WORD
from duvet.reports.cells import escape_cell
from duvet.templates import environment, prompt_names, prompt_template, prompt_text
from duvet.text import quote_text
from duvet.tools.packs import Registry
from duvet.tools.tool import Tool
from duvet.trace.catalogue import SHORT_ID_DIGITS, Catalogue
from duvet.trace.names import suggest_nearest

_FENCE = "---\n"
REQUIREMENT_PROMPTS = ("implement_requirement", "write_test")
"""The prompts that take a requirement, and nothing else."""


class PromptArgument(Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt has to be told."""

    name: str
    description: str
    required: bool = True


class Prompt(Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to know about a prompt before it is chosen: its front matter."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()


def load_prompts() -> tuple[Prompt, ...]:
    """Every prompt, by name."""
    return tuple(map(_described, prompt_names()))


@cache
def _described(name: str) -> Prompt:
    # msgspec reads YAML with pyyaml, which is imported here alone.
    from msgspec import yaml

    return yaml.decode(_parts(prompt_text(name))[0], type=Prompt)


def describe_prompt(name: str) -> Prompt:
    """What there is to know about the prompt of that name."""
    require_prompt(name)
    return _described(name)


def require_prompt(name: str, among: Sequence[str] = ()) -> None:
    """NotFoundError, with the names that are most like it, where no prompt is called so, among these or else all."""
    known = among or prompt_names()
    if name not in known:
        hint = suggest_nearest(name, known) or f"there are {', '.join(known)}"
        raise NotFoundError(f"there is no prompt {quote_text(name)}", hint=hint)


def render_prompt(name: str, values: Mapping[str, object]) -> str:
    """The text of a prompt with these values in it; one that is missing is an error."""
    # The whole file is the template, for as such it is kept compiled.
    text = _parts(environment().get_template(prompt_template(name)).render(values))[1]
    return "".join(f"{escape_cell(line)}\n" for line in text.splitlines())


def _parts(text: str) -> tuple[str, str]:
    """The front matter and the body of a prompt."""
    _, front, body = text.split(_FENCE, 2)
    return front, body


SYSTEM_PROMPT = "system"
_USUAL = ServerRule().title


class ResourceKind(Struct, frozen=True):
    """A kind of resources."""

    path: str
    """Where they are, with names in braces for what differs."""
    holds: str


class _ToolLine(Struct, frozen=True):
    """What is said of a tool."""

    name: str
    arguments: tuple[str, ...]
    """Those that it needs."""
    example: str
    purpose: str


def render_system_prompt(rule: ServerRule, registry: Registry, resources: Iterable[ResourceKind]) -> str:
    """How to use a server that offers these tools and resources."""

    def tool_for(name: str) -> str:
        return f" (`{name}`)" if name in registry else ""

    ##= man/spec/mcp.md#handshake
    ##% The instructions MUST name the enabled tools, the kinds of resources and the methods of that version, and
    ##% nothing else.
    return render_prompt(
        SYSTEM_PROMPT,
        {
            "title": _called(rule),
            "description": rule.description.rstrip("."),
            "page_size": rule.page_size,
            "tools": [_line(tool) for tool in registry],
            "tool_for": tool_for,
            "resources": list(resources),
            "prompts": _others(prompt_names()),
        },
    )


def _called(rule: ServerRule) -> str:
    """What the server is, where nobody has given it another name."""
    return "the Duvet MCP server" if rule.title == _USUAL else rule.title


def _others(names: Sequence[str]) -> list[str]:
    return [f"`{name}`" for name in names if name != SYSTEM_PROMPT]


def _line(tool: Tool) -> _ToolLine:
    kind = inspect.type_info(tool.input)
    assert isinstance(kind, inspect.StructType)
    needed = tuple(field.encode_name for field in kind.fields if field.required)
    example = json.encode(dict.fromkeys(needed, "...")).decode()
    ##= man/spec/mcp.md#limits
    ##% The list of tools and the instructions MUST be shorter than 4,000 tokens together.
    return _ToolLine(tool.name, needed, example, _first_sentence(tool.description))


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].rstrip(".")


class PromptRequest(Struct, frozen=True):
    """A prompt with all that it needs to be told."""

    name: str
    given: Mapping[str, str]
    """The arguments that are not blank."""


def check_prompt_request(name: str, given: Mapping[str, str]) -> PromptRequest:
    """The prompt of that name; QueryError where an argument is unknown, or one that it needs is missing."""
    prompt = describe_prompt(name)
    said = {key: value for key, value in given.items() if value.strip()}
    _check(prompt, given, said)
    return PromptRequest(name, said)


def _check(prompt: Prompt, given: Mapping[str, str], said: Mapping[str, str]) -> None:
    known = {argument.name: argument for argument in prompt.arguments}
    ##= man/spec/mcp.md#prompts
    ##% duvet MUST refuse an unknown prompt with similar names, and an unknown or missing argument by its name.
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            hint = suggest_nearest(name, list(known)) or takes
            raise QueryError(f"the prompt {prompt.name} has no argument {quote_text(name)}", hint=hint)
    for argument in prompt.arguments:
        if argument.required and argument.name not in said:
            message = f"the prompt {prompt.name} needs the argument {quote_text(argument.name)}"
            raise QueryError(message, hint=argument.description)


def complete_prompt_argument(catalogue: Catalogue, argument: str, value: str) -> list[str]:
    """What the argument of that name can be that begins so, in the order of the catalogue."""
    ##= man/spec/mcp.md#resources
    ##% The server MUST complete the variables of resource templates and the arguments of prompts with names from the
    ##% project.
    begin = value.lower()
    return list(dict.fromkeys(one for one in _known(catalogue, argument) if one.lower().startswith(begin)))


def _known(catalogue: Catalogue, argument: str) -> Iterable[str]:
    match argument:
        case "requirement":
            return (id[:SHORT_ID_DIGITS] for id in catalogue.ids)
        case "spec":
            return (card.id for card in catalogue.specifications)
        case "section":
            return (f"{card.id}#{section.id}" for card in catalogue.specifications for section in card.sections)
        case "file":
            return (card.path for card in catalogue.citations)
        case "level":
            return LEVELS_BY_WORD
    return ()
