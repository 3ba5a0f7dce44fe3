"""`duvet diff`"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any

import click
from click.exceptions import Exit
from msgspec import Struct
from msgspec.structs import replace

from duvet.config.settings import CONFIG_PATH
from duvet.console.command import Subcommand, current_settings
from duvet.console.options import add_detail_format, add_trace_options
from duvet.console.problems import describe_obstacles, print_annotations, print_gate_failure, promote_setup_problems
from duvet.console.project import load_catalogue, make_options_key, open_cache, open_project
from duvet.console.streams import FAILED, OK, print_notice, print_remark, render_bytes, write_stdout
from duvet.errors import DuvetError, ProblemsError, UnreadableError
from duvet.project.project import Project
from duvet.queries.difference import Difference, compare_catalogues, find_regressions
from duvet.queries.records import describe_error_notice, list_errors, make_gate_problem
from duvet.queries.revisions import DiffBase, find_base
from duvet.reports.diff import render_difference, render_difference_json, render_difference_markdown
from duvet.rules import REQUIREMENT_UNCITED
from duvet.specs.extraction import locate_configured
from duvet.text import format_count
from duvet.trace.catalogue import Catalogue
from duvet.tree.cache import DiskCache
from duvet.tree.git import GitRevisions, GitTree

_RENDERERS = {"text": render_difference, "json": render_difference_json}
_UNCITED = "`uncited` or `to do`"


@click.command(cls=Subcommand)
@click.argument("base", required=False)
@add_trace_options
@click.option("--exact", is_flag=True, help="Compare with BASE itself, not with the merge base of HEAD and BASE.")
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "new"]),
    multiple=True,
    help="Exit with 1 on lost coverage or stale citations (regression), or on new requirements that no code or test cites "
    "(new); repeatable.",
)
@add_detail_format
def diff(base: str | None, exact: bool, fail_on: tuple[str, ...], format: str, **options: Any) -> None:
    """Compare the working tree with the merge base of HEAD and BASE, as a pull request does. BASE defaults to the
    default branch of origin, or else to HEAD. Nothing is checked out or fetched; specifications that
    are missing from the compared commit are read from disk.

    A requirement loses coverage when its state gets worse, or when it loses its implementation or its tests. A
    citation goes stale when it becomes invalid without being edited. Renamed files and moved lines don't count.

    --fail-on regression fails for lost coverage and stale citations. --fail-on new fails for new requirements that
    no code or test cites. --format markdown writes a comment for a pull request.

    \b
    Examples:
      duvet diff
      duvet diff HEAD~1
      duvet diff --exact v1.0 --format json
      duvet diff origin/main --fail-on regression --format markdown > comment.md
    """
    now = load_catalogue(options)
    revisions = GitRevisions(os.getcwd().replace(os.sep, "/"), current_settings().environ)
    diff_base = find_base(revisions, base, exact=exact, is_gate=bool(fail_on))
    then = _load_revision(open_cache(), options, revisions, diff_base, now)
    print_remark(describe_error_notice(now))
    if not then.has_configuration:
        print_remark(f"no configuration in {diff_base.words}; everything counts as new")
    specifications = {card.path for card in then.catalogue.specifications}
    count = sum(path in specifications for path in then.borrowed)
    for noun, number in (("specification", count), ("file", len(then.borrowed) - count)):
        if number:
            are, them = ("is", "it") if number == 1 else ("are", "them")
            print_remark(f"{format_count(number, noun)} {are} not in {diff_base.words}; duvet read {them} from disk")
    if errors := len(list_errors(then.catalogue)):
        print_remark(f"{format_count(errors, 'error')} in {diff_base.words}; results may be incomplete")
    difference = compare_catalogues(then.catalogue, now)
    gate = f"--fail-on {' and '.join(fail_on)}" if fail_on else ""
    render = _RENDERERS.get(format)
    if render is None:
        obstacles = promote_setup_problems(now.setup) if gate else []
        failure = "" if now.requirements else "the project has no requirements"
        failure = describe_obstacles(obstacles) if obstacles else failure
        verdict = f"{gate} failed: {failure}" if gate and failure else ""
        render = partial(render_difference_markdown, verdict=verdict, obstacles=obstacles)
    write_stdout(render_bytes(partial(render, diff_base, difference)))
    if gate and print_gate_failure(now.setup, gate, annotate=format == "text"):
        raise Exit(FAILED)
    raise Exit(_apply_gates(difference, diff_base, fail_on, annotate=format == "text"))


class RevisionCatalogue(Struct, frozen=True):
    catalogue: Catalogue
    has_configuration: bool
    borrowed: tuple[str, ...]


def _load_revision(
    cache: DiskCache | None, options: Mapping[str, Any], revisions: GitRevisions, base: DiffBase, now: Catalogue
) -> RevisionCatalogue:
    today = open_project(cache, is_quiet=True, **options)
    specifications = tuple(sorted(card.path for card in now.specifications))

    def read() -> RevisionCatalogue:
        # Prefix the paths in errors with the revision, as git does.
        revision = base.short if base.is_merge_base else base.revision
        try:
            with revisions.tree(base.commit, today.tree) as tree:
                return _read_revision(today, tree, specifications)
        except ProblemsError as error:
            raise ProblemsError(tuple(replace(one, path=f"{revision}:{one.path}") for one in error.problems)) from error
        except DuvetError as error:
            error.path = f"{revision}:{error.path}"
            raise

    key = make_options_key(options, base.commit, revisions.prefix, specifications)
    return today.memory.compute("earlier", RevisionCatalogue, key, read)


def _read_revision(today: Project, tree: GitTree, specifications: tuple[str, ...]) -> RevisionCatalogue:
    options = today.options
    if not (tree.exists(options.config_path or CONFIG_PATH) or options.sources or options.requirements):
        ##= man/spec/diff.md#reading-a-revision
        ##% `duvet diff` MUST treat a revision without the project or its configuration as empty.
        return RevisionCatalogue(Catalogue((), (), (), ()), False, ())
    project = Project(options=options, environ=today.environ, tree=tree, progress=today.progress, today=today.today)
    configured = [locator.name for _, locator in locate_configured(project.config) if not locator.is_url]
    tree.lent = frozenset([*specifications, *configured]), project.downloads
    catalogue = project.catalogue
    if tree.lacks:
        hint = "fetch it with git, for example by checking out the revision; duvet does not fetch"
        raise UnreadableError("this clone lacks the file", path=tree.lacks[0], hint=hint)
    for entry in project.not_applicable:
        # The commit doesn't change, but an entry of its configuration may expire.
        if entry.expiry:
            today.memory.note_day(entry.expiry.isoformat(), entry.has_expired)
    return RevisionCatalogue(catalogue, True, tuple(tree.taken))


def _apply_gates(difference: Difference, base: DiffBase, fail_on: tuple[str, ...], *, annotate: bool) -> int:
    ##= man/spec/diff.md#gates
    ##% With `--fail-on regression`, `duvet diff` MUST exit with 1 if coverage was lost or a citation became invalid,
    ##% but not because of other differences.
    lost = find_regressions(difference) if "regression" in fail_on else ()
    ##= man/spec/diff.md#gates
    ##% With `--fail-on new`, `duvet diff` MUST exit with 1 if a new requirement is `uncited` or `to do`, but not
    ##% because of other differences.
    uncited = difference.uncited if "new" in fail_on else ()
    message = "this requirement is new, and no code or test cites it"
    problems = [*lost, *(make_gate_problem(row, REQUIREMENT_UNCITED, message) for row in uncited)]
    if annotate:
        print_annotations(problems)
    if problems or (fail_on and not difference.now.requirements):
        losses = difference.losses if "regression" in fail_on else ""
        parts = (losses, f"{format_count(len(uncited), 'new requirement')} in the state {_UNCITED}" if uncited else "")
        reason = ", ".join(filter(None, parts)) if problems else "the project has no requirements"
        print_notice(f"FAIL: --fail-on {' and '.join(fail_on)}: {reason}\n")
        return FAILED
    if fail_on:
        kept = {"regression": "no regression", "new": f"no new requirement in the state {_UNCITED}"}
        print_remark(f"PASS: {' and '.join(kept[one] for one in fail_on)} since {base.words}")
    return OK
