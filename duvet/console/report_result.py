"""The request and the result of a report run, and the cache of results."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import click
from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.console import command, project, streams
from duvet.console.options import TEXT_TYPE
from duvet.console.problems import ProblemOutput, has_errors, list_error_problems, print_problems
from duvet.console.progress import ProgressLines
from duvet.errors import DuvetError
from duvet.model import Problem
from duvet.reports.cells import escape_cell
from duvet.reports.problems import ProblemFormat, count_like_upstream
from duvet.reports.summary import Summary, format_summary
from duvet.text import join_names
from duvet.tree.cache import DiskCache
from duvet.tree.recorder import FileChangedError, FileContent

_CACHE_NAME = "report"
Function = TypeVar("Function", bound=Callable[..., Any])


class SwitchType(click.ParamType[bool]):
    name = "boolean"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        if value in (True, False):
            return bool(value)
        if value not in ("true", "false"):
            self.fail(f"'{value}' is not true or false", param, ctx)
        return bool(value == "true")


def add_gate(name: str, *, help: str) -> Callable[[Function], Function]:
    return click.option(
        name,
        type=command.ReferenceType(TEXT_TYPE),
        is_flag=False,
        flag_value="true",
        multiple=True,
        callback=_make_gate,
        metavar="[true|false|TARGET]",
        shell_complete=command.complete_values("specification_ids"),
        help=f"{help} [default: true with --ci and no configured snapshot]",
    )


class ReportGate(Struct, frozen=True):
    everything: bool | None = None  # Whether all requirements are checked; by default with `--ci` and no snapshot.
    targets: tuple[str, ...] = ()  # The specifications and sections that are always checked.


def _make_gate(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> ReportGate:
    switches = [value == "true" for value in values if value in ("true", "false")]
    if len(switches) > 1:
        raise command.make_repeated_error(param, ctx)
    return ReportGate(
        switches[0] if switches else None, tuple(value for value in values if value not in ("true", "false"))
    )


class ReportRequest(Struct, frozen=True):
    json: str | None = None
    json_v2: str | None = None
    html: str | None = None
    lcov: str | None = None
    require_citations: ReportGate = ReportGate()
    require_tests: ReportGate = ReportGate()
    ci: bool | None = None
    blob_link: str | None = None
    issue_link: str | None = None
    strict: bool = False
    prune: bool = False


class ReportResult(Struct, frozen=True):
    problems: tuple[Problem, ...]
    summary: Summary
    html_path: str = ""  # The file with the HTML report; empty if none was requested.
    is_like_upstream: bool = False  # Whether the project has the schema of awslabs duvet.
    files: tuple[str, ...] = ()  # The paths of the reports.
    changed_snapshot: str = ""  # The path of the snapshot if this run has changed it.


def report_project(
    cache: DiskCache | None,
    options: Mapping[str, Any],
    request: ReportRequest,
    output: ProblemOutput,
    *,
    opens: bool = False,
) -> int:
    try:
        page_rules = project.load_page_rules(options)
        key = project.make_options_key(options, request, rules=page_rules) if cache else ""
        progress, started = ProgressLines(command.current_settings()), time.perf_counter()
        ##= man/spec/cache.md#freshness
        ##% If nothing has changed since the last run with the same options, `duvet report` MUST leave its report files
        ##% unchanged.
        # `--verbose` lists each file with annotations, so the files are read.
        result = cache.recall(_CACHE_NAME, ReportResult, key) if cache and not progress.settings.verbose else None
        if result is not None:
            if result.is_like_upstream:
                progress.begin("Checking inputs and reports")
                progress.started = started
                progress.end("Checked that nothing has changed since the last run")
            return print_result(result, output, opens=opens)
        # A recalled result does not need this import.
        from duvet.console.report_run import run_report

        pinned: dict[str, FileContent] = {}
        while result is None:
            try:
                result = run_report(project.open_project(cache, rules=page_rules, **options), request)
            except FileChangedError as error:
                # Start again with the new content. Each file is pinned then, so this ends even if files keep changing.
                pinned[error.path] = error.look
                cache = project.open_cache(pinned) or cache
        code = print_result(result, output, opens=opens)
        if cache:
            # The user already has the result and does not wait for this.
            save_result(cache, key, result)
    except DuvetError as error:
        return output.fail(error)
    return code


def save_result(cache: DiskCache, key: str, result: ReportResult) -> None:
    unrepeatable = {rules.FILE_UNWRITABLE.code, rules.SNAPSHOT_DIFFERS.code}
    if unrepeatable.isdisjoint(problem.code for problem in result.problems):
        cache.store(_CACHE_NAME, key, replace(result, changed_snapshot=""))
    cache.save()


def print_result(result: ReportResult, output: ProblemOutput, *, opens: bool = False) -> int:
    written = output.write(result.problems, like_upstream=result.is_like_upstream)
    if not command.current_settings().quiet:
        gap = "\n" if result.problems and output.prints_text and not result.is_like_upstream else ""
        if result.is_like_upstream and not output.prints_text and output.format is not ProblemFormat.TEXT:
            gap = count_like_upstream(result.problems)
        files = ""
        if result.files and not result.is_like_upstream:
            # Other runs print a step for each file.
            marks = {result.changed_snapshot: " (changed)"}
            names = [escape_cell(command.show_path(path)) + marks.get(path, "") for path in result.files]
            files = f"reports: {join_names(names, 5)}\n"
        streams.print_notice(gap + format_summary(result.summary, streams.detect_table_look(sys.stderr)) + files)
    if opens and not _open_report(result):
        return streams.FAILED
    return streams.OK if written and not has_errors(result.problems) else streams.FAILED


def _open_report(result: ReportResult) -> bool:
    if any(problem.code == rules.FILE_UNWRITABLE.code for problem in result.problems):
        return False
    import webbrowser
    from pathlib import Path

    hint = "open the file yourself, or set the environment variable BROWSER to a browser"
    error = DuvetError("no browser was found", path=result.html_path, hint=hint)
    if not result.html_path:
        hint = "add `--html FILE`, or set `enabled = true` in `[report.html]` of the configuration"
        error = DuvetError("no HTML report to open", hint=hint)
    # BROWSER may be no command, such as one with an unclosed quote.
    with suppress(ValueError):
        if result.html_path and webbrowser.open(Path(result.html_path).resolve().as_uri()):
            return True
    print_problems(list_error_problems(error))
    return False
