"""What the options before the subcommand and the environment say about the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import date
from typing import TextIO

import click
from msgspec import Struct


class Settings(Struct, frozen=True):
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


def settings() -> Settings:
    """The settings of this run."""
    found = click.get_current_context().find_object(Settings)
    return found or Settings(os.environ)


def wants_bar(shown: Settings) -> bool:
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


def wants_cache(shown: Settings, root: str = "") -> bool:
    """Whether there is a place for a cache in the working directory or another, and nobody is against it."""
    ##= man/spec/cache.md#keeping
    ##% With `--no-cache`, duvet MUST neither read nor write the cache.
    return shown.cache and os.path.isdir(os.path.join(root, ".duvet"))
