"""Finds and reads the configuration file of a project, and declares the tables of awslabs duvet's schema."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
import os
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Self

from msgspec import Meta, ValidationError, convert, field
from msgspec.structs import replace

from duvet import rules
from duvet.config import settings
from duvet.config.document import DocumentError, DocumentLocation, ExpressionError, expand_template
from duvet.config.settings import CONFIG_PATH, Table, doc
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.errors import ConfigAbsentError, ProblemsError
from duvet.model import Format, Kind, sort_problems
from duvet.tree.files import Tree


class SchemaName(StrEnum):
    """The schema of this file, which determines the keys that the file may contain."""

    V0_4_0 = "https://awslabs.github.io/duvet/config/v0.4.0.json"
    V0_4_0_HASH = "https://awslabs.github.io/duvet/config/v0.4.0.json#"
    V0_4 = "https://awslabs.github.io/duvet/config/v0.4.json"
    V0_4_HASH = "https://awslabs.github.io/duvet/config/v0.4.json#"
    EXTENDED = settings.EXTENDED_SCHEMA


_UPSTREAM_NAMES = [name.value for name in SchemaName if name is not SchemaName.EXTENDED]


class SourceType(StrEnum):
    """The default type of annotations."""

    IMPLEMENTATION = "implementation"
    SPEC = "spec"
    TEST = "test"
    EXCEPTION = "exception"
    TODO = "todo"
    IMPLICATION = "implication"


class FormatName(StrEnum):
    """The format of a specification."""

    IETF_CAPITALS = "IETF"
    IETF = "ietf"
    MARKDOWN = "markdown"
    MD = "md"


class StyleTable(Table, frozen=True, kw_only=True):
    """The prefixes of annotation comments."""

    meta: Annotated[
        str | None,
        doc("Prefix of lines with the target or a field; by default `//=`, or the prefix of the source's language"),
    ] = None
    content: Annotated[
        str | None, doc("Prefix of lines with the quote; by default `//#`, or the prefix of the source's language")
    ] = None


class SourceTable(Table, frozen=True, kw_only=True):
    """A `source` table, in either schema."""

    pattern: Annotated[str | tuple[str, ...] | None, doc("Glob pattern of the files, or a list of patterns")] = None
    comment_style: Annotated[StyleTable, doc("Prefixes of annotation comments")] = StyleTable()
    type: Annotated[SourceType, doc("Default type of the annotations")] = SourceType.IMPLEMENTATION
    blob_link: Annotated[settings.TemplateText | None, doc("Base URL of links to these source files")] = None

    def settled(self, environ: Mapping[str, str], default: tuple[str, str] = settings.DEFAULT_STYLE) -> Self:
        meta, content = self.comment_style.meta, self.comment_style.content
        style = StyleTable(
            meta=default[0] if meta is None else meta, content=default[1] if content is None else content
        )
        return replace(self, comment_style=style, blob_link=_expand(self.blob_link, environ))

    def rule(self) -> settings.SourceRule:
        """Call `settled` first."""
        return settings.SourceRule(
            patterns=settings.make_pattern_tuple(self.pattern),
            meta=self.comment_style.meta or "",
            content=self.comment_style.content or "",
            kind=Kind.CITATION if self.type is SourceType.IMPLEMENTATION else Kind[self.type.name],
            blob_link=self.blob_link,
        )


class UpstreamSource(SourceTable, frozen=True, kw_only=True):
    """Source files, and the comment style of their annotations."""

    pattern: Annotated[str, doc("Glob pattern of the files")]


class RequirementTable(Table, frozen=True, kw_only=True):
    """Requirement files in addition to the built-in ones."""

    pattern: Annotated[str, doc("Glob pattern of the files")]


class SpecificationTable(Table, frozen=True, kw_only=True):
    """A specification whose requirements are extracted."""

    source: Annotated[str, doc("URL, or path in the project")] = ""
    format: Annotated[FormatName | None, doc("Format of the specification; detected by default")] = None

    def rule(self) -> settings.SpecificationRule:
        if self.format is None:
            return settings.SpecificationRule(self.source)
        is_markdown = self.format in (FormatName.MARKDOWN, FormatName.MD)
        return settings.SpecificationRule(self.source, Format.MARKDOWN if is_markdown else Format.IETF)


Bound = Annotated[int, Meta(ge=1)]


class DuplicateClaimsTable(Table, frozen=True, kw_only=True):
    """Limits on annotations of the same text, for awslabs duvet. duvet accepts the table but ignores it."""

    test: Annotated[Bound, doc("Number of tests that may quote the same text; ignored by duvet")] = 1
    implementation: Annotated[
        Bound, doc("Number of implementations that may quote the same text; ignored by duvet")
    ] = 1
    types: Annotated[
        tuple[str, ...], doc("Types that may quote the same text, such as `test+implementation`; ignored by duvet")
    ] = ()


class DuplicateTargetsTable(Table, frozen=True, kw_only=True):
    """Limits on annotations of the same line of code, for awslabs duvet. duvet accepts the table but ignores it."""

    count: Annotated[
        Bound | None, doc("Number of annotations that may refer to one line of code; ignored by duvet")
    ] = None
    sections: Annotated[Bound | None, doc("Number of sections that one line of code may cite; ignored by duvet")] = None
    types: Annotated[
        tuple[str, ...],
        doc("Types that may refer to the same line of code, such as `exception+test`; ignored by duvet"),
    ] = ()


class DuplicatesTable(Table, frozen=True, kw_only=True):
    """Limits on duplicates, for later versions of awslabs duvet. duvet accepts these tables but ignores them."""

    claims: Annotated[DuplicateClaimsTable, doc("Limits on annotations of the same text; ignored by duvet")] = (
        DuplicateClaimsTable()
    )
    targets: Annotated[
        DuplicateTargetsTable, doc("Limits on annotations of the same line of code; ignored by duvet")
    ] = DuplicateTargetsTable()


class ConfigTable(Table, frozen=True, kw_only=True):
    """A whole configuration, in either schema."""

    source: Annotated[tuple[SourceTable, ...], doc("Source files to scan for annotations")] = ()
    requirement: Annotated[tuple[RequirementTable, ...], doc("Additional requirement files to read")] = ()
    report: Annotated[settings.Report, doc("Reports to write")] = settings.Report()
    specification: Annotated[tuple[SpecificationTable, ...], doc("Specifications to trace")] = ()
    duplicates: Annotated[DuplicatesTable, doc("Limits on duplicates, for awslabs duvet; ignored by duvet")] = (
        DuplicatesTable()
    )
    schema: Annotated[SchemaName, doc("Schema of this file")] = field(name="$schema")

    def settled(self, environ: Mapping[str, str]) -> Self:
        html = self.report.html
        links = {"blob_link": _expand(html.blob_link, environ), "issue_link": _expand(html.issue_link, environ)}
        return replace(
            self,
            source=tuple(source.settled(environ) for source in self.source),
            report=replace(self.report, html=replace(html, **links)),
        )

    def resolve(self, path: str, toml: TomlDocument) -> settings.Config:
        """Call `settled` first."""
        return settings.Config(
            path=path,
            schema=self.schema.value,
            extended=self.schema is SchemaName.EXTENDED,
            sources=tuple(source.rule() for source in self.source),
            requirements=settings.BUILT_IN_REQUIREMENTS
            + tuple(requirement.pattern for requirement in self.requirement),
            specifications=tuple(specification.rule() for specification in self.specification),
            report=self.report,
            toml=toml,
        )


class UpstreamConfig(ConfigTable, frozen=True, kw_only=True):
    """The configuration of a project."""

    source: Annotated[tuple[UpstreamSource, ...], doc("Source files to scan for annotations")] = ()
    schema: Annotated[SchemaName, Meta(extra_json_schema={"enum": _UPSTREAM_NAMES})] = field(name="$schema")


def _expand(template: str | None, environ: Mapping[str, str]) -> str | None:
    return None if template is None else expand_template(template, environ)[0]


def find_config(tree: Tree, config_path: str | None = None) -> str | None:
    return config_path or (CONFIG_PATH if tree.exists(CONFIG_PATH) else None)


def require_config(tree: Tree, config_path: str | None = None) -> str:
    if found := find_config(tree, config_path):
        return found
    message = "no configuration in this folder or above it"
    raise ConfigAbsentError(message, path=CONFIG_PATH, hint="create one with `duvet init`")


def read_config(data: bytes, path: str, environ: Mapping[str, str]) -> settings.Config:
    try:
        toml = parse_toml_bytes(data, path)
        tables, toml = _convert_tables(toml, environ)
        return tables.resolve(path, toml)
    except (DocumentError, ProblemsError) as error:
        name = os.path.basename(path)
        problems = (error.make_problem(),) if isinstance(error, DocumentError) else error.problems
        if name.startswith(("duvet.", "contextive.")) and ".config." in name:
            message = "this is a service configuration, not a project's configuration"
            hint = "pass it with `--service-config` to a command that reads it, such as `duvet mcp`, and leave out `--config`"
            problems = (rules.CONFIG_BAD_VALUE.problem(message, path, hint=hint),)
        raise ProblemsError(problems) from None


def read_tables(toml: TomlDocument, environ: Mapping[str, str]) -> ConfigTable:
    return _convert_tables(toml, environ)[0]


def _convert_tables(toml: TomlDocument, environ: Mapping[str, str]) -> tuple[ConfigTable, TomlDocument]:
    name = toml.values.get("$schema")
    ##= man/spec/trace.md#configuration
    ##% duvet MUST read a configuration with awslabs duvet's schema exactly as awslabs duvet does.
    if name in _UPSTREAM_NAMES:
        table: type[ConfigTable] = UpstreamConfig
    else:
        from duvet.config.duvet_tables import ExtendedConfig

        ##= man/spec/trace.md#configuration
        ##% duvet's own schema MUST accept every key of awslabs duvet's schema.
        table = ExtendedConfig
    try:
        return convert(toml.values, table).settled(environ), toml
    except (ValidationError, ExpressionError):
        from duvet.config.check import check_table, respell_project_keys

        respelled = respell_project_keys(toml)
        if respelled is not toml:
            return _convert_tables(respelled, environ)
        raise ProblemsError(sort_problems(check_table(table, DocumentLocation(toml, environ)))) from None
