"""The tables of a configuration file under our own schema."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from msgspec import Meta, field
from msgspec.structs import replace

from duvet.config import project_file, settings
from duvet.config.fields import describe_missing_field
from duvet.config.languages import Language
from duvet.config.toml import TomlDocument
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY

_DEFAULT = settings.ServerRule()


class ProtocolVersion(StrEnum):
    """The versions of the protocol that are agreed on in a handshake."""

    FIRST = "2024-11-05"
    SECOND = "2025-03-26"
    THIRD = "2025-06-18"
    FOURTH = "2025-11-25"


class PackName(StrEnum):
    """What tools are switched on by."""

    TRACE = "trace"
    PAGES = "pages"
    KNOWLEDGE = "knowledge"
    INTROSPECT = "introspect"


# Shared by the server tables of both files.
SERVER_NAME = settings.doc("What the server is called")
SERVER_TITLE = settings.doc("What people see as its name")
SERVER_VERSION = settings.doc("The version that it says it has; by default that of duvet")
SERVER_DESCRIPTION = settings.doc("What it is for, in a sentence")
ProtocolVersionSetting = Annotated[
    ProtocolVersion | None,
    settings.doc(
        "The version of the protocol that every handshake is answered with; by default it is the one that the "
        "client asks for"
    ),
]
PageSize = Annotated[
    int, settings.doc("How many entries of a list an answer holds unless more are asked for; 0 is all", ge=0, le=10_000)
]


class ServerTable(settings.Table, frozen=True, kw_only=True):
    """What `duvet mcp` says of itself, and how much it offers."""

    name: Annotated[settings.NonBlankText, SERVER_NAME] = _DEFAULT.name
    title: Annotated[settings.NonBlankText, SERVER_TITLE] = _DEFAULT.title
    version: Annotated[settings.NonBlankText, SERVER_VERSION] = _DEFAULT.version
    description: Annotated[settings.NonBlankText, SERVER_DESCRIPTION] = _DEFAULT.description
    protocol_version: ProtocolVersionSetting = None
    page_size: PageSize = _DEFAULT.page_size
    packs: Annotated[tuple[PackName, ...], settings.doc("Which packs of tools are switched on")] = (PackName.TRACE,)

    @property
    def pack_names(self) -> tuple[str, ...]:
        return tuple(pack.value for pack in self.packs)


class ExtendedSource(project_file.SourceTable, frozen=True, kw_only=True):
    """Source files, and how their comments are marked."""

    pattern: Annotated[
        project_file.PatternSetting | None,
        settings.doc("Which files, as one pattern of paths or several; by default those of the language"),
    ] = None
    exclude: project_file.Excluded = ()
    gitignore: Annotated[
        bool,
        settings.doc(
            "Leave out what git ignores, by the `.gitignore` files of the repository and its "
            "`.git/info/exclude`; the `core.excludesFile` of a user doesn't count"
        ),
    ] = False
    language: Annotated[Language | None, settings.doc("The language, for its files and comments")] = None

    def __post_init__(self) -> None:
        if self.pattern is None and self.language is None:
            hint = "name the files, or a `language` that has some"
            raise settings.TableError(CONFIG_MISSING_KEY, describe_missing_field("pattern"), hint)

    def style(self) -> tuple[str, str]:
        ##= man/spec/trace.md#sources
        ##% With `language`, duvet MUST use the comment style and patterns of that language unless others are given.
        return super().style() if self.language is None else self.language.style

    def settled(self, environ: Mapping[str, str]) -> Self:
        source = super().settled(environ)
        if source.pattern is None and source.language is not None:
            source = replace(source, pattern=source.language.patterns)
        return source

    def rule(self) -> settings.SourceRule:
        return replace(
            super().rule(),
            exclude=project_file.make_pattern_tuple(self.exclude),
            gitignore=self.gitignore,
            language="" if self.language is None else self.language.value,
        )


class NotApplicableTable(settings.Table, frozen=True, kw_only=True):
    """Requirements that the project does not owe: they count neither as applicable nor as done."""

    target: Annotated[
        settings.NonBlankText,
        settings.doc(
            "A specification, or a section as SPEC#SECTION; a numbered section of IETF text stands for "
            "those below it, too"
        ),
    ]
    quote: Annotated[settings.NonBlankText | None, settings.doc("The one requirement of the section that is meant")] = (
        None
    )
    reason: Annotated[settings.NonBlankText, settings.doc("Why they are not owed")]
    owner: Annotated[str | None, settings.doc("Who decided that")] = None
    expiry: Annotated[date | None, settings.doc("The last day on which that holds, as 2027-12-31")] = None

    def __post_init__(self) -> None:
        if self.quote is not None and not self.target.partition("#")[2]:
            raise settings.TableError(CONFIG_BAD_VALUE, "a quote needs a section", "write the target as SPEC#SECTION")

    def rule(self) -> settings.NotApplicableRule:
        return settings.NotApplicableRule(self.target, self.reason, self.quote or "", self.owner or "", self.expiry)


class PagesTable(settings.Table, frozen=True, kw_only=True):
    """Pages: notes in Markdown that link to one another and to requirements."""

    # Not `NonBlankText`: with that in a union, msgspec 0.22 sometimes crashes the interpreter at its end.
    pattern: project_file.Included
    exclude: project_file.Excluded = ()

    def rule(self) -> settings.NotesRule:
        return settings.NotesRule(
            patterns=project_file.make_pattern_tuple(self.pattern),
            exclude=project_file.make_pattern_tuple(self.exclude),
        )


class SpecText(project_file.ConfigChoice):
    """How much of a specification stands in the page."""

    means: bool

    CITED = "cited", False
    FULL = "full", True


class ExtendedHtmlReport(settings.HtmlReport, frozen=True, kw_only=True):
    """The page, and the links that every kind of report shares."""

    title: Annotated[
        str | None, settings.doc("The title of the page; by default it names the repository or the specifications")
    ] = None
    logo: Annotated[str | None, settings.doc("Text that stands before the title, such as the name of a company")] = None
    spec_text: Annotated[
        SpecText,
        settings.doc(
            "Whether the page holds the whole text of specifications without requirements, or only the "
            "sections that are cited"
        ),
    ] = SpecText.CITED
    snippet_lines: Annotated[
        int, settings.doc("How many lines of the code below a comment the page shows", ge=0, le=50)
    ] = settings.PageRule().snippet_lines
    embed_json: Annotated[
        bool, settings.doc("Put the JSON report into the page as well, for programs that look for it there")
    ] = False

    def rule(self) -> settings.PageRule:
        return settings.PageRule(
            title=self.title or "",
            logo=self.logo or "",
            whole_text=self.spec_text.means,
            snippet_lines=self.snippet_lines,
            embeds_json=self.embed_json,
        )


class ExtendedReport(settings.Report, frozen=True, kw_only=True):
    """The reports that every run writes."""

    html: Annotated[ExtendedHtmlReport, settings.doc("The HTML report")] = ExtendedHtmlReport()


# The keywords of JSON Schema for what `__post_init__` checks.
_ONE_OF_BOTH = {"anyOf": [{"required": ["pattern"]}, {"required": ["language"]}]}
_Source = Annotated[ExtendedSource, Meta(extra_json_schema=_ONE_OF_BOTH)]
_SECTION_OF_QUOTE = {"if": {"required": ["quote"]}, "then": {"properties": {"target": {"pattern": r"#[\s\S]"}}}}
_NotApplicable = Annotated[NotApplicableTable, Meta(extra_json_schema=_SECTION_OF_QUOTE)]


##= man/spec/trace.md#configuration
##% duvet MUST read a configuration with the schema of awslabs duvet as awslabs duvet does, and accept the same keys in
##% its own schema.
class ExtendedConfig(project_file.ConfigTable, frozen=True, kw_only=True):
    """The configuration of duvet."""

    source: Annotated[tuple[_Source, ...], settings.doc("Source files to scan")] = ()
    schema: Annotated[project_file.SchemaName, project_file.restrict_schema_names(extended=True)] = field(
        name="$schema"
    )
    report: Annotated[ExtendedReport, settings.doc("Reports to write")] = ExtendedReport()
    not_applicable: Annotated[tuple[_NotApplicable, ...], settings.doc("Requirements that are not owed")] = ()

    server: Annotated[ServerTable, settings.doc("The server for agents")] = ServerTable()
    pages: Annotated[
        tuple[PagesTable, ...], settings.doc("Notes in Markdown; by default those in `docs` that are no specification")
    ] = ()

    def resolve(self, path: str, toml: TomlDocument) -> settings.Config:
        return replace(
            super().resolve(path, toml),
            not_applicable=tuple(one.rule() for one in self.not_applicable),
            page=self.report.html.rule(),
            notes=tuple(one.rule() for one in self.pages) or None,
        )
