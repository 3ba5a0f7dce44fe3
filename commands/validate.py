"""`duvet validate`"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from duvet.console import command
from duvet.console.options import TEXT_TYPE, add_trace_options
from duvet.console.problems import (
    ProblemOutput,
    add_problem_format,
    has_errors,
    make_line_reader,
    make_patch,
    make_problem_output,
    promote_warnings,
)
from duvet.console.project import cached_query, load_page_rules, open_cache, open_project_quietly
from duvet.console.streams import FAILED, OK, STANDARD_INPUT, print_line, print_notice, print_remark, write_stdout
from duvet.errors import DuvetError
from duvet.model import Applicability, Fix, Problem, sort_problems
from duvet.project.findings import ChosenInputs, Findings, PageFindings, choose_inputs, normalise_input_name
from duvet.reports.cells import escape_cell
from duvet.reports.problems import count_problems
from duvet.text import format_count, join_names
from duvet.tree.files import DiskTree, MemoryTree

if TYPE_CHECKING:
    from duvet.project.project import Project


@click.command(cls=command.Subcommand)
@click.argument("names", nargs=-1, type=command.PathType(), metavar="[FILE|DIR|-]...")
@click.option("--fix", is_flag=True, help="Correct each target or quote that has exactly one safe correction.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes, such as updating the quotes of changed requirements."
)
@click.option("--interactive", is_flag=True, help="Apply safe fixes, and ask about each unsafe fix.")
@click.option("--diff", is_flag=True, help="Print the fixes as a diff, and write nothing.")
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@command.path_option(
    "--stdin-path", type=TEXT_TYPE, metavar="PATH", help="Treat standard input (`-`) as the content of this file."
)
@click.option(
    "--explain",
    cls=command.OldOption,
    instead="duvet explain CODE",
    metavar="CODE",
    shell_complete=command.complete_values("rule_codes"),
    help="The same as `duvet explain CODE`.",
)
@add_problem_format
@add_trace_options
@click.pass_context
def validate(
    ctx: click.Context, /, explain: str | None, format: str | None, output: str | None, **options: Any
) -> None:
    """duvet checks that every annotation names an existing section, and that the section contains the quote. It also
    reports problems that `duvet report` accepts, such as exceptions without a reason, repeated annotations, annotations
    in string literals, and code or tests for excepted requirements. For a quote that is not found, it shows the most
    similar text with the differences marked as `[-removed-]{+added+}`.

    If you name files or folders, duvet checks only these and the configuration. It skips files that no pattern
    matches, so a pre-commit hook can pass all changed files. `-` checks standard input as the content of --stdin-path.

    --fix applies only safe fixes: for typos, white space, markup, renamed specifications, and quotes that moved. A
    small difference counts as a typo if git or the snapshot shows that the specification has not changed since the
    citation was written. If it has changed, check the code first; then accept the new words with --unsafe-fixes, or one
    by one with --interactive. Both options include --fix. With awslabs duvet's schema, --fix applies all fixes.

    Exits with 1 if there are errors.

    \b
    Examples:
      duvet validate
      duvet validate src/heating.rs docs
      duvet validate --diff
      duvet validate --fix src
      duvet validate --unsafe-fixes src/heating.rs
      duvet validate --format sarif --output duvet.sarif
      duvet validate --stdin-path src/heating.rs - < src/heating.rs
    """
    if explain is not None:
        root = ctx.find_root()
        assert isinstance(root.command, click.Group)
        rules = root.command.get_command(root, "rules")
        assert rules is not None
        ctx.invoke(rules, code=explain, format=None)
        return
    request = ValidateRequest(**{name: options.pop(name) for name in ValidateRequest.__struct_fields__})
    if (STANDARD_INPUT in request.names) != bool(request.stdin_path):
        raise click.UsageError("`-` and --stdin-path require each other", ctx)
    if request.writes and request.stdin_path:
        raise click.UsageError("duvet can't write fixes to standard input; use --diff", ctx)
    if request.interactive and (request.diff or request.unsafe_fixes):
        other = "--diff" if request.diff else "--unsafe-fixes"
        raise click.UsageError(f"--interactive and {other} can't be used together", ctx)
    is_terminal = sys.stdin is not None and sys.stderr is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if request.interactive and not is_terminal:
        raise click.UsageError("--interactive requires a terminal; use --diff, then --unsafe-fixes", ctx)
    problem_output = make_problem_output(format, output, ("-" if request.diff else None,))
    try:
        code = (_fix if request.diff or request.writes else _check)(options, request, problem_output)
    except DuvetError as error:
        code = problem_output.fail(error)
    ctx.exit(code)


class ValidateRequest(Struct, frozen=True):
    names: tuple[str, ...] = ()
    stdin_path: str | None = None
    fix: bool = False
    unsafe_fixes: bool = False
    interactive: bool = False
    diff: bool = False
    strict: bool = False

    @property
    def writes(self) -> bool:
        return (self.fix or self.unsafe_fixes or self.interactive) and not self.diff


class ProjectFindings(Struct, frozen=True, array_like=True):
    trace: Findings
    pages: PageFindings


def _check(options: Mapping[str, Any], request: ValidateRequest, output: ProblemOutput) -> int:
    def find_problems(project: Project) -> ProjectFindings:
        # Not needed where nothing has changed.
        from duvet.project.validation import validate as validate_project

        return ProjectFindings(validate_project(project), _find_page_problems(project))

    if request.stdin_path:
        project, texts = _open_project_with_stdin(options, request.stdin_path)
        return _report_findings(find_problems(project), request, output, texts)
    findings = cached_query("validate", ProjectFindings, options, find_problems, load_page_rules(options))
    return _report_findings(findings, request, output)


def _find_page_problems(project: Project) -> PageFindings:
    from duvet.knowledge.pages.catalogue import find_page_problems

    return find_page_problems(project)


def _fix(options: Mapping[str, Any], request: ValidateRequest, output: ProblemOutput) -> int:
    from duvet.project.validation import fix_project, is_safely_fixed, overlay_project, write_fixes

    texts: dict[str, str] = {}
    if request.stdin_path:
        project, texts = _open_project_with_stdin(options, request.stdin_path)
    else:
        project = open_project_quietly(open_cache(), options, load_page_rules(options))
    pages = _find_page_problems(project)
    ##= man/spec/validate.md#safe-fixes
    ##% With `--unsafe-fixes`, `duvet validate` MUST apply all fixes.
    ##= man/spec/validate.md#safe-fixes
    ##% `duvet validate --interactive` MUST ask about each unsafe fix, and show the changed words and the code around
    ##% the citation.
    approve: Callable[[Problem, str], bool] = make_fix_prompt() if request.interactive else is_safely_fixed
    fixes = fix_project(
        project,
        lambda trace: _select_inputs(ProjectFindings(trace, pages), request, texts).paths,
        (lambda problem, text: True) if request.unsafe_fixes else approve,
    )
    before = ProjectFindings(fixes.first, pages)
    extent = f"{format_count(fixes.citations, 'citation')} in {format_count(len(fixes.after), 'file')}"
    ##= man/spec/validate.md#fixes
    ##% With `--diff`, `duvet validate` MUST print its fixes as a unified diff without writing them.
    if request.diff:
        rows = (row for path, data in sorted(fixes.after.items()) for row in make_patch(path, fixes.before[path], data))
        write_stdout("".join(rows).encode())
        if fixes.after:
            print_remark(f"{extent} can be fixed; nothing was written")
        return _report_findings(before, request, output, texts)
    if obstacles := write_fixes(project, fixes):
        return _report_findings(before, request, output, obstacles=obstacles)
    if fixes.after:
        for change in fixes.changes:
            assert change.fix is not None
            head = f"{command.show_path(change.path)}:{change.place.line}: {change.fix.description}"
            print_remark("\n    ".join([head, *change.fix.change.splitlines()]))
        print_remark(f"fixed {extent}")
        pages = _find_page_problems(overlay_project(project, fixes.after))
    return _report_findings(ProjectFindings(fixes.findings, pages), request, output)


def _open_project_with_stdin(options: Mapping[str, Any], name: str) -> tuple[Project, dict[str, str]]:
    ##= man/spec/validate.md#choosing-files
    ##% With `-`, `duvet validate` MUST check standard input as the content of the file that `--stdin-path` names.
    from duvet.knowledge.pages.files import find_page_files
    from duvet.project.validation import overlay_project

    if sys.stdin is None:
        raise DuvetError("standard input is closed", path=STANDARD_INPUT)
    data = sys.stdin.buffer.read()
    project = open_project_quietly(open_cache(), options, load_page_rules(options))
    # The path must have the same spelling as in the patterns.
    inputs = [path for _, paths in project.inputs.sources for path in paths] + project.inputs.requirements
    found = choose_inputs([name], [*inputs, *find_page_files(project).prefixes], project.root, project.tree).paths
    path = found[0] if len(found) == 1 else normalise_input_name(name, project.root, project.tree)
    return overlay_project(project, {path: data}), {path: data.decode(errors="replace")}


def _report_findings(
    findings: ProjectFindings,
    request: ValidateRequest,
    output: ProblemOutput,
    texts: Mapping[str, str] | None = None,
    obstacles: tuple[Problem, ...] = (),
) -> int:
    selected = _select_inputs(findings, request, texts or {})
    checked = findings.trace.of([path for path in selected.paths if path in findings.trace.files])
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST report the problems of pages.
    of_pages = findings.pages.of(selected.paths) if request.names else findings.pages.problems
    problems = sort_problems((*checked.problems, *selected.problems, *obstacles, *of_pages))
    if request.strict:
        problems = promote_warnings(problems)
    written = output.write(problems, make_line_reader(texts))
    if problems and output.prints_text and not command.current_settings().quiet:
        print_notice("\n")
    if skipped := [escape_cell(command.show_path(name)) for name in selected.others]:
        print_remark(f"skipped, because no pattern matches: {join_names(skipped, 10)}")
    fixes = Counter(one.fix.applicability for one in problems if one.fix is not None)
    safe, unsafe = fixes[Applicability.SAFE], fixes[Applicability.UNSAFE]
    ##= man/spec/validate.md#fixes
    ##% Without an option for fixes, `duvet validate` MUST print how many of its fixes are safe.
    if safe and not (request.diff or request.writes):
        noun = "fix is" if safe == 1 else "fixes are"
        options = "--diff" if request.stdin_path else "--fix, or --diff for a preview"
        print_remark(f"{safe:,} {noun} safe: use {options}")
    if unsafe and (request.diff or request.fix) and not (request.unsafe_fixes or request.interactive):
        noun = "fix is" if unsafe == 1 else "fixes are"
        print_remark(f"{unsafe:,} {noun} unsafe: use --unsafe-fixes, or --interactive to decide on each")
    counts = zip(count_problems(problems), ("error", "warning"), strict=True)
    outcome = ", ".join(format_count(count, noun) for count, noun in counts if count) or "no problems"
    size = f"{format_count(checked.annotations, 'annotation')} in {format_count(checked.files, 'file')}"
    print_remark(f"checked {size}: {outcome}")
    return OK if written and not has_errors(problems) else FAILED


def _select_inputs(findings: ProjectFindings, request: ValidateRequest, texts: Mapping[str, str]) -> ChosenInputs:
    ##= man/spec/validate.md#choosing-files
    ##% `duvet validate` MUST check the configuration and the named files and folders, or all inputs of the project if
    ##% none are named.
    inputs = findings.trace.files
    if not request.names:
        return ChosenInputs(tuple(inputs))
    names = [request.stdin_path or "" if name == STANDARD_INPUT else name for name in request.names]
    tree = MemoryTree(dict.fromkeys(texts, b""), DiskTree()) if texts else DiskTree()
    return choose_inputs(names, [*inputs, *findings.pages.files], os.getcwd().replace(os.sep, "/"), tree)


def make_fix_prompt() -> Callable[[Problem, str], bool]:
    answers: dict[tuple[str, str, str], bool] = {}
    skipped: set[str] = set()
    has_quit = False

    def approve(problem: Problem, text: str) -> bool:
        nonlocal has_quit
        fix = problem.fix
        if fix is None or fix.applicability is Applicability.SAFE:
            return fix is not None
        # A second pass may find the same problem on another line.
        key = (problem.path, fix.description, fix.change or problem.message)
        if key not in answers:
            if has_quit or problem.path in skipped:
                return False
            _show_fix(problem, fix, text)
            answer = _ask()
            has_quit = answer == "quit"
            if answer == "skip this file":
                skipped.add(problem.path)
            answers[key] = answer == "yes"
        return answers[key]

    return approve


def _show_fix(problem: Problem, fix: Fix, text: str) -> None:
    place = f"{escape_cell(command.show_path(problem.path))}:{problem.place.line}"
    lines = ["", f"{place}: {escape_cell(fix.description)}"]
    lines += [f"    {escape_cell(line)}" for line in fix.change.splitlines()]
    if fix.doubt not in fix.change:
        lines.append(f"    note: {escape_cell(fix.doubt)}; check the code")
    first = max(problem.place.line - 2, 1)
    code = text.split("\n")[first - 1 : problem.place.line + 8]
    width = len(str(first + len(code)))
    shown = (f"{number:>{width}} | {escape_cell(line.rstrip())}".rstrip() for number, line in enumerate(code, first))
    print_line("\n".join([*lines, "", *shown, ""]))


def _ask() -> str:
    while True:
        print_notice("Apply this fix? (y)es, (n)o, (s)kip this file, (q)uit: ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        answer = line.strip().lower() if line else "quit"
        for words in ("yes", "no", "skip this file", "quit"):
            if answer and words.startswith(answer):
                return words
