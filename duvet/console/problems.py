"""Prints problems and patches in the requested format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache

import click
from msgspec import Struct
from msgspec.structs import replace

from duvet.console.command import TerminalSettings, current_settings, locate_path, path_option, show_path
from duvet.console.streams import FAILED, OUTPUT_NAMES, STANDARD_OUTPUT, is_on_terminal, print_notice, write_output
from duvet.errors import DuvetError, FetchError, OutputError, ProblemsError, UnreadableError, describe_plainly
from duvet.model import Place, Problem, Severity
from duvet.reports.cells import escape_cell
from duvet.reports.problems import LineReader, ProblemContext, ProblemFormat, render_problems, render_problems_text
from duvet.rules import SETUP_CODES, find_broken_rule
from duvet.text import colour_diff_line, format_count, make_unified_diff
from duvet.tree.files import DiskTree
from duvet.tree.outputs import OPEN_FILES, store_changed

UPSTREAM_COMMANDS = ("extract", "merge", "query")


def has_errors(problems: Iterable[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def promote_warnings(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    ##= man/spec/gates.md#verdicts
    ##% With `--strict`, `duvet report` and `duvet validate` MUST exit with 1 if there are warnings.
    return tuple(replace(problem, severity=Severity.ERROR) for problem in problems)


def promote_setup_problems(problems: Iterable[Problem]) -> list[Problem]:
    ##= man/spec/gates.md#gates-with-nothing-to-check
    ##% A gate MUST fail if there is no configuration, no specification or no requirement, or if a source pattern
    ##% matches no file.
    return [replace(one, severity=Severity.ERROR) if one.code in SETUP_CODES else one for one in problems]


def print_gate_failure(problems: Iterable[Problem], gate: str, *, annotate: bool) -> bool:
    found = promote_setup_problems(problems)
    if not has_errors(found):
        return False
    print_problems(found)
    if annotate:
        print_annotations(found)
    print_notice(f"FAIL: {gate}: {describe_obstacles(found)}\n")
    return True


def describe_obstacles(problems: Iterable[Problem]) -> str:
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    return f"not checked because of {format_count(errors, 'error')}"


def list_error_problems(error: DuvetError) -> tuple[Problem, ...]:
    if isinstance(error, ProblemsError):
        return error.problems
    if isinstance(error, (UnreadableError, FetchError, OutputError)):
        problem = find_broken_rule(error).problem(error.message, error.path, Place(error.line), hint=error.hint)
        # `duvet report` accepts a project without a configuration with a warning.
        return (replace(problem, severity=Severity.ERROR),)
    ##= man/spec/problems.md#rules
    ##% Every error message MUST end with the code of its rule, except for errors in the command line.
    return (Problem(error.rule_code, error.message, error.path, Place(error.line), hint=error.hint),)


def make_line_reader(texts: Mapping[str, str] | None = None) -> LineReader:
    @cache
    def split_lines(path: str) -> list[str]:
        text = (texts or {}).get(path)
        if text is None:
            with suppress(DuvetError):
                text = DiskTree().read(path).decode(errors="replace")
        return [] if text is None else text.split("\n")

    def read_line(path: str, number: int) -> str | None:
        lines = split_lines(path)
        return lines[number - 1] if 0 < number <= len(lines) else None

    return read_line


def print_problems(
    problems: Iterable[Problem],
    settings: TerminalSettings | None = None,
    read_line: LineReader | None = None,
    *,
    like_upstream: bool = False,
    keeps_words: bool = False,
) -> None:
    settings = settings or current_settings()
    kept = _reword_all(problems, settings, keeps_words=like_upstream or keeps_words)
    kept = tuple(one for one in kept if not (settings.quiet and one.severity is Severity.WARNING))
    if not kept:
        return
    read_line = read_line or make_line_reader()
    text = _render_text(kept, settings, read_line, colour=settings.colour, like_upstream=like_upstream)
    print_notice(text.decode())
    # The last line of the run explains the first error, or else the first warning. With `--watch`, no line is the last.
    ranked = sorted(kept, key=lambda problem: problem.severity is not Severity.ERROR)
    code = next((problem.code for problem in ranked if problem.code), "")
    context = click.get_current_context(silent=True)
    if not code or settings.quiet or (context and context.params.get("watch")):
        return
    line = f'run "duvet explain {code}" for details\n'
    if context is None:
        print_notice(line)
    elif context.find_root().meta.setdefault("duvet.explanation", line) is line:
        context.find_root().call_on_close(lambda: print_notice(line))


def reword_problem(problem: Problem) -> Problem:
    message, hint = describe_plainly(problem.message)
    # awslabs duvet writes `1 bytes`.
    message = re.sub(r"(?<=invalid utf-8 sequence of 1 byte)s\b", "", message)
    return problem if message == problem.message else replace(problem, message=message, hint=problem.hint or hint)


def _reword_all(problems: Iterable[Problem], settings: TerminalSettings, *, keeps_words: bool) -> tuple[Problem, ...]:
    context = click.get_current_context(silent=True)
    command = context.find_root().invoked_subcommand if context else None
    if keeps_words or settings.has_legacy_flags or command in UPSTREAM_COMMANDS:
        return tuple(problems)
    return tuple(map(reword_problem, problems))


def _render_text(
    problems: Iterable[Problem],
    settings: TerminalSettings,
    read_line: LineReader,
    *,
    colour: bool = False,
    like_upstream: bool = False,
) -> bytes:
    folder = settings.folder
    shown = tuple(replace(problem, path=show_path(problem.path, folder)) for problem in problems)
    context = ProblemContext(
        lambda path, line: read_line(locate_path(path, folder), line), colour, counts_like_upstream=like_upstream
    )
    return render_problems_text(shown, context)


def is_stream_output(path: str) -> bool:
    return path == STANDARD_OUTPUT or path.startswith(OPEN_FILES)


class ProblemOutput(Struct, frozen=True):
    format: ProblemFormat = ProblemFormat.TEXT
    output: str | None = None  # Where to write them in that format; None is nowhere.
    prints_text: bool = True  # Whether they are printed to standard error as well.
    is_requested: bool = True  # Whether the user asked for the format; else `--quiet` applies to it.

    def write(
        self, problems: Iterable[Problem], read_line: LineReader | None = None, *, like_upstream: bool = False
    ) -> bool:
        settings = current_settings()
        problems = _reword_all(problems, settings, keeps_words=like_upstream)
        read_line = read_line or make_line_reader()
        try:
            ##= man/spec/problems.md#formats
            ##% duvet MUST write problems to the file that `--output` names. Without `--output`, duvet MUST write text to
            ##% standard error, and any other format to standard output.
            if self.output is not None:
                drops_warnings = settings.quiet and not self.is_requested
                kept = tuple(one for one in problems if not (drops_warnings and one.severity is Severity.WARNING))
                if self.format is ProblemFormat.TEXT:
                    data = _render_text(kept, settings, read_line, like_upstream=like_upstream)
                else:
                    ##= man/spec/problems.md#formats
                    ##% In the formats `json`, `sarif` and `junit`, duvet MUST write a result even if there are no
                    ##% problems.
                    data = render_problems(kept, self.format, ProblemContext(read_line, folder=_find_folder()))
                # An unchanged file is not written again, so that programs that watch it are not notified.
                (write_output if is_stream_output(self.output) else store_changed)(self.output, data)
        except OutputError as error:
            print_problems((*problems, *list_error_problems(error)), read_line=read_line)
            return False
        if self.prints_text:
            print_problems(problems, read_line=read_line, like_upstream=like_upstream)
        return True

    def fail(self, error: DuvetError) -> int:
        ##= man/spec/problems.md#formats
        ##% duvet MUST use the requested format even for an error that ends the run.
        self.write(list_error_problems(error))
        return FAILED


def add_problem_format(function: click.decorators.FC) -> click.decorators.FC:
    format_option = click.option(
        "--format",
        type=click.Choice([one.value for one in ProblemFormat]),
        help="The format of problems [default: text; with GITHUB_ACTIONS=true also github].",
    )
    output_option = path_option(
        "--output",
        help="Write problems to this file [default: standard error for text, standard output for other formats].",
    )
    return format_option(output_option(function))


def make_problem_output(format: str | None, output: str | None, others: Iterable[str | None] = ()) -> ProblemOutput:
    on_stdout = sum(path is not None and path in OUTPUT_NAMES for path in others)
    if format not in (None, ProblemFormat.TEXT) or output is not None:
        path = "-" if output is None else output
        on_stdout += path in OUTPUT_NAMES
        result = ProblemOutput(ProblemFormat(format or "text"), path, prints_text=path not in OUTPUT_NAMES)
    elif format is None and not on_stdout and current_settings().environ.get("GITHUB_ACTIONS") == "true":
        ##= man/spec/problems.md#formats
        ##% If the environment variable `GITHUB_ACTIONS` is `true` and neither `--format` nor `--output` is given,
        ##% duvet MUST also write problems and failures of gates as GitHub workflow commands.
        # The text is printed as well, because GitHub shows only ten problems of a kind.
        result = ProblemOutput(ProblemFormat.GITHUB, "-", is_requested=False)
    else:
        result = ProblemOutput()
    ##= man/spec/problems.md#formats
    ##% duvet MUST refuse to write two results to standard output.
    if on_stdout > 1:
        raise click.UsageError("two results would be written to standard output; write one of them to a file")
    return result


def print_annotations(problems: Iterable[Problem]) -> None:
    problems = tuple(problems)
    if problems and current_settings().environ.get("GITHUB_ACTIONS") == "true":
        ProblemOutput(ProblemFormat.GITHUB, "-", prints_text=False).write(problems)


def _find_folder() -> str:
    here = os.path.realpath(os.getcwd())
    root = here
    while not os.path.lexists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            # Outside a repository, the workspace of GitHub is the root.
            workspace = os.path.realpath(current_settings().environ.get("GITHUB_WORKSPACE") or here)
            root = workspace if os.path.join(here, "").startswith(os.path.join(workspace, "")) else here
            break
        root = parent
    path = os.path.relpath(here, root).replace(os.sep, "/")
    return "" if path == "." else path


def make_patch(path: str, before: bytes, after: bytes) -> Iterator[str]:
    is_terminal = is_on_terminal()
    old, new = (data.decode().split("\n") for data in (before, after))
    for lines in (old, new):
        # A last line without a line end gets the note that unified diffs use.
        if last := lines.pop():
            lines.append(f"{last}\n\\ No newline at end of file")
    rows = (f"--- a/{path}", f"+++ b/{path}", *make_unified_diff(old, new, context=3))
    for line in (line for row in rows for line in row.split("\n")):
        text = escape_cell(line) if is_terminal else line
        yield (colour_diff_line(text) if is_terminal and current_settings().colour else text) + "\n"
