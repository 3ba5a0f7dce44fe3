"""Options that commands share, and the project that they open."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duvet.console.command import make_repeated_error
from duvet.console.completion_values import complete_files, complete_section_ids, complete_specification_ids
from duvet.console.settings import TerminalSettings, current_settings, wants_cache
from duvet.console.streams import STANDARD_INPUT, print_notice
from duvet.errors import NotFoundError
from duvet.model import Kind, Level, Specification
from duvet.queries.gaps import LEVELS_BY_WORD, RequirementFilter
from duvet.queries.records import NO_REQUIREMENTS, describe_error_count, describe_incompleteness, list_errors
from duvet.specs.fetch import Policy
from duvet.specs.library import Library
from duvet.trace.catalogue import CATALOGUE_KEY, Catalogue, SpecificationCard, load_card_specification
from duvet.trace.records import Status
from duvet.tree.cache import DiskCache, make_cache_key
from duvet.tree.cache_files import BlobStore, NoBlobStore
from duvet.tree.files import CACHE_FOLDER, DiskTree

if TYPE_CHECKING:
    from duvet.config.settings import NotesRule, SourceRule
    from duvet.console.report_run import ReportGate
    from duvet.model import Problem
    from duvet.progress import Progress
    from duvet.project.project import Project
    from duvet.tree.recorder import FileContent


Function = TypeVar("Function", bound=Callable[..., Any])

# Accepted because older command lines give them; they mean nothing any more.
_IGNORED = {
    "-p/--package": "NAME",
    "--features": "FEATURES",
    "--exclude": "NAME",
    "--target": "TRIPLE",
    "--target-dir": "DIR",
    "--manifest-path": "FILE",
}
_REPEATED = ("--features", "--exclude")
_IGNORED_FLAGS = ("--workspace", "--all-features", "--no-default-features", "--no-cargo")


def add_switch(name: str, *, default: bool | None = None, help: str) -> Callable[[Function], Function]:
    """An option that means true when it stands alone, and takes `true` or `false` otherwise."""
    return click.option(
        name,
        type=_Truth(),
        is_flag=False,
        flag_value="true",
        default=default,
        metavar="[true|false]",
        help=help if default is None else f"{help} [default: {str(default).lower()}]",
    )


def add_gate(name: str, *, help: str) -> Callable[[Function], Function]:
    """An option that takes `true` or `false`, means true when it stands alone, and takes targets any number of times."""
    return click.option(
        name,
        type=TEXT_TYPE,
        is_flag=False,
        flag_value="true",
        multiple=True,
        callback=_gate,
        metavar="[true|false|TARGET]",
        shell_complete=complete_specification_ids,
        help=f"{help} [default: true]",
    )


def _gate(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> ReportGate:
    from duvet.console.report_run import ReportGate

    switches = [value == "true" for value in given if value in ("true", "false")]
    if len(switches) > 1:
        raise make_repeated_error(param, ctx)
    return ReportGate(all(switches), tuple(value for value in given if value not in ("true", "false")))


class _Text(click.ParamType[str]):
    """Words that end up in files, which are UTF-8; of other bytes there is no way to write them."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("it is not UTF-8", param, ctx)
        return str(value)


TEXT_TYPE = _Text()


class _Truth(click.ParamType[bool]):
    name = "boolean"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        if value in (True, False):
            return bool(value)
        if value not in ("true", "false"):
            self.fail(f"'{value}' is neither true nor false", param, ctx)
        return bool(value == "true")


def add_trace_options(function: Function) -> Function:
    """Where the configuration, the sources and the specifications are."""
    for option in reversed(_trace_options()):
        function = option(function)
    return function


def _trace_options() -> list[Callable[[Function], Function]]:
    return [
        click.option(
            "--config-path",
            metavar="FILE",
            shell_complete=complete_files,
            help="The configuration [default: .duvet/config.toml].",
        ),
        click.option("--offline", is_flag=True, help="Download nothing."),
        click.option("--allow-http", is_flag=True, help="Allow downloads without encryption."),
        click.option(
            "--source-pattern",
            "source_patterns",
            type=TEXT_TYPE,
            metavar="[(META,CONTENT)]GLOB",
            multiple=True,
            hidden=True,
        ),
        click.option("--spec-pattern", "spec_patterns", type=TEXT_TYPE, metavar="GLOB", multiple=True, hidden=True),
        click.option("--spec-path", metavar="DIR", hidden=True),
        *(
            click.option(
                *names.split("/"), metavar=metavar, hidden=True, expose_value=False, multiple=names in _REPEATED
            )
            for names, metavar in _IGNORED.items()
        ),
        *(click.option(name, is_flag=True, hidden=True, expose_value=False) for name in _IGNORED_FLAGS),
    ]


def _source_rules(patterns: tuple[str, ...]) -> tuple[SourceRule, ...]:
    from duvet.sources.glob import parse_legacy_pattern

    return tuple(map(parse_legacy_pattern, patterns))


def open_cache(shown: TerminalSettings, pinned: Mapping[str, FileContent] | None = None) -> DiskCache | None:
    """The cache of the project in the working directory; none where there is no project, or none is wanted."""
    if not wants_cache(shown):
        return None
    return DiskCache(DiskTree(), shown.environ, today=shown.today, pinned=pinned)


def make_options_key(where: Mapping[str, Any], *more: object) -> str:
    """Everything that the command line says about an answer."""
    return make_cache_key((os.getcwd(), current_settings().config_path, sorted(where.items()), *more))


def open_project(
    cache: DiskCache | None = None,
    progress: Progress | None = None,
    *,
    shown: TerminalSettings | None = None,
    root: str = "",
    notes: tuple[NotesRule, ...] | None = None,
    config_path: str | None,
    offline: bool,
    allow_http: bool,
    source_patterns: tuple[str, ...],
    spec_patterns: tuple[str, ...],
    spec_path: str | None,
) -> Project:
    """The project in the working directory, or in another folder, that these options describe."""
    from duvet.console.progress import ProgressLines
    from duvet.project.project import Options, Project

    shown = shown or current_settings()
    options = Options(
        config_path=config_path or shown.config_path,
        sources=_source_rules(source_patterns) if source_patterns else (),
        requirements=spec_patterns,
        spec_path=spec_path,
        policy=Policy(offline=offline, allow_http=allow_http),
        notes=notes,
    )
    progress = progress or ProgressLines(shown)
    if cache is None:
        return Project(root, options, environ=shown.environ, progress=progress, today=shown.today)
    return Project(
        root,
        options,
        environ=cache.environ,
        tree=cache.tree,
        memory=cache,
        progress=progress,
        today=shown.today,
    )


GATE_LEVELS = {"must": Level.MUST, "should": Level.SHOULD, "may": Level.MAY, "any": Level.AUTO}
"""By the word for a gate, the weakest level that it holds for."""

_STATUSES = {status.words.replace(" ", "-"): status for status in Status}
_KINDS = {kind.name.lower(): kind for kind in (Kind.CITATION, Kind.TEST, Kind.EXCEPTION, Kind.IMPLICATION, Kind.TODO)}


class _Words(click.Choice[str]):
    """One of a few words, some of which can be written in another way, too."""

    def __init__(self, words: Iterable[str], also: Mapping[str, str]) -> None:
        super().__init__(list(words), case_sensitive=False)
        self.also = also

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(self.also.get(str(value).lower(), value), param, ctx)


_MINE = ("specs", "sections", "levels", "statuses", "kinds")
KIND_TYPE = _Words(_KINDS, {"implementation": "citation"})
"""A type of annotations that cite."""
_STATUS = _Words(_STATUSES, {status.words: name for name, status in _STATUSES.items()})


def add_spec_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--spec",
        "specs",
        metavar="NAME",
        shell_complete=complete_specification_ids,
        multiple=True,
        help="Only of this specification: an id, a name, a URL or a path.",
    )(function)


def add_section_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--section",
        "sections",
        metavar="ID",
        shell_complete=complete_section_ids,
        multiple=True,
        help="Only of this section: an id, or SPEC#ID; a numbered one with those below it.",
    )(function)


def add_level_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option(
        "--level",
        "levels",
        type=click.Choice(list(LEVELS_BY_WORD), case_sensitive=False),
        multiple=True,
        help="Only of this level.",
    )(function)


def add_status_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option("--status", "statuses", type=_STATUS, multiple=True, help="Only with this status.")(function)


def add_kind_option(function: click.decorators.FC) -> click.decorators.FC:
    return click.option("--type", "kinds", type=KIND_TYPE, multiple=True, help="Only with an annotation of this type.")(
        function
    )


def split_filter(options: dict[str, Any]) -> tuple[RequirementFilter, dict[str, Any]]:
    """The filter among the options of a command, and the other options."""
    rest = dict(options)
    specs, sections, levels, statuses, kinds = (rest.pop(name, ()) for name in _MINE)
    chosen = RequirementFilter(
        specs,
        sections,
        tuple(LEVELS_BY_WORD[name] for name in levels),
        tuple(_STATUSES[name] for name in statuses),
        tuple(_KINDS[name] for name in kinds),
    )
    return chosen, rest


def warn_of_parent_project(folder: str, command: str, file: str = "", *options: str) -> Iterator[Problem]:
    """That this folder becomes a project by a command, which may be told a file."""
    from duvet.knowledge.ingest.files import make_warning
    from duvet.knowledge.settings import find_project_above

    if above := find_project_above(folder):
        verb = {"ingest": "takes that one in", "restore": "puts it back there"}[command]
        words = ["duvet", "-C", above, command, *options]
        if file:
            words.append(file if os.path.isabs(file) or file == STANDARD_INPUT else os.path.relpath(file, above))
        hint = f"`{shlex.join(words)}` {verb}; this one is forgotten with its folder .duvet"
        yield make_warning(
            f"this folder is taken for a project of its own, though the one in {above} holds it", hint=hint
        )


@contextmanager
def name_parent_project(command: str) -> Iterator[None]:
    """Where nothing was taken in yet, the error says which project may be meant."""
    from duvet.knowledge.settings import find_project_above
    from duvet.store.errors import StoreMissingError

    try:
        yield
    except StoreMissingError as error:
        if above := find_project_above(os.getcwd()):
            error.hint = f"the project is in {above}, a folder above: `duvet -C {above} {command}` is about that one"
        raise


Value = TypeVar("Value")


def cached_query(
    name: str,
    kind: type[Value],
    where: Mapping[str, Any],
    answer: Callable[[Project], Value],
    notes: tuple[NotesRule, ...] | None = None,
) -> Value:
    """The answer about the project that these options describe, from the cache where nothing has changed."""
    cache = open_cache(current_settings())
    if cache is None:
        return answer(open_project_quietly(None, where, notes))
    how = make_options_key(where) if notes is None else make_options_key(where, notes)
    return cache.compute(name, kind, how, lambda: answer(open_project_quietly(cache, where, notes)), whole_run=True)


def open_project_quietly(
    cache: DiskCache | None, where: Mapping[str, Any], notes: tuple[NotesRule, ...] | None = None
) -> Project:
    """The project that these options describe, for a question to it; an error where nothing says what is in it."""
    from duvet.console.progress import QuietProgress

    project = open_project(cache, QuietProgress(current_settings()), notes=notes, **where)
    require_contents(project)
    return project


def require_contents(project: Project) -> None:
    """An error where nothing says what is in the project."""
    if not (project.config or project.options.sources or project.options.requirements):
        from duvet.config.project_file import require_config

        require_config(project.tree)


def load_catalogue(where: Mapping[str, Any]) -> Catalogue:
    """The catalogue of the project that these options describe."""
    return cached_query(CATALOGUE_KEY, Catalogue, where, lambda project: project.catalogue)


def load_last_catalogue(folder: str) -> Catalogue | None:
    """What the last question about the project in this folder has found out, however old it is."""
    return DiskCache(DiskTree(folder), {}).load_last(CATALOGUE_KEY, Catalogue)


def require_catalogue(where: Mapping[str, Any]) -> Catalogue:
    """The same, of a project that has requirements."""
    catalogue = load_catalogue(where)
    if not catalogue.requirements:
        raise NotFoundError(NO_REQUIREMENTS, hint=_why_none(catalogue))
    return catalogue


def _why_none(catalogue: Catalogue) -> str:
    if list_errors(catalogue):
        return f"{describe_error_count(catalogue)}; `duvet validate` lists what is wrong"
    if not catalogue.specifications:
        return "name a specification in the configuration, as `[[specification]]`"
    return "no sentence of its specifications has a keyword of RFC 2119, such as MUST"


def count_errors(catalogue: Catalogue) -> int:
    """How many errors the project has; while it has any, not everything counts."""
    return len(list_errors(catalogue))


def print_error_notice(catalogue: Catalogue) -> None:
    """Say on standard error that not all annotations count, because some are wrong."""
    words = describe_incompleteness(catalogue)
    if words and not current_settings().quiet:
        print_notice(f"{words}; `duvet validate` lists what is wrong\n")


def open_blobs(shown: TerminalSettings) -> BlobStore:
    """What earlier runs have kept for this project, where a cache is wanted."""
    return BlobStore(DiskTree().at(CACHE_FOLDER)) if wants_cache(shown) else NoBlobStore()


def load_specification(card: SpecificationCard) -> Specification:
    """The specification that a card is about, parsed already where nothing has changed."""
    cache = open_cache(current_settings())
    # The card says where the text is, so that no configuration needs to be read.
    library = Library(cache.tree, "", memory=cache) if cache else Library(DiskTree(), "")
    return load_card_specification(card, library)
