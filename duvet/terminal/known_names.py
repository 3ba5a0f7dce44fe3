"""Values that shells complete: files, and names that the last question about the project has found out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from duvet.queries.catalogue import Catalogue

    _Items = list[CompletionItem[str]]
    _Named = Iterable[tuple[str, str]]


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """What the shell itself completes."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, "file")]


def folders(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Folders alone."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, "dir")]


def rule_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Codes of rules, with their names."""
    from click.shell_completion import CompletionItem

    from duvet.rules import rules

    found = (rule for rule in rules().values() if rule.code.startswith(incomplete.upper()))
    return [CompletionItem(rule.code, help=rule.name) for rule in found]


def prompts(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of prompts."""
    from click.shell_completion import CompletionItem

    from duvet.templates import prompt_names

    return [CompletionItem(name) for name in prompt_names() if name.startswith(incomplete)]


def tools(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of the tools of this package; those of others would have to be loaded."""
    from click.shell_completion import CompletionItem

    from duvet.tools.choosing import BUILT_IN, named
    from duvet.tools.registry import Registry

    found = [tool for tool in Registry(named(tuple(BUILT_IN))) if tool.name.startswith(incomplete)]
    return [CompletionItem(tool.name, help=tool.title) for tool in found]


def recipes(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of those recipes that come with duvet; files where these are checked."""
    from click.shell_completion import CompletionItem

    from duvet.templates import recipe_names

    if ctx.params.get("action") == "validate":
        return files(ctx, param, incomplete)
    return [CompletionItem(name) for name in recipe_names() if name.startswith(incomplete)]


def requirement_prompts(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Names of those about one requirement."""
    from click.shell_completion import CompletionItem

    from duvet.prompts.library import ABOUT_A_REQUIREMENT

    return [CompletionItem(name) for name in ABOUT_A_REQUIREMENT if name.startswith(incomplete)]


def prompt_arguments(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Arguments of the prompt that is named, and the values that they can have."""
    from click.shell_completion import CompletionItem

    from duvet.prompts.library import prompts

    # Of a line that ends with an option without its value, what else stands there is left over.
    asked = ctx.params.get("name") or next(iter(ctx.args), None)
    chosen = [prompt for prompt in prompts() if prompt.name == asked]
    known = {argument.name: argument.description for prompt in chosen for argument in prompt.arguments}
    name, equals, value = incomplete.partition("=")
    if not equals:
        return [CompletionItem(f"{one}=", help=text) for one, text in known.items() if one.startswith(name)]
    return _known(ctx, incomplete, partial(_values, name, value)) if name in known else []


def specification_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Ids of specifications."""
    return _known(ctx, incomplete, _specifications)


def section_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Ids of sections."""
    return _known(ctx, incomplete, _sections)


def references(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Ids of requirements and of specifications, and files where there is none."""
    found = [*_known(ctx, incomplete, _specifications), *_known(ctx, incomplete, _requirements)]
    return found or files(ctx, param, incomplete)


def _known(ctx: click.Context, incomplete: str, names: Callable[[Catalogue], _Named]) -> _Items:
    from click.shell_completion import CompletionItem

    from duvet.reports.cells import visible
    from duvet.terminal.catalogues import last_catalogue
    from duvet.text import shortened

    ##= man/spec/completion.md#asking
    ##% Names of a project MUST be completed from the cache, and MUST NOT be looked for elsewhere.
    catalogue = last_catalogue(ctx.find_root().params.get("directory") or "")
    found = dict(names(catalogue)) if catalogue else {}
    return [
        CompletionItem(name, help=shortened(visible(text)))
        for name, text in found.items()
        if name.startswith(incomplete) and name.isprintable()
    ]


def _values(name: str, value: str, catalogue: Catalogue) -> _Named:
    from duvet.prompts.completing import completions

    return ((f"{name}={one}", "") for one in completions(catalogue, name, value))


def _specifications(catalogue: Catalogue) -> _Named:
    return ((card.id, card.name) for card in catalogue.specifications)


def _sections(catalogue: Catalogue) -> _Named:
    return ((section.id, section.title) for card in catalogue.specifications for section in card.sections)


def _requirements(catalogue: Catalogue) -> _Named:
    from duvet.queries.catalogue import SHOWN

    return ((card.id[:SHOWN], card.text) for card in catalogue.requirements)
