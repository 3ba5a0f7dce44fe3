"""`duvet help`"""

from __future__ import annotations

import click

from duvet.console.command import Subcommand, complete_values
from duvet.console.markdown import print_markdown
from duvet.templates.guide_pages import find_topic, guide_parts, guide_topics


@click.command(cls=Subcommand)
@click.argument("names", metavar="[TOPIC | COMMAND]", nargs=-1, shell_complete=complete_values("help_topics"))
@click.pass_context
def help(ctx: click.Context, /, names: tuple[str, ...]) -> None:
    """Without an argument, list the commands and the topics of the guide. On a terminal, a topic opens in your pager.

    \b
    Examples:
      duvet help
      duvet help tutorial
      duvet help states
      duvet help report
    """
    assert ctx.parent is not None
    if not names:
        topics = {**guide_topics(), "reference": "Look up commands, keys, tools and rules"}
        width = max(map(len, topics))
        click.echo("Guide (duvet help TOPIC):")
        for name, title in topics.items():
            click.echo(f"  {name:{width}}  {title}")
        parts = ", ".join(name for name in guide_parts() if name not in topics)
        click.echo(f"\nParts of `concepts`: {parts}\n\n{ctx.parent.get_help()}")
    elif len(names) == 1 and (text := find_topic(names[0])):
        ##= man/spec/help.md#topics
        ##% `duvet help TOPIC` MUST print the guide's text about the topic, and use a pager only if standard output is a
        ##% terminal.
        print_markdown(text, uses_pager=True)
    else:
        ##= man/spec/help.md#topics
        ##% `duvet help COMMAND` MUST print the help of the command or subcommand.
        ctx = ctx.parent
        for name in names:
            command = ctx.command.get_command(ctx, name) if isinstance(ctx.command, click.Group) else None
            if command is None:
                from duvet.console.suggestions import suggest_command

                path = " ".join(["duvet help", *names[: names.index(name)]])
                known = ctx.command.list_commands(ctx) if isinstance(ctx.command, click.Group) else []
                hint = suggest_command(name, known, path) if known else ""
                raise click.UsageError(f"No such topic or command '{name}'{hint and '; '}{hint}", ctx.find_root())
            ctx = command.context_class(command, info_name=name, parent=ctx)
        click.echo(ctx.get_help())
