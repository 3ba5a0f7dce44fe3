"""The command line: global options, the choice of a subcommand, and the exit code."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress
from typing import NoReturn

import click
from msgspec.structs import replace

from duvet.console import command
from duvet.console.streams import BUG, FAILED, INTERRUPTED, OK, print_notice, silence_stream
from duvet.errors import DuvetError, describe_os_error
from duvet.version import VERSION

COMMAND_GROUPS = {
    "Everyday": {
        "report": "Check every citation and report coverage.",
        "search": "Search requirements.",
        "uncited": "List the requirements that are uncited or `to do`.",
        "prioritize": "List what to work on next, most urgent first.",
        "show": "Show a requirement, section, file or citation.",
        "validate": "Check the annotations in the named files, or in all files.",
        "cite": "Insert a citation into a source file.",
    },
    "Gates and CI": {
        "diff": "Show changes in requirements and coverage since a revision.",
        "query": "Check annotations against code, tests and test coverage.",
    },
    "Specifications": {
        "init": "Set up a project in this folder.",
        "extract": "Extract the requirements of one specification.",
        "merge": "Merge the JSON v2 reports of several packages.",
    },
    "Agents": {
        "mcp": "Serve tools, resources and prompts to agents over MCP.",
        "prompt": "Print a prompt for an agent, or list the prompts.",
        "tools": "List the tools, or describe one.",
        "call": "Call a tool.",
        "pack": "Create a pack of your own tools.",
        "ask": "Ask a model about requirements and their code.",
    },
    "Knowledge": {
        "ingest": "Index the project for the search and graph tools.",
        "pages": "List, show and check the project's pages.",
        "workflow": "List, show, check and run workflows.",
        "recipe": "List, show, check and run recipes.",
        "feedback": "List or export feedback on search results.",
        "backup": "Back up the index and the feedback.",
        "restore": "Restore a backup.",
    },
    "Setup": {
        "config": "Show or check the configuration, or print its schema.",
        "cache": "Show or clear the cache.",
        "completion": "Generate shell completions.",
        "explain": "Explain a rule, state, level or configuration key.",
        "help": "Show a topic of the guide, or the help of a command.",
    },
}
"""The commands of each heading in `duvet --help`, with the first sentence of their help."""
MCP_PROGRAM, MCP_COMMAND = "contextive-mcp", "mcp"  # The program runs this command of duvet.
_STAYING = ("init", "query")  # The commands that use the working directory as the project.
_LEGACY_FLAGS = ("--source-pattern", "--spec-pattern", "--spec-path")  # They describe the project.


@click.group(
    cls=command.LazyGroup,
    sections=COMMAND_GROUPS,
    context_settings={"help_option_names": ["-h", "--help"]},
    subcommand_metavar="COMMAND",
    epilog="`duvet help COMMAND` shows the options of a command, and `duvet rules` lists the problems that duvet reports.",
)
@command.path_option("-C", "directory", help="Run as if started in DIR.", metavar="DIR")
@command.path_option("--config", "config_path", help="The project's configuration [default: .duvet/config.toml].")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Use colors [default: auto]."
)
@click.version_option(VERSION, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context, /, directory: str | None, config_path: str | None, color: str) -> None:
    """Trace requirements from specifications to code and tests.

    Comments quote the requirements that the code implements or tests. duvet checks each quote against its specification, and reports the state of each requirement: done, excepted, needs tests, needs code, in progress, to do or uncited.

    \b
    Examples:
      duvet init
      duvet report
      duvet report --ci
      duvet search "retry after a timeout"
    """
    settings = ctx.obj or command.TerminalSettings(os.environ)
    ctx.obj = replace(settings, config_path=config_path, colour=command.wants_colour(color, os.environ), colours=color)
    if directory is not None:
        try:
            os.chdir(directory)
        except (OSError, ValueError) as error:
            message = f"can't change to this folder: {describe_os_error(error)}"
            raise DuvetError(message, path=directory, hint="after -C, name a folder that duvet can open") from error
    ##= man/spec/init.md#project-discovery
    ##% `duvet init`, `duvet query`, and any command with `--source-pattern`, `--spec-pattern` or `--spec-path` MUST
    ##% NOT search the folders above the working directory.
    if ctx.invoked_subcommand not in _STAYING and not ctx.obj.has_legacy_flags:
        ctx.obj = enter_project(ctx.obj)


def enter_project(settings: command.TerminalSettings) -> command.TerminalSettings:
    root = command.find_project_folder()
    here = os.getcwd() if root else None
    if root is None or here is None or root == here:
        return settings
    folder = os.path.relpath(here, root).replace(os.sep, "/")
    try:
        os.chdir(root)
    except OSError as error:
        raise DuvetError(f"can't run in this folder: {describe_os_error(error)}", path=root) from error
    environ = settings.environ
    if named := {
        name: command.locate_path(environ[name], folder)
        for name in ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
        if environ.get(name)
    }:
        environ = {**environ, **named}
    config_path = settings.config_path and command.locate_path(settings.config_path, folder)
    return replace(settings, folder=folder, environ=environ, config_path=config_path)


COMMANDS = cli.summaries
# After `--color`, and before `--version` and `--help`.
cli.params[-1:-1] = [click.Option(names, **attributes) for names, attributes in command.GLOBAL_FLAGS.items()]


def main(program: str = "duvet") -> NoReturn:
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - open to the end
    try:
        code = run_command_line(sys.argv[1:], program=program)
    except KeyboardInterrupt:
        # The user interrupted duvet while it was printing an error.
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    # Python's cleanup would take time.
    os._exit(code)


def serve() -> NoReturn:
    if sys.argv[1:] != ["--version"]:
        sys.argv[1:1] = [MCP_COMMAND]
    main(MCP_PROGRAM)


def run_command_line(args: list[str], settings: command.TerminalSettings | None = None, program: str = "duvet") -> int:
    if completion := os.environ.get("_DUVET_COMPLETE"):
        from duvet.console.completion import answer_shell

        answer_shell(cli, completion)
        return OK
    ctx: click.Context | None = None
    has_legacy_flags = any(arg.partition("=")[0] in _LEGACY_FLAGS for arg in args)
    settings = replace(settings or command.TerminalSettings(os.environ), has_legacy_flags=has_legacy_flags)
    try:
        with cli.make_context(program, args, obj=settings) as ctx:
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
        ##= man/spec/trace.md#commands
        ##% duvet MUST report invalid input without a traceback, and MUST NOT print control characters from it.
        ##= man/spec/trace.md#commands
        ##% duvet MUST exit with 0 on success, with 1 for an error, a failed check or a search without results, with
        ##% 2 for a usage error, with 3 for a bug in duvet, and with 130 when it is interrupted.
        return _print_error(error, ctx)
    except (KeyboardInterrupt, click.Abort):
        print_notice("\ninterrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has closed standard output.
        silence_stream(sys.stdout)
        return OK
    except OSError as error:
        silence_stream(sys.stdout)
        path, reason = str(error.filename or ""), describe_os_error(error)
        return _print_error(DuvetError(f"can't access this path: {reason}" if path else reason, path=path), ctx)
    except Exception:  # noqa: BLE001 - any other exception is a bug in duvet and is reported as one
        import traceback

        print_notice(
            f"{traceback.format_exc()}\n"
            f"This is a bug in duvet {VERSION} (Python {platform.python_version()}, {platform.system()}).\n"
            "Please report it with the lines above and the command you ran.\n"
        )
        return BUG


def _print_error(error: DuvetError, ctx: click.Context | None) -> int:
    from duvet.console.problems import UPSTREAM_COMMANDS, list_error_problems, print_problems

    settings = ctx.find_object(command.TerminalSettings) if ctx else None
    settings = settings or command.TerminalSettings(os.environ, colour=command.wants_colour("auto", os.environ))
    is_upstream_command = ctx is not None and ctx.invoked_subcommand in UPSTREAM_COMMANDS
    print_problems(list_error_problems(error), settings, keeps_words=is_upstream_command)
    return FAILED
