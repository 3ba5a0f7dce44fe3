"""The tables of a configuration file in our own schema: upstream's keys and more."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Self

from msgspec import Meta, field
from msgspec.structs import replace

from duvet.config.languages import Language
from duvet.config.schema import (
    HtmlReport,
    NotApplicableRule,
    NotesRule,
    PageRule,
    Report,
    SourceRule,
    Table,
    TableError,
    Words,
)
from duvet.config.server import ServerTable
from duvet.config.tables import (
    Choice,
    ConfigTable,
    Excluded,
    Included,
    Patterns,
    SchemaName,
    SourceTable,
    as_tuple,
    named,
    notes_rule,
)
from duvet.config.wording import missing_field
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY


class ExtendedSource(SourceTable, frozen=True, kw_only=True):
    """Source files, and how their comments are marked."""

    pattern: Annotated[
        Patterns | None,
        Meta(description="Which files, as one pattern of paths or several; by default those of the language"),
    ] = None
    exclude: Excluded = ()
    gitignore: Annotated[
        bool,
        Meta(
            description="Leave out what git ignores, by the `.gitignore` files of the repository and its "
            "`.git/info/exclude`; the `core.excludesFile` of a user doesn't count"
        ),
    ] = False
    language: Annotated[Language | None, Meta(description="The language, for its files and comments")] = None

    def __post_init__(self) -> None:
        if self.pattern is None and self.language is None:
            hint = "name the files, or a `language` that has some"
            raise TableError(CONFIG_MISSING_KEY, missing_field("pattern"), hint)

    def style(self) -> tuple[str, str]:
        ##= man/spec/trace.md#sources
        ##% With `language`, the comment style and the patterns of that language MUST be used where none are given.
        return super().style() if self.language is None else self.language.style

    def settled(self, environ: Mapping[str, str]) -> Self:
        source = super().settled(environ)
        ##= man/spec/trace.md#sources
        ##% With `language`, the comment style and the patterns of that language MUST be used where none are given.
        if source.pattern is None and source.language is not None:
            source = replace(source, pattern=source.language.patterns)
        return source

    def rule(self) -> SourceRule:
        return replace(
            super().rule(),
            exclude=as_tuple(self.exclude),
            gitignore=self.gitignore,
            language="" if self.language is None else self.language.value,
        )


class NotApplicableTable(Table, frozen=True, kw_only=True):
    """Requirements that the project does not owe: they count neither as applicable nor as done."""

    target: Annotated[
        Words,
        Meta(
            description="A specification, or a section as SPEC#SECTION; a numbered section of IETF text stands for "
            "those below it, too"
        ),
    ]
    quote: Annotated[Words | None, Meta(description="The one requirement of the section that is meant")] = None
    reason: Annotated[Words, Meta(description="Why they are not owed")]
    owner: Annotated[str | None, Meta(description="Who decided that")] = None
    expiry: Annotated[date | None, Meta(description="The last day on which that holds, as 2027-12-31")] = None

    def __post_init__(self) -> None:
        if self.quote is not None and not self.target.partition("#")[2]:
            raise TableError(CONFIG_BAD_VALUE, "a quote needs a section", "write the target as SPEC#SECTION")

    def rule(self) -> NotApplicableRule:
        """The rule that this table stands for."""
        return NotApplicableRule(self.target, self.reason, self.quote or "", self.owner or "", self.expiry)


class PagesTable(Table, frozen=True, kw_only=True):
    """Pages: notes in Markdown that link to one another and to requirements."""

    pattern: Included
    exclude: Excluded = ()

    def rule(self) -> NotesRule:
        """The rule that this table stands for."""
        return notes_rule(self.pattern, self.exclude)


class SpecText(Choice):
    """How much of a specification stands in the page."""

    means: bool

    CITED = "cited", False
    FULL = "full", True


class ExtendedHtmlReport(HtmlReport, frozen=True, kw_only=True):
    """The page, and the links that every kind of report shares."""

    title: Annotated[
        str | None, Meta(description="The title of the page; by default it names the repository or the specifications")
    ] = None
    logo: Annotated[
        str | None, Meta(description="Text that stands before the title, such as the name of a company")
    ] = None
    spec_text: Annotated[
        SpecText,
        Meta(
            description="Whether the page holds the whole text of specifications without requirements, or only the "
            "sections that are cited"
        ),
    ] = SpecText.CITED
    snippet_lines: Annotated[
        int, Meta(ge=0, le=50, description="How many lines of the code below a comment the page shows")
    ] = PageRule().snippet_lines
    embed_json: Annotated[
        bool, Meta(description="Put the JSON report into the page as well, for programs that look for it there")
    ] = False

    def rule(self) -> PageRule:
        """The rule that this table stands for."""
        return PageRule(
            title=self.title or "",
            logo=self.logo or "",
            whole_text=self.spec_text.means,
            snippet_lines=self.snippet_lines,
            embeds_json=self.embed_json,
        )


class ExtendedReport(Report, frozen=True, kw_only=True):
    """The reports that every run writes."""

    html: Annotated[ExtendedHtmlReport, Meta(description="The HTML report")] = ExtendedHtmlReport()


# The keywords of JSON Schema for what `__post_init__` checks.
_ONE_OF_BOTH = {"anyOf": [{"required": ["pattern"]}, {"required": ["language"]}]}
_Source = Annotated[ExtendedSource, Meta(extra_json_schema=_ONE_OF_BOTH)]
_SECTION_OF_QUOTE = {"if": {"required": ["quote"]}, "then": {"properties": {"target": {"pattern": r"#[\s\S]"}}}}
_NotApplicable = Annotated[NotApplicableTable, Meta(extra_json_schema=_SECTION_OF_QUOTE)]


##= man/spec/trace.md#configuration
##% A configuration with our own schema MUST accept every key of the other one.
class ExtendedConfig(ConfigTable, frozen=True, kw_only=True):
    """The configuration of duvet."""

    source: Annotated[tuple[_Source, ...], Meta(description="Source files to scan")] = ()
    schema: Annotated[SchemaName, named(extended=True)] = field(name="$schema")
    report: Annotated[ExtendedReport, Meta(description="Reports to write")] = ExtendedReport()
    not_applicable: Annotated[tuple[_NotApplicable, ...], Meta(description="Requirements that are not owed")] = ()

    server: Annotated[ServerTable, Meta(description="The server for agents")] = ServerTable()
    pages: Annotated[
        tuple[PagesTable, ...],
        Meta(description="Notes in Markdown; by default those in `docs` that are no specification"),
    ] = ()

    def not_owed(self) -> tuple[NotApplicableRule, ...]:
        return tuple(one.rule() for one in self.not_applicable)

    def page(self) -> PageRule:
        return self.report.html.rule()

    def notes(self) -> tuple[NotesRule, ...] | None:
        return tuple(one.rule() for one in self.pages) or None
