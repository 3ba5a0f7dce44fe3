"""`duvet report`"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import Any, NoReturn

import click
from msgspec.structs import replace

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files, complete_folders
from duvet.console.options import TEXT_TYPE, add_gate, add_switch, add_trace_options, open_project
from duvet.console.page_rules import load_page_rules
from duvet.console.problems import ProblemOutput, add_problem_format, make_problem_output, output_failure
from duvet.console.progress import ProgressLines
from duvet.console.report_run import (
    ReportOptions,
    make_report_key,
    print_outcome,
    run_cached_report,
    run_report,
    save_outcome,
)
from duvet.console.settings import current_settings, wants_cache
from duvet.errors import DuvetError
from duvet.project.changes import ChangeWatcher
from duvet.project.project import Project
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree


@click.command(cls=Subcommand)
@add_trace_options
@click.option("--json", metavar="FILE", shell_complete=complete_files, help="Write awslabs duvet's first JSON format.")
@click.option(
    "--json-v2",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write its second JSON format, which `duvet merge` reads.",
)
@click.option("--html", metavar="FILE", shell_complete=complete_files, help="Write a page; `-` is standard output.")
@click.option(
    "--lcov", metavar="DIR", shell_complete=complete_folders, help="Write a coverage file for each specification."
)
@add_switch(
    "--ci", help="Check the committed snapshot; where none is configured, check that nothing lacks code or tests."
)
@add_gate(
    "--require-citations", help="Ask for code: of everything, with --ci without a snapshot, or always of a TARGET."
)
@add_gate("--require-tests", help="Ask for tests: of everything, with --ci without a snapshot, or always of a TARGET.")
@click.option("--blob-link", type=TEXT_TYPE, metavar="URL", help="Where the sources can be read.")
@click.option("--issue-link", type=TEXT_TYPE, metavar="URL", help="Where issues are opened.")
@click.option("--strict", is_flag=True, help="Take warnings as errors.")
@click.option("--prune", is_flag=True, help="Remove requirement files that no specification asks for any more.")
@add_problem_format
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
    wishes = ReportOptions(**{name: given.pop(name) for name in ReportOptions.__struct_fields__})
    chosen = replace(make_problem_output(format, output, (wishes.json, wishes.json_v2, wishes.html)), opens=opens)
    if watch:
        report_on_changes(given, wishes, chosen)
    ctx.exit(run_cached_report(given, wishes, chosen))


_MOST_NAMES = 3


def report_on_changes(where: Mapping[str, Any], wishes: ReportOptions, answer: ProblemOutput) -> NoReturn:
    """Report, and report again after each change; only an interruption or an error of the system ends that."""
    progress = ProgressLines(current_settings())
    with ChangeWatcher(current_settings().environ) as changes:
        mended = False
        while True:
            ##= man/spec/watch.md#noticing-changes
            ##% `duvet report --watch` MUST report again when a file that it read changes, moves or disappears, or when
            ##% patterns match other files, until it is interrupted.
            project, reported = run_watched_report(where, wishes, answer)
            changes.follow(project)
            if reported:
                ##= man/spec/page.md#working-with-the-report
                ##% `duvet report --open` MUST open the finished report in the browser, once even with `--watch`, or
                ##% fail when no report is written.
                answer = replace(answer, opens=False)
            progress.begin("Watching for changes; Ctrl-C ends it")
            # Python looks for cycles by itself in no run of the command line.
            ##= man/spec/watch.md#reporting-again
            ##% A process that watches or serves MUST NOT use more memory with each run.
            gc.collect()
            ##= man/spec/watch.md#reporting-again
            ##% `duvet report --watch` SHOULD answer changes that come together with one run, and MUST name some of the
            ##% changed files first.
            changed, mended = wait_for_change(changes, mended=mended)
            progress.begin(f"Changed {_named(changed)}")


def wait_for_change(changes: ChangeWatcher, *, mended: bool) -> tuple[tuple[str, ...], bool]:
    """What has changed, and whether that is reports alone."""
    while True:
        changed = changes.wait() or ()
        reports_alone = bool(changed) and changes.are_outputs(changed)
        ##= man/spec/watch.md#reporting-again
        ##% `duvet report --watch` SHOULD restore a report that was changed or removed, but MUST NOT restore it again
        ##% before an input changes.
        # Two that watch with different options would else write one report in turn for ever.
        if not (reports_alone and mended):
            return changed, reports_alone


def run_watched_report(where: Mapping[str, Any], wishes: ReportOptions, answer: ProblemOutput) -> tuple[Project, bool]:
    """One run, which has told what it came to: the project as it was read, and whether there was a report."""
    shown = current_settings()
    cache = DiskCache(DiskTree(), shown.environ, kept=wants_cache(shown), today=shown.today)
    project = open_project(cache, **where)
    ##= man/spec/watch.md#reporting-again
    ##% `duvet report --watch` MUST report problems with the configuration and annotations, and go on watching.
    try:
        notes = load_page_rules(where, cache.tree)
        project = open_project(cache, notes=notes, **where)
        outcome = run_report(project, wishes)
    except DuvetError as error:
        output_failure(error, answer)
        cache.settle()
        return project, False
    print_outcome(outcome, answer)
    save_outcome(cache, make_report_key(where, wishes, notes), outcome)
    return project, True


def _named(paths: tuple[str, ...]) -> str:
    """The first few."""
    shown = ", ".join(paths[:_MOST_NAMES])
    more = len(paths) - _MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
