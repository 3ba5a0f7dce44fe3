"""`duvet call`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console.application import make_tool_application
from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_tools
from duvet.console.options import TEXT_TYPE, add_service_options, add_trace_options
from duvet.console.streams import print_remark, write_stdout
from duvet.console.tool_call import (
    invoke_tool,
    make_shell_error,
    parse_arguments,
    print_tool_help,
    read_json_argument,
    split_json_option,
)
from duvet.reports.cells import escape_cell
from duvet.reports.tables import encode_json
from duvet.tools.tool import ErrorCode, ToolError


@click.command(cls=Subcommand, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("name", type=TEXT_TYPE, metavar="NAME", shell_complete=complete_tools)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--ARGUMENT VALUE]...")
@click.option("--json", "given", metavar="OBJECT", help="The arguments as JSON; - reads them from standard input.")
@add_service_options
@add_trace_options
def call(name: str, words: tuple[str, ...], given: str | None, **options: Any) -> None:
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
    application = make_tool_application(name, options)
    try:
        tool = application.tools.registry.require(name)
        if {"--help", "-h"} & set(words):
            print_tool_help(tool, application.tools.registry)
            return
        rest, later = split_json_option(tool, words)
        if given is not None and later is not None:
            raise ToolError(ErrorCode.INVALID_REQUEST, "--json is given twice")
        arguments = parse_arguments(tool, rest, read_json_argument(later if given is None else given))
        answer = invoke_tool(application, tool, arguments)
    except ToolError as error:
        raise make_shell_error(error) from error
    write_stdout(encode_json(answer.value))
    for notice in filter(None, (answer.warning, answer.next_step)):
        print_remark(escape_cell(notice))
