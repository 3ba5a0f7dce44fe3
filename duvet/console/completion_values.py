"""Values that shells complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from duvet.trace.catalogue import Catalogue

    _Items = list[CompletionItem[str]]
    _Named = Iterable[tuple[str, str]]


def complete_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """What the shell itself completes."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, "file")]


def complete_folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Folders alone."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, "dir")]


def complete_rule_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Codes of rules, with their names."""
    from click.shell_completion import CompletionItem

    from duvet.rules import list_rules

    found = (rule for rule in list_rules().values() if rule.code.startswith(incomplete.upper()))
    return [CompletionItem(rule.code, help=rule.name) for rule in found]


def complete_prompts(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of prompts."""
    from click.shell_completion import CompletionItem

    from duvet.templates import prompt_names

    return [CompletionItem(name) for name in prompt_names() if name.startswith(incomplete)]


def complete_tools(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of the tools of this package; those of others would have to be loaded."""
    from click.shell_completion import CompletionItem

    from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs

    found = [tool for tool in Registry(enable_packs(tuple(BUILT_IN_PACKS))) if tool.name.startswith(incomplete)]
    return [CompletionItem(tool.name, help=tool.title) for tool in found]


def complete_recipes(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of those recipes that come with duvet; files where these are checked."""
    from click.shell_completion import CompletionItem

    from duvet.templates import recipe_names

    if ctx.params.get("action") == "validate":
        return complete_files(ctx, param, incomplete)
    return [CompletionItem(name) for name in recipe_names() if name.startswith(incomplete)]


def complete_requirement_prompts(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of those about one requirement."""
    from click.shell_completion import CompletionItem

    from duvet.prompts.library import REQUIREMENT_PROMPTS

    return [CompletionItem(name) for name in REQUIREMENT_PROMPTS if name.startswith(incomplete)]


def complete_prompt_arguments(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Arguments of the prompt that is named, and the values that they can have."""
    from click.shell_completion import CompletionItem

    from duvet.prompts.library import load_prompts

    # Of a line that ends with an option without its value, what else stands there is left over.
    asked = ctx.params.get("name") or next(iter(ctx.args), None)
    chosen = [prompt for prompt in load_prompts() if prompt.name == asked]
    known = {argument.name: argument.description for prompt in chosen for argument in prompt.arguments}
    name, equals, value = incomplete.partition("=")
    if not equals:
        return [CompletionItem(f"{one}=", help=text) for one, text in known.items() if one.startswith(name)]
    return _known(ctx, incomplete, partial(_values, name, value)) if name in known else []


def complete_specification_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Ids of specifications."""
    return _known(ctx, incomplete, _specifications)


def complete_section_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Ids of sections."""
    return _known(ctx, incomplete, _sections)


def complete_references(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Ids of requirements and of specifications, and files where there is none."""
    found = [*_known(ctx, incomplete, _specifications), *_known(ctx, incomplete, _requirements)]
    return found or complete_files(ctx, param, incomplete)


def _known(ctx: click.Context, incomplete: str, names: Callable[[Catalogue], _Named]) -> _Items:
    from click.shell_completion import CompletionItem

    from duvet.console.project import load_last_catalogue
    from duvet.reports.cells import escape_cell
    from duvet.text import shorten_text

    ##= man/spec/completion.md#completing
    ##% Completion MUST take the names of a project from the cache alone, and print nothing, not even an error, when it
    ##% has no answer.
    catalogue = load_last_catalogue(ctx.find_root().params.get("directory") or "")
    found = dict(names(catalogue)) if catalogue else {}
    return [
        CompletionItem(name, help=shorten_text(escape_cell(text)))
        for name, text in found.items()
        if name.startswith(incomplete) and name.isprintable()
    ]


def _values(name: str, value: str, catalogue: Catalogue) -> _Named:
    from duvet.prompts.library import complete_prompt_argument

    return ((f"{name}={one}", "") for one in complete_prompt_argument(catalogue, name, value))


def _specifications(catalogue: Catalogue) -> _Named:
    return ((card.id, card.name) for card in catalogue.specifications)


def _sections(catalogue: Catalogue) -> _Named:
    return ((section.id, section.title) for card in catalogue.specifications for section in card.sections)


def _requirements(catalogue: Catalogue) -> _Named:
    from duvet.trace.catalogue import SHORT_ID_DIGITS

    return ((card.id[:SHORT_ID_DIGITS], card.text) for card in catalogue.requirements)
