"""The command line: global options, the choice of a subcommand, and the exit code."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from typing import NoReturn

import click
from msgspec.structs import replace

from duvet.console.command import NO_CACHE, QUIET, VERBOSE, LazyGroup, TerminalSettings, wants_colour
from duvet.console.completion_values import file_option, folder_option
from duvet.console.streams import BUG, FAILED, INTERRUPTED, OK, open_missing_stderr, print_notice, silence_stream
from duvet.errors import DuvetError, describe_os_error
from duvet.version import VERSION

COMMANDS = {
    "init": "Set up a project in this folder.",
    "extract": "Extract the requirements of one specification.",
    "report": "Check every citation and report what is covered.",
    "validate": "Check the annotations in some files, or in all.",
    "merge": "Merge the JSON v2 reports of several packages.",
    "search": "Find requirements.",
    "uncited": "List the requirements that nothing cites.",
    "prioritize": "List what to work on next, most urgent first, with the reasons.",
    "show": "Show all there is to know about one thing.",
    "pages": "List the notes that link to requirements, show one, or check their links.",
    "cite": "Insert a citation into a source.",
    "diff": "Show what has changed since a git revision: requirements, coverage, citations.",
    "ask": "Ask a model about the requirements and the code that cites them.",
    "ingest": "Take in code, tests, documents and requirements, to search them and to see how they hang together.",
    "feedback": "List or export what was said of the results of `km-search`.",
    "backup": "Make an archive of all that was taken in, and of the feedback on it.",
    "restore": "Bring back what is in a backup.",
    "mcp": "Serve agents: the trace as tools, resources and prompts of the Model Context Protocol.",
    "prompt": "Print a prompt for an agent, or list the prompts that there are.",
    "call": "Call a tool.",
    "tools": "List the tools that agents, programs and the shell can call, or show what one takes.",
    "workflow": "List, check and run the workflows of the configuration.",
    "recipe": "List, show, check and run recipes: routines of the project, such as a check of its health.",
    "config": "Show every setting that is in force, its value, and where that comes from.",
    "cache": "Show what is kept between runs, or remove it.",
    "completion": "Print what makes a shell complete the words of duvet.",
    "help": "Show a topic of the guide, or the help of a command.",
}
"""The summary of each command, with which its help begins."""


@click.group(
    cls=LazyGroup,
    package="duvet.commands",
    summaries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="COMMAND [ARGS]...",
)
@folder_option("-C", "directory", help="Run as if started in DIR.")
@file_option("--config", "config_path", help="Read this configuration; the same as --config-path.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="When to use colours.")
@QUIET.add
@VERBOSE.add
@NO_CACHE.add
@click.version_option(VERSION, message="duvet %(version)s")
@click.pass_context
def cli(ctx: click.Context, /, directory: str | None, config_path: str | None, color: str) -> None:
    """Link the requirements of specifications to the code that implements and tests them.

    Specifications hold normative sentences. Comments in the code quote the ones that they implement or test.
    duvet tells which requirements are done, tested, excepted, still to do, or forgotten.

    \b
    Examples:
      duvet init --lang-rust --specification https://www.rfc-editor.org/rfc/rfc2324
      duvet report
      duvet report --ci
    """
    settings = ctx.obj or TerminalSettings(os.environ)
    ctx.obj = replace(settings, config_path=config_path, colour=wants_colour(color, os.environ), colours=color)
    if directory is not None:
        try:
            os.chdir(directory)
        except (OSError, ValueError) as error:
            raise DuvetError(f"can't run in this folder: {describe_os_error(error)}", path=directory) from error


def main() -> NoReturn:
    """Run the command line, and exit without cleaning up, which would take a tenth of the time."""
    try:
        code = run_command_line(sys.argv[1:])
    except KeyboardInterrupt:
        # The user interrupted the printing of an error.
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def run_command_line(args: list[str], settings: TerminalSettings | None = None) -> int:
    """Run a command and print its errors; return the exit code."""
    open_missing_stderr()
    if completion := os.environ.get("_DUVET_COMPLETE"):
        from duvet.console.completion import answer_shell

        answer_shell(cli, completion)
        return OK
    ctx: click.Context | None = None
    try:
        with cli.make_context("duvet", args, obj=settings) as ctx:
            cli.invoke(ctx)
        return OK
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        try:
            error.show()
        except OSError:
            silence_stream(sys.stderr)
        return error.exit_code
    except DuvetError as error:
        ##= man/spec/trace.md#diagnostics
        ##% An input MUST NOT cause a traceback or control the terminal.
        ##= man/spec/trace.md#diagnostics
        ##% duvet MUST exit with 0 for yes, 1 for no, 2 for wrong usage, 3 for a defect of duvet, and 130 when
        ##% interrupted.
        return _print_error(error, ctx)
    except (KeyboardInterrupt, click.Abort):
        print_notice("\ninterrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of standard output has closed it.
        silence_stream(sys.stdout)
        return OK
    except OSError as error:
        silence_stream(sys.stdout)
        return _print_error(DuvetError(describe_os_error(error), path=str(error.filename or "")), ctx)
    except Exception:  # noqa: BLE001 - what gets here is a bug of duvet, and is reported as one
        return _print_bug()


def _print_error(error: DuvetError, ctx: click.Context | None) -> int:
    from duvet.console.problems import list_error_problems, print_problems

    settings = ctx.find_object(TerminalSettings) if ctx else None
    settings = settings or TerminalSettings(os.environ, colour=wants_colour("auto", os.environ))
    print_problems(list_error_problems(error), settings)
    return FAILED


def _print_bug() -> int:
    import traceback

    print_notice(
        f"{traceback.format_exc()}\n"
        f"This is a bug of duvet {VERSION} (Python {platform.python_version()}, {platform.system()}).\n"
        "Please report it with the lines above and the command that you ran.\n"
    )
    return BUG
