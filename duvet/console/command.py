"""The global settings, paths relative to the project, and the Click classes of the commands."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from datetime import date
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, TextIO, cast

import click
from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_DEPRECATIONS = "duvet.deprecations"  # The old spellings in a command line, each with the new one.


class TerminalSettings(Struct, frozen=True):
    environ: Mapping[str, str]
    config_path: str | None = None
    colour: bool = False  # Whether to colour standard error.
    colours: str = "auto"  # The value of `--color`.
    quiet: bool = False
    verbose: bool = False
    cache: bool = True
    day: date | None = None  # The day of the run, if it isn't that of the clock.
    folder: str = ""  # The user's folder, relative to the project; empty if the user is in the project folder itself.
    has_only_pages: bool = False  # Whether the folder is served as pages alone, with or without a project.
    has_legacy_flags: bool = False  # Whether the command line describes the project with upstream's flags.

    @property
    def today(self) -> date:
        return date.today() if self.day is None else self.day


def current_settings(ctx: click.Context | None = None) -> TerminalSettings:
    return (ctx or click.get_current_context()).find_object(TerminalSettings) or TerminalSettings(os.environ)


def wants_bar(settings: TerminalSettings) -> bool:
    return not settings.quiet and sys.stderr.isatty() and settings.environ.get("TERM") != "dumb"


def wants_colour(choice: str, environ: Mapping[str, str], stream: TextIO | None = None) -> bool:
    """See no-color.org and bixense.com/clicolors."""
    if choice != "auto":
        return choice == "always"
    if "NO_COLOR" in environ:
        return False
    if environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return (stream or sys.stderr).isatty() and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"


def wants_cache(settings: TerminalSettings, root: str = "") -> bool:
    ##= man/spec/cache.md#storage
    ##% With `--no-cache`, duvet MUST neither read nor write the cache.
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT read or write a cache in the folder.
    return settings.cache and not settings.has_only_pages and os.path.isdir(os.path.join(root, ".duvet"))


_HYPHEN = "\u2011"  # The non-breaking hyphen, which click does not break lines at.


class _HelpFormatter(click.HelpFormatter):
    def write_text(self, text: str) -> None:
        super().write_text(text.replace("-", _HYPHEN))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        room = self.width - self.current_indent
        folded = [(self._fold(term, room), text.replace("-", _HYPHEN)) for term, text in rows]
        super().write_dl(folded, col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_HYPHEN, "-")

    def _fold(self, term: str, room: int) -> str:
        if len(term) <= room:
            return term
        end = term.rfind("|", 0, room) + 1
        indent = " " * (self.current_indent + term.find("[") + 1)
        return f"{term[:end]}\n{indent}{self._fold(term[end:], room - len(indent))}" if end else term


_OTHER_PROGRAM = "contextive-mcp"  # It runs only `duvet mcp`.


class _HelpContext(click.Context):
    formatter_class = _HelpFormatter

    @property
    def command_path(self) -> str:
        return super().command_path.replace(f"{_OTHER_PROGRAM} mcp", _OTHER_PROGRAM, 1)

    def get_help(self) -> str:
        text = super().get_help()
        return text.replace("duvet mcp", _OTHER_PROGRAM) if self.find_root().info_name == _OTHER_PROGRAM else text


def _apply_flag(ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
    if is_set:
        field = str(param.name).removeprefix("_")
        ctx.obj = replace(current_settings(ctx), **{field: field != "cache"})


_FLAG: dict[str, Any] = {"is_flag": True, "expose_value": False, "callback": _apply_flag}
# The flags that every command accepts; without the underscore, their last names are fields of `TerminalSettings`.
GLOBAL_FLAGS = {
    ("-q", "--quiet", "_quiet"): {**_FLAG, "help": "Print only results and errors."},
    ("-v", "--verbose", "_verbose"): {**_FLAG, "help": "Print details, such as each annotated file."},
    ("--no-cache", "_cache"): {**_FLAG, "help": "Neither read nor write .duvet/cache."},
}
HIDDEN_FLAGS = [click.Option(names, hidden=True, **attributes) for names, attributes in GLOBAL_FLAGS.items()]


class OldOption(click.Option):
    def __init__(self, *args: Any, instead: str, **attributes: Any) -> None:
        super().__init__(*args, **{"hidden": True, **attributes})
        self.instead = instead  # What to write; empty for an option without effect.

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        if ctx.get_parameter_source(self.name or "") is click.core.ParameterSource.COMMANDLINE:
            note_deprecation(ctx, self.opts[0], self.instead)
        return super().process_value(ctx, value)


class IntegerRange(click.IntRange):
    name = "integer"  # By default, errors say "not a valid integer range".


class Subcommand(click.Command):
    """Reports all missing arguments and options together, and rejects options given twice unless they are repeatable."""

    context_class = _HelpContext

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*super().get_params(ctx), *HIDDEN_FLAGS]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            values, _, order = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError as error:
            # Click raises the error about an option without its value without a context.
            error.ctx = error.ctx or ctx
            raise _suggest_option(error, self.get_params(ctx)) from error
        if not ctx.resilient_parsing and not any("--help" in param.opts for param in order):
            required = [(param, param.name or "") for param in self.get_params(ctx) if param.required]
            missing = [param for param, name in required if name not in values or param.value_is_missing(values[name])]
            if missing:
                lines = "\n".join(f"  {_format_parameter(param)}" for param in missing)
                raise click.UsageError(f"the following required arguments were not provided:\n{lines}", ctx)
            for param, count in Counter(order).items():
                if count > 1 and isinstance(param, click.Option) and (param.is_flag or not param.multiple):
                    raise make_repeated_error(param, ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        # `--verbose` may come after the old spelling.
        for old, new in ctx.meta.get(_DEPRECATIONS, ()):
            print_deprecation(old, new)
        return super().invoke(ctx)


def _suggest_option(error: click.UsageError, params: Iterable[click.Parameter]) -> click.UsageError:
    if not isinstance(error, click.NoSuchOption):
        return error
    from duvet.console.suggestions import suggest_option

    options = [param for param in params if isinstance(param, click.Option) and not param.hidden]
    hint = suggest_option(error.option_name, [name for option in options for name in option.opts])
    return click.UsageError(f"No such option '{error.option_name}'{hint and '; '}{hint}", error.ctx)


def make_repeated_error(param: click.Parameter, ctx: click.Context) -> click.UsageError:
    return click.UsageError(f"the argument '{_format_parameter(param)}' cannot be used multiple times", ctx)


def _format_parameter(param: click.Parameter) -> str:
    if isinstance(param, click.Option):
        return param.opts[-1] if param.is_flag else f"{param.opts[-1]} <{(param.name or '').upper()}>"
    return f"<{param.human_readable_name}>"


class CommandGroup(click.Group):
    context_class = _HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name, command in self.commands.items() if not command.hidden]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            error.ctx = error.ctx or ctx
            raise _suggest_option(error, self.get_params(ctx)) from error

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            from duvet.console.suggestions import suggest_command

            hint = suggest_command(args[0], self.list_commands(ctx), ctx.command_path)
            ctx.fail(f"No such command '{args[0]}'{hint and '; '}{hint}")
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)


class SubcommandGroup(CommandGroup):
    """Runs its default subcommand if none is named; options may precede the subcommand."""

    command_class = Subcommand

    def __init__(self, *args: Any, default: str, **kwargs: Any) -> None:
        super().__init__(*args, **{"subcommand_metavar": "[COMMAND]", **kwargs})
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] not in (["--help"], ["-h"]) and (args or not ctx.resilient_parsing):
            named = next((word for word in args if word in self.commands), self.default)
            if not args or args[0].startswith("-"):
                rest = list(args)
                if named in rest:
                    rest.remove(named)
                args = [named, *rest]
        return super().parse_args(ctx, args)

    def add_old_name(self, name: str, command: click.Command) -> None:
        def run(**values: Any) -> Any:
            ctx = click.get_current_context()
            path = f"{ctx.parent.command_path} " if ctx.parent else ""
            print_deprecation(f"{path}{name}", f"{path}{command.name}")
            return command.callback(**values) if command.callback else None

        old = copy(command)
        old.name, old.hidden, old.callback = name, True, run
        self.add_command(old)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        items = super().shell_complete(ctx, incomplete)
        default = self.commands[self.default]
        context = click.Context(default, parent=ctx, info_name=self.default, resilient_parsing=True)
        options = default.shell_complete(context, incomplete) if incomplete.startswith("-") else []
        # Both have `--help`.
        return [*{item.value: item for item in (*items, *options)}.values()]


def note_deprecation(ctx: click.Context, old: str, new: str) -> None:
    noted: list[tuple[str, str]] = ctx.meta.setdefault(_DEPRECATIONS, [])
    if (old, new) not in noted and not ctx.resilient_parsing:
        noted.append((old, new))


def print_deprecation(old: str, new: str) -> None:
    ##= man/spec/trace.md#commands
    ##% duvet MUST accept old names of options, commands, states and levels, and print the new name with `--verbose`.
    if current_settings().verbose:
        click.echo(f"note: `{old}` {f'is deprecated; use `{new}`' if new else 'has no effect here'}", err=True)


class LazyGroup(CommandGroup):
    def __init__(self, *args: Any, sections: Mapping[str, Mapping[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sections = sections
        self.summaries = {name: summary for section in sections.values() for name, summary in section.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "rules":
            # Not listed, because `duvet explain` does the same.
            self.add_command(import_module("duvet.commands.explain").rules)
        elif cmd_name in self.summaries and cmd_name not in self.commands:
            command = getattr(import_module(f"duvet.commands.{cmd_name}"), cmd_name)
            assert isinstance(command, click.Command)
            command.help = f"{self.summaries[cmd_name]}\n\n{cleandoc(command.help or '')}"
            self.add_command(command)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.summaries))
        for heading, summaries in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{name:{width}}", summary) for name, summary in summaries.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        names = (name for name in self.summaries if name.startswith(incomplete))
        items = [make_completion(name, help=self.summaries[name]) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]


_CONFIG = os.path.join(".duvet", "config.toml")


def find_project_folder(start: str = "") -> str | None:
    ##= man/spec/init.md#project-discovery
    ##% duvet MUST use the nearest `.duvet/config.toml` in the working directory or a folder above it, but MUST NOT
    ##% search above the top of a git repository.
    try:
        folder = os.path.realpath(start) if start else os.getcwd()
    except OSError:
        # The working directory was removed; the first read reports that.
        return None
    while not os.path.lexists(os.path.join(folder, _CONFIG)):
        above = os.path.dirname(folder)
        # Worktrees and submodules have a file `.git`.
        if above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return None
        folder = above
    return folder


def locate_path(path: str, folder: str) -> str:
    """Convert a path relative to the user's `folder` to one relative to the project; keep URLs and absolute paths."""
    ##= man/spec/init.md#project-discovery
    ##% duvet MUST read and print paths relative to the working directory.
    plain = path.replace(os.sep, "/")
    if not folder or plain in ("", "-") or os.path.isabs(path) or "://" in plain:
        return path
    parts, rest = folder.split("/"), plain
    # Only leading dots are resolved here: the folder before `..` may be a link.
    while found := re.match(r"(\.\.?)(?:/+|\Z)", rest):
        rest = rest[found.end() :]
        if found[1] == "..":
            parts = [*parts, ".."] if not parts or parts[-1] == ".." else parts[:-1]
    return "/".join([*parts, rest] if rest else parts) or "."


def show_path(path: str, folder: str | None = None) -> str:
    """Convert a project path to one relative to a folder, by default the user's."""
    folder = current_settings().folder if folder is None else folder
    # A path with a colon is a URL, has a revision in front of it, or is absolute.
    if not folder or path in ("", "-") or ":" in path or os.path.isabs(path):
        return path
    return os.path.relpath(path, folder).replace(os.sep, "/")


class PathType(click.ParamType[str]):
    name = "path"
    locate: Callable[[str, str], str] = staticmethod(locate_path)

    def __init__(self, type: click.ParamType[str] = click.STRING, completion: str = "file") -> None:
        self.type = type
        self.completion = completion  # The paths that shells offer: `file` or `dir`.

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        settings = ctx.find_object(TerminalSettings) if ctx else None
        text = self.type.convert(value, param, ctx)
        return self.locate(text, settings.folder) if settings and isinstance(text, str) else text

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [make_completion(incomplete, self.completion)]


class ReferenceType(PathType):
    name = "reference"

    @staticmethod
    def locate(text: str, folder: str) -> str:
        # What precedes `:LINE`, `:LINE:COLUMN` or `#SECTION`.
        found = re.match(r"(?s)([^#]+?)((?::\d+){0,2}:?|#.*)\Z", text) if folder else None
        if found is None:
            return text
        path = locate_path(found[1], folder)
        return path + found[2] if os.path.isfile(path) else text


def make_completion(value: str, kind: str = "plain", help: str | None = None) -> CompletionItem[str]:
    from click.shell_completion import CompletionItem

    return CompletionItem(value, kind, help)


def complete_values(kind: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]:

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        values = import_module("duvet.console.completion_values")
        return cast("list[CompletionItem[str]]", values.complete_value(kind, ctx, incomplete))

    return complete


def path_option(
    *names: str, metavar: str = "FILE", type: click.ParamType[str] = click.STRING, **attributes: Any
) -> Callable[[click.decorators.FC], click.decorators.FC]:
    completion = "dir" if metavar == "DIR" else "file"
    return click.option(*names, metavar=metavar, type=PathType(type, completion), **attributes)
