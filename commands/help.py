from __future__ import annotations

import re
import shutil
import sys

import click

from duvet.console.command import Subcommand, current_settings, wants_colour
from duvet.console.completion_values import complete_help_topics
from duvet.templates import guide_text, guide_topics

_MAX_WIDTH = 100


@click.command(cls=Subcommand)
@click.argument("names", metavar="[TOPIC | COMMAND]", nargs=-1, shell_complete=complete_help_topics)
@click.pass_context
def help(ctx: click.Context, /, names: tuple[str, ...]) -> None:
    """Without an argument, list the topics of the guide and the commands. On a terminal, a topic opens in your pager.

    \b
    Examples:
      duvet help
      duvet help tutorial
      duvet help report
    """
    assert ctx.parent is not None
    if not names:
        click.echo(_list_topics())
        click.echo(ctx.parent.get_help())
    elif len(names) == 1 and names[0] in guide_topics():
        _show_topic(guide_text(names[0]))
    else:
        _show_usage(ctx.parent, names)


def _list_topics() -> str:
    width = max(map(len, guide_topics()))
    lines = (f"  {name:{width}}  {title}" for name, title in guide_topics().items())
    return "\n".join(["Guide (duvet help TOPIC):", *lines, ""])


def _show_topic(text: str) -> None:
    # Comments hold instructions for the tests.
    text = re.sub(r"(?m)^<!--.*?-->\n+", "", text)
    ##= man/spec/help.md#topics
    ##% `duvet help TOPIC` MUST print that topic of the guide, and MUST use a pager only if standard output is a terminal.
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.theme import Theme

    settings = current_settings()
    colour = wants_colour(settings.colours, settings.environ, sys.stdout)
    width = min(_MAX_WIDTH, shutil.get_terminal_size().columns)
    theme = Theme({"markdown.code": "bold cyan"})
    console = Console(width=width, force_terminal=colour, no_color=not colour, theme=theme)
    with console.capture() as captured:
        console.print(Markdown(text, code_theme="ansi_dark", hyperlinks=False))
    click.echo_via_pager(captured.get(), color=colour)


def _show_usage(top: click.Context, names: tuple[str, ...]) -> None:
    """Print the help of a command, or of a subcommand."""
    ctx = top
    ##= man/spec/help.md#topics
    ##% `duvet help COMMAND` MUST print the help of the command or subcommand.
    for name in names:
        command = ctx.command.get_command(ctx, name) if isinstance(ctx.command, click.Group) else None
        if command is None:
            from duvet.console.suggestions import suggest_command

            known = ctx.command.list_commands(ctx) if isinstance(ctx.command, click.Group) else []
            path = " ".join(["duvet help", *names[: names.index(name)]])
            hint = suggest_command(name, [*known, *guide_topics()] if ctx is top else known, path) if known else ""
            raise click.UsageError(f"No such topic or command '{name}'{hint and '; '}{hint}", top)
        ctx = click.Context(command, info_name=name, parent=ctx)
    click.echo(ctx.get_help())
