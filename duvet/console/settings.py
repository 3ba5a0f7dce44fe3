"""Global options and the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, TextIO

import click
from msgspec import Struct
from msgspec.structs import replace


class TerminalSettings(Struct, frozen=True):
    """Global options and the environment of a run."""

    environ: Mapping[str, str]
    config_path: str | None = None
    colour: bool = False
    """Whether to colour standard error."""
    colours: str = "auto"
    """The value of `--color`."""
    quiet: bool = False
    verbose: bool = False
    cache: bool = True
    day: date | None = None
    """The day of the run, if it isn't that of the clock."""

    @property
    def today(self) -> date:
        return date.today() if self.day is None else self.day


def current_settings() -> TerminalSettings:
    """Return the settings of the command that runs."""
    return click.get_current_context().find_object(TerminalSettings) or TerminalSettings(os.environ)


def wants_bar(settings: TerminalSettings) -> bool:
    """Tell whether standard error is a terminal that can redraw a line."""
    return not settings.quiet and sys.stderr.isatty() and settings.environ.get("TERM") != "dumb"


def wants_colour(choice: str, environ: Mapping[str, str], stream: TextIO | None = None) -> bool:
    """Tell whether to colour a stream, by default standard error; see no-color.org and bixense.com/clicolors."""
    if choice != "auto":
        return choice == "always"
    if "NO_COLOR" in environ:
        return False
    if environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return (stream or sys.stderr).isatty() and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"


def wants_cache(settings: TerminalSettings, root: str = "") -> bool:
    """Tell whether the folder, by default the working directory, is a project whose cache may be used."""
    ##= man/spec/cache.md#storage
    ##% With `--no-cache`, duvet MUST neither read nor write the cache.
    return settings.cache and os.path.isdir(os.path.join(root, ".duvet"))


class GlobalFlag(Struct, frozen=True):
    """A flag of all commands, and the setting that it changes."""

    names: tuple[str, ...]
    help: str
    field: str
    value: bool = True

    def add(self, function: click.decorators.FC) -> click.decorators.FC:
        """Add the flag to the group of all commands, which documents it."""
        return click.option(*self.names, f"_{self.field}", **self._attributes)(function)

    def make_hidden_option(self) -> click.Option:
        """Return the flag as a subcommand accepts it."""
        return click.Option((*self.names, f"_{self.field}"), hidden=True, **self._attributes)

    @property
    def _attributes(self) -> dict[str, Any]:
        return {"is_flag": True, "help": self.help, "expose_value": False, "callback": self._apply}

    def _apply(self, ctx: click.Context, param: click.Parameter, is_set: bool) -> None:
        if is_set:
            settings = ctx.find_object(TerminalSettings) or TerminalSettings(os.environ)
            ctx.obj = replace(settings, **{self.field: self.value})


QUIET = GlobalFlag(("-q", "--quiet"), "Print only errors.", "quiet")
VERBOSE = GlobalFlag(("-v", "--verbose"), "Print each file that holds annotations, too.", "verbose")
NO_CACHE = GlobalFlag(("--no-cache",), "Neither read nor write .duvet/cache.", "cache", False)


@cache
def make_global_flags() -> list[click.Parameter]:
    """Return the flags that each subcommand accepts, too."""
    return [flag.make_hidden_option() for flag in (QUIET, VERBOSE, NO_CACHE)]
