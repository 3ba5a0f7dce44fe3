"""`duvet validate`"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from duvet.console.command import Subcommand
from duvet.console.completion_values import complete_files, complete_rule_codes
from duvet.console.options import TEXT_TYPE, add_trace_options, cached_query, open_cache, open_project_quietly
from duvet.console.page_rules import load_page_rules
from duvet.console.problems import (
    ProblemOutput,
    SourceLines,
    add_problem_format,
    make_patch,
    make_problem_output,
    output_failure,
    output_problems,
)
from duvet.console.report_run import has_errors, promote_warnings
from duvet.console.settings import current_settings
from duvet.console.streams import FAILED, OK, print_notice, write_stdout
from duvet.errors import DuvetError, NotFoundError
from duvet.knowledge.pages.catalogue import PageFindings, find_page_problems
from duvet.knowledge.pages.files import find_page_files
from duvet.model import Problem
from duvet.project.validation import (
    ChosenInputs,
    Findings,
    choose_inputs,
    fix_project,
    normalise_input_name,
    overlay_project,
    write_fixes,
)
from duvet.reports.cells import escape_cell
from duvet.reports.problems import count_problems
from duvet.rules import list_rules
from duvet.templates.rule_pages import load_rule_page
from duvet.text import format_count, quote_text
from duvet.trace.names import suggest_nearest
from duvet.tree.files import DiskTree, MemoryTree, Tree

if TYPE_CHECKING:
    from duvet.project.project import Project


@click.command(cls=Subcommand)
@click.argument("names", nargs=-1, metavar="[FILE|DIR|-]...", shell_complete=complete_files)
@click.option("--fix", is_flag=True, help="Mend what has exactly one good answer.")
@click.option("--diff", is_flag=True, help="Show what --fix would do, and write nothing.")
@click.option("--strict", is_flag=True, help="Take warnings as errors.")
@click.option(
    "--stdin-path",
    type=TEXT_TYPE,
    metavar="PATH",
    shell_complete=complete_files,
    help="The file whose text `-` reads from standard input.",
)
@click.option(
    "--explain",
    metavar="CODE",
    shell_complete=complete_rule_codes,
    help="Print the page of a rule, such as DUV050, and do nothing else.",
)
@add_problem_format
@add_trace_options
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
    if explain is not None:
        run_explain(explain)
        return
    if ("-" in names) != bool(stdin_path):
        raise click.UsageError("`-` and --stdin-path belong together", ctx)
    if fix and "-" in names and not diff:
        raise click.UsageError("standard input can't be mended; --diff shows how to", ctx)
    wanted = ValidateRequest(names, stdin_path, fix, diff, strict)
    ctx.exit(run_validate(where, wanted, make_problem_output(format, output, ("-" if diff else None,))))


_NAME = "validate"
STDIN_NAME = "-"
_SHOWN = 10


class ValidateRequest(Struct, frozen=True):
    """What the options of `duvet validate` ask for."""

    names: tuple[str, ...] = ()
    stdin_path: str | None = None
    fix: bool = False
    diff: bool = False
    strict: bool = False


def run_validate(where: Mapping[str, Any], wanted: ValidateRequest, answer: ProblemOutput) -> int:
    """Check what is asked for, and say what came of it; the exit code."""
    try:
        return _run(where, wanted, answer)
    except DuvetError as error:
        return output_failure(error, answer)


def _run(where: Mapping[str, Any], wanted: ValidateRequest, answer: ProblemOutput) -> int:
    if wanted.fix or wanted.diff:
        return run_fix(where, wanted, answer)
    if STDIN_NAME in wanted.names:
        project, texts = open_project_with_stdin(where, wanted)
        read = _found(project)
        return report_findings(read.trace, wanted, answer, texts=texts, pages=read.pages)
    found = _findings(where)
    return report_findings(found.trace, wanted, answer, pages=found.pages)


class _Found(Struct, frozen=True, array_like=True):
    """What is wrong with the trace, and with pages."""

    trace: Findings
    pages: PageFindings


def _findings(where: Mapping[str, Any]) -> _Found:
    """What is wrong in the project in the working directory, from the cache where nothing has changed."""
    ##= man/spec/cache.md#freshness
    ##% When nothing has changed since the last run with the same options, `duvet report` MUST leave its report files
    ##% alone, and `duvet validate` MUST NOT read the sources again.
    return cached_query(_NAME, _Found, where, _found, load_page_rules(where))


def _found(project: Project) -> _Found:
    return _Found(_validated(project), find_page_problems(project))


def _validated(project: Project) -> Findings:
    from duvet.project.validation import validate

    return validate(project)


def open_project_with_stdin(where: Mapping[str, Any], wanted: ValidateRequest) -> tuple[Project, dict[str, str]]:
    """The project with standard input in the place of a file, and that text by its path."""
    ##= man/spec/validate.md#choosing-files
    ##% With `-`, `duvet validate` MUST check standard input as the content of the file that `--stdin-path` names.
    if sys.stdin is None:
        raise DuvetError("standard input is closed", path=STDIN_NAME)
    data = sys.stdin.buffer.read()
    project = open_project_quietly(open_cache(current_settings()), where, load_page_rules(where))
    path = _as_input(wanted.stdin_path or "", project)
    return overlay_project(project, {path: data}), {path: data.decode(errors="replace")}


def _as_input(name: str, project: Project) -> str:
    """The path of a file as the patterns call it."""
    inputs = [path for _, paths in project.inputs.sources for path in paths] + project.inputs.requirements
    found = choose_inputs([name], [*inputs, *find_page_files(project).prefixes], project.root, project.tree).paths
    return found[0] if len(found) == 1 else normalise_input_name(name, project.root, project.tree)


def report_findings(
    findings: Findings,
    wanted: ValidateRequest,
    answer: ProblemOutput,
    more: tuple[Problem, ...] = (),
    texts: Mapping[str, str] | None = None,
    pages: PageFindings = PageFindings(),  # noqa: B008 - frozen
) -> int:
    """Say what is wrong in what is asked for; the exit code."""
    chosen = select_inputs(findings, wanted, texts or {}, pages.files)
    known = [path for path in chosen.paths if path in findings.files]
    checked = findings.of(known)
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST report the problems of pages, and `duvet pages check` MUST exit with 1 for broken links,
    ##% duplicate slugs and unreadable pages.
    noted = pages.of(chosen.paths) if wanted.names else pages.problems
    found = sorted((*checked.problems, *chosen.problems, *more, *noted), key=lambda one: one.sort_key)
    ##= man/spec/gates.md#snapshots-and-coverage
    ##% With `--strict`, `duvet report` and `duvet validate` MUST fail on warnings.
    problems = promote_warnings(found) if wanted.strict else tuple(found)
    written = output_problems(problems, answer, SourceLines(texts))
    if not current_settings().quiet:
        ##= man/spec/validate.md#choosing-files
        ##% `duvet validate` MUST skip a file that is not an input, with a notice, and fail for a path that does not
        ##% exist.
        print_notice(_left_out(chosen.others))
        ##= man/spec/trace.md#reports
        ##% `duvet report` and `duvet validate` MUST end with a summary on standard error, unless only errors are
        ##% requested.
        counts = ", ".join(
            format_count(count, noun)
            for count, noun in zip(count_problems(problems), ("error", "warning"), strict=True)
            if count
        )
        size = f"{format_count(checked.annotations, 'annotation')} in {format_count(checked.files, 'file')}"
        print_notice(f"checked {size}: {counts or 'no problems'}\n")
    ##= man/spec/validate.md#exit-code
    ##% `duvet validate` MUST exit with 0 if there are no errors, and with 1 otherwise.
    return OK if written and not has_errors(problems) else FAILED


def select_inputs(
    findings: Findings, wanted: ValidateRequest, texts: Mapping[str, str], pages: Collection[str] = ()
) -> ChosenInputs:
    """The inputs that are asked for, all where none is named; of some the texts are known that are not on disk."""
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST check only the configuration and the files and folders that it is given, or all inputs of
    ##% the project.
    if not wanted.names:
        return ChosenInputs(tuple(findings.files))
    names = [wanted.stdin_path or "" if name == STDIN_NAME else name for name in wanted.names]
    return choose_inputs(names, [*findings.files, *pages], os.getcwd().replace(os.sep, "/"), _tree_with(texts))


def _tree_with(texts: Mapping[str, str]) -> Tree:
    """The files on disk, and those of which only the texts are known."""
    if not texts:
        return DiskTree()
    return MemoryTree(dict.fromkeys(texts, b""), DiskTree())


def _left_out(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    shown = [escape_cell(name) for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"not checked, because no pattern matches it: {', '.join(shown)}{more}\n"


def run_explain(name: str) -> None:
    """Print the page of a rule."""
    write_stdout(find_rule_page(name).encode())


def run_fix(where: Mapping[str, Any], wanted: ValidateRequest, answer: ProblemOutput) -> int:
    """Mend what is asked for, or show how; what is left is told, and the exit code says whether that is nothing."""
    texts: dict[str, str] = {}
    if STDIN_NAME in wanted.names:
        project, texts = open_project_with_stdin(where, wanted)
    else:
        project = open_project_quietly(open_cache(current_settings()), where, load_page_rules(where))
    pages = find_page_problems(project)
    found = fix_project(project, lambda findings: select_inputs(findings, wanted, texts, pages.files).paths)
    ##= man/spec/validate.md#fixes
    ##% With `--diff`, `duvet validate` MUST print the fixes as a unified diff and write nothing.
    if wanted.diff:
        rows = (row for path, data in sorted(found.after.items()) for row in make_patch(path, found.before[path], data))
        write_stdout("".join(rows).encode())
        return report_findings(found.first, wanted, answer, texts=texts, pages=pages)
    obstacles = write_fixes(project, found)
    if obstacles:
        return report_findings(found.first, wanted, answer, obstacles, pages=pages)
    if found.after and not current_settings().quiet:
        print_notice(
            f"mended {format_count(found.citations, 'citation')} in {format_count(len(found.after), 'file')}\n"
        )
    ##= man/spec/validate.md#fixes
    ##% `duvet validate --fix` MUST report the problems that remain.
    left = find_page_problems(overlay_project(project, found.after)) if found.after else pages
    return report_findings(found.findings, wanted, answer, pages=left)


def find_rule_page(name: str) -> str:
    """The page of the rule of this code or name, or an error with those that are most like it."""
    ##= man/spec/problems.md#rules
    ##% `duvet validate --explain` MUST print the page of the rule with that code or name, or suggest similar rules.
    wanted = name.strip().casefold()
    for rule in list_rules().values():
        if wanted in (rule.code.casefold(), rule.name):
            return load_rule_page(rule.code).text
    known = [known for rule in list_rules().values() for known in (rule.code, rule.name)]
    raise NotFoundError(f"there is no rule {quote_text(name)}", hint=suggest_nearest(name, known))
