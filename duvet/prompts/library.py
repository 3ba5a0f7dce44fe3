"""The prompts that there are: found, read and rendered."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from duvet.errors import NotFoundError
from duvet.queries.names import nearest_hint
from duvet.templates import environment, prompt_names, prompt_text
from duvet.text import quoted

_FENCE = "---\n"


class Argument(Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt has to be told."""

    name: str
    description: str
    required: bool = True


class Prompt(Struct, frozen=True, forbid_unknown_fields=True):
    """A text for an agent, with what there is to know before it is chosen."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...] = ()
    body: str = ""
    """The template of the text."""


def prompts() -> tuple[Prompt, ...]:
    """Every prompt, by name."""
    return tuple(map(_read, prompt_names()))


def prompt_named(name: str) -> Prompt:
    """The prompt of that name; NotFoundError with the names that are most like it."""
    known = prompt_names()
    if name not in known:
        ##= man/spec/queries.md#prompts
        ##% A prompt that does not exist MUST be an error that names the ones that are most like it.
        hint = nearest_hint(name, known) or f"there are {', '.join(known)}"
        raise NotFoundError(f"there is no prompt {quoted(name)}", hint=hint)
    return _read(name)


def rendered(prompt: Prompt, values: Mapping[str, object]) -> str:
    """The text of a prompt with these values in it; one that is missing is an error."""
    ##= man/spec/queries.md#prompts
    ##% A value that a prompt asks for and that is not there MUST be an error.
    # What comes from files stays as it is: this is no page.
    return environment().overlay(autoescape=False).from_string(prompt.body).render(values)


def _read(name: str) -> Prompt:
    # msgspec reads YAML with pyyaml, which is imported here alone.
    from msgspec import yaml

    _, front, body = prompt_text(name).split(_FENCE, 2)
    return replace(yaml.decode(front, type=Prompt), body=body.lstrip("\n"))
