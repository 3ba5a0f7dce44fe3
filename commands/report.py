"""`duvet report`"""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files, folders
from duvet.terminal.options import TEXT, gate, switch, trace_options
from duvet.terminal.problem_formats import answer, problem_format
from duvet.terminal.wishes import Wishes


@click.command(cls=Subcommand)
@trace_options
@click.option("--json", metavar="FILE", shell_complete=files, help="Write awslabs duvet's first JSON format.")
@click.option(
    "--json-v2", metavar="FILE", shell_complete=files, help="Write its second JSON format, which `duvet merge` reads."
)
@click.option("--html", metavar="FILE", shell_complete=files, help="Write a page; `-` is standard output.")
@click.option("--lcov", metavar="DIR", shell_complete=folders, help="Write a coverage file for each specification.")
@switch("--ci", help="Check the committed snapshot; where none is configured, check that nothing lacks code or tests.")
@gate("--require-citations", help="Ask for code: of everything, with --ci without a snapshot, or always of a TARGET.")
@gate("--require-tests", help="Ask for tests: of everything, with --ci without a snapshot, or always of a TARGET.")
@click.option("--blob-link", type=TEXT, metavar="URL", help="Where the sources can be read.")
@click.option("--issue-link", type=TEXT, metavar="URL", help="Where issues are opened.")
@click.option("--strict", is_flag=True, help="Take warnings as errors.")
@click.option("--prune", is_flag=True, help="Remove requirement files that no specification asks for any more.")
@problem_format
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--watch", is_flag=True, help="Report again after each change, until interrupted.")
@click.pass_context
def report(
    ctx: click.Context,
    /,
    format: str | None,
    output: str | None,
    opens: bool,
    watch: bool,
    **given: Any,
) -> None:
    """Extracts the requirements of the configured specifications, reads the annotations of all sources, and writes the
    reports that the configuration or the options name. A summary goes to standard error.

    Exits with 1 when an annotation is wrong, or when a check of --ci fails.

    What is wrong goes to standard error as text. With --format it goes to standard output, or to the file that --output
    names: as JSON, as SARIF for code scanning, as workflow commands for GitHub, or as test results of JUnit.

    A TARGET of --require-citations or --require-tests is a specification, or a section of one as SPEC#SECTION; a
    numbered section stands for those below it, too. Either option may be repeated. Every requirement there has to have
    code, or a test, for all of its text, with and without --ci and whatever the snapshot says.

    With --open the page is shown in the browser as soon as it is written; with --watch that is done once. The
    environment variable BROWSER names another browser than that of the system.

    With --watch it stays, and reports again whenever a file that it has read changes, or one that it would read comes
    or goes. Ctrl-C ends that, with exit code 130. The system tells of changes; set WATCHFILES_FORCE_POLLING=1 for a
    network drive that doesn't.

    \b
    Examples:
      duvet report
      duvet report --open
      duvet report --html coverage.html --json coverage.json
      duvet report --ci --require-tests false
      duvet report --require-citations spec.md --require-tests spec.md#heating
      duvet report --format sarif --output duvet.sarif
      duvet report --watch
    """
    wishes = Wishes(**{name: given.pop(name) for name in Wishes.__struct_fields__})
    chosen = replace(answer(format, output, (wishes.json, wishes.json_v2, wishes.html)), opens=opens)
    if watch:
        from duvet.terminal.watching import report_on_changes

        report_on_changes(given, wishes, chosen)
    from duvet.terminal.recalling import report_or_recall

    ctx.exit(report_or_recall(given, wishes, chosen))
