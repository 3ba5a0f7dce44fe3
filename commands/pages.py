"""`duvet pages`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files
from duvet.terminal.options import TEXT, trace_options

_LIST = ("table", "plain", "json", "jsonl", "csv", "markdown")
_SHOW = ("text", "json", "markdown")
_CHECK = ("text", "json", "sarif", "github", "junit")
_FORMATS = {"list": _LIST, "show": _SHOW, "check": _CHECK}


@click.command(cls=Subcommand)
@click.argument("action", type=click.Choice([*_FORMATS]), default="list", metavar="[list|show|check]")
@click.argument("slug", type=TEXT, required=False, metavar="[SLUG]")
@click.option(
    "--format",
    "format",
    type=click.Choice([*dict.fromkeys((*_LIST, *_SHOW, *_CHECK))]),
    help="How to write it: lists as table, plain, json, jsonl, csv or markdown, a page as text, json or markdown, "
    "problems as text, json, sarif, github or junit.",
)
@click.option(
    "--output",
    metavar="FILE",
    shell_complete=files,
    help="With check, where to write problems [default: text to standard error, else `-`].",
)
@trace_options
@click.pass_context
def pages(
    ctx: click.Context, /, action: str, slug: str | None, format: str | None, output: str | None, **where: Any
) -> None:
    """Pages are notes in Markdown: those in `docs`, or those that `[[pages]]` in the configuration names. They link to
    each other as [[slug]], [[slug|label]] or [[slug#heading]], and to requirements as [[SPEC#SECTION]] or [[req:ID]].
    Their front matter may say `slug`, `title`, `created` and `tags`.

    `list` lists them, the newest first; `show` shows one with its links in both directions, the requirements that it
    names and the code that cites these; `check` lists links that lead nowhere, slugs that clash and pages that can't be
    read, and exits with 1 if there are any.

    \b
    Examples:
      duvet pages
      duvet pages show decisions/0001-cache
      duvet pages check --format github
    """
    if (action == "show") != (slug is not None):
        raise click.UsageError("`show` takes the slug of a page" if slug is None else "only `show` takes a slug", ctx)
    if format is not None and format not in _FORMATS[action]:
        raise click.UsageError(f"`{action}` writes {', '.join(_FORMATS[action])}", ctx)
    if output is not None and action != "check":
        raise click.UsageError("--output goes with `check`", ctx)
    from duvet.terminal import paging

    if action == "check":
        from duvet.terminal.problem_formats import answer

        ctx.exit(paging.check_pages(where, answer(format, output)))
    if slug is not None:
        ctx.exit(paging.show_page(where, slug, format or "text"))
    ctx.exit(paging.list_pages(where, format))
