"""The command line: global options, the choice of a subcommand, and the exit code."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

import click

from duvet.errors import DuvetError
from duvet.terminal.command import LazyGroup
from duvet.terminal.failures import BUG, FAILED, INTERRUPTED, OK
from duvet.terminal.settings import Settings, wants_colour
from duvet.version import VERSION

COMMANDS = ("init", "extract", "report", "merge", "config")


@click.group(
    cls=LazyGroup,
    modules={name: f"duvet.commands.{name}" for name in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="COMMAND [ARGS]...",
)
@click.option("-C", "directory", metavar="DIR", help="Run as if started in DIR.")
@click.option("--config", "config_path", metavar="FILE", help="Read this configuration; the same as --config-path.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours.")
@click.option("-q", "--quiet", is_flag=True, help="Print only errors.")
@click.option("-v", "--verbose", is_flag=True, help="Print each file that holds annotations, too.")
@click.version_option(VERSION, message="duvet %(version)s")
@click.pass_context
def cli(
    ctx: click.Context, directory: str | None, config_path: str | None, color: str, quiet: bool, verbose: bool
) -> None:
    """Link the requirements of specifications to the code that implements and tests them.

    Specifications hold normative sentences. Comments in the code quote the ones that they implement or test.
    duvet tells which requirements are done, tested, excepted, still to do, or forgotten.

    \b
    Examples:
      duvet init --lang-rust --specification https://www.rfc-editor.org/rfc/rfc2324
      duvet report
      duvet report --ci
    """
    if directory is not None:
        _enter(directory)
    ctx.obj = Settings(os.environ, config_path, wants_colour(color, os.environ), quiet, verbose)


def _enter(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        raise DuvetError(f"can't run in this folder: {error.strerror}", path=directory) from error


def main() -> NoReturn:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(args: list[str]) -> int:
    """The exit code for these arguments; every error has been printed."""
    try:
        with cli.make_context("duvet", args) as ctx:
            cli.invoke(ctx)
        sys.stdout.flush()
        return OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except DuvetError as error:
        return _failed(error)
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("\ninterrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on; Python would complain when it flushes standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception:  # noqa: BLE001 - what gets here is a defect of ours, and is called one
        return _bug()


def _failed(error: DuvetError) -> int:
    from duvet.terminal.failures import as_problems, report

    shown = Settings(os.environ, colour=wants_colour("auto", os.environ))
    report(as_problems(error), shown)
    return FAILED


def _bug() -> int:
    import platform
    import traceback

    traceback.print_exc()
    sys.stderr.write(
        f"\nThis is a bug of duvet {VERSION} (Python {platform.python_version()}, {platform.system()}).\n"
        "Please report it with the lines above and the command that you ran.\n"
    )
    return BUG
