"""Tables of the service's configuration: server, providers, packs, pages, ingest, search, uploads."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Meta, field
from msgspec.structs import asdict

from duvet.config import duvet_tables
from duvet.config.project_file import Excluded, PatternSetting, make_pattern_tuple
from duvet.config.settings import (
    EDITOR_FIELDS,
    ExpandedText,
    IngestRule,
    SearchRule,
    Secret,
    ServerRule,
    ServiceSection,
    UploadRule,
    doc,
)
from duvet.errors import DuvetError
from duvet.tree.files import SPECIAL_CHARACTERS, find_path_fault

PATTERN_END = r"$(?!\n)"
"""The end of a text in Python, whose `$` also stands before a last line end, and in JavaScript alike."""

_NAME = "a name: a letter, and up to 63 letters, digits, `-` and `_` after it"
NAME_PATTERN = rf"^[A-Za-z][A-Za-z0-9_-]{{0,63}}{PATTERN_END}"
Name = Annotated[str, Meta(pattern=NAME_PATTERN, extra={"wanted": _NAME})]  # A name in this file.

Seconds = Annotated[float, Meta(gt=0, le=86_400)]

_DEFAULT = ServerRule()


class Mode(StrEnum):
    """How clients reach the server."""

    STDIO = "stdio"
    HTTP = "http"


class LogLevel(StrEnum):
    """What is logged: this and what is worse."""

    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class LogFormat(StrEnum):
    """How it is logged."""

    TEXT = "text"
    JSON = "json"


class ServerSection(ServiceSection, frozen=True, kw_only=True):
    """The server: what it says of itself, and where it listens."""

    name: Annotated[ExpandedText, duvet_tables.SERVER_NAME] = _DEFAULT.name
    title: Annotated[ExpandedText, duvet_tables.SERVER_TITLE] = _DEFAULT.title
    version: Annotated[ExpandedText, duvet_tables.SERVER_VERSION] = _DEFAULT.version
    description: Annotated[ExpandedText, duvet_tables.SERVER_DESCRIPTION] = _DEFAULT.description
    protocol_version: duvet_tables.ProtocolVersionSetting = None
    page_size: duvet_tables.PageSize = _DEFAULT.page_size
    mode: Annotated[Mode, doc("How clients reach the server")] = Mode.STDIO
    host: Annotated[ExpandedText, doc("With `http`, the address to listen at")] = "127.0.0.1"
    port: Annotated[int, doc("With `http`, the port to listen at", ge=1, le=65_535)] = 8931
    allowed_hosts: Annotated[
        tuple[ExpandedText, ...], doc("With `http`, names that the server goes by, such as that of a proxy")
    ] = ()
    rate: Annotated[float, doc("With `http`, requests a second of a client; 0 is any number", ge=0, le=1_000_000)] = (
        1000.0
    )
    log_level: Annotated[LogLevel, doc("What is logged: this and what is worse")] = LogLevel.WARN
    log_format: Annotated[LogFormat, doc("How it is logged")] = LogFormat.TEXT
    tool_timeout: Annotated[Seconds, doc("How many seconds a tool of a further pack may take")] = 30.0
    shutdown_timeout: Annotated[
        Seconds, doc("How many seconds what is at work may take when the server is told to end")
    ] = 3.0

    @classmethod
    def from_project(cls, table: duvet_tables.ServerTable) -> Self:
        """Return the table `server` of the project's configuration as one of the service's."""
        shared = ("name", "title", "version", "description", "protocol_version", "page_size")
        return cls(**{name: getattr(table, name) for name in shared})

    def rule(self, packs: tuple[str, ...] = _DEFAULT.packs) -> ServerRule:
        """Return the resolved settings, with the packs that are switched on."""
        version = self.protocol_version
        return ServerRule(
            **{name: getattr(self, name) for name in ("name", "title", "version", "description", "page_size")},
            protocol_version=None if version is None else version.value,
            packs=packs,
        )


ModelName = Annotated[
    str,
    Meta(
        pattern=rf"^[A-Za-z][A-Za-z0-9_-]{{0,63}}(/\S+)?{PATTERN_END}", extra={"wanted": "PROVIDER/MODEL, or PROVIDER"}
    ),
]
"""`PROVIDER/MODEL`, or `PROVIDER` alone for its default model."""


class ProviderKind(StrEnum):
    """Which protocol a provider speaks."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CLIENT = "client"


class ProviderSection(ServiceSection, frozen=True, kw_only=True):
    """Who answers for models."""

    kind: Annotated[
        ProviderKind, doc("The protocol: `openai` for all that are compatible with it, `client` for the client's model")
    ] = ProviderKind.OPENAI
    enabled: Annotated[bool, doc("Whether it may be used")] = True
    base_url: Annotated[
        ExpandedText | None, doc("The URL below which it answers; by default that of OpenAI or Anthropic")
    ] = None
    api_key: Annotated[
        Secret | None,
        doc("The variable with its key, as `$NAME`; by default OPENAI_API_KEY or ANTHROPIC_API_KEY where that is set"),
    ] = None
    default_model: Annotated[ExpandedText | None, doc("The model where only the provider is named")] = None
    timeout: Annotated[Seconds, doc("How many seconds an answer may take")] = 60.0
    retries: Annotated[int, doc("How often a call is tried again that was refused for now", ge=0, le=10)] = 2
    discover: Annotated[bool, doc("Whether to ask it which models it has, by `GET /models`")] = False
    llms_txt: Annotated[bool, doc("Whether to read hints about its models from `/llms.txt` of its origin")] = False


class RouteSection(ServiceSection, frozen=True, kw_only=True):
    """The model for one kind of task."""

    model: Annotated[ModelName, doc("The model as PROVIDER/MODEL, or PROVIDER for its default model")]
    fallbacks: Annotated[tuple[ModelName, ...], doc("Those to take in this order where that one doesn't answer")] = ()


class Access(StrEnum):
    """What a pack may do."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"


class PackSection(ServiceSection, frozen=True, kw_only=True):
    """Tools that belong together."""

    enabled: Annotated[bool, doc("Whether the pack is switched on")] = True
    mode: Annotated[Access, doc("`read-only` leaves out the tools that write")] = Access.READ_WRITE
    tools: Annotated[dict[str, bool], doc("Tools by name, each switched on or off")] = field(default_factory=dict)
    settings: Annotated[dict[str, Any], doc("What the pack itself wants to know", extra={"expands": True})] = field(
        default_factory=dict
    )


class PagesSection(duvet_tables.PagesTable, frozen=True, kw_only=True):
    """Pages: notes in Markdown that link to one another and to requirements."""


_INGEST_DEFAULT = IngestRule()

SYMBOLS_VARIABLE, EDITOR_VARIABLE = "KM_SYMBOLS_ENABLED", "KM_EDITOR_URI_TEMPLATE"
"""The variables that count where the file says nothing."""

_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


class Auto(StrEnum):
    """Where it can be done."""

    AUTO = "auto"


_Switch = bool | Auto
_FIELDS = ", ".join(f"{{{name}}}" for name in EDITOR_FIELDS)
_TEMPLATE = rf"^(?=.*\S)(?:[^{{}}$]|\$\{{[A-Za-z_][A-Za-z0-9_]*\}}|\$|\{{\{{|\}}\}}|\{{(?:{'|'.join(EDITOR_FIELDS)})\}})*{PATTERN_END}"
_URI = f"a template of URIs, whose fields are {_FIELDS}"
EditorUriTemplate = Annotated[str, Meta(pattern=_TEMPLATE, extra={"expands": True, "wanted": _URI})]
PROFILE_PATTERN, PROFILE_IN_WORDS = r"[A-Za-z0-9._-]{1,64}", "up to 64 letters, digits, `.`, `-` and `_`"
"""What a run may be called."""
IngestProfile = Annotated[
    str, Meta(pattern=f"^{PROFILE_PATTERN}{PATTERN_END}", extra={"wanted": f"a name: {PROFILE_IN_WORDS}"})
]


class IngestSection(ServiceSection, frozen=True, kw_only=True):
    """What `duvet ingest` takes in."""

    include: Annotated[
        PatternSetting,
        doc(
            "Which files, or folders with all that is in them; what git ignores never, and secrets and "
            "dependencies only where their very paths are named"
        ),
    ] = "**"
    exclude: Excluded = ()
    max_file_bytes: Annotated[
        int, doc("Of files that are larger, nothing but the name is taken in", ge=1, le=1 << 26)
    ] = _INGEST_DEFAULT.max_file_bytes
    symbols: Annotated[
        _Switch, doc("Whether to look for classes and functions; `auto` is where the extra `symbols` is installed")
    ] = Auto.AUTO
    semantic: Annotated[_Switch, doc("Whether to make vectors; `auto` is where the extra `semantic` is installed")] = (
        Auto.AUTO
    )
    profile: Annotated[
        IngestProfile | None,
        doc("What a run is called that is called nothing else; by default `local`, or `manual` where a tool begins it"),
    ] = None
    stale_days: Annotated[int, doc("After so many days without a change a document is old", ge=0, le=36_500)] = (
        _INGEST_DEFAULT.stale_days
    )
    editor_uri: Annotated[
        EditorUriTemplate | None,
        doc(f"What opens a place in an editor, with the fields {_FIELDS}; `{{{{` stands for a brace"),
    ] = None

    def rule(self, environ: Mapping[str, str]) -> IngestRule:
        """Return the settings of this table, with variables for those that it leaves open."""
        ##= man/spec/knowledge.md#files
        ##% `KM_SYMBOLS_ENABLED` MUST apply while `ingest.symbols` is `auto`, and `KM_EDITOR_URI_TEMPLATE` while
        ##% `ingest.editorUri` is not set.
        symbols = None if self.symbols is Auto.AUTO else bool(self.symbols)
        return IngestRule(
            include=make_pattern_tuple(self.include),
            exclude=make_pattern_tuple(self.exclude),
            max_file_bytes=self.max_file_bytes,
            symbols=_read_boolean_variable(environ, SYMBOLS_VARIABLE, symbols),
            semantic=None if self.semantic is Auto.AUTO else bool(self.semantic),
            profile=self.profile or "",
            stale_days=self.stale_days,
            editor_uri=self.editor_uri or environ.get(EDITOR_VARIABLE) or None,
        )


def _read_boolean_variable(environ: Mapping[str, str], name: str, setting: bool | None) -> bool | None:
    """Return the setting of the file, or else the value of a variable; None if neither is set."""
    if setting is not None:
        return setting
    word = environ.get(name, "").strip().lower()
    if word and word not in (*_YES, *_NO):
        raise DuvetError(f"the variable `{name}` is neither true nor false", hint="set it to `true` or `false`")
    return word in _YES if word else None


_Weight = Annotated[float, Meta(ge=0, le=1)] | None


class ProfileName(StrEnum):
    """What somebody looks for mostly."""

    DEFAULT = "default"
    ANALYSIS = "analysis"
    OPERATIONS = "operations"
    DOCS_HEAVY = "docs-heavy"


class WeightsSection(ServiceSection, frozen=True, kw_only=True):
    """How much each thing counts, where it isn't what the profile says."""

    subsystem: Annotated[
        _Weight, doc("That the query names the subsystem; here and below, the profile counts where nothing is said")
    ] = None
    relationship: Annotated[_Weight, doc("That much hangs together with the file")] = None
    support: Annotated[_Weight, doc("That there are documents and tests for it")] = None
    criticality: Annotated[_Weight, doc("How critical the subsystem is")] = None


class SearchSection(ServiceSection, frozen=True, kw_only=True):
    """How results that match equally well are ordered."""

    profile: Annotated[
        ProfileName, doc("The weights, by what is looked for mostly; each answer of `km-search` tells them")
    ] = ProfileName.DEFAULT
    weights: Annotated[WeightsSection, doc("Single weights, from 0 to 1")] = WeightsSection()
    feedback: Annotated[bool, doc("Whether the votes given by `km-feedback-submit` count, a little")] = False

    def rule(self) -> SearchRule:
        said = {name: value for name, value in asdict(self.weights).items() if value is not None}
        return SearchRule(profile=self.profile.value, weights=said, feedback=self.feedback)


ROOT_VARIABLE, OVERWRITE_VARIABLE, INGEST_VARIABLE = (
    "KM_CONTENT_ROOT",
    "KM_UPLOAD_DEFAULT_OVERWRITE",
    "KM_UPLOAD_DEFAULT_INGEST",
)
"""The variables that count where the file says nothing."""

_UPLOADS_DEFAULT = UploadRule()
_PART = rf"(?:\.|[^./{SPECIAL_CHARACTERS}\s][^/{SPECIAL_CHARACTERS}]*)"
"""A part of a path, as far as a pattern can tell which names every system allows."""


class UploadsSection(ServiceSection, frozen=True, kw_only=True):
    """Files that are handed in."""

    root: Annotated[
        ExpandedText | None,
        doc(
            "The folder that files which are handed in stay in; by default the project, and what is elsewhere is not taken in"
        ),
    ] = None
    ##= man/spec/gateway.md#uploads
    ##% The server MUST refuse a destination that is absolute, hidden, a configuration, not portable, or outside the
    ##% content root, even by `..` or through a link.
    docs_subdir: Annotated[
        str,
        doc(
            "The folder in it for those that nobody says a place for",
            pattern=rf"^{_PART}(?:/+{_PART})*/*{PATTERN_END}",
            extra={
                "expands": True,
                "fault": find_path_fault,
                "wanted": "a folder below the content root, without hidden names and .., which every system can have",
            },
        ),
    ] = _UPLOADS_DEFAULT.docs_subdir
    overwrite: Annotated[
        bool | None, doc("Whether one replaces another where the call doesn't say; false by default")
    ] = None
    ingest: Annotated[
        bool | None, doc("Whether one is taken in at once where the call doesn't say; false by default")
    ] = None
    max_bytes: Annotated[int, doc("Larger ones are refused", ge=1, le=1 << 30)] = _UPLOADS_DEFAULT.max_bytes

    def rule(self, environ: Mapping[str, str]) -> UploadRule:
        """Return the settings of this table, with variables for those that it leaves open."""
        ##= man/spec/gateway.md#uploads
        ##% duvet MUST use `KM_CONTENT_ROOT`, `KM_UPLOAD_DEFAULT_OVERWRITE` and `KM_UPLOAD_DEFAULT_INGEST` where
        ##% `uploads` sets nothing, and refuse to start if one of them is invalid.
        root = self.root or environ.get(ROOT_VARIABLE, "").strip()
        return UploadRule(
            root=root,
            root_origin=root and ("uploads.root" if self.root else ROOT_VARIABLE),
            docs_subdir=self.docs_subdir,
            overwrite=bool(_read_boolean_variable(environ, OVERWRITE_VARIABLE, self.overwrite)),
            ingest=bool(_read_boolean_variable(environ, INGEST_VARIABLE, self.ingest)),
            max_bytes=self.max_bytes,
        )
