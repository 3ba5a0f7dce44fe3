"""Completion of the values of options and arguments."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from duvet.console.command import find_project_folder
from duvet.reports.cells import escape_cell
from duvet.rules import list_rules
from duvet.templates import prompt_names, recipe_names
from duvet.templates.guide_pages import guide_parts, guide_topics
from duvet.text import shorten_text
from duvet.trace.catalogue import CATALOGUE_KEY, SHORT_ID_DIGITS, Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

_NamedTexts = Iterable[tuple[str, str | None]]


def complete_value(kind: str, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
    if kind == "rule_codes" or (kind == "topics" and incomplete[:3].upper() == "DUV"):
        incomplete = incomplete.upper()
    if kind == "prompt_arguments":
        names = _list_prompt_arguments(ctx, incomplete)
    elif kind in ("specification_ids", "section_ids", "references"):
        found_names: list[tuple[str, str]] = []
        if catalogue := _load_catalogue(ctx):
            cards = catalogue.requirements
            for card in catalogue.specifications:
                sections = [(one.name, one.breadcrumb or one.title) for one in card.sections]
                found_names += sections if kind == "section_ids" else [(card.id, card.name)]
            if kind != "specification_ids":
                found_names += [(name, cards[indexes[0]].text) for name, indexes in catalogue.named.items()]
            if kind == "references":
                found_names += [(one.id[:SHORT_ID_DIGITS], one.text) for one in cards]
        names = _make_printable(found_names)
    else:
        names = _list_names(kind)
    found = [CompletionItem(name, help=text) for name, text in names if name.startswith(incomplete)]
    return found or ([CompletionItem(incomplete, "file")] if kind in ("recipe_files", "references") else [])


def _list_names(kind: str) -> _NamedTexts:
    match kind:
        case "rule_codes":
            return ((rule.code, rule.name) for rule in list_rules().values())
        case "help_topics":
            parts = ((name, text.partition("\n")[0].removeprefix("# ")) for name, text in guide_parts().items())
            return (*guide_topics().items(), *parts)
        case "topics":
            from duvet.console.explanations import list_topics

            return ((topic.name, topic.summary) for topic in list_topics())
        case "prompts":
            return dict.fromkeys(prompt_names()).items()
        case "requirement_prompts":
            from duvet.prompts.library import REQUIREMENT_PROMPTS

            return dict.fromkeys(REQUIREMENT_PROMPTS).items()
        case "tools":
            from duvet.tools.packs import BUILT_IN_PACKS, Registry, enable_packs

            # The tools of plugins would take too long to load.
            return ((tool.name, tool.title) for tool in Registry(enable_packs(tuple(BUILT_IN_PACKS))))
    return dict.fromkeys(recipe_names()).items()


def _list_prompt_arguments(ctx: click.Context, incomplete: str) -> _NamedTexts:
    from duvet.prompts.library import complete_prompt_argument, load_prompts

    # If an option at the end of the line has no value yet, click leaves the name in `args`.
    prompt_name = ctx.params.get("name") or next(iter(ctx.args), None)
    arguments = [argument for prompt in load_prompts() if prompt.name == prompt_name for argument in prompt.arguments]
    name, equals, value = incomplete.partition("=")
    if not equals:
        return [(f"{one.name}=", one.description) for one in arguments]
    catalogue = _load_catalogue(ctx)
    if catalogue is None or name not in {one.name for one in arguments}:
        return []
    return _make_printable((f"{name}={one}", "") for one in complete_prompt_argument(catalogue, name, value))


def _load_catalogue(ctx: click.Context) -> Catalogue | None:
    ##= man/spec/completion.md#completing
    ##% Completion MUST take the names of specifications, sections and requirements only from the cache.
    # The data of the last query may be out of date.
    folder = ctx.find_root().params.get("directory") or ""
    return DiskCache(DiskTree(find_project_folder(folder) or folder), {}).load_last(CATALOGUE_KEY, Catalogue)


def _make_printable(names: Iterable[tuple[str, str]]) -> _NamedTexts:
    return [(name, shorten_text(escape_cell(text))) for name, text in dict(names).items() if name.isprintable()]
