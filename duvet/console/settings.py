"""Global options and the environment."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from datetime import date
from functools import cache, partial
from typing import Any, TextIO

import click
from msgspec import Struct
from msgspec.structs import replace


class TerminalSettings(Struct, frozen=True):
    """How to talk to this terminal."""

    environ: Mapping[str, str]
    config_path: str | None = None
    colour: bool = False
    """Whether to colour what goes to standard error."""
    colours: str = "auto"
    """When to use colours."""
    quiet: bool = False
    verbose: bool = False
    cache: bool = True
    day: date | None = None
    """The day to go by; that of the clock where it is None."""

    @property
    def today(self) -> date:
        """The day of this run."""
        return date.today() if self.day is None else self.day


def current_settings() -> TerminalSettings:
    """The settings of this run."""
    found = click.get_current_context().find_object(TerminalSettings)
    return found or TerminalSettings(os.environ)


def wants_bar(shown: TerminalSettings) -> bool:
    """Whether standard error is a terminal that can draw on a line again."""
    return not shown.quiet and sys.stderr.isatty() and shown.environ.get("TERM") != "dumb"


def wants_colour(choice: str, environ: Mapping[str, str], stream: TextIO | None = None) -> bool:
    """Whether to colour what goes to a stream, standard error mostly; see no-color.org and bixense.com/clicolors."""
    if choice != "auto":
        return choice == "always"
    if "NO_COLOR" in environ:
        return False
    if environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return (stream or sys.stderr).isatty() and environ.get("TERM") != "dumb" and environ.get("CLICOLOR") != "0"


def wants_cache(shown: TerminalSettings, root: str = "") -> bool:
    """Whether there is a place for a cache in the working directory or another, and nobody is against it."""
    ##= man/spec/cache.md#storage
    ##% With `--no-cache`, duvet MUST neither read nor write the cache.
    return shown.cache and os.path.isdir(os.path.join(root, ".duvet"))


class GlobalFlag(Struct, frozen=True):
    """A flag: what it is called, what it does, and what it makes of a setting."""

    names: tuple[str, ...]
    help: str
    field: str
    value: bool = True

    @property
    def declared(self) -> tuple[str, ...]:
        """The names for the command line, and the one for click."""
        return (*self.names, f"_{self.field}")

    @property
    def attributes(self) -> dict[str, Any]:
        """What makes an option of it."""
        return {"is_flag": True, "help": self.help, "expose_value": False, "callback": partial(_set, self)}


QUIET = GlobalFlag(("-q", "--quiet"), "Print only errors.", "quiet")
VERBOSE = GlobalFlag(("-v", "--verbose"), "Print each file that holds annotations, too.", "verbose")
NO_CACHE = GlobalFlag(("--no-cache",), "Neither read nor write .duvet/cache.", "cache", False)


@cache
def make_global_flags() -> list[click.Parameter]:
    """The flags for a subcommand; where they belong, they are documented."""
    return [click.Option(one.declared, hidden=True, **one.attributes) for one in (QUIET, VERBOSE, NO_CACHE)]


def add_flag(one: GlobalFlag) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """The flag where it belongs, as a decorator."""
    return click.option(*one.declared, **one.attributes)


def _set(flag: GlobalFlag, ctx: click.Context, param: click.Parameter, given: bool) -> None:
    if given:
        ctx.obj = replace(ctx.find_object(TerminalSettings) or TerminalSettings(os.environ), **{flag.field: flag.value})
