"""The resolved configuration, as every other package sees it."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from collections.abc import Mapping
from datetime import date
from typing import Annotated

from msgspec import Meta, Struct

from duvet.config.toml import TomlDocument
from duvet.model import Format, Kind, Place
from duvet.rules import Rule
from duvet.tree.files import STORE_FOLDER
from duvet.version import VERSION

BUILT_IN_REQUIREMENTS = (
    ".duvet/requirements/**/*.toml",
    ".duvet/todos/**/*.toml",
    ".duvet/exceptions/**/*.toml",
)

DEFAULT_META, DEFAULT_CONTENT = "//=", "//#"

EXTENDED_SCHEMA = "duvet-cli/config/v1"
"""The name of our own schema."""

TemplateText = Annotated[str, Meta(extra={"template": True})]
"""Text in which `${{ NAME }}` stands for an environment variable."""

NonBlankText = Annotated[str, Meta(pattern=r"\S")]
"""Text that is not blank."""


class SourceRule(Struct, frozen=True):
    """Which files to scan for comments, and how."""

    patterns: tuple[str, ...]
    meta: str = DEFAULT_META
    content: str = DEFAULT_CONTENT
    kind: Kind = Kind.CITATION
    """What a comment is that does not say its type."""
    blob_link: str | None = None
    exclude: tuple[str, ...] = ()
    gitignore: bool = False
    language: str = ""


class SpecificationRule(Struct, frozen=True):
    """A specification whose requirements are extracted."""

    source: str
    """A URL, or a path in the project."""
    format: Format = Format.AUTO


class NotApplicableRule(Struct, frozen=True):
    """Requirements that the project does not owe."""

    target: str
    """A specification, or a section of one."""
    reason: str
    quote: str = ""
    owner: str = ""
    expiry: date | None = None
    """The last day on which that holds."""


class NotesRule(Struct, frozen=True, kw_only=True):
    """Which files are pages: notes in Markdown that link to one another and to requirements."""

    patterns: tuple[str, ...]
    exclude: tuple[str, ...] = ()


EDITOR_FIELDS = ("abs_path", "path", "line_start", "line_end", "name")
"""What a template of a URI may hold between braces that opens a place in an editor."""


class IngestRule(Struct, frozen=True, kw_only=True):
    """What is taken in of a project, and how."""

    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = 1 << 20
    """Larger files are known by name alone."""
    symbols: bool | None = None
    """Whether to look for what code declares; None is: where that can be done."""
    semantic: bool | None = None
    """Whether to make vectors; None is: where that can be done."""
    profile: str = ""
    """What runs are called that are called nothing else; empty where nobody says."""
    stale_days: int = 30
    """After so many days without a change something is old."""
    editor_uri: str | None = None
    """What opens a place in an editor, with fields such as `{abs_path}` and `{line_start}`."""


class StoreRule(Struct, frozen=True, kw_only=True):
    """Where what is taken in is kept."""

    path: str = f"{STORE_FOLDER}/store.db"
    backups: str = ""
    """The folder of backups; empty is `backups` beside the store."""


class SearchRule(Struct, frozen=True, kw_only=True):
    """What counts, besides the words, in a search in all of that."""

    profile: str = "default"
    """What the weights are called together."""
    weights: Mapping[str, float] = {}
    """Those that are others than the profile says."""
    feedback: bool = False
    """Whether the votes of those who have searched count."""


class PageRule(Struct, frozen=True, kw_only=True):
    """What the page shows beside the trace, and how much of it."""

    title: str = ""
    logo: str = ""
    whole_text: bool = False
    """Whether the text of specifications is there where nothing cites it."""
    snippet_lines: int = 6
    embeds_json: bool = False


class ServerRule(Struct, frozen=True, kw_only=True):
    """What the server says of itself, and how much it offers."""

    name: str = "duvet"
    title: str = "duvet: requirements traceability"
    version: str = VERSION
    description: str = "Links the requirements of specifications to the code that implements and tests them"
    protocol_version: str | None = None
    """The one version to answer a handshake with; None where it is negotiated."""
    page_size: int = 50
    """How many entries of a list an answer holds unless more are asked for; 0 is all."""
    packs: tuple[str, ...] = ("trace",)
    """Which tools are switched on."""


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    """A table of the file, with its keys as they are written there."""


class TableError(ValueError):
    """What is wrong with a table whose values are each right."""

    def __init__(self, rule: Rule, message: str, hint: str, key: str = "") -> None:
        super().__init__(message)
        self.rule = rule
        self.hint = hint
        self.key = key
        """The key that is to blame, as it is written in the file; empty for the whole table."""


class HtmlReport(Table, frozen=True, kw_only=True):
    """The page, and the links that every kind of report shares."""

    enabled: Annotated[bool, Meta(description="Write the HTML report")] = True
    path: Annotated[str, Meta(description="Where the HTML report is written")] = ".duvet/reports/report.html"
    blob_link: Annotated[TemplateText | None, Meta(description="The URL below which sources can be read")] = None
    issue_link: Annotated[TemplateText | None, Meta(description="The URL where issues are opened")] = None


class JsonReport(Table, frozen=True, kw_only=True):
    """The report as JSON."""

    enabled: Annotated[bool, Meta(description="Write the JSON report")] = False
    path: Annotated[str, Meta(description="Where the JSON report is written")] = ".duvet/reports/report.json"


class SnapshotReport(Table, frozen=True, kw_only=True):
    """The text that is committed to see coverage change."""

    enabled: Annotated[bool, Meta(description="Write the snapshot, or check it in CI")] = False
    path: Annotated[str, Meta(description="Where the snapshot is written")] = ".duvet/snapshot.txt"


class Report(Table, frozen=True, kw_only=True):
    """The reports that every run writes."""

    html: Annotated[HtmlReport, Meta(description="The HTML report")] = HtmlReport()
    json: Annotated[JsonReport, Meta(description="The JSON report")] = JsonReport()
    snapshot: Annotated[SnapshotReport, Meta(description="The snapshot of coverage")] = SnapshotReport()


class Config(Struct, frozen=True):
    """One configuration file."""

    path: str
    schema: str
    extended: bool
    sources: tuple[SourceRule, ...]
    requirements: tuple[str, ...]
    """Patterns of requirement files, the built-in ones first."""
    specifications: tuple[SpecificationRule, ...]
    report: Report
    toml: TomlDocument
    """The file, to find places in."""
    not_applicable: tuple[NotApplicableRule, ...] = ()
    page: PageRule = PageRule()
    notes: tuple[NotesRule, ...] | None = None
    """Which files are pages; None where nothing is said of that."""

    @property
    def specifications_folder(self) -> str:
        """Where downloaded specifications are kept."""
        return self._beside("specifications")

    @property
    def requirements_folder(self) -> str:
        """Where extracted requirements are written."""
        return self._beside("requirements")

    @property
    def finds_extracted(self) -> bool:
        """Whether a built-in pattern finds the requirements that are extracted."""
        return f"{self.requirements_folder}/**/*.toml" in BUILT_IN_REQUIREMENTS

    def source_place(self, source: int, key: str = "pattern", index: int = 0) -> Place:
        """Where a value of a source stands, or else the source itself."""
        return self.toml.value_place("source", source, key, index)

    def requirement_place(self, index: int) -> Place:
        """Where a pattern of requirement files stands; line 0 for a built-in one."""
        written = index - len(BUILT_IN_REQUIREMENTS)
        return Place() if written < 0 else self.toml.value_place("requirement", written, "pattern")

    def specification_place(self, index: int) -> Place:
        """Where the source of a specification stands."""
        return self.toml.value_place("specification", index, "source")

    def not_applicable_place(self, index: int, key: str) -> Place:
        """Where a key of what is not applicable stands."""
        return self.toml.value_place("not-applicable", index, key)

    def _beside(self, name: str) -> str:
        folder, slash, _ = self.path.rpartition("/")
        return f"{folder}{slash}{name}"


class UploadRule(Struct, frozen=True, kw_only=True):
    """Where they go, and what becomes of them."""

    root: str = ""
    """The folder that they stay in; empty is the project."""
    root_said_by: str = ""
    """What has said so."""
    docs_subdir: str = "docs"
    """Where in it they go where nobody says."""
    overwrite: bool = False
    """Whether they replace others where nobody says."""
    ingest: bool = False
    """Whether they are taken in at once where nobody says."""
    max_bytes: int = 1 << 24


class Secret:
    """A secret; what is printed of it by accident doesn't tell it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The secret itself, for who it is meant for."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)
