"""Finds the service configuration, and loads it or its defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from duvet.config import service_tables, settings
from duvet.errors import DuvetError, UnreadableError
from duvet.tree.files import Tree, find_file_ending

if TYPE_CHECKING:
    from duvet.config.document import DataDocument
    from duvet.model import Problem

SERVICE_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
SERVICE_FILE_NAMES = tuple(
    f"{name}.config.{ending}" for name in ("duvet", "contextive") for ending in settings.DOCUMENT_ENDINGS
)
"""The file names under which duvet looks for the service configuration."""

ORIGIN_DEFAULTS = "defaults"


class ServiceFile(Struct, frozen=True):
    path: str  # Empty if the defaults apply because no file was found.
    origin: str  # `--service-config`, the name of a variable, `found` or `defaults`.


def find_service_file(
    tree: Tree, environ: Mapping[str, str], service_path: str | None = None, folder: str | None = ""
) -> ServiceFile:
    """If `folder` is None, find only a file that an option or a variable names."""
    ##= man/spec/service.md#configuration
    ##% duvet MUST read the service configuration from the named file, or else from `duvet.config.*` or
    ##% `contextive.config.*` in the working directory, or else from such a file in the project's
    ##% folder.
    named = {name: environ[name] for name in SERVICE_VARIABLES if environ.get(name)}
    if service_path:
        named = {"--service-config": service_path}
    if len(set(named.values())) > 1:
        both = " and ".join(f"{name} points to {path}" for name, path in named.items())
        raise DuvetError(f"conflicting configurations: {both}", hint="unset one of the variables")
    for origin, path in named.items():
        if not tree.exists(path):
            hint = "correct the path" if service_path else "correct or unset it"
            raise UnreadableError(f"{origin} points to {path}, which does not exist", hint=hint)
        if find_file_ending(path) not in settings.DOCUMENT_ENDINGS:
            known = ", ".join(f"`.{one}`" for one in settings.DOCUMENT_ENDINGS)
            message = f"{origin} points to {path}, which has an unknown extension"
            raise UnreadableError(message, hint=f"rename the file; supported extensions: {known}")
        return ServiceFile(path, origin)
    for place in () if folder is None else dict.fromkeys((f"{folder}/" if folder else "", "")):
        present = [path for path in (f"{place}{name}" for name in SERVICE_FILE_NAMES) if tree.exists(path)]
        if len(present) > 1:
            names = ", ".join(f"`{path}`" for path in present)
            hint = "keep one of them, or set DUVET_CONFIG to the one to use"
            raise DuvetError(f"found several service configurations: {names}", hint=hint)
        if present:
            return ServiceFile(present[0], "found")
    return ServiceFile("", ORIGIN_DEFAULTS)


class Service(Struct, frozen=True, kw_only=True):
    config: service_tables.ServiceConfig
    path: str = ""  # As in ServiceFile.
    origin: str
    document: DataDocument | None = None
    packs: tuple[str, ...] = settings.DEFAULT_PACKS  # The packs that are switched on.
    warnings: tuple[Problem, ...] = ()
    ignored: tuple[Problem, ...] = ()  # A warning for each configuration that is not trusted.
    overrides: tuple[str, ...] = ()  # The environment variables that override keys.


def load_service(
    tree: Tree,
    environ: Mapping[str, str],
    service_path: str | None = None,
    project_path: str | None = None,
    folder: str | None = "",
) -> Service:
    """With None as `folder`, read only files that an option or a variable names."""
    found = find_service_file(tree, environ, service_path, folder)
    reads_project = folder is not None or bool(project_path)
    config, document, packs, warnings = _load_tables(
        service_tables.ServiceConfig, tree, environ, found.path, project_path, reads_project=reads_project
    )
    return Service(
        config=config,
        path=found.path,
        origin=found.origin,
        document=document,
        packs=config.packs(packs),
        warnings=warnings,
        overrides=_list_overrides(environ),
    )


OVERRIDE_PREFIX, OVERRIDE_SEPARATOR = "DUVET_", "__"
_OVERRIDE = rf"(?s){OVERRIDE_PREFIX}.*{OVERRIDE_SEPARATOR}"

Record = TypeVar("Record", bound=Struct)
_TABLES = tuple(name.encode() for name in service_tables.ServiceConfig.__struct_encode_fields__ if name != "$schema")


def _load_tables(
    kind: type[Record],
    tree: Tree,
    environ: Mapping[str, str],
    path: str,
    project_path: str | None,
    *,
    reads_project: bool,
) -> tuple[Record, DataDocument | None, tuple[str, ...], tuple[Problem, ...]]:
    project_path, project, overrides = project_path or settings.CONFIG_PATH, b"", _list_overrides(environ)
    if reads_project:
        with suppress(DuvetError):
            project = tree.read(project_path)
    # Most projects have no service file and none of its tables in their own: skip the parsers to answer sooner.
    if not (path or overrides or any(name in project for name in _TABLES)):
        return kind(), None, settings.DEFAULT_PACKS, ()
    from duvet.config import service_file

    return service_file.read_tables(kind, tree, environ, path, overrides, project_path, project)


def _list_overrides(environ: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in environ if re.match(_OVERRIDE, name)))


_JSON_LOG = re.compile(rb"""^[^#\n]*\blog[-_]?format["']?\s*[:=]\s*["']?json\b""", re.IGNORECASE | re.MULTILINE)


def asks_for_json_log(
    tree: Tree, environ: Mapping[str, str], service_path: str | None = None, folder: str | None = ""
) -> bool:
    if named := environ.get("DUVET_SERVER__LOG_FORMAT"):
        return named == service_tables.LogFormat.JSON
    with suppress(DuvetError):
        path = find_service_file(tree, environ, service_path, folder).path
        # An invalid configuration counts, too.
        return bool(path and _JSON_LOG.search(tree.read(path)))
    return False


def _load_some_tables(
    kind: type[Record],
    tree: Tree,
    environ: Mapping[str, str],
    project_path: str | None,
    service_path: str | None,
    folder: str,
) -> Record:
    path = find_service_file(tree, environ, service_path, folder).path
    return _load_tables(kind, tree, environ, path, project_path, reads_project=bool(path))[0]


class _PageTables(Struct, frozen=True):
    pages: tuple[service_tables.PagesSection, ...] = ()


def load_service_pages(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None, folder: str = ""
) -> tuple[settings.PagesTable, ...] | None:
    """Return None if no pages are configured; ignore errors in other tables."""
    return _load_some_tables(_PageTables, tree, environ, project_path, None, folder).pages or None


class _IngestTables(Struct, frozen=True):
    ingest: service_tables.IngestSection = service_tables.IngestSection()
    search: service_tables.SearchSection = service_tables.SearchSection()
    store: service_tables.StoreSection = service_tables.StoreSection()


def load_service_ingest(
    tree: Tree,
    environ: Mapping[str, str],
    project_path: str | None = None,
    service_path: str | None = None,
    folder: str = "",
) -> tuple[service_tables.IngestRule, service_tables.StoreSection]:
    found = _load_some_tables(_IngestTables, tree, environ, project_path, service_path, folder)
    return found.ingest.rule(environ, found.search.model), found.store
