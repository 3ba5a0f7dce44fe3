"""Completion of the values of options and arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from duvet.console.command import find_project_folder
from duvet.reports.cells import escape_cell
from duvet.rules import list_rules
from duvet.templates import guide_parts, guide_topics, prompt_names, recipe_names
from duvet.text import shorten_text
from duvet.trace.catalogue import CATALOGUE_KEY, SHORT_ID_DIGITS, Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

_Items = list[CompletionItem[str]]
_NamedTexts = Iterable[tuple[str, str | None]]


def complete_rule_codes(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    return _make_items(((rule.code, rule.name) for rule in list_rules().values()), incomplete.upper())


def complete_help_topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    parts = ((name, text.partition("\n")[0].removeprefix("# ")) for name, text in guide_parts().items())
    return _make_items((*guide_topics().items(), *parts), incomplete)


def complete_topics(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    from duvet.console.explanations import list_topics

    topics = ((topic.name, topic.summary) for topic in list_topics())
    return _make_items(topics, incomplete.upper() if incomplete[:3].upper() == "DUV" else incomplete)


def complete_prompts(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    return _make_items(((name, None) for name in prompt_names()), incomplete)


def complete_requirement_prompts(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    from duvet.prompts.library import REQUIREMENT_PROMPTS

    return _make_items(((name, None) for name in REQUIREMENT_PROMPTS), incomplete)


def complete_prompt_arguments(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Complete the argument names of the prompt on the command line, and then their values."""
    from duvet.prompts.library import complete_prompt_argument, load_prompts

    # If an option at the end of the line has no value yet, click leaves the name in `args`.
    prompt_name = ctx.params.get("name") or next(iter(ctx.args), None)
    arguments = [argument for prompt in load_prompts() if prompt.name == prompt_name for argument in prompt.arguments]
    name, equals, value = incomplete.partition("=")
    if not equals:
        return _make_items(((f"{one.name}=", one.description) for one in arguments), incomplete)
    if name not in {one.name for one in arguments}:
        return []
    return _complete_from_project(
        ctx,
        incomplete,
        lambda catalogue: ((f"{name}={one}", "") for one in complete_prompt_argument(catalogue, name, value)),
    )


def complete_tools(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Complete the names of built-in tools; those of plugins would take too long to load."""
    from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs

    tools = Registry(enable_packs(tuple(BUILT_IN_PACKS)))
    return _make_items(((tool.name, tool.title) for tool in tools), incomplete)


def complete_recipes(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    return _make_items(((name, None) for name in recipe_names()), incomplete)


def complete_recipe_files(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    return complete_recipes(ctx, param, incomplete) or [CompletionItem(incomplete, "file")]


def complete_specification_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    return _complete_from_project(ctx, incomplete, _list_specifications)


def complete_section_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    def list_sections(catalogue: Catalogue) -> _NamedTexts:
        for card in catalogue.specifications:
            yield from ((one.name, one.breadcrumb or one.title) for one in card.sections)
        yield from _list_named(catalogue)

    return _complete_from_project(ctx, incomplete, list_sections)


def complete_references(ctx: click.Context, param: click.Parameter, incomplete: str) -> _Items:
    """Complete the ids of specifications and requirements, or files if no id matches."""

    def list_names(catalogue: Catalogue) -> _NamedTexts:
        yield from _list_specifications(catalogue)
        yield from _list_named(catalogue)
        yield from ((card.id[:SHORT_ID_DIGITS], card.text) for card in catalogue.requirements)

    return _complete_from_project(ctx, incomplete, list_names) or [CompletionItem(incomplete, "file")]


def _list_specifications(catalogue: Catalogue) -> _NamedTexts:
    return ((card.id, card.name) for card in catalogue.specifications)


def _list_named(catalogue: Catalogue) -> _NamedTexts:
    return ((name, catalogue.requirements[indexes[0]].text) for name, indexes in catalogue.named.items())


def _make_items(names: _NamedTexts, incomplete: str) -> _Items:
    return [CompletionItem(name, help=text) for name, text in names if name.startswith(incomplete)]


def _complete_from_project(
    ctx: click.Context, incomplete: str, list_names: Callable[[Catalogue], _NamedTexts]
) -> _Items:
    ##= man/spec/completion.md#completing
    ##% Completion MUST take the names of specifications, sections and requirements only from the cache.
    # The data of the last query may be out of date.
    folder = ctx.find_root().params.get("directory") or ""
    catalogue = DiskCache(DiskTree(find_project_folder(folder) or folder), {}).load_last(CATALOGUE_KEY, Catalogue)
    names = dict(list_names(catalogue)) if catalogue else {}
    printable = ((name, shorten_text(escape_cell(text or ""))) for name, text in names.items() if name.isprintable())
    return _make_items(printable, incomplete)
