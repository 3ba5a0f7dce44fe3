"""`duvet completion`"""

from __future__ import annotations

import click

from duvet.console.command import Subcommand
from duvet.console.completion import COMPLETION_VARIABLE, PROGRAM, SHELLS
from duvet.console.streams import write_stdout


@click.command(cls=Subcommand)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """The generated script completes commands, options and their values, and the specifications, sections and
    requirements in the project's cache. Bash must be version 4.4 or newer.

    \b
    Examples:
      duvet completion bash > ~/.local/share/bash-completion/completions/duvet
      duvet completion zsh > ~/.zfunc/_duvet
      duvet completion fish > ~/.config/fish/completions/duvet.fish
    """
    ##= man/spec/completion.md#completing
    ##% `duvet completion` MUST print a script for bash, zsh or fish that completes commands, subcommands, options and
    ##% their values.
    write_stdout(SHELLS[shell](ctx.find_root().command, {}, PROGRAM, COMPLETION_VARIABLE).source().encode())
