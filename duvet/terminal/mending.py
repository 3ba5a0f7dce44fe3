"""One run of `duvet validate --fix`, or of `--diff`, which shows what that would do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duvet.knowledge.pages.problems import findings_of
from duvet.terminal.notes import said_of_pages
from duvet.terminal.options import open_cache
from duvet.terminal.patches import patch
from duvet.terminal.problem_formats import Answer
from duvet.terminal.questions import open_quietly
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.terminal.validating import STDIN, Request, chosen_of, told, with_stdin
from duvet.text import plural
from duvet.validation.fixing import mended, write_mended
from duvet.validation.overlay import overlaid


def run_mending(where: Mapping[str, Any], wanted: Request, answer: Answer) -> int:
    """Mend what is asked for, or show how; what is left is told, and the exit code says whether that is nothing."""
    texts: dict[str, str] = {}
    if STDIN in wanted.names:
        project, texts = with_stdin(where, wanted)
    else:
        project = open_quietly(open_cache(settings()), where, said_of_pages(where))
    pages = findings_of(project)
    found = mended(project, lambda findings: chosen_of(findings, wanted, texts, pages.files).paths)
    ##= man/spec/validate.md#mending
    ##% With `--diff`, what `--fix` would do MUST be shown as a unified diff on standard output, and nothing written.
    if wanted.diff:
        rows = (row for path, data in sorted(found.after.items()) for row in patch(path, found.before[path], data))
        pour("".join(rows).encode())
        return told(found.first, wanted, answer, texts=texts, pages=pages)
    obstacles = write_mended(project, found)
    if obstacles:
        return told(found.first, wanted, answer, obstacles, pages=pages)
    if found.after and not settings().quiet:
        say(f"mended {plural(found.citations, 'citation')} in {plural(len(found.after), 'file')}\n")
    ##= man/spec/validate.md#mending
    ##% After mending, all that is still wrong MUST be reported.
    left = findings_of(overlaid(project, found.after)) if found.after else pages
    return told(found.findings, wanted, answer, pages=left)
