"""`duvet report`, once or in watch mode."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.exceptions import Exit

from duvet.console.command import Subcommand, current_settings, path_option, show_path, wants_cache
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.problems import ProblemOutput, add_problem_format, make_problem_output
from duvet.console.progress import ProgressLines
from duvet.console.project import load_page_rules, make_options_key, open_cache, open_project
from duvet.console.report_result import ReportRequest, SwitchType, add_gate, print_result, report_project, save_result
from duvet.errors import DuvetError
from duvet.text import join_names
from duvet.tree.cache import DiskCache
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.project.changes import ChangeWatcher
    from duvet.project.project import Project


@click.command(cls=Subcommand)
@add_trace_options
@path_option("--json", help="Write awslabs duvet's first JSON format.")
@path_option("--json-v2", help="Write awslabs duvet's second JSON format, which `duvet merge` reads.")
@path_option("--html", help="Write the HTML report; `-` is standard output.")
@path_option("--lcov", help="Write an LCOV file for each specification.", metavar="DIR")
@click.option(
    "--ci",
    type=SwitchType(),
    is_flag=False,
    flag_value="true",
    default=None,
    metavar="[true|false]",
    help="Compare with the configured snapshot; without one, require code and tests for every requirement.",
)
@add_gate("--require-citations", help="Require code for every requirement or for a TARGET.")
@add_gate("--require-tests", help="Require tests for every requirement or for a TARGET.")
@click.option("--blob-link", type=TEXT_TYPE, metavar="URL", help="Base URL of links to source files.")
@click.option("--issue-link", type=TEXT_TYPE, metavar="URL", help="Base URL of links to issues.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@click.option("--prune", is_flag=True, help="Remove requirement files that no specification needs.")
@add_problem_format
@click.option("--open", "opens", is_flag=True, help="Open the HTML report in the browser.")
@click.option("--watch", is_flag=True, help="Report again after each change; stop with Ctrl-C.")
def report(format: str | None, output: str | None, opens: bool, watch: bool, **options: Any) -> None:
    """duvet extracts requirements, reads the annotations in all sources, and writes the configured reports. It prints a
    summary to standard error.

    Exits with 1 if there are errors or a gate fails.

    duvet prints problems to standard error as text. With --format, it writes them to standard output or the --output
    file, as JSON, SARIF, GitHub workflow commands or JUnit.

    A TARGET is a specification or SPEC#SECTION; a section of an IETF document includes its subsections. Gates on a
    TARGET also run without --ci. --require-citations and --require-tests can be repeated.

    --watch reports again when an input changes. Set WATCHFILES_FORCE_POLLING=1 on network drives that do not report
    changes.
    --open uses the browser in the environment variable BROWSER, or else the system's default.

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
    request = ReportRequest(**{name: options.pop(name) for name in ReportRequest.__struct_fields__})
    problem_output = make_problem_output(format, output, (request.json, request.json_v2, request.html))
    if watch:
        watch_reports(options, request, problem_output, opens=opens)
    raise Exit(report_project(open_cache({}), options, request, problem_output, opens=opens))


def watch_reports(
    options: Mapping[str, Any], request: ReportRequest, output: ProblemOutput, *, opens: bool
) -> NoReturn:
    from duvet.project.changes import ChangeWatcher

    progress = ProgressLines(current_settings())
    with ChangeWatcher(current_settings().environ) as changes:
        restored = False
        while True:
            project, reported = run_watched_report(options, request, output, opens=opens)
            changes.follow(project)
            # The browser shows the report; opening it again would only add a tab.
            opens = opens and not reported
            progress.begin("Watching for changes; press Ctrl-C to stop")
            # The command line turns the garbage collector off.
            ##= man/spec/watch.md#reporting-again
            ##% The memory use of `duvet report --watch` and of the server MUST NOT grow with the number of runs.
            gc.collect()
            changed, restored = wait_for_change(changes, restored=restored)
            progress.begin(f"Changed {join_names([show_path(path) for path in changed], 3)}")


def wait_for_change(changes: ChangeWatcher, *, restored: bool) -> tuple[tuple[str, ...], bool]:
    """Return the changed files, and whether the last run wrote all of them."""
    while True:
        changed = changes.wait() or ()
        only_reports = bool(changed) and changes.are_outputs(changed)
        # Otherwise, two processes that watch with different options would overwrite one report forever.
        if not (only_reports and restored):
            return changed, only_reports


def run_watched_report(
    options: Mapping[str, Any], request: ReportRequest, output: ProblemOutput, *, opens: bool = False
) -> tuple[Project, bool]:
    from duvet.console.report_run import run_report

    settings = current_settings()
    cache = DiskCache(DiskTree(), settings.environ, kept=wants_cache(settings), today=settings.today)
    project = open_project(cache, **options)
    ##= man/spec/watch.md#reporting-again
    ##% If the configuration or an annotation has a problem, `duvet report --watch` MUST report the problem
    ##% and keep watching.
    try:
        page_rules = load_page_rules(options, cache.tree)
        project = open_project(cache, rules=page_rules, **options)
        result = run_report(project, request)
    except DuvetError as error:
        output.fail(error)
        cache.settle()
        return project, False
    print_result(result, output, opens=opens)
    save_result(cache, make_options_key(options, request, rules=page_rules), result)
    return project, True
