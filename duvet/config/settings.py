"""The resolved configuration that other packages use, and tables that several configurations share."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
import posixpath
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from duvet.model import Format, Kind, Place, RequirementForm
from duvet.rules import CONFIG_BAD_VALUE, Rule
from duvet.version import VERSION

if TYPE_CHECKING:
    from duvet.config.toml import TomlDocument

CONFIG_PATH = ".duvet/config.toml"
DOCUMENT_ENDINGS = ("json", "yaml", "yml", "toml")  # The extensions of service configurations.
BUILT_IN_REQUIREMENTS = (".duvet/requirements/**/*.toml", ".duvet/todos/**/*.toml", ".duvet/exceptions/**/*.toml")

DEFAULT_STYLE = DEFAULT_META, DEFAULT_CONTENT = "//=", "//#"

EXTENDED_SCHEMA = "duvet-cli/config/v1"  # The name of duvet's own schema.

TemplateText = Annotated[str, Meta(extra={"template": True})]
"""Text in which `${{ NAME }}` stands for an environment variable."""

NonBlankText = Annotated[str, Meta(pattern=r"\S")]

ExpandedText = Annotated[NonBlankText, Meta(extra={"expands": True})]
"""Text in which `$NAME` and `${NAME}` are replaced with environment variables, and `$$` with a dollar sign."""


def doc(description: str, **constraints: Any) -> Meta:
    return Meta(description=description, **constraints)


class SourceRule(Struct, frozen=True):
    """Files to scan for comments, and their comment style."""

    patterns: tuple[str, ...]
    meta: str = DEFAULT_META
    content: str = DEFAULT_CONTENT
    kind: Kind = Kind.CITATION  # The default type of annotations.
    blob_link: str | None = None
    exclude: tuple[str, ...] = ()
    gitignore: bool = False
    language: str = ""


class SpecificationRule(Struct, frozen=True):
    source: str  # A URL, or a path in the project.
    format: Format = Format.AUTO
    form: RequirementForm = RequirementForm()
    has_keywords: bool = False  # Whether the configuration says which keywords count.


PatternSetting = str | Annotated[tuple[str, ...], Meta(min_length=1)]
Excluded = Annotated[str | tuple[str, ...], doc("Glob pattern of files or folders to skip, or a list of patterns")]


def make_pattern_tuple(pattern: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if pattern is None:
        return ()
    return (pattern,) if isinstance(pattern, str) else pattern


DEFAULT_PACKS = ("trace",)
RECIPE_FOLDERS = ("recipes", ".duvet/recipes")


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    pass


class TableError(ValueError):
    """Raised for a table that is invalid although the type of each value is right."""

    def __init__(self, rule: Rule, message: str, hint: str, key: str = "") -> None:
        super().__init__(message)
        self.rule = rule
        self.hint = hint
        self.key = key
        """The invalid key; empty if the whole table is invalid."""


class ProtocolVersion(StrEnum):
    """The protocol versions that a handshake can agree on."""

    FIRST = "2024-11-05"
    SECOND = "2025-03-26"
    THIRD = "2025-06-18"
    FOURTH = "2025-11-25"


class PackName(StrEnum):
    """The built-in tool packs."""

    TRACE = "trace"
    PAGES = "pages"
    KNOWLEDGE = "knowledge"
    INTROSPECT = "introspect"


# The server tables of both files share these.
SERVER_NAME = doc("Name that identifies the server to clients")
SERVER_TITLE = doc("Display name of the server")
SERVER_VERSION = doc("Version that the server reports")
SERVER_DESCRIPTION = doc("One-sentence description of the server")
ProtocolVersionSetting = Annotated[
    ProtocolVersion | None,
    doc("MCP version that the server returns in every handshake; by default the version that the client requests"),
]
PageSize = Annotated[int, doc("Entries per page of a list, unless the call sets a limit; 0 means all", ge=0, le=10_000)]


class ServerTable(Table, frozen=True, kw_only=True):
    """Identity and limits of the server that `duvet mcp` runs."""

    name: Annotated[NonBlankText, SERVER_NAME] = "duvet"
    title: Annotated[NonBlankText, SERVER_TITLE] = "duvet: requirements traceability"
    version: Annotated[NonBlankText, SERVER_VERSION] = VERSION
    description: Annotated[NonBlankText, SERVER_DESCRIPTION] = (
        "Links the requirements of specifications to the code that implements and tests them"
    )
    protocol_version: ProtocolVersionSetting = None
    page_size: PageSize = 50
    packs: Annotated[tuple[PackName, ...], doc("Tool packs to enable")] = (PackName.TRACE,)


class HtmlReport(Table, frozen=True, kw_only=True):
    """The HTML report, and the base URLs that the JSON reports share with it."""

    enabled: Annotated[bool, doc("Write the HTML report")] = True
    path: Annotated[str, doc("Path of the HTML report")] = ".duvet/reports/report.html"
    blob_link: Annotated[TemplateText | None, doc("Base URL of links to source files")] = None
    issue_link: Annotated[TemplateText | None, doc("Base URL of links to issues")] = None


class SpecText(StrEnum):
    """The parts of a specification that the HTML report contains."""

    CITED = "cited"
    FULL = "full"


class ExtendedHtmlReport(HtmlReport, frozen=True, kw_only=True):
    """The HTML report, and the base URLs that the JSON reports share with it."""

    title: Annotated[
        str | None, doc("Title of the report; by default, it names the repository or the specifications")
    ] = None
    logo: Annotated[str | None, doc("Text before the title, such as a company name")] = None
    spec_text: Annotated[
        SpecText, doc("For specifications without requirements: `full` shows all sections, `cited` only cited ones")
    ] = SpecText.CITED
    snippet_lines: Annotated[int, doc("Lines of code to show below each annotation", ge=0, le=50)] = 6
    embed_json: Annotated[bool, doc("Embed the JSON report, for programs that read it from the HTML")] = False


class JsonReport(Table, frozen=True, kw_only=True):
    """The report as JSON."""

    enabled: Annotated[bool, doc("Write the JSON report")] = False
    path: Annotated[str, doc("Path of the JSON report")] = ".duvet/reports/report.json"


class SnapshotReport(Table, frozen=True, kw_only=True):
    """The snapshot of coverage, a text file to commit."""

    enabled: Annotated[bool, doc("Write the snapshot; with `--ci`, compare the coverage with it instead")] = False
    path: Annotated[str, doc("Path of the snapshot")] = ".duvet/snapshot.txt"


class Report(Table, frozen=True, kw_only=True):
    """The reports that `duvet report` writes."""

    html: Annotated[HtmlReport, doc("The HTML report")] = HtmlReport()
    json: Annotated[JsonReport, doc("The JSON report")] = JsonReport()
    snapshot: Annotated[SnapshotReport, doc("The coverage snapshot")] = SnapshotReport()


class NotApplicableTable(Table, frozen=True, kw_only=True):
    """Requirements that don't apply to the project. Counts and gates exclude them."""

    target: Annotated[
        NonBlankText,
        doc("Specification, or section as SPEC#SECTION; a section of an IETF document includes its subsections"),
    ]
    quote: Annotated[
        NonBlankText | None,
        doc("Text of one requirement; by default, the entry applies to all requirements of the target"),
    ] = None
    reason: Annotated[NonBlankText, doc("Reason why the requirements don't apply")]
    owner: Annotated[str | None, doc("Person or team that made the decision")] = None
    expiry: Annotated[date | None, doc("Last day on which the entry is valid, such as 2027-12-31")] = None

    def __post_init__(self) -> None:
        if self.quote is not None and not self.target.partition("#")[2]:
            hint = "write the target as SPEC#SECTION"
            raise TableError(CONFIG_BAD_VALUE, "`quote` requires a section in `target`", hint)


class PagesTable(Table, frozen=True, kw_only=True):
    """Pages: Markdown notes that link to each other and to requirements."""

    # Not `NonBlankText`: with that type in a union, msgspec 0.22 sometimes crashes the interpreter at exit.
    pattern: Annotated[PatternSetting, doc("Glob pattern of the files, or a list of patterns")]
    exclude: Excluded = ()


class Config(Struct, frozen=True):
    """A configuration file of a project."""

    path: str
    schema: str
    extended: bool
    sources: tuple[SourceRule, ...]
    requirements: tuple[str, ...]  # Patterns of requirement files; the built-in ones come first.
    specifications: tuple[SpecificationRule, ...]
    report: Report
    toml: "TomlDocument"  # The file with the places of its values.
    not_applicable: tuple[NotApplicableTable, ...] = ()
    notes: tuple[PagesTable, ...] | None = None
    """The `pages` tables; None if the file has none."""
    writes_requirements: bool = True  # Whether `duvet report` writes extracted requirements to files.

    @property
    def specifications_folder(self) -> str:
        return posixpath.join(posixpath.dirname(self.path), "specifications")

    @property
    def requirements_folder(self) -> str:
        return posixpath.join(posixpath.dirname(self.path), "requirements")

    def requirement_place(self, index: int) -> Place:
        """Return the place of a requirement file pattern; line 0 stands for a built-in pattern."""
        written = index - len(BUILT_IN_REQUIREMENTS)
        return Place() if written < 0 else self.toml.value_place("requirement", written, "pattern")
