"""Finds and reads the configuration of the service."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, inspect
from msgspec.structs import replace

from duvet import rules
from duvet.config.check import DocumentLocation, check_table, sort_problems
from duvet.config.document import DataDocument, DocumentError
from duvet.config.document_formats import DOCUMENT_ENDINGS, find_file_ending, read_document
from duvet.config.duvet_tables import ServerTable
from duvet.config.fields import FieldType, list_field_types
from duvet.config.project_file import build_table, find_config
from duvet.config.service_schema import ServiceConfig, find_unresolved_names
from duvet.config.service_tables import IngestSection, PagesSection, ServerSection, StoreSection
from duvet.config.settings import EXTENDED_SCHEMA, IngestRule, NotesRule, Secret, ServerRule, StoreRule
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.config.variables import VariableError, expand_variables, is_named, is_variable
from duvet.errors import DuvetError, UnreadableError
from duvet.model import Problem, ProblemsError
from duvet.text import quote_text
from duvet.tree.files import Tree

SERVICE_VARIABLES = ("DUVET_CONFIG", "CONTEXTIVE_CONFIG")
SERVICE_FILE_NAMES = tuple(f"{name}.config.{ending}" for name in ("duvet", "contextive") for ending in DOCUMENT_ENDINGS)
"""What is looked for in the working directory."""

ORIGIN_OPTION, ORIGIN_FOUND, ORIGIN_DEFAULTS = "--config", "found", "defaults"


class ServiceFile(Struct, frozen=True):
    """A file, and how it came to be that one."""

    path: str
    """Empty where there is none, and the defaults are in force."""
    origin: str
    """`--config`, the name of a variable, `found` or `defaults`."""


def find_service_file(tree: Tree, environ: Mapping[str, str], given: str | None = None) -> ServiceFile:
    """The file that is given, else the one of a variable, else the one of this folder, else none."""
    ##= man/spec/service.md#configuration
    ##% duvet MUST read the service's configuration from the file of `--config`, of `DUVET_CONFIG` or
    ##% `CONTEXTIVE_CONFIG`, or from `duvet.config.*` or `contextive.config.*` in the working directory, or else use the
    ##% defaults.
    if given:
        return _named(tree, given, ORIGIN_OPTION)
    if variable := _variable(environ):
        return _named(tree, environ[variable], variable)
    present = [path for path in SERVICE_FILE_NAMES if tree.exists(path)]
    if len(present) > 1:
        ##= man/spec/service.md#configuration
        ##% duvet MUST fail when several files could be the configuration or a named one is missing, and name these
        ##% files.
        names = " and ".join(f"`{path}`" for path in present)
        raise DuvetError(f"more than one configuration: {names}", hint="keep one of them, or name it with `--config`")
    return ServiceFile(present[0], ORIGIN_FOUND) if present else ServiceFile("", ORIGIN_DEFAULTS)


def _variable(environ: Mapping[str, str]) -> str:
    """The variable that names a file; a variable that is empty names none."""
    naming = [name for name in SERVICE_VARIABLES if environ.get(name)]
    if len({environ[name] for name in naming}) > 1:
        both = " and ".join(f"`{name}` names `{environ[name]}`" for name in naming)
        raise DuvetError(f"two configurations: {both}", hint="unset one of the variables")
    return naming[0] if naming else ""


def _named(tree: Tree, path: str, origin: str) -> ServiceFile:
    if not tree.exists(path):
        raise UnreadableError(f"no such file, though `{origin}` names it", path=path, hint="name another, or none")
    if find_file_ending(path) not in DOCUMENT_ENDINGS:
        known = ", ".join(f"`.{one}`" for one in DOCUMENT_ENDINGS)
        raise UnreadableError(f"`{origin}` names a file of an unknown format", path=path, hint=f"it ends in {known}")
    return ServiceFile(path, origin)


_TABLES = tuple(name.encode() for name in ServiceConfig.__struct_encode_fields__ if name != "$schema")


def read_project_file(tree: Tree, config_path: str | None) -> TomlDocument | None:
    """The configuration of the project in our schema; none where there is none, or it can't be read."""
    with suppress(DuvetError):
        path = find_config(tree, config_path)
        data = tree.read(path) if path else b""
        # Most files have none of these tables, and an answer waits.
        if path and any(name in data for name in _TABLES):
            toml = parse_toml_bytes(data, path)
            return toml if toml.values.get("$schema") == EXTENDED_SCHEMA else None
    return None


def find_duplicate_tables(at: DocumentLocation, project: TomlDocument | None) -> Iterator[Problem]:
    """The tables that stand in both files."""
    both = at.document.values.keys() & project.values.keys() - {"$schema"} if project else set()
    for name in sorted(both):
        ##= man/spec/service.md#configuration
        ##% A table in both this file and `.duvet/config.toml` MUST be an error with both places, and `server` MUST be
        ##% read from the one that has it.
        place = project.key_place(name) if project else None
        where = f"`{project.path}:{place.line}:{place.column}`" if project and place else ""
        message = f"this stands in {where}, too"
        yield (at / name).problem(rules.CONFIG_BAD_VALUE, message, "keep one of them", at_key=True)


def read_server_table(project: TomlDocument | None) -> ServerTable | None:
    """The table `server` of the project; none where it has none, or one that can't be read."""
    if project and "server" in project.values:
        ##= man/spec/mcp.md#handshake
        ##% The server MUST answer `initialize` without waiting for the SDK or the project, as it would later, and even
        ##% with an invalid configuration.
        with suppress(ValidationError):
            return build_table(project.values["server"], ServerTable)
    return None


def convert_server_table(table: ServerTable) -> ServerSection:
    """What the table says as the table of the service's file."""
    return replace(
        ServerSection(),
        name=table.name,
        title=table.title,
        version=table.version,
        description=table.description,
        protocol_version=table.protocol_version,
        page_size=table.page_size,
    )


class Service(Struct, frozen=True, kw_only=True):
    """The configuration that is in force, and where it comes from."""

    config: ServiceConfig
    path: str = ""
    """Empty where the defaults are in force."""
    origin: str
    """`--config`, the name of a variable, `found` or `defaults`."""
    document: DataDocument | None = None
    """The file, to find places in."""
    packs: tuple[str, ...] = ServerRule().packs
    """The packs that are switched on."""

    @property
    def rule(self) -> ServerRule:
        """What the server says of itself, and how much it offers."""
        return self.config.server.rule(self.packs)

    def says_the_same_as(self, other: Service) -> bool:
        """Whether nothing else is in force then, however it is written."""
        return replace(self, document=None) == replace(other, document=None)


def load_service(
    tree: Tree, environ: Mapping[str, str], given: str | None = None, project_path: str | None = None
) -> Service:
    """The configuration of the service, or ProblemsError with everything that is wrong with it.

    `given` is the file that `--config` names; `project_path` is the configuration of the project where it isn't the
    usual one.
    """
    found = find_service_file(tree, environ, given)
    project = read_project_file(tree, project_path)
    document, config = None, ServiceConfig()
    if found.path:
        # Most projects have no such file, and an answer waits.
        document = read_service_document(tree, found.path)
        config = resolve_service_config(document, environ, project)
    table = read_server_table(project)
    if table is not None:
        config = replace(config, server=convert_server_table(table))
    packs = config.packs() if table is None else config.packs(table.pack_names)
    return Service(config=config, path=found.path, origin=found.origin, document=document, packs=packs)


class VariableExpander:
    """Goes through values beside the types that they should have, and notes what has no value."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def expanded(self, kind: inspect.Type, value: Any, at: DocumentLocation) -> Any:
        """The value with its variables filled in; what is of another type stays as it is."""
        for choice in list_field_types(kind):
            match choice.type, value:
                case inspect.StructType(fields=fields), dict():
                    kinds = {field.encode_name: field.type for field in fields}
                    return {
                        name: self.expanded(kinds[name], inner, at / name) if name in kinds else inner
                        for name, inner in value.items()
                    }
                case inspect.DictType(value_type=inner_kind), dict() if not choice.expands:
                    return {name: self.expanded(inner_kind, inner, at / name) for name, inner in value.items()}
                case inspect.VarTupleType(item_type=item), list():
                    return [self.expanded(item, inner, at / index) for index, inner in enumerate(value)]
                case inspect.CustomType(cls=kind_of), str() if kind_of is Secret:
                    return self._secret(value, at)
                case _ if choice.expands:
                    return self._free(value, choice, at)
        return value

    def _free(self, value: Any, choice: FieldType, at: DocumentLocation) -> Any:
        match value:
            case dict():
                return {name: self._free(inner, choice, at / name) for name, inner in value.items()}
            case list():
                return [self._free(inner, choice, at / index) for index, inner in enumerate(value)]
            case str():
                return self._text(value, choice, at)
        return value

    def _text(self, text: str, choice: FieldType, at: DocumentLocation) -> str:
        filled = self._filled(text, at)
        if filled != text:
            what = f"not {choice.wanted}" if choice.wanted else "blank"
            self._note(choice.refuses(filled), f"once its variables are filled in, this is {what}", at)
        return filled

    def _secret(self, text: str, at: DocumentLocation) -> Secret | str:
        """What isn't a variable stays what it is: that is a problem already."""
        if not is_variable(text):
            return text
        filled = self._filled(text, at)
        ##= man/spec/service.md#configuration
        ##% duvet MUST NOT show the value of a secret or a variable in any message, whatever it is part of.
        wrong = filled != text and not (filled.strip() and filled.isprintable())
        self._note(wrong, "the variable holds nothing, or characters that no key has", at)
        return Secret(filled)

    def _filled(self, text: str, at: DocumentLocation) -> str:
        try:
            return expand_variables(text, at.environ)
        except VariableError as error:
            self.problems.append(at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint))
            return text

    def _note(self, wrong: bool, message: str, at: DocumentLocation) -> None:
        if wrong:
            self.problems.append(at.problem(rules.CONFIG_BAD_VALUE, message, "set the variable to another value"))


def read_service_document(tree: Tree, path: str) -> DataDocument:
    """The file as it is written; ProblemsError where it is not in its format."""
    try:
        return read_document(tree.read(path), path)
    except DocumentError as error:
        rule = rules.CONFIG_SYNTAX if error.is_text else rules.FILE_NOT_UTF8
        problem = rule.problem(error.message, path, error.place, hint=error.hint)
        raise ProblemsError((replace(problem, is_private=True),)) from None


def resolve_service_config(
    document: DataDocument, environ: Mapping[str, str], project: TomlDocument | None
) -> ServiceConfig:
    """What it says, with its variables filled in; ProblemsError with all that is wrong."""
    at = DocumentLocation(document, environ, is_private=True)
    expansion = VariableExpander()
    kind = inspect.type_info(ServiceConfig)
    values = expansion.expanded(kind, document.values, at)
    found = [
        *check_table(ServiceConfig, at),
        *find_unresolved_names(at),
        *find_duplicate_tables(at, project),
        *expansion.problems,
    ]
    if found:
        raise ProblemsError(sort_problems(redact_secrets(found, kind, document.values)))
    return build_table(values, ServiceConfig)


_HIDDEN = "***"
_SHORTEST = 4
"""Anything shorter stands in many words; it is a value where it stands between quotes alone."""
_SHOWN_BITS = 64
"""Larger integers are not told."""
_MOST = 100
"""To look for more of them would take long."""
_UNTOLD = "what is wrong here is told once fewer secrets are written down in this file"


def redact_secrets(found: Iterable[Problem], kind: inspect.Type, values: Any) -> list[Problem]:
    """The problems, without what the values of a file of that type have for secrets."""
    problems = list(found)
    secrets = set(_secrets(kind, values)) if problems else set()
    if not secrets:
        return problems
    if len(secrets) > _MOST:
        return [replace(one, message=_UNTOLD, hint="") for one in problems]
    written = {piece for secret in secrets for piece in _spellings(secret)}
    pieces = re.compile("|".join(map(re.escape, sorted(written, key=len, reverse=True))))
    return [
        replace(one, message=pieces.sub(_HIDDEN, one.message), hint=pieces.sub(_HIDDEN, one.hint)) for one in problems
    ]


def _secrets(kind: inspect.Type, value: Any) -> Iterator[str]:
    """The texts and numbers that stand where the types want a secret."""
    for choice in list_field_types(kind):
        match choice.type, value:
            case inspect.CustomType(cls=wanted), _ if wanted is Secret:
                yield from _leaves(value)
            case inspect.StructType(fields=fields), dict():
                for field in fields:
                    yield from _secrets(field.type, value.get(field.encode_name))
            case inspect.DictType(value_type=inner), dict():
                for one in value.values():
                    yield from _secrets(inner, one)
            case inspect.VarTupleType(item_type=item), list():
                for one in value:
                    yield from _secrets(item, one)


def _leaves(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                yield name
                yield from _leaves(inner)
        case list():
            for inner in value:
                yield from _leaves(inner)
        case str() if value and not is_named(value):
            yield value
        case int() if value.bit_length() < _SHOWN_BITS and not isinstance(value, bool):
            yield str(value)
        case float():
            yield str(value)


def _spellings(secret: str) -> Iterator[str]:
    """How messages write it."""
    shown = quote_text(secret)
    yield from (shown, f"`{secret}`")
    if len(secret) >= _SHORTEST:
        yield from (secret, shown[1:-1])


TablesType = TypeVar("TablesType", bound=Struct)


class _Part:
    """A document less the tables that nobody asks for, with the places in all of it."""

    def __init__(self, tree: Tree, path: str, names: tuple[str, ...]) -> None:
        self._whole = read_service_document(tree, path)
        self.path = path
        self.written = self._whole.values
        self.values = {name: value for name, value in self.written.items() if name in names}
        self.value_place = self._whole.value_place
        self.key_place = self._whole.key_place


def load_service_part(
    kind: type[TablesType],
    tree: Tree,
    environ: Mapping[str, str],
    project_path: str | None = None,
    given: str | None = None,
) -> TablesType | None:
    """The tables that are the fields of this type, None where there is no file; ProblemsError where they are wrong."""
    found = find_service_file(tree, environ, given)
    if not found.path:
        return None
    part = _Part(tree, found.path, kind.__struct_encode_fields__)
    at = DocumentLocation(part, environ, is_private=True)
    expansion = VariableExpander()
    values = expansion.expanded(inspect.type_info(kind), part.values, at)
    project = read_project_file(tree, project_path)
    problems = [*check_table(kind, at), *find_duplicate_tables(at, project), *expansion.problems]
    if problems:
        raise ProblemsError(sort_problems(redact_secrets(problems, inspect.type_info(ServiceConfig), part.written)))
    return build_table(values, kind)


class _Noted(Struct, frozen=True):
    pages: tuple[PagesSection, ...] = ()


def load_service_pages(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None
) -> tuple[NotesRule, ...] | None:
    """Which files are pages, None where nothing is said of that; ProblemsError where that can't be told."""
    ##= man/spec/service.md#configuration
    ##% duvet MUST use the tables `pages`, `ingest` and `store` even when other tables are wrong.
    ##= man/spec/pages.md#files
    ##% Pages MUST be the Markdown files that the configuration names or, by default, those in `docs` that are not
    ##% specifications.
    found = load_service_part(_Noted, tree, environ, project_path)
    return tuple(one.rule() for one in found.pages) or None if found else None


class _Taken(Struct, frozen=True):
    ingest: IngestSection = IngestSection()
    store: StoreSection = StoreSection()


def load_service_ingest(
    tree: Tree, environ: Mapping[str, str], project_path: str | None = None, given: str | None = None
) -> tuple[IngestRule, StoreRule]:
    """What is taken in, and where it is kept; ProblemsError where that can't be told."""
    found = load_service_part(_Taken, tree, environ, project_path, given) or _Taken()
    return found.ingest.rule(environ), found.store.rule()
