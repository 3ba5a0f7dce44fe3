"""Flags of `duvet` itself, which are understood after the subcommand, too."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import replace

from duvet.terminal.settings import Settings


class Flag(Struct, frozen=True):
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


QUIET = Flag(("-q", "--quiet"), "Print only errors.", "quiet")
VERBOSE = Flag(("-v", "--verbose"), "Print each file that holds annotations, too.", "verbose")
NO_CACHE = Flag(("--no-cache",), "Neither read nor write .duvet/cache.", "cache", False)


@cache
def anywhere() -> list[click.Parameter]:
    """The flags for a subcommand; where they belong, they are documented."""
    return [click.Option(one.declared, hidden=True, **one.attributes) for one in (QUIET, VERBOSE, NO_CACHE)]


def flag(one: Flag) -> Callable[[click.decorators.FC], click.decorators.FC]:
    """The flag where it belongs, as a decorator."""
    return click.option(*one.declared, **one.attributes)


def _set(flag: Flag, ctx: click.Context, param: click.Parameter, given: bool) -> None:
    if given:
        ctx.obj = replace(ctx.find_object(Settings) or Settings(os.environ), **{flag.field: flag.value})
