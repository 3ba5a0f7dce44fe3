"""What a prompt has been told, held against what it wants to know."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from duvet.errors import QueryError
from duvet.prompts.library import Prompt, described
from duvet.queries.names import nearest_hint
from duvet.text import quoted


class Asked(Struct, frozen=True):
    """A prompt with all that it needs to be told."""

    name: str
    given: Mapping[str, str]
    """The arguments that are not blank."""


def asked(name: str, given: Mapping[str, str]) -> Asked:
    """The prompt of that name; QueryError where an argument is unknown, or one that it needs is missing."""
    prompt = described(name)
    said = {key: value for key, value in given.items() if value.strip()}
    _check(prompt, given, said)
    return Asked(name, said)


def _check(prompt: Prompt, given: Mapping[str, str], said: Mapping[str, str]) -> None:
    known = {argument.name: argument for argument in prompt.arguments}
    ##= man/spec/mcp.md#prompts
    ##% An argument that is unknown, or one that is required and missing, MUST be an error that names it.
    for name in given:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            hint = nearest_hint(name, list(known)) or takes
            raise QueryError(f"the prompt {prompt.name} has no argument {quoted(name)}", hint=hint)
    for argument in prompt.arguments:
        if argument.required and argument.name not in said:
            message = f"the prompt {prompt.name} needs the argument {quoted(argument.name)}"
            raise QueryError(message, hint=argument.description)
