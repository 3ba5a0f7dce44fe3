"""One run of `duvet validate`: what is wrong in some files or in all, and what was mended."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.errors import DuvetError
from duvet.knowledge.pages.findings import PageFindings
from duvet.model import Problem
from duvet.reports.cells import visible
from duvet.reports.problem_format import tally
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.failures import Sources
from duvet.terminal.notes import said_of_pages
from duvet.terminal.options import open_cache
from duvet.terminal.outcome import as_errors, fails
from duvet.terminal.problem_formats import Answer, tell_failure, tell_problems
from duvet.terminal.questions import open_quietly, remembered
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.text import plural
from duvet.tree.disk import DiskTree
from duvet.tree.protocol import Tree
from duvet.validation.choosing import Chosen, choose, plain
from duvet.validation.findings import Findings

if TYPE_CHECKING:
    from duvet.project import Project

_NAME = "validate"
STDIN = "-"
_SHOWN = 10


class Request(Struct, frozen=True):
    """What the options of `duvet validate` ask for."""

    names: tuple[str, ...] = ()
    stdin_path: str | None = None
    fix: bool = False
    diff: bool = False
    strict: bool = False


def run_validate(where: Mapping[str, Any], wanted: Request, answer: Answer) -> int:
    """Check what is asked for, and say what came of it; the exit code."""
    try:
        return _run(where, wanted, answer)
    except DuvetError as error:
        return tell_failure(error, answer)


def _run(where: Mapping[str, Any], wanted: Request, answer: Answer) -> int:
    if wanted.fix or wanted.diff:
        from duvet.terminal.mending import run_mending

        return run_mending(where, wanted, answer)
    if STDIN in wanted.names:
        project, texts = with_stdin(where, wanted)
        ##= man/spec/pages.md#checks
        ##% It MUST do so with `--fix` and `--diff` as well, and of a page that it is given on standard input.
        read = _found(project)
        return told(read.trace, wanted, answer, texts=texts, pages=read.pages)
    found = _findings(where)
    return told(found.trace, wanted, answer, pages=found.pages)


class _Found(Struct, frozen=True, array_like=True):
    """What is wrong with the trace, and with pages."""

    trace: Findings
    pages: PageFindings


def _findings(where: Mapping[str, Any]) -> _Found:
    """What is wrong in the project in the working directory, from the cache where nothing has changed."""
    ##= man/spec/validate.md#outcome
    ##% Where nothing has changed since the last run, `duvet validate` MUST give the same answer without reading the sources.
    return remembered(_NAME, _Found, where, _found, said_of_pages(where))


def _found(project: Project) -> _Found:
    from duvet.knowledge.pages.problems import findings_of

    return _Found(_validated(project), findings_of(project))


def _validated(project: Project) -> Findings:
    from duvet.validation.validate import validate

    return validate(project)


def with_stdin(where: Mapping[str, Any], wanted: Request) -> tuple[Project, dict[str, str]]:
    """The project with standard input in the place of a file, and that text by its path."""
    from duvet.validation.overlay import overlaid

    ##= man/spec/validate.md#choosing-files
    ##% With `-`, the text on standard input MUST be checked as if it stood in the file that `--stdin-path` names.
    if sys.stdin is None:
        raise DuvetError("standard input is closed", path=STDIN)
    data = sys.stdin.buffer.read()
    project = open_quietly(open_cache(settings()), where, said_of_pages(where))
    path = _as_input(wanted.stdin_path or "", project)
    return overlaid(project, {path: data}), {path: data.decode(errors="replace")}


def _as_input(name: str, project: Project) -> str:
    """The path of a file as the patterns call it."""
    from duvet.knowledge.pages.files import find_pages

    inputs = [path for _, paths in project.inputs.sources for path in paths] + project.inputs.requirements
    found = choose([name], [*inputs, *find_pages(project).prefixes], project.root, project.tree).paths
    return found[0] if len(found) == 1 else plain(name, project.root, project.tree)


def told(
    findings: Findings,
    wanted: Request,
    answer: Answer,
    more: tuple[Problem, ...] = (),
    texts: Mapping[str, str] | None = None,
    pages: PageFindings = PageFindings(),  # noqa: B008 - frozen
) -> int:
    """Say what is wrong in what is asked for; the exit code."""
    chosen = chosen_of(findings, wanted, texts or {}, pages.files)
    known = [path for path in chosen.paths if path in findings.files]
    checked = findings.of(known)
    ##= man/spec/pages.md#checks
    ##% `duvet validate` MUST list what is wrong with pages, too.
    noted = pages.of(chosen.paths) if wanted.names else pages.problems
    found = sorted((*checked.problems, *chosen.problems, *more, *noted), key=lambda one: one.sort_key)
    ##= man/spec/validate.md#outcome
    ##% With `--strict`, `duvet validate` MUST take a warning as an error.
    problems = as_errors(found) if wanted.strict else tuple(found)
    written = tell_problems(problems, answer, Sources(texts))
    if not settings().quiet:
        ##= man/spec/validate.md#choosing-files
        ##% A file that is no input MUST be left out, and that MUST be said on standard error.
        say(_left_out(chosen.others))
        ##= man/spec/validate.md#outcome
        ##% `duvet validate` MUST end with how much it checked and what that came to, on standard error, unless only errors
        ##% are asked for.
        counts = ", ".join(
            plural(count, noun) for count, noun in zip(tally(problems), ("error", "warning"), strict=True) if count
        )
        size = f"{plural(checked.annotations, 'annotation')} in {plural(checked.files, 'file')}"
        say(f"checked {size}: {counts or 'no problems'}\n")
    ##= man/spec/validate.md#outcome
    ##% `duvet validate` MUST exit with 0 if nothing is an error, and with 1 otherwise.
    return OK if written and not fails(problems) else FAILED


def chosen_of(findings: Findings, wanted: Request, texts: Mapping[str, str], pages: Collection[str] = ()) -> Chosen:
    """The inputs that are asked for, all where none is named; of some the texts are known that are not on disk."""
    ##= man/spec/validate.md#choosing-files
    ##% Without a name of a file, all inputs of the project MUST be checked.
    if not wanted.names:
        return Chosen(tuple(findings.files))
    names = [wanted.stdin_path or "" if name == STDIN else name for name in wanted.names]
    return choose(names, [*findings.files, *pages], os.getcwd().replace(os.sep, "/"), _tree_with(texts))


def _tree_with(texts: Mapping[str, str]) -> Tree:
    """The files on disk, and those of which only the texts are known."""
    if not texts:
        return DiskTree()
    from duvet.tree.memory import MemoryTree

    return MemoryTree(dict.fromkeys(texts, b""), DiskTree())


def _left_out(names: tuple[str, ...]) -> str:
    if not names:
        return ""
    shown = [visible(name) for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"not checked, because no pattern matches it: {', '.join(shown)}{more}\n"


def run_explain(name: str) -> None:
    """Print the page of a rule."""
    from duvet.terminal.explaining import page_named

    ##= man/spec/validate.md#outcome
    ##% `duvet validate --explain` MUST print the page of a rule.
    pour(page_named(name).encode())
