"""Options of `duvet` itself that are understood after the subcommand, too."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, partial

import click
from msgspec.structs import replace

from duvet.terminal.settings import Settings

_FLAGS = {"quiet": ("-q", "--quiet"), "verbose": ("-v", "--verbose"), "cache": ("--no-cache",)}


@cache
def anywhere() -> list[click.Parameter]:
    """These options; where they belong, they are documented."""
    return [_option(field, names) for field, names in _FLAGS.items()]


def _option(field: str, names: tuple[str, ...]) -> click.Option:
    set_it: Callable[[click.Context, click.Parameter, bool], None] = partial(_set, field)
    return click.Option((*names, f"_{field}"), is_flag=True, hidden=True, expose_value=False, callback=set_it)


def _set(field: str, ctx: click.Context, param: click.Parameter, given: bool) -> None:
    if given:
        shown = ctx.find_object(Settings) or Settings(os.environ)
        ctx.obj = replace(shown, **{field: not getattr(Settings(os.environ), field)})
