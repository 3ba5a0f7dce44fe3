"""The prompts that there are: described, and rendered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct

from duvet.errors import NotFoundError
from duvet.queries.names import nearest_hint
from duvet.reports.cells import visible
from duvet.templates import environment, prompt_names, prompt_template, prompt_text
from duvet.text import quoted

_FENCE = "---\n"
ABOUT_A_REQUIREMENT = ("implement_requirement", "write_test")
"""The prompts that take a requirement, and nothing else."""


class Argument(Struct, frozen=True, forbid_unknown_fields=True):
    """What a prompt has to be told."""

    name: str
    description: str
    required: bool = True


class Prompt(Struct, frozen=True, forbid_unknown_fields=True):
    """What there is to know about a prompt before it is chosen: its front matter."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...] = ()


def prompts() -> tuple[Prompt, ...]:
    """Every prompt, by name."""
    return tuple(map(_described, prompt_names()))


@cache
def _described(name: str) -> Prompt:
    # msgspec reads YAML with pyyaml, which is imported here alone.
    from msgspec import yaml

    return yaml.decode(_parts(prompt_text(name))[0], type=Prompt)


def described(name: str) -> Prompt:
    """What there is to know about the prompt of that name."""
    require_prompt(name)
    return _described(name)


def require_prompt(name: str, among: Sequence[str] = ()) -> None:
    """NotFoundError, with the names that are most like it, where no prompt is called so, among these or else all."""
    known = among or prompt_names()
    if name not in known:
        ##= man/spec/queries.md#prompts
        ##% A prompt that does not exist MUST be an error that names the ones that are most like it.
        hint = nearest_hint(name, known) or f"there are {', '.join(known)}"
        raise NotFoundError(f"there is no prompt {quoted(name)}", hint=hint)


def rendered(name: str, values: Mapping[str, object]) -> str:
    """The text of a prompt with these values in it; one that is missing is an error."""
    ##= man/spec/queries.md#prompts
    ##% A value that a prompt asks for and that is not there MUST be an error.
    # The whole file is the template, for as such it is kept compiled.
    text = _parts(environment().get_template(prompt_template(name)).render(values))[1]
    ##= man/spec/trace.md#diagnostics
    ##% Text from files MUST NOT drive the terminal.
    return "".join(f"{visible(line)}\n" for line in text.splitlines())


def _parts(text: str) -> tuple[str, str]:
    """The front matter and the body of a prompt."""
    _, front, body = text.split(_FENCE, 2)
    return front, body
