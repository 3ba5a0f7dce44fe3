"""`duvet validate`"""

from __future__ import annotations

from typing import Any

import click

from duvet.terminal.command import Subcommand
from duvet.terminal.known_names import files, rule_codes
from duvet.terminal.options import TEXT, trace_options
from duvet.terminal.problem_formats import answer, problem_format


@click.command(cls=Subcommand)
@click.argument("names", nargs=-1, metavar="[FILE|DIR|-]...", shell_complete=files)
@click.option("--fix", is_flag=True, help="Mend what has exactly one good answer.")
@click.option("--diff", is_flag=True, help="Show what --fix would do, and write nothing.")
@click.option("--strict", is_flag=True, help="Take warnings as errors.")
@click.option(
    "--stdin-path",
    type=TEXT,
    metavar="PATH",
    shell_complete=files,
    help="The file whose text `-` reads from standard input.",
)
@click.option(
    "--explain",
    metavar="CODE",
    shell_complete=rule_codes,
    help="Print the page of a rule, such as DUV050, and do nothing else.",
)
@problem_format
@trace_options
@click.pass_context
def validate(
    ctx: click.Context,
    /,
    names: tuple[str, ...],
    fix: bool,
    diff: bool,
    strict: bool,
    stdin_path: str | None,
    explain: str | None,
    format: str | None,
    output: str | None,
    **where: Any,
) -> None:
    """Every target has to lead to a section, and every quote has to stand there. What `duvet report` lets pass is
    looked for, too: exceptions without a reason, annotations that are repeated, that stand in a string, or that
    contradict an exception. For a quote that is not found, the nearest text is shown, with
    `[-what is gone-]{+what has come+}`.

    Only what is wrong in the files that are named counts, and the configuration; a folder means all files in it, and
    `-` a text from standard input, checked as if it stood in the file that --stdin-path names. Files that no pattern
    matches are left out, so that a hook may pass whatever is about to be committed.

    --fix rewrites quotes and targets where exactly one answer is good, and nothing else in the file. What it can't mend
    is told.

    Exits with 1 when there is an error.

    \b
    Examples:
      duvet validate
      duvet validate src/heating.rs docs
      duvet validate --diff
      duvet validate --fix src
      duvet validate --format sarif --output duvet.sarif
      duvet validate --stdin-path src/heating.rs - < src/heating.rs
      duvet validate --explain DUV050
    """
    from duvet.terminal.validating import Request, run_explain, run_validate

    if explain is not None:
        run_explain(explain)
        return
    if ("-" in names) != bool(stdin_path):
        raise click.UsageError("`-` and --stdin-path belong together", ctx)
    if fix and "-" in names and not diff:
        raise click.UsageError("standard input can't be mended; --diff shows how to", ctx)
    wanted = Request(names, stdin_path, fix, diff, strict)
    ctx.exit(run_validate(where, wanted, answer(format, output, ("-" if diff else None,))))
