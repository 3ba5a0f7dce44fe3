"""One run of `duvet diff`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO

from duvet.model import Problem
from duvet.queries.bases import Base, find_base
from duvet.queries.difference import Difference, compare
from duvet.queries.losses import regressions, uncited
from duvet.terminal.catalogues import error_count, read_catalogue, tell_errors
from duvet.terminal.earlier import Earlier, read_earlier
from duvet.terminal.exit_codes import FAILED, OK
from duvet.terminal.options import open_cache
from duvet.terminal.outputs import rendered
from duvet.terminal.problem_formats import annotate
from duvet.terminal.settings import settings
from duvet.terminal.streams import pour, say
from duvet.text import plural
from duvet.tree.revisions import Revisions

_Render = Callable[[Base, Difference, BinaryIO], None]


def run_diff(
    where: Mapping[str, Any], revision: str | None, *, exact: bool, fail_on: tuple[str, ...], format: str
) -> int:
    """Write what has changed since a revision; the exit code."""
    shown = settings()
    now = read_catalogue(where)
    revisions = Revisions(os.getcwd().replace(os.sep, "/"), shown.environ)
    base = find_base(revisions, revision, exact=exact, is_gate=bool(fail_on))
    then = read_earlier(open_cache(shown), where, revisions, base, now)
    tell_errors(now)
    _tell_about(then, base)
    difference = compare(then.catalogue, now)
    pour(rendered(partial(_renderer(format), base, difference)))
    objections = _objections(difference, fail_on)
    if format == "text":
        ##= man/spec/diff.md#gate
        ##% Where the environment variable `GITHUB_ACTIONS` is `true` and the difference is written as text, what fails the
        ##% gate MUST be written as workflow commands, too.
        annotate(objections)
    return _judged(difference, objections, fail_on)


def _renderer(format: str) -> _Render:
    if format == "markdown":
        from duvet.reports import difference_markdown

        return difference_markdown.render
    from duvet.reports import difference

    return difference.render_json if format == "json" else difference.render


def _objections(difference: Difference, fail_on: tuple[str, ...]) -> list[Problem]:
    """What fails the run."""
    ##= man/spec/diff.md#gate
    ##% With `--fail-on regression`, the exit code MUST be 1 where a requirement has lost coverage or a citation has gone
    ##% stale.
    lost = regressions(difference) if "regression" in fail_on else ()
    ##= man/spec/diff.md#gate
    ##% With `--fail-on new`, the exit code MUST be 1 where a requirement was added and is not cited.
    new = uncited(difference) if "new" in fail_on else ()
    ##= man/spec/diff.md#gate
    ##% Without `--fail-on`, a difference MUST NOT change the exit code.
    return [*lost, *new]


def _judged(difference: Difference, objections: list[Problem], fail_on: tuple[str, ...]) -> int:
    new = len(difference.uncited) if "new" in fail_on else 0
    parts = (
        difference.losses if "regression" in fail_on else "",
        f"{plural(new, 'new requirement')} without a citation" if new else "",
    )
    if objections:
        say(f"FAIL: {', '.join(filter(None, parts))}\n")
        return FAILED
    if fail_on and not settings().quiet:
        say("PASS\n")
    return OK


def _tell_about(then: Earlier, base: Base) -> None:
    """What has to be known about the earlier state to judge the difference."""
    if settings().quiet:
        return
    if not then.has_configuration:
        say(f"there was no configuration in {base.words}, so everything is new\n")
    ##= man/spec/diff.md#reading
    ##% A specification that the revision lacks MUST be taken as it is on disk, and that MUST be said.
    specifications = {card.path for card in then.catalogue.specifications}
    known = sum(path in specifications for path in then.taken)
    for noun, count in (("specification", known), ("other file", len(then.taken) - known)):
        if count:
            are, were = ("is", "was") if count == 1 else ("are", "were")
            say(f"{plural(count, noun)} {are} not in that revision: today's {were} used\n")
    errors = error_count(then.catalogue)
    if errors:
        say(f"{plural(errors, 'error')} in the project as it was, so not everything counted then\n")
