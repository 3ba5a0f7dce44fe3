"""One run of `duvet validate --fix`, or of `--diff`, which shows what that would do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from duvet.reports.cells import visible
from duvet.terminal.difference import coloured, unified
from duvet.terminal.options import open_quietly
from duvet.terminal.problem_formats import Answer
from duvet.terminal.recalling import open_cache
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.terminal.validating import STDIN, Request, chosen_of, told, with_stdin
from duvet.text import plural
from duvet.validation.fixing import Mended, mended, write_mended

_CONTEXT = 3


def run_mending(where: Mapping[str, Any], wanted: Request, answer: Answer) -> int:
    """Mend what is asked for, or show how; what is left is told, and the exit code says whether that is nothing."""
    texts: dict[str, str] = {}
    if STDIN in wanted.names:
        project, texts = with_stdin(where, wanted)
    else:
        project = open_quietly(open_cache(settings()), where)
    found = mended(project, lambda findings: chosen_of(findings, wanted, texts).paths)
    ##= man/spec/validate.md#mending
    ##% With `--diff`, what `--fix` would do MUST be shown as a unified diff on standard output, and nothing written.
    if wanted.diff:
        pour("".join(_difference(found)).encode())
        return told(found.first, wanted, answer, texts=texts)
    obstacles = write_mended(project, found)
    if obstacles:
        return told(found.first, wanted, answer, obstacles)
    if found.after and not settings().quiet:
        say(f"mended {plural(found.citations, 'citation')} in {plural(len(found.after), 'file')}\n")
    ##= man/spec/validate.md#mending
    ##% After mending, all that is still wrong MUST be reported.
    return told(found.findings, wanted, answer)


def _difference(found: Mended) -> Iterator[str]:
    """What the files would change by, for `patch` as for people."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    for path, data in sorted(found.after.items()):
        old, new = (_lines(one.decode()) for one in (found.before[path], data))
        rows = (f"--- a/{path}", f"+++ b/{path}", *unified(old, new, _CONTEXT))
        for line in (line for row in rows for line in row.split("\n")):
            ##= man/spec/trace.md#diagnostics
            ##% Text from files MUST NOT drive the terminal.
            shown = visible(line) if is_terminal else line
            yield (coloured(shown) if is_terminal and settings().colour else shown) + "\n"


def _lines(text: str) -> list[str]:
    """The lines of a text; one without an end says so, as in every unified diff."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
