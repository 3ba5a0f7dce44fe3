"""`duvet call`"""

from __future__ import annotations

from typing import Any

import click

from duvet.console import application
from duvet.console.command import Subcommand, complete_values
from duvet.console.options import TEXT_TYPE, add_pages_option, add_service_options, add_trace_options
from duvet.console.streams import make_usage_error, print_remark, write_stdout
from duvet.errors import DuvetError
from duvet.reports.cells import encode_json, escape_cell
from duvet.tools.tool import ErrorCode, MissingArgumentError, ToolError


@click.command(cls=Subcommand, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("name", type=TEXT_TYPE, metavar="NAME", shell_complete=complete_values("tools"))
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[--ARGUMENT VALUE]...")
@click.option("--json", "given", metavar="OBJECT", help="The arguments as a JSON object; - reads standard input.")
@click.option(
    "--format",
    "error_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of errors; with json, also print the error as an object on standard output.",
)
@add_pages_option
@add_service_options
@add_trace_options
def call(name: str, words: tuple[str, ...], given: str | None, error_format: str, **options: Any) -> None:
    """NAME is a tool that `duvet tools` lists, or another built-in tool, such as km-search. `duvet mcp` serves the
    listed tools to agents. duvet prints the result as JSON on standard output, and notices and next steps on standard
    error. With --format json, an error is also printed on standard output, as an object with `status`, `error`, `code`
    and `hint`.

    Options come before NAME, and the arguments of the tool come after it; --json may come before or after. For a list,
    write VALUE,VALUE or repeat the argument. For an object, write JSON.

    \b
    Examples:
      duvet call search_requirements --query "error handling" --limit 5
      duvet call get_requirement_status --req-identifier 3b42c44e
      duvet call validate_citation --json '{"citation": "//= spec.md#heating"}'
      duvet call coverage_summary | jq .total
      duvet call --pages ~/notes search --query "green tea"
      duvet call km-search --query "stop heating" --kind function --lang python
    """
    try:
        application.enter_page_folder(options)
        app = application.make_tool_application(name, options)
        tool = application.require_tool(app, name)
        if {"--help", "-h"} & set(words):
            application.print_tool_help(tool, app.tools.registry)
            return
        rest, later = application.split_json_option(tool, words)
        if given is not None and later is not None:
            raise ToolError(ErrorCode.INVALID_REQUEST, "--json is given twice; give it once")
        arguments = application.parse_arguments(
            tool, rest, application.read_json_argument(later if given is None else given)
        )
        answer = application.invoke_tool(app, tool, arguments)
    except (ToolError, DuvetError) as error:
        if error_format == "json":
            write_stdout(encode_json(application.describe_failure(error)))
        if isinstance(error, MissingArgumentError) and "." not in error.argument:
            raise make_usage_error(f"--{error.argument.replace('_', '-')} is missing", error.hint) from error
        if isinstance(error, ToolError):
            raise application.make_shell_error(error) from error
        raise
    write_stdout(encode_json(answer.value))
    for notice in filter(None, (answer.warning, answer.next_step)):
        print_remark(escape_cell(notice))
