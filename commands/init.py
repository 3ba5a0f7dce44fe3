"""`duvet init`"""

from __future__ import annotations

import os
import posixpath
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

import click

from duvet.config import new_project
from duvet.config.project_file import read_config
from duvet.config.settings import CONFIG_PATH
from duvet.console.command import OldOption, Subcommand, current_settings, find_project_folder, path_option
from duvet.console.options import TEXT_TYPE
from duvet.console.progress import ProgressLines
from duvet.console.streams import print_remark, write_output
from duvet.errors import DuvetError
from duvet.project.survey import Survey, count_lower_case_requirements, survey_folder
from duvet.reports.cells import escape_cell
from duvet.specs.library import Library
from duvet.text import format_count, join_names
from duvet.tree.files import DiskTree

_GITIGNORE_PATH = ".duvet/.gitignore"
_MOST_SHOWN = 20


def _add_language_options(function: click.decorators.FC) -> click.decorators.FC:
    for starter in reversed(new_project.STARTERS):
        name, files = starter.language.value, starter.pattern.rpartition("/")[2]
        option = click.option(
            f"--lang-{name}", "languages", flag_value=name, multiple=True, help=f"Scan {files} files."
        )
        function = option(function)
    return function


@click.command(cls=Subcommand)
@path_option(
    "--specification",
    "specifications",
    type=TEXT_TYPE,
    metavar="URL|FILE",
    multiple=True,
    help="Trace this specification; repeatable.",
)
@_add_language_options
@click.option("-y", "--yes", "accepts", is_flag=True, help="Trace all specifications that duvet finds.")
@click.option("--upstream", is_flag=True, help="Write a configuration that awslabs duvet can read.")
@click.option("--nested", is_flag=True, help="Set up a project inside another project.")
@click.option("--extended", cls=OldOption, instead="", is_flag=True)
def init(
    specifications: tuple[str, ...],
    languages: tuple[str, ...],
    accepts: bool,
    upstream: bool,
    nested: bool,
    extended: bool,
) -> None:
    """Write .duvet/config.toml and .duvet/.gitignore for the languages, tests and specifications in this folder.

    On a terminal, duvet asks whether to trace the specifications that it finds. Otherwise it writes them as comments,
    unless you pass --yes. The --lang options replace the languages that duvet finds.

    If the configuration exists, duvet adds the specifications and languages that you name or accept.

    \b
    Examples:
      duvet init
      duvet init --yes
      duvet init --specification https://www.rfc-editor.org/rfc/rfc2324
      duvet init --lang-c --lang-python --specification docs/protocol.md
      duvet init --upstream --lang-rust
    """
    if upstream:
        if extended or accepts:
            raise click.UsageError(f"--upstream can't be used with {'--extended' if extended else '--yes'}")
        _write_upstream_files(specifications, languages)
        return
    here, real = os.getcwd(), os.path.realpath(os.getcwd())
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST refuse to create a project inside another project, unless `--nested` is given.
    outer = here if nested else find_project_folder() or here
    if outer != here:
        folder = os.path.relpath(outer, here).replace(os.sep, "/")
        hint = f"`duvet -C {folder} init` adds to that project; `duvet init --nested` creates another one here"
        raise DuvetError(f"this folder is inside the project in `{folder}`", hint=hint)
    survey = survey_folder(DiskTree(), here)
    _print_survey(survey)
    # Absolute paths differ between machines.
    specifications = tuple(
        os.path.relpath(os.path.realpath(name), real).replace(os.sep, "/")
        if os.path.isabs(name) and os.path.realpath(name).startswith(os.path.join(real, ""))
        else name.replace(os.sep, "/")
        for name in specifications
    )
    for name in specifications:
        if "://" not in name and not os.path.isfile(name):
            fault = "is not a file" if os.path.lexists(name) else "does not exist"
            print_remark(f"warning: {escape_cell(name)} {fault}")
    if os.path.lexists(CONFIG_PATH):
        next_step = _extend_project(survey, specifications, languages, accepts=accepts)
    else:
        next_step = _create_project(survey, specifications, languages, accepts=accepts)
    print_remark(f"next: {next_step}")


def _choose_next_step(*, is_traced: bool, is_offered: bool) -> str:
    if is_traced:
        return "duvet report"
    return "duvet init --yes" if is_offered else "duvet init --specification FILE"


def _write_upstream_files(specifications: Sequence[str], languages: Sequence[str]) -> None:
    named = tuple(one for one in new_project.STARTERS if one.language.value in languages)
    starters = named or new_project.detect_languages(os.path.exists)
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST write a valid configuration in duvet's own schema or, with `--upstream`, the files that
    ##% awslabs duvet writes.
    config = new_project.render_upstream_config(starters, specifications)
    progress = ProgressLines(current_settings())
    for path, data in ((CONFIG_PATH, config), (_GITIGNORE_PATH, new_project.GITIGNORE)):
        progress.begin(f"Writing {path}")
        if os.path.lexists(path):
            progress.end(f"Skipping {path} - already exists")
        else:
            write_output(path, data)
            progress.end(f"Wrote {path}")


def _create_project(survey: Survey, specifications: Sequence[str], languages: Sequence[str], *, accepts: bool) -> str:
    groups = list(_choose_groups(survey.sources, languages)) if languages else list(survey.sources)
    if not groups:
        starters = new_project.detect_languages(os.path.exists)
        groups = [new_project.SourceGroup(one.language, (one.pattern,)) for one in starters]
    offered = _list_new_paths(survey, specifications)
    accepted = offered if _accepts(offered, accepts=accepts) else []
    ##= man/spec/init.md#new-projects
    ##% Without `--yes` or the user's consent on a terminal, `duvet init` MUST write the specifications that it
    ##% finds, but only as comments.
    rest = [] if accepted else offered
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST write a valid configuration in duvet's own schema or, with `--upstream`, the files that
    ##% awslabs duvet writes.
    named = [*dict.fromkeys(specifications), *accepted]
    any_case = _list_any_case(survey, [*named, *rest])
    write_output(CONFIG_PATH, new_project.render_config(groups, named, rest, any_case))
    print_remark(f"wrote {CONFIG_PATH}")
    if not os.path.lexists(_GITIGNORE_PATH):
        write_output(_GITIGNORE_PATH, new_project.GITIGNORE)
        print_remark(f"wrote {_GITIGNORE_PATH}")
    if rest:
        print_remark(f"wrote {format_count(len(rest), 'specification')} to {CONFIG_PATH} as comments")
    elif not specifications and not accepted:
        print_remark("found no specification; name a file or URL with --specification")
    if not groups:
        print_remark(f"found no source files; add a [[source]] to {CONFIG_PATH}")
    return _choose_next_step(is_traced=bool(specifications or accepted), is_offered=bool(rest))


def _extend_project(survey: Survey, specifications: Sequence[str], languages: Sequence[str], *, accepts: bool) -> str:
    data = DiskTree().read(CONFIG_PATH)
    environ = current_settings().environ
    config = read_config(data, CONFIG_PATH, environ)
    configured = [rule.source for rule in config.specifications]
    known = set(map(_normalise, configured))
    offered = _list_new_paths(survey, [*specifications, *configured])
    added = [name for name in dict.fromkeys(specifications) if _normalise(name) not in known]
    is_accepted = _accepts(offered, accepts=accepts)
    added += offered if is_accepted else []
    # Upstream's schema can't exclude the tests from a pattern.
    found = survey.sources if config.extended else ()
    groups = [
        group
        for group in _choose_groups(found, languages)
        if not any(
            rule.language == group.language.value if config.extended else set(rule.patterns) & set(group.patterns)
            for rule in config.sources
        )
    ]
    kept = [name for name in specifications if _normalise(name) in known]
    kept += [name for name in languages if name not in {group.language.value for group in groups}]
    for name in kept:
        print_remark(f"{CONFIG_PATH} already contains {escape_cell(name)}")
    if offered and not is_accepted:
        them = "it" if len(offered) == 1 else "them"
        print_remark(f"not added: {escape_cell(join_names(offered, _MOST_SHOWN))}; add {them} with `duvet init --yes`")
    next_step = _choose_next_step(is_traced=bool(configured or added), is_offered=bool(offered))
    if not (added or groups):
        print_remark(f"{CONFIG_PATH} is unchanged; use --specification or --lang-* to add to it")
        return next_step
    any_case = _list_any_case(survey, added) if config.extended else []
    write_output(CONFIG_PATH, new_project.add_to_config(data, config, groups, added, environ, any_case))
    names = [*dict.fromkeys(group.language.value for group in groups), *map(escape_cell, added)]
    print_remark(f"added to {CONFIG_PATH}: {', '.join(names)}")
    return next_step


def _normalise(name: str) -> str:
    return name if "://" in name else posixpath.normpath(name)


def _choose_groups(
    found: Sequence[new_project.SourceGroup], languages: Sequence[str]
) -> Iterator[new_project.SourceGroup]:
    for starter in new_project.STARTERS:
        if starter.language.value in languages:
            usual = new_project.SourceGroup(starter.language, (starter.pattern,))
            yield from [group for group in found if group.language is starter.language] or [usual]


def _list_new_paths(survey: Survey, known: Sequence[str]) -> list[str]:
    names = set(map(_normalise, known))
    return [one.path for one in survey.specifications if one.path not in names]


def _list_any_case(survey: Survey, names: Iterable[str]) -> list[str]:
    surveyed = {one.path: one.any_case for one in survey.specifications}
    found = []
    library = Library(DiskTree(), "", forms={})
    for name in names:
        is_any_case = surveyed.get(_normalise(name))
        if is_any_case is None and "://" not in name and os.path.isfile(name):
            with suppress(DuvetError):
                is_any_case = count_lower_case_requirements(name, library) > 0
        if is_any_case:
            found.append(name)
    for name in found[:_MOST_SHOWN]:
        print_remark(f'wrote `keywords = "any"` for {escape_cell(name)}, because its keywords are in lower case')
    if len(found) > _MOST_SHOWN:
        more = format_count(len(found) - _MOST_SHOWN, "more specification")
        print_remark(f'wrote `keywords = "any"` for {more}')
    return found


def _accepts(paths: Sequence[str], *, accepts: bool) -> bool:
    if accepts or not paths:
        return accepts
    is_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    if not is_terminal or current_settings().quiet:
        return False
    which = "this specification" if len(paths) == 1 else f"these {len(paths)} specifications"
    return click.confirm(f"Trace {which}?", default=True, err=True)


def _print_survey(survey: Survey) -> None:
    for group in survey.sources:
        kind = f"{group.language.value} tests" if group.is_test else group.language.value
        patterns = escape_cell(", ".join(group.patterns))
        print_remark(f"found {kind}: {patterns} ({format_count(group.count, 'file')})")
    found = survey.specifications
    if found:
        print_remark(f"found {format_count(len(found), 'specification')}:")
    ##= man/spec/init.md#new-projects
    ##% `duvet init` MUST print the number of requirements in each specification that it lists.
    for one in found[:_MOST_SHOWN]:
        print_remark(f"  {escape_cell(one.path)} ({format_count(one.requirements, 'requirement')})")
    if len(found) > _MOST_SHOWN:
        print_remark(f"  and {len(found) - _MOST_SHOWN} more")
    if survey.unmarked:
        count, names = format_count(len(survey.unmarked), "file"), escape_cell(join_names(survey.unmarked, 1))
        print_remark(f"skipped {count} with requirements but without keywords such as MUST: {names}")
