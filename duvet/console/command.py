"""Click classes of duvet's commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any

import click

from duvet.console.settings import make_global_flags

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class Subcommand(click.Command):
    """Names every missing option at once, and refuses an option that is given twice but counts once."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *make_global_flags()]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            given, _, order = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError as error:
            # An option without its value is raised without what the usage is taken from.
            error.ctx = error.ctx or ctx
            raise
        asks_for_help = any(isinstance(param, click.Option) and "--help" in param.opts for param in order)
        if not ctx.resilient_parsing and not asks_for_help:
            self._check_missing(ctx, given)
            self._check_repeated(ctx, order)
        return super().parse_args(ctx, args)

    def _check_missing(self, ctx: click.Context, given: dict[str, Any]) -> None:
        required = [(param, param.name or "") for param in self.get_params(ctx) if param.required]
        missing = [param for param, name in required if name not in given or param.value_is_missing(given[name])]
        if missing:
            lines = "\n".join(f"  {_shown(param, ctx)}" for param in missing)
            raise click.UsageError(f"the following required arguments were not provided:\n{lines}", ctx)

    def _check_repeated(self, ctx: click.Context, order: list[click.Parameter]) -> None:
        for param, count in Counter(order).items():
            if count > 1 and isinstance(param, click.Option) and (param.is_flag or not param.multiple):
                raise make_repeated_error(param, ctx)


def make_repeated_error(param: click.Parameter, ctx: click.Context) -> click.UsageError:
    """The error about an argument that may stand once."""
    return click.UsageError(f"the argument '{_shown(param, ctx)}' cannot be used multiple times", ctx)


def _shown(param: click.Parameter, ctx: click.Context) -> str:
    if isinstance(param, click.Option):
        return param.opts[-1] if param.is_flag else f"{param.opts[-1]} <{(param.name or '').upper()}>"
    return f"<{param.human_readable_name}>"


class LazyGroup(click.Group):
    """Knows what its subcommands do, and imports the module of one when it is asked for more."""

    def __init__(self, *args: Any, package: str, summaries: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.package = package
        self.summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.summaries and cmd_name not in self.commands:
            self.add_command(self._imported(cmd_name))
        return super().get_command(ctx, cmd_name)

    def _imported(self, name: str) -> click.Command:
        command = getattr(import_module(f"{self.package}.{name}"), name)
        assert isinstance(command, click.Command)
        command.help = f"{self.summaries[name]}\n\n{cleandoc(command.help or '')}"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The names and what they do, which takes no module."""
        # As much as click leaves for it: three times the usual gap stays free.
        room = formatter.width - 6 - max(map(len, self.summaries))
        told = [click.Command(name, help=summary) for name, summary in self.summaries.items()]
        with formatter.section("Commands"):
            formatter.write_dl([(one.name or "", one.get_short_help_str(room)) for one in told])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """The names and what they do, which takes no module."""
        from click.shell_completion import CompletionItem

        found = [
            CompletionItem(name, help=summary)
            for name, summary in self.summaries.items()
            if name.startswith(incomplete)
        ]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """`duvet help COMMAND` is `duvet COMMAND --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:2], "--help"]
        if args == ["--help"]:
            click.echo(ctx.get_help())
            ctx.exit()
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from duvet.config.fields import did_you_mean

            near = did_you_mean(args[0], self.summaries)
            ctx.fail(f"No such command '{args[0]}'{near and '; '}{near}")
        return super().resolve_command(ctx, args)
