"""Problems and patches in the format that the user asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import click
from msgspec import Struct

from duvet.console.completion_values import complete_files
from duvet.console.settings import TerminalSettings, current_settings
from duvet.console.streams import FAILED, is_standard_output, is_stream_output, print_notice, write_output
from duvet.errors import DuvetError, FetchError, OutputError, UnreadableError
from duvet.model import Place, Problem, ProblemsError, Severity
from duvet.reports.cells import escape_cell
from duvet.reports.problems import ProblemContext, ProblemFormat, render_problems, render_problems_text
from duvet.text_diff import colour_diff_line, make_unified_diff
from duvet.tree.files import DiskTree
from duvet.tree.outputs import store_changed


def print_problems(
    problems: Iterable[Problem], shown: TerminalSettings | None = None, sources: SourceLines | None = None
) -> None:
    """Print problems to standard error, each with its place in the source."""
    shown = shown or current_settings()
    found = filter_problems(problems, shown)
    if found:
        print_notice(
            render_problems_text(found, ProblemContext((sources or SourceLines()).line, shown.colour)).decode()
        )


def filter_problems(problems: Iterable[Problem], shown: TerminalSettings) -> tuple[Problem, ...]:
    """Those that people want to hear of."""
    return tuple(one for one in problems if not (shown.quiet and one.severity is Severity.WARNING))


def list_error_problems(error: DuvetError) -> tuple[Problem, ...]:
    """What an error has to say."""
    if isinstance(error, ProblemsError):
        return error.problems
    if isinstance(error, (UnreadableError, FetchError, OutputError)):
        from duvet.rules import find_broken_rule

        return (find_broken_rule(error).problem(error.message, error.path, Place(error.line), hint=error.hint),)
    return (Problem("", error.message, error.path, Place(error.line), hint=error.hint),)


class SourceLines:
    """Lines of the files that problems point at."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        """The texts are known, and not on disk."""
        self._lines = {path: text.split("\n") for path, text in (texts or {}).items()}

    def line(self, path: str, number: int) -> str | None:
        """The text of a line, or None where there is none."""
        if path not in self._lines:
            self._lines[path] = _read_lines(path)
        lines = self._lines[path]
        return lines[number - 1] if 0 < number <= len(lines) else None


def _read_lines(path: str) -> list[str]:
    try:
        return DiskTree().read(path).decode(errors="replace").split("\n")
    except DuvetError:
        return []


class ProblemOutput(Struct, frozen=True):
    """What is done with what a run has come to."""

    format: ProblemFormat = ProblemFormat.TEXT
    output: str | None = None
    """Where they are written in that format; nowhere if it is None."""
    told: bool = True
    """Whether people find them on standard error."""
    asked: bool = True
    """Whether that format was asked for."""
    opens: bool = False
    """Whether the page is opened behind that."""


def add_problem_format(function: click.decorators.FC) -> click.decorators.FC:
    """The options that choose how problems are written, and where: `format` and `output`."""
    chosen = click.option(
        "--format",
        "format",
        type=click.Choice([one.value for one in ProblemFormat]),
        help="How to write problems [default: text; also github where GITHUB_ACTIONS is true].",
    )
    output = click.option(
        "--output",
        metavar="FILE",
        shell_complete=complete_files,
        help="Where to write problems [default: text to standard error, else `-`].",
    )
    return chosen(output(function))


def make_problem_output(format: str | None, output: str | None, others: Iterable[str | None] = ()) -> ProblemOutput:
    """What the options ask for; the others are where other results of the run go."""
    taken = sum(name is not None and is_standard_output(name) for name in others)
    if format in (None, ProblemFormat.TEXT) and output is None:
        found = _unasked(format, taken)
    else:
        path = "-" if output is None else output
        found = ProblemOutput(ProblemFormat(format or ProblemFormat.TEXT), path, told=not is_standard_output(path))
        taken += is_standard_output(path)
    ##= man/spec/problems.md#formats
    ##% duvet MUST refuse to write two results to standard output.
    if taken > 1:
        raise click.UsageError("only one result can go to standard output; give the others a file")
    return found


def _unasked(format: str | None, taken: int) -> ProblemOutput:
    ##= man/spec/problems.md#formats
    ##% When the environment variable `GITHUB_ACTIONS` is `true` and no format is requested, duvet MUST also write
    ##% problems and failures of gates as workflow commands, unless standard output is taken.
    # What is told as text stays: GitHub shows ten of a kind.
    return (
        ProblemOutput(ProblemFormat.GITHUB, "-", asked=False)
        if format is None and _on_github() and not taken
        else ProblemOutput()
    )


def _on_github() -> bool:
    return current_settings().environ.get("GITHUB_ACTIONS") == "true"


def print_annotations(problems: Iterable[Problem]) -> None:
    """Write what fails a gate as workflow commands behind other results, where GitHub reads them."""
    found = tuple(problems)
    if found and _on_github():
        output_problems(found, ProblemOutput(ProblemFormat.GITHUB, "-", told=False))


def output_problems(problems: Iterable[Problem], answer: ProblemOutput, sources: SourceLines | None = None) -> bool:
    """Write and tell the problems; whether they could be written."""
    found, sources = tuple(problems), sources or SourceLines()
    try:
        ##= man/spec/problems.md#formats
        ##% duvet MUST write problems as text to standard error or, in any other format and even without problems, to
        ##% standard output or the file of `--output`.
        if answer.output is not None:
            _write(
                found if answer.asked else filter_problems(found, current_settings()),
                answer.format,
                answer.output,
                sources,
            )
    except OutputError as error:
        print_problems((*found, *list_error_problems(error)), sources=sources)
        return False
    if answer.told:
        print_problems(found, sources=sources)
    return True


def output_failure(error: DuvetError, answer: ProblemOutput) -> int:
    """Write and tell why a run can't go on; the exit code."""
    ##= man/spec/problems.md#formats
    ##% duvet MUST write an error that ends the run in the requested format, and say so when it cannot write the
    ##% problems.
    output_problems(list_error_problems(error), answer)
    return FAILED


def _write(problems: Sequence[Problem], format: ProblemFormat, output: str, sources: SourceLines) -> None:
    data = render_problems(problems, format, ProblemContext(sources.line, folder=_folder(current_settings().environ)))
    if is_stream_output(output):
        write_output(output, data)
    else:
        # Those that watch it hear of it when there is something to hear.
        store_changed(output, data)


def _folder(environ: Mapping[str, str]) -> str:
    """The path from the root of the repository to the working directory."""
    here = os.path.realpath(os.getcwd())
    path = os.path.relpath(here, _root(here, environ)).replace(os.sep, "/")
    return "" if path == "." else path


def _root(here: str, environ: Mapping[str, str]) -> str:
    """The nearest folder that git keeps, else GitHub's if it is around."""
    folder = here
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            workspace = os.path.realpath(environ.get("GITHUB_WORKSPACE") or here)
            return workspace if os.path.join(here, "").startswith(os.path.join(workspace, "")) else here
        folder = parent
    return folder


_CONTEXT = 3


def make_patch(path: str, before: bytes, after: bytes) -> Iterator[str]:
    """The lines of a unified diff."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    old, new = (_lines(one.decode()) for one in (before, after))
    rows = (f"--- a/{path}", f"+++ b/{path}", *make_unified_diff(old, new, _CONTEXT))
    for line in (line for row in rows for line in row.split("\n")):
        shown = escape_cell(line) if is_terminal else line
        yield (colour_diff_line(shown) if is_terminal and current_settings().colour else shown) + "\n"


def _lines(text: str) -> list[str]:
    """The lines of a text; one without an end says so, as in every unified diff."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
