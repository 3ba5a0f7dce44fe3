"""Creates the application from a command's options."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from duvet.config.check import DocumentLocation
from duvet.config.service import SERVICE_VARIABLES, Service, asks_for_json_log, load_service, salvage_service
from duvet.config.service_tables import ProviderKind
from duvet.console.command import TerminalSettings, current_settings, wants_cache
from duvet.console.options import PACKS_KEY, PAGES_KEY, SERVICE_KEY, select_trace_options
from duvet.console.project import find_spending_folder, open_blobs, open_project
from duvet.console.streams import is_stderr_writable, print_line
from duvet.errors import DuvetError, ProblemsError, describe_os_error
from duvet.model import sort_problems
from duvet.rules import CONFIG_BAD_VALUE
from duvet.server.application import Application, ApplicationSettings
from duvet.tools.packs import BUILT_IN_PACKS, enable_packs
from duvet.tools.tool import GATEWAY_VARIABLE, SHELL_SOURCE
from duvet.tree.files import DiskTree

if TYPE_CHECKING:
    from duvet.config.settings import NotesRule
    from duvet.model import Problem
    from duvet.progress import Progress
    from duvet.project.project import Project
    from duvet.tree.cache import DiskCache


def enter_page_folder(where: dict[str, Any]) -> None:
    """Change to the folder that `--pages` names, if any; the folder needs no project."""
    folder = where.pop(PAGES_KEY)
    if folder is None:
        return
    terminal = current_settings()
    path = os.path.join(terminal.folder, os.path.expanduser(folder))
    # Otherwise a relative path would name a file of the folder.
    where |= {key: os.path.abspath(where[key]) for key in (SERVICE_KEY, "config_path") if where[key]}
    config_path = terminal.config_path and os.path.abspath(terminal.config_path)
    named = {name: os.path.abspath(terminal.environ[name]) for name in SERVICE_VARIABLES if terminal.environ.get(name)}
    try:
        os.chdir(path)
    except OSError as error:
        message = f"can't serve this folder: {describe_os_error(error)}"
        raise DuvetError(message, path=folder, hint="name an existing folder after --pages") from error
    ##= man/spec/pages.md#folders-of-notes
    ##% With `--pages`, duvet MUST NOT forward calls to a gateway.
    environ = {name: value for name, value in {**terminal.environ, **named}.items() if name != GATEWAY_VARIABLE}
    settings = replace(terminal, environ=environ, folder="", config_path=config_path, has_only_pages=True)
    click.get_current_context().obj = settings


def make_application(where: Mapping[str, Any], *, mode: str) -> Application:
    """Return the application for these options; raise ProblemsError if the service configuration is invalid."""
    settings = make_application_settings(where, current_settings(), mode)
    try:
        return Application(settings, settings.read_service(DiskTree()))
    except ProblemsError as error:
        raise ProblemsError(_list_all_problems(settings, error.problems)) from None


def wants_json_log(where: Mapping[str, Any]) -> bool:
    """Return whether errors of the server are to be printed as JSON lines, even those of an invalid configuration."""
    settings = make_application_settings(where, current_settings(), "")
    return asks_for_json_log(DiskTree(), settings.environ, settings.service_path, settings.folder)


def _list_all_problems(settings: ApplicationSettings, problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the problems of an invalid configuration, including problems that its valid parts cause together."""
    try:
        service = salvage_service(DiskTree(), settings.environ, settings.service_path, settings.folder)
    except DuvetError:
        # It has a syntax error.
        return problems
    found = find_service_problems(Application(settings, service))
    known = {(one.message, one.place) for one in problems}
    return sort_problems([*problems, *(one for one in found if (one.message, one.place) not in known)])


def find_service_problems(application: Application) -> tuple[Problem, ...]:
    return (
        *application.tools.list_unknown_names(),
        *find_workflow_problems(application),
        *_find_provider_problems(application),
    )


def _find_provider_problems(application: Application) -> Iterator[Problem]:
    from duvet.llm.endpoint import make_endpoint

    document = application.service.document
    for name, provider in application.service.config.providers.items():
        if not provider.enabled or provider.kind is ProviderKind.CLIENT or not document:
            continue
        try:
            make_endpoint(name, provider, None)
        except DuvetError as error:
            location = DocumentLocation(document, {}, keys=("providers", name, "baseUrl"), is_private=True)
            yield location.problem(CONFIG_BAD_VALUE, error.message, error.hint)


def make_tool_application(name: str, where: Mapping[str, Any]) -> Application:
    """Return the application, with the built-in pack that contains this tool enabled."""
    application = make_application(where, mode=SHELL_SOURCE)
    if name in application.tools.registry:
        return application
    packs = [pack.name for pack in enable_packs(tuple(BUILT_IN_PACKS)) if name in pack.every_name()]
    unconfigured = [pack for pack in packs if pack not in application.service.config.tool_packs]
    if not unconfigured:
        return application
    return make_application({**where, PACKS_KEY: (*where[PACKS_KEY], *unconfigured)}, mode=SHELL_SOURCE)


def make_application_settings(where: Mapping[str, Any], terminal: TerminalSettings, mode: str) -> ApplicationSettings:
    options = select_trace_options(where)

    def open_from_options(
        cache: DiskCache | None,
        progress: Progress | None,
        *,
        root: str = "",
        notes: tuple[NotesRule, ...] | None = None,
    ) -> Project:
        return open_project(cache, progress, is_quiet=True, settings=terminal, root=root, rules=notes, **options)

    return ApplicationSettings(
        environ=terminal.environ,
        project_options=options,
        config_path=terminal.config_path,
        service_path=where.get(SERVICE_KEY),
        ##= man/spec/pages.md#folders-of-notes
        ##% With `--pages`, duvet MUST ignore configurations in the folder unless an option or an environment variable
        ##% names them.
        folder=None if terminal.has_only_pages else terminal.folder,
        packs=where.get(PACKS_KEY, ()),
        mode=mode,
        is_verbose=terminal.verbose,
        open_project=open_from_options,
        has_only_pages=terminal.has_only_pages,
        has_cache=lambda root: wants_cache(terminal, root),
        blobs=open_blobs(terminal),
        spending_folder=find_spending_folder(terminal),
        today=lambda: terminal.today,
        write_line=print_line,
        is_writable=is_stderr_writable,
    )


def read_service(service_path: str | None, config_path: str | None) -> Service:
    terminal = current_settings()
    return load_service(
        DiskTree(), terminal.environ, service_path, config_path or terminal.config_path, terminal.folder
    )


def find_workflow_problems(application: Application, name: str | None = None) -> tuple[Problem, ...]:
    from duvet.workflows.check import make_workflow_problems

    faults = {one: found for one, found in application.tools.offered.faults.items() if name in (None, one)}
    document = application.service.document
    return tuple(make_workflow_problems(document, faults)) if document else ()
