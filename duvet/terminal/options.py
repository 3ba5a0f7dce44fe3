"""Options that several subcommands share, and the project that they describe."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from duvet.terminal.command import repeated
from duvet.terminal.known_names import files, specification_ids
from duvet.terminal.settings import Settings, settings, wants_cache

if TYPE_CHECKING:
    from duvet.cache.cache import Cache
    from duvet.config.schema import NotesRule, SourceRule
    from duvet.progress import Progress
    from duvet.project import Project
    from duvet.terminal.wishes import Gate
    from duvet.tree.recorded import Look

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


def switch(name: str, *, default: bool | None = None, help: str) -> Callable[[Function], Function]:
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


def gate(name: str, *, help: str) -> Callable[[Function], Function]:
    """An option that takes `true` or `false`, means true when it stands alone, and takes targets any number of times."""
    return click.option(
        name,
        type=TEXT,
        is_flag=False,
        flag_value="true",
        multiple=True,
        callback=_gate,
        metavar="[true|false|TARGET]",
        shell_complete=specification_ids,
        help=f"{help} [default: true]",
    )


def _gate(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> Gate:
    from duvet.terminal.wishes import Gate

    switches = [value == "true" for value in given if value in ("true", "false")]
    if len(switches) > 1:
        raise repeated(param, ctx)
    return Gate(all(switches), tuple(value for value in given if value not in ("true", "false")))


class _Text(click.ParamType[str]):
    """Words that end up in files, which are UTF-8; of other bytes there is no way to write them."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            str(value).encode()
        except UnicodeEncodeError:
            self.fail("it is not UTF-8", param, ctx)
        return str(value)


TEXT = _Text()


class _Truth(click.ParamType[bool]):
    name = "boolean"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bool:
        if value in (True, False):
            return bool(value)
        if value not in ("true", "false"):
            self.fail(f"'{value}' is neither true nor false", param, ctx)
        return bool(value == "true")


def trace_options(function: Function) -> Function:
    """Where the configuration, the sources and the specifications are."""
    for option in reversed(_trace_options()):
        function = option(function)
    return function


def _trace_options() -> list[Callable[[Function], Function]]:
    return [
        click.option(
            "--config-path",
            metavar="FILE",
            shell_complete=files,
            help="The configuration [default: .duvet/config.toml].",
        ),
        click.option("--offline", is_flag=True, help="Download nothing."),
        click.option("--allow-http", is_flag=True, help="Allow downloads without encryption."),
        click.option(
            "--source-pattern", "source_patterns", type=TEXT, metavar="[(META,CONTENT)]GLOB", multiple=True, hidden=True
        ),
        click.option("--spec-pattern", "spec_patterns", type=TEXT, metavar="GLOB", multiple=True, hidden=True),
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
    from duvet.sources.legacy import source_rule

    return tuple(map(source_rule, patterns))


def open_cache(shown: Settings, pinned: Mapping[str, Look] | None = None) -> Cache | None:
    """The cache of the project in the working directory; none where there is no project, or none is wanted."""
    if not wants_cache(shown):
        return None
    from duvet.cache.cache import Cache
    from duvet.tree.disk import DiskTree

    return Cache(DiskTree(), shown.environ, today=shown.today, pinned=pinned)


def key_of(where: Mapping[str, Any], *more: object) -> str:
    """Everything that the command line says about an answer."""
    from duvet.cache.key import key

    return key(os.getcwd(), settings().config_path, sorted(where.items()), *more)


def open_project(
    cache: Cache | None = None,
    progress: Progress | None = None,
    *,
    shown: Settings | None = None,
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
    from duvet.project import Options, Project
    from duvet.specs.fetch import Policy
    from duvet.terminal.progress import Lines

    shown = shown or settings()
    options = Options(
        config_path=config_path or shown.config_path,
        sources=_source_rules(source_patterns) if source_patterns else (),
        requirements=spec_patterns,
        spec_path=spec_path,
        policy=Policy(offline=offline, allow_http=allow_http),
        notes=notes,
    )
    progress = progress or Lines(shown)
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
