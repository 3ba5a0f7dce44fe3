"""One run of `duvet diff`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, BinaryIO

from duvet.model import Severity
from duvet.queries.bases import Base, find_base
from duvet.queries.difference import Difference, compare
from duvet.terminal.catalogues import read_catalogue, tell_errors
from duvet.terminal.earlier import Earlier, read_earlier
from duvet.terminal.failures import FAILED, OK
from duvet.terminal.outputs import rendered
from duvet.terminal.recalling import open_cache
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
    base = find_base(revisions, revision, exact=exact)
    then = read_earlier(open_cache(shown), where, revisions, base, now)
    tell_errors(now)
    _tell_about(then, base)
    difference = compare(then.catalogue, now)
    pour(rendered(partial(_renderer(format), base, difference)))
    return _judged(difference, fail_on)


def _renderer(format: str) -> _Render:
    if format == "markdown":
        from duvet.reports import difference_markdown

        return difference_markdown.render
    from duvet.reports import difference

    return difference.render_json if format == "json" else difference.render


def _judged(difference: Difference, fail_on: tuple[str, ...]) -> int:
    ##= man/spec/diff.md#gate
    ##% With `--fail-on regression`, the exit code MUST be 1 where a requirement has lost coverage or a citation has gone
    ##% stale.
    ##= man/spec/diff.md#gate
    ##% With `--fail-on new`, the exit code MUST be 1 where a requirement was added and is not cited.
    ##= man/spec/diff.md#gate
    ##% Without `--fail-on`, a difference MUST NOT change the exit code.
    losses = difference.losses if "regression" in fail_on else ""
    uncited = len(difference.uncited) if "new" in fail_on else 0
    new = f"{plural(uncited, 'new requirement')} without a citation" if uncited else ""
    failed = ", ".join(filter(None, (losses, new)))
    if fail_on and not settings().quiet:
        say(f"FAIL: {failed}\n" if failed else "PASS\n")
    return FAILED if failed else OK


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
    errors = sum(problem.severity is Severity.ERROR for problem in then.catalogue.problems)
    if errors:
        say(f"{plural(errors, 'error')} in the project as it was, so not everything counted then\n")
