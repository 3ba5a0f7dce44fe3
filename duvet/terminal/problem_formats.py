"""The formats of problems: the options, and where problems go."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

import click
from msgspec import Struct

from duvet.errors import DuvetError, OutputError
from duvet.model import Problem
from duvet.reports.problem_format import ProblemFormat, View, render
from duvet.terminal.exit_codes import FAILED
from duvet.terminal.failures import Sources, as_problems, heard, report
from duvet.terminal.known_names import files
from duvet.terminal.settings import settings
from duvet.terminal.streams import is_standard_output


class Answer(Struct, frozen=True):
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


def problem_format(function: click.decorators.FC) -> click.decorators.FC:
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
        shell_complete=files,
        help="Where to write problems [default: text to standard error, else `-`].",
    )
    return chosen(output(function))


def answer(format: str | None, output: str | None, others: Iterable[str | None] = ()) -> Answer:
    """What the options ask for; the others are where other results of the run go."""
    taken = sum(name is not None and is_standard_output(name) for name in others)
    if format in (None, ProblemFormat.TEXT) and output is None:
        found = _unasked(format, taken)
    else:
        path = "-" if output is None else output
        ##= man/spec/problems.md#formats
        ##% Problems MUST be told as text on standard error, unless they were asked for on standard output.
        found = Answer(ProblemFormat(format or ProblemFormat.TEXT), path, told=not is_standard_output(path))
        taken += is_standard_output(path)
    ##= man/spec/problems.md#formats
    ##% Two results for standard output MUST be wrong usage.
    if taken > 1:
        raise click.UsageError("only one result can go to standard output; give the others a file")
    return found


def _unasked(format: str | None, taken: int) -> Answer:
    ##= man/spec/problems.md#formats
    ##% Where the environment variable `GITHUB_ACTIONS` is `true` and no format is asked for, workflow commands MUST go
    ##% to standard output, unless another result does.
    # What is told as text stays: GitHub shows ten of a kind.
    return Answer(ProblemFormat.GITHUB, "-", asked=False) if format is None and _on_github() and not taken else Answer()


def _on_github() -> bool:
    return settings().environ.get("GITHUB_ACTIONS") == "true"


def annotate(problems: Iterable[Problem]) -> None:
    """Write what fails a gate as workflow commands behind other results, where GitHub reads them."""
    found = tuple(problems)
    if found and _on_github():
        tell_problems(found, Answer(ProblemFormat.GITHUB, "-", told=False))


def tell_problems(problems: Iterable[Problem], answer: Answer, sources: Sources | None = None) -> bool:
    """Write and tell the problems; whether they could be written."""
    found, sources = tuple(problems), sources or Sources()
    try:
        ##= man/spec/problems.md#formats
        ##% A format other than text MUST be written to standard output, or to the file that `--output` names, also when
        ##% nothing is wrong.
        if answer.output is not None:
            _write(found if answer.asked else heard(found, settings()), answer.format, answer.output, sources)
    except OutputError as error:
        ##= man/spec/problems.md#formats
        ##% Problems that can't be written MUST be told.
        report((*found, *as_problems(error)), sources=sources)
        return False
    if answer.told:
        report(found, sources=sources)
    return True


def tell_failure(error: DuvetError, answer: Answer) -> int:
    """Write and tell why a run can't go on; the exit code."""
    ##= man/spec/problems.md#formats
    ##% What keeps a run from its end MUST be written in the format that was asked for.
    tell_problems(as_problems(error), answer)
    return FAILED


def _write(problems: Sequence[Problem], format: ProblemFormat, output: str, sources: Sources) -> None:
    from duvet.terminal.outputs import is_poured, write_file

    data = render(problems, format, View(sources.line, folder=_folder(settings().environ)))
    if is_poured(output):
        write_file(output, data)
    else:
        from duvet.outputs import store_changed

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
