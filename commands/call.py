"""`duvet call`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_tools
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.service_options import add_service_options


@click.command(cls=Subcommand, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("name", type=TEXT_TYPE, metavar="NAME", shell_complete=complete_tools)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--ARGUMENT VALUE]...")
@click.option("--json", "given", metavar="OBJECT", help="The arguments as JSON; - reads them from standard input.")
@add_service_options
@add_trace_options
def call(name: str, words: tuple[str, ...], given: str | None, **where: Any) -> None:
    """The tools are those that `duvet mcp` serves, and `duvet tools` lists. What a tool answers is written as JSON;
    what to do with it, and that there is more of it, is said on standard error.

    Options stand before NAME; what follows it are the arguments of the tool, also as --json. Lists are given as VALUE,VALUE or by
    repeating the argument, objects as JSON.

    \b
    Examples:
      duvet call search_requirements --query "error handling" --limit 5
      duvet call get_requirement_status --req-identifier 3b42c44e
      duvet call validate_citation --json '{"citation": "//= spec.md#heating"}'
      duvet call validate_citation --help
      duvet call coverage_summary | jq .total
      duvet call km-search --query "when does it stop" --kind function --lang python
    """
    from duvet.console.tool_call import call_tool

    call_tool(name, words, given, where)
