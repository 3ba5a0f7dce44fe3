"""The tables of the service configuration, and the rules for ingest and uploads that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, field

from duvet.config import settings
from duvet.config.settings import ExpandedText, NonBlankText, TableError, doc
from duvet.errors import DuvetError
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY
from duvet.tree.files import SPECIAL_CHARACTERS, STORE_FOLDER, find_path_fault

EDITOR_FIELDS = ("abs_path", "path", "line_start", "line_end", "name")
"""The fields of a URI template that opens a file in an editor."""


class SearchModel(StrEnum):
    """The model that computes vectors for search by meaning."""

    AUTO = "auto"
    STATIC = "static"
    TRANSFORMER = "transformer"
    NONE = "none"


class IngestRule(Struct, frozen=True, kw_only=True):
    include: tuple[str, ...] = ("**",)
    exclude: tuple[str, ...] = ()
    max_file_bytes: int = 1 << 20  # Only the names of larger files are indexed.
    symbols: bool | None = None  # Whether to index declarations in code; None means yes if the extra is installed.
    semantic: bool | None = None  # Whether to compute vectors; None means yes if the extra is installed.
    model: SearchModel = SearchModel.AUTO
    profile: str = ""  # The default name of runs; empty for the built-in default.
    stale_days: int = 30  # Documents are stale after this many days without a change.
    editor_uri: str | None = None
    """A URI that opens a file in an editor, with fields such as `{abs_path}` and `{line_start}`."""


class ServiceSection(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    pass


class StoreSection(ServiceSection, frozen=True, kw_only=True):
    """The location of the index and its backups."""

    path: Annotated[ExpandedText, doc("Index file; sqlite creates more files next to it")] = f"{STORE_FOLDER}/store.db"
    backups: Annotated[ExpandedText | None, doc("Folder for backups; by default `backups` next to the index")] = None


_Weight = Annotated[float, Meta(ge=0, le=1)] | None


class ProfileName(StrEnum):
    """A set of ranking weights for a typical use."""

    DEFAULT = "default"
    ANALYSIS = "analysis"
    OPERATIONS = "operations"
    DOCS_HEAVY = "docs-heavy"


class WeightsSection(ServiceSection, frozen=True, kw_only=True):
    """Weights that override those of the profile."""

    subsystem: Annotated[
        _Weight, doc("Weight of a subsystem that the query names; by default the profile's weight")
    ] = None
    relationship: Annotated[
        _Weight,
        doc(
            "Weight of the number of a file's relationships, such as links and citations; by default the profile's weight"
        ),
    ] = None
    support: Annotated[
        _Weight, doc("Weight of the documents and tests of a file's subsystem; by default the profile's weight")
    ] = None
    criticality: Annotated[
        _Weight, doc("Weight of the criticality of a file's subsystem; by default the profile's weight")
    ] = None


class SearchSection(ServiceSection, frozen=True, kw_only=True):
    """The model for search by meaning, and the ranking of results that match equally well."""

    model: Annotated[
        SearchModel,
        doc(
            "Embedding model: `transformer` finds more, `static` is faster, and `none` computes no vectors. `auto` uses "
            "`transformer` for requirements and `static` for files. Above 20,000 chunks, files use `static` even with `transformer`"
        ),
    ] = SearchModel.AUTO
    profile: Annotated[
        ProfileName, doc("Name of a set of ranking weights; each `km-search` answer lists the weights")
    ] = ProfileName.DEFAULT
    weights: Annotated[WeightsSection, doc("Weights from 0 to 1 that override those of the profile")] = WeightsSection()
    feedback: Annotated[bool, doc("Let votes from `km-feedback-submit` adjust the ranking slightly")] = False


class UploadRule(Struct, frozen=True, kw_only=True):
    root: str = ""  # The folder that uploads must stay in; empty means the project.
    root_origin: str = ""  # The key or the variable that sets the root.
    docs_subdir: str = "docs"  # The default folder under the root.
    overwrite: bool = False  # Whether uploads replace files by default.
    ingest: bool = False  # Whether uploads are indexed immediately by default.
    max_bytes: int = 1 << 24


class Secret:
    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


PATTERN_END = r"$(?!\n)"
"""Matches the end of text in Python and JavaScript; Python's `$` also matches before a final line end."""

_NAME = "a name of up to 64 letters, digits, `-` and `_` that begins with a letter"
NAME_PATTERN = rf"^[A-Za-z][A-Za-z0-9_-]{{0,63}}{PATTERN_END}"
Name = Annotated[str, Meta(pattern=NAME_PATTERN, extra={"expected": _NAME})]  # A name in this file.

_EMPTY: Any = field(default_factory=dict)
Seconds = Annotated[float, Meta(gt=0, le=86_400)]

_DEFAULT = settings.ServerTable()
SHARED_KEYS = ("name", "title", "version", "description", "protocol_version", "page_size")


class Mode(StrEnum):
    """The transport of the server."""

    STDIO = "stdio"
    HTTP = "http"


class LogLevel(StrEnum):
    """The least severe level that is logged."""

    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


class ServerSection(ServiceSection, frozen=True, kw_only=True):
    """Identity, address and limits of the server."""

    name: Annotated[ExpandedText, settings.SERVER_NAME] = _DEFAULT.name
    title: Annotated[ExpandedText, settings.SERVER_TITLE] = _DEFAULT.title
    version: Annotated[ExpandedText, settings.SERVER_VERSION] = _DEFAULT.version
    description: Annotated[ExpandedText, settings.SERVER_DESCRIPTION] = _DEFAULT.description
    protocol_version: settings.ProtocolVersionSetting = None
    page_size: settings.PageSize = _DEFAULT.page_size
    mode: Annotated[Mode, doc("Transport: `stdio` or `http`")] = Mode.STDIO
    host: Annotated[ExpandedText, doc("Address to listen on; only with `http`")] = "127.0.0.1"
    port: Annotated[int, doc("Port to listen on; only with `http`", ge=1, le=65_535)] = 8931
    allowed_hosts: Annotated[
        tuple[ExpandedText, ...], doc("Host headers to accept, such as the name of a proxy; only with `http`")
    ] = ()
    rate: Annotated[
        float,
        doc(
            "Requests per second that each client may send on average; 0 means no limit; only with `http`",
            ge=0,
            le=1_000_000,
        ),
    ] = 1000.0
    log_level: Annotated[LogLevel, doc("Minimum level to log")] = LogLevel.WARN
    log_format: Annotated[LogFormat, doc("Format of log lines")] = LogFormat.TEXT
    tool_timeout: Annotated[
        Seconds,
        doc(
            "Default time limit in seconds for tools of packs that are not built in; also the limit for forwarded calls "
            "that only read"
        ),
    ] = 30.0
    shutdown_timeout: Annotated[Seconds, doc("Seconds that running calls get to finish when the server stops")] = 3.0


ModelName = Annotated[
    str,
    Meta(
        pattern=rf"^[A-Za-z][A-Za-z0-9_-]{{0,63}}(/\S+)?{PATTERN_END}",
        extra={"expected": "a model in the form PROVIDER/MODEL or PROVIDER"},
    ),
]
"""`PROVIDER/MODEL`, or `PROVIDER` alone for its default model."""


class ProviderKind(StrEnum):
    """The protocol of a provider."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    CLIENT = "client"


_Price = Annotated[float, Meta(ge=0, le=1_000_000)]


class PriceSection(ServiceSection, frozen=True, kw_only=True):
    """The prices of a model."""

    input: Annotated[_Price, doc("Price of a million input tokens, in the currency of `dailySpend`")]
    output: Annotated[_Price, doc("Price of a million output tokens, in the currency of `dailySpend`")]


class ProviderSection(ServiceSection, frozen=True, kw_only=True):
    """A model provider."""

    kind: Annotated[
        ProviderKind,
        doc(
            "Protocol: `openai` for OpenAI and compatible APIs, `anthropic` for Anthropic, `client` for the model of the "
            "MCP client"
        ),
    ] = ProviderKind.OPENAI
    enabled: Annotated[bool, doc("Use this provider")] = True
    base_url: Annotated[ExpandedText | None, doc("Base URL of the API; by default that of OpenAI or Anthropic")] = None
    api_key: Annotated[
        Secret | None,
        doc(
            "Environment variable with the API key, as `$NAME`; without `baseUrl`, by default OPENAI_API_KEY or ANTHROPIC_API_KEY"
        ),
    ] = None
    default_model: Annotated[ExpandedText | None, doc("Model to use if a request names only the provider")] = None
    timeout: Annotated[Seconds, doc("Time limit for an answer, including retries, in seconds")] = 60.0
    max_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=10_000_000)] | None,
        doc("Maximum tokens per answer if the request sets no limit; by default 1,024"),
    ] = None
    daily_tokens: Annotated[
        Annotated[int, Meta(ge=1, le=10**12)] | None,
        doc(
            "Maximum input and output tokens per day (UTC) of this project's calls to the provider; no limit by default"
        ),
    ] = None
    prices: Annotated[dict[str, PriceSection], doc("Prices by the name of the model, for `dailySpend`")] = _EMPTY
    daily_spend: Annotated[
        Annotated[float, Meta(gt=0, le=10**9)] | None,
        doc(
            "Maximum cost per day (UTC) of this project's calls to the provider, computed from `prices`; no limit by default. With a "
            "limit, models without a price are not called"
        ),
    ] = None
    allow_http: Annotated[
        bool,
        doc("Allow `http:` URLs for other machines, such as `host.docker.internal`; the key is then sent unencrypted"),
    ] = False
    retries: Annotated[int, doc("Retries after a temporary failure (429, 5xx)", ge=0, le=10)] = 2
    discover: Annotated[bool, doc("Ask the provider for its models with `GET /models`")] = False
    llms_txt: Annotated[bool, doc("Read hints about the models from the provider's `/llms.txt`")] = False


class RouteSection(ServiceSection, frozen=True, kw_only=True):
    """The models for a task."""

    model: Annotated[ModelName, doc("Model as PROVIDER/MODEL, or PROVIDER for its default model")]
    fallbacks: Annotated[tuple[ModelName, ...], doc("Fallback models, tried in order if `model` fails")] = ()


class Access(StrEnum):
    """A pack's access to the project."""

    READ_ONLY = "read-only"
    READ_WRITE = "read-write"


_PREFIX = "a prefix of up to 32 letters, digits, `.`, `-` and `_`"


class PackSection(ServiceSection, frozen=True, kw_only=True):
    """Settings of a tool pack."""

    enabled: Annotated[bool, doc("Enable the pack")] = True
    path: Annotated[
        ExpandedText | None,
        doc(
            "Path of a Python file in the project; the file declares the pack, and its code runs with your permissions"
        ),
    ] = None
    prefix: Annotated[
        str,
        Meta(pattern=rf"^[A-Za-z0-9_.-]{{0,32}}{PATTERN_END}", extra={"expected": _PREFIX}),
        doc("Prefix for the names of the pack's tools and prompts; not for built-in packs"),
    ] = ""
    mode: Annotated[Access, doc("`read-only` removes the tools that write")] = Access.READ_WRITE
    tools: Annotated[dict[str, bool], doc("Tools by name: true enables a tool, false disables it")] = _EMPTY
    settings: Annotated[dict[str, Any], doc("Settings that the pack defines", extra={"expands": True})] = _EMPTY


class PagesSection(settings.PagesTable, frozen=True, kw_only=True):
    """Pages: Markdown notes that link to each other and to requirements."""


_INGEST_DEFAULT = IngestRule()


class Auto(StrEnum):
    """`auto`: enabled if the extra is installed."""

    AUTO = "auto"


_Switch = bool | Auto
_FIELDS = ", ".join(f"{{{name}}}" for name in EDITOR_FIELDS)
_TEMPLATE = rf"^(?=.*\S)(?:[^{{}}$]|\$\{{[A-Za-z_][A-Za-z0-9_]*\}}|\$|\{{\{{|\}}\}}|\{{(?:{'|'.join(EDITOR_FIELDS)})\}})*{PATTERN_END}"
_URI = f"a URI template with supported fields ({_FIELDS})"
EditorUriTemplate = Annotated[str, Meta(pattern=_TEMPLATE, extra={"expands": True, "expected": _URI})]
_PROFILE = "a name of up to 64 letters, digits, `.`, `-` and `_`"
IngestProfile = Annotated[str, Meta(pattern=rf"^[A-Za-z0-9._-]{{1,64}}{PATTERN_END}", extra={"expected": _PROFILE})]


class IngestSection(ServiceSection, frozen=True, kw_only=True):
    """The files that `duvet ingest` indexes."""

    include: Annotated[
        settings.PatternSetting,
        doc(
            "Glob patterns of files or folders to index. Files that git ignores are always skipped; secrets and vendored "
            "dependencies are skipped unless a pattern names their exact path"
        ),
    ] = "**"
    exclude: settings.Excluded = ()
    max_file_bytes: Annotated[int, doc("Size limit; only the names of larger files are indexed", ge=1, le=1 << 26)] = (
        _INGEST_DEFAULT.max_file_bytes
    )
    symbols: Annotated[
        _Switch, doc("Index classes and functions; `auto` does so if the extra `symbols` is installed")
    ] = Auto.AUTO
    semantic: Annotated[_Switch, doc("Compute vectors; `auto` does so if the extra `semantic` is installed")] = (
        Auto.AUTO
    )
    profile: Annotated[
        IngestProfile | None, doc("Name of ingest runs; by default `local`, or `manual` for runs that a tool starts")
    ] = None
    stale_days: Annotated[int, doc("Days without a change until a document is stale", ge=0, le=36_500)] = (
        _INGEST_DEFAULT.stale_days
    )
    editor_uri: Annotated[
        EditorUriTemplate | None,
        doc(f"URI that opens a file in an editor; available fields: {_FIELDS}. Write `{{{{` and `}}}}` for braces"),
    ] = None

    def rule(self, environ: Mapping[str, str], model: SearchModel = SearchModel.AUTO) -> IngestRule:
        symbols = None if self.symbols is Auto.AUTO else bool(self.symbols)
        return IngestRule(
            include=settings.make_pattern_tuple(self.include),
            exclude=settings.make_pattern_tuple(self.exclude),
            max_file_bytes=self.max_file_bytes,
            symbols=_read_boolean_variable(environ, "KM_SYMBOLS_ENABLED", symbols),
            semantic=None if self.semantic is Auto.AUTO else bool(self.semantic),
            model=model,
            profile=self.profile or "",
            stale_days=self.stale_days,
            editor_uri=self.editor_uri or environ.get("KM_EDITOR_URI_TEMPLATE") or None,
        )


def _read_boolean_variable(environ: Mapping[str, str], name: str, setting: bool | None) -> bool | None:
    if setting is not None:
        return setting
    word, yes = environ.get(name, "").strip().lower(), ("1", "true", "yes", "on")
    if word and word not in (*yes, "0", "false", "no", "off"):
        message = f"the environment variable `{name}` is neither true nor false"
        raise DuvetError(message, hint="set it to `true` or `false`")
    return word in yes if word else None


_UPLOADS_DEFAULT = UploadRule()
_PART = rf"(?:\.|[^./{SPECIAL_CHARACTERS}\s][^/{SPECIAL_CHARACTERS}]*)"
"""A part of a path; the pattern rejects most names that some systems don't allow."""


class UploadsSection(ServiceSection, frozen=True, kw_only=True):
    """Settings of uploads."""

    root: Annotated[
        ExpandedText | None,
        doc("Content root, the folder for uploads; by default the project. Files outside the project are not indexed"),
    ] = None
    docs_subdir: Annotated[
        str,
        doc(
            "Folder under the content root for uploads without a destination",
            pattern=rf"^{_PART}(?:/+{_PART})*/*{PATTERN_END}",
            extra={
                "expands": True,
                "fault": find_path_fault,
                "expected": "a portable folder path under the content root",
            },
        ),
    ] = _UPLOADS_DEFAULT.docs_subdir
    overwrite: Annotated[
        bool | None, doc("Replace existing files unless the call says otherwise; false by default")
    ] = None
    ingest: Annotated[
        bool | None, doc("Index uploads immediately unless the call says otherwise; false by default")
    ] = None
    max_bytes: Annotated[int, doc("Size limit of an upload", ge=1, le=1 << 30)] = _UPLOADS_DEFAULT.max_bytes

    def rule(self, environ: Mapping[str, str]) -> UploadRule:
        root = self.root or environ.get("KM_CONTENT_ROOT", "").strip()
        return UploadRule(
            root=root,
            root_origin=root and ("uploads.root" if self.root else "KM_CONTENT_ROOT"),
            docs_subdir=self.docs_subdir,
            overwrite=bool(_read_boolean_variable(environ, "KM_UPLOAD_DEFAULT_OVERWRITE", self.overwrite)),
            ingest=bool(_read_boolean_variable(environ, "KM_UPLOAD_DEFAULT_INGEST", self.ingest)),
            max_bytes=self.max_bytes,
        )


class VariableType(StrEnum):
    """The type of a variable."""

    STRING = "string"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"
    ARRAY = "array"
    OBJECT = "object"

    def takes(self, value: Any) -> bool:
        if isinstance(value, bool):
            return self is VariableType.BOOLEAN
        if isinstance(value, float) and value.is_integer() and self is VariableType.INTEGER:
            return True
        return isinstance(value, _VALUES[self])


_VALUES: dict[VariableType, Any] = dict(zip(VariableType, (str, int, (int, float), bool, list, dict), strict=True))


def check_exactly_one(present: list[str], known: list[str]) -> None:
    named = ", ".join(f"`{name}`" for name in known)
    if not present:
        raise TableError(CONFIG_MISSING_KEY, f"one of {named} is required", "add one of them")
    if len(present) > 1:
        raise TableError(CONFIG_BAD_VALUE, f"only one of {named} is allowed", "keep one of them", present[1])


class VariableSection(ServiceSection, frozen=True, kw_only=True):
    """A workflow variable; required unless it has a default."""

    type: Annotated[VariableType, doc("Type of the value")] = VariableType.STRING
    description: Annotated[str, doc("Purpose of the variable")] = ""
    default: Annotated[Any, doc("Default value")] = UNSET

    def __post_init__(self) -> None:
        if self.default is not UNSET and not self.type.takes(self.default):
            message = f"the default is not of type `{self.type.value}`"
            raise TableError(CONFIG_BAD_VALUE, message, "change the default or the type", "default")


class CheckSection(ServiceSection, frozen=True, kw_only=True):
    """A check of a value in a result, with exactly one of `equals`, `notEquals` and `exists`."""

    path: Annotated[NonBlankText, doc("Path of the value, such as `result.items[0].status`")]
    equals: Annotated[Any, doc("Expected value")] = UNSET
    not_equals: Annotated[Any, doc("Value that fails the check")] = UNSET
    exists: Annotated[bool | UnsetType, doc("Whether the path must exist")] = UNSET

    def __post_init__(self) -> None:
        keys = {"equals": self.equals, "notEquals": self.not_equals, "exists": self.exists}
        check_exactly_one([name for name, value in keys.items() if value is not UNSET], list(keys))


# The JSON Schema keywords for the checks of `__post_init__`.
_ONE_CHECK = {"oneOf": [{"required": [name]} for name in ("equals", "notEquals", "exists")]}
_ONE_ACTION = {
    "oneOf": [{"required": [name]} for name in ("tool", "model", "wait")],
    "dependentRequired": {"model": ["prompt"], "prompt": ["model"], "system": ["model"]},
    "not": {"required": ["wait", "params"], "properties": {"params": {"minProperties": 1}}},
}
_OF_ITS_TYPE = {
    "anyOf": [
        {"not": {"required": ["type"]}, "properties": {"default": {"type": "string"}}},
        *(
            {"properties": {"type": {"const": type.value}, "default": {"type": type.value}}, "required": ["type"]}
            for type in VariableType
        ),
    ]
}
_Check = Annotated[CheckSection, Meta(extra_json_schema=_ONE_CHECK)]
_Variable = Annotated[VariableSection, Meta(extra_json_schema=_OF_ITS_TYPE)]


class CaptureSection(ServiceSection, frozen=True, kw_only=True):
    """A result value to store under a name."""

    name: Annotated[Name, doc("Name of the value, used as `${captures.NAME}`")]
    path: Annotated[NonBlankText, doc("Path of the value in the result")]


class WaitSection(ServiceSection, frozen=True, kw_only=True):
    """A tool to call repeatedly until its result passes a check."""

    tool: Annotated[NonBlankText, doc("Tool to call")]
    params: Annotated[dict[str, Any], doc("Arguments of the tool")] = _EMPTY
    until: Annotated[_Check, doc("Condition that ends the wait")]
    interval_seconds: Annotated[float, doc("Seconds between calls", ge=0.5, le=3600)] = 5.0
    timeout_seconds: Annotated[Seconds, doc("Time limit of the wait, in seconds")] = 300.0


class StepSection(ServiceSection, frozen=True, kw_only=True):
    """A workflow step with exactly one of `tool`, `model` and `wait`."""

    id: Annotated[Name, doc("Id of the step, used as `${steps.ID.result}`")]
    description: Annotated[str, doc("Purpose of the step")] = ""
    tool: Annotated[NonBlankText | None, doc("Tool to call")] = None
    model: Annotated[NonBlankText | None, doc("Model to ask: PROVIDER/MODEL, PROVIDER, or a task of `routing`")] = None
    wait: Annotated[WaitSection | None, doc("Tool to call until its result passes a check")] = None
    params: Annotated[dict[str, Any], doc("Arguments of the tool, or `maxTokens` and `temperature` for a model")] = (
        _EMPTY
    )
    prompt: Annotated[NonBlankText | None, doc("Prompt for the model")] = None
    system: Annotated[NonBlankText | None, doc("System prompt for the model")] = None
    expect: Annotated[dict[str, Any], doc("Expected values in the result, by path")] = _EMPTY
    asserts: Annotated[tuple[_Check, ...], doc("Additional checks of the result")] = field(default=(), name="assert")
    capture: Annotated[tuple[CaptureSection, ...], doc("Result values to store")] = ()
    timeout_seconds: Annotated[Seconds | None, doc("Time limit of the step, in seconds")] = None

    def __post_init__(self) -> None:
        keys = {"tool": self.tool, "model": self.model, "wait": self.wait}
        check_exactly_one([name for name, value in keys.items() if value is not None], list(keys))
        if self.model is not None and self.prompt is None:
            raise TableError(CONFIG_MISSING_KEY, "missing field `prompt`", "add a `prompt` for the model", "model")
        for name, value in {"prompt": self.prompt, "system": self.system}.items():
            if value is not None and self.model is None:
                hint = f"replace `{'wait' if self.tool is None else 'tool'}` with `model`, or remove this key"
                raise TableError(CONFIG_BAD_VALUE, f"`{name}` requires a `model`", hint, name)
        if self.wait is not None and self.params:
            hint = "move the arguments to `wait.params`"
            raise TableError(CONFIG_BAD_VALUE, "`params` can't be used with `wait`", hint, "params")


_Step = Annotated[StepSection, Meta(extra_json_schema=_ONE_ACTION)]


class WorkflowSection(ServiceSection, frozen=True, kw_only=True):
    """A list of steps that run in order."""

    description: Annotated[NonBlankText, doc("Description that helps agents choose the workflow")]
    variables: Annotated[dict[Name, _Variable], doc("Variables by name")] = _EMPTY
    steps: Annotated[tuple[_Step, ...], doc("Steps in order", min_length=1)]
    outputs: Annotated[
        dict[str, Any], doc("Results of the workflow by name, with values such as `${captures.NAME}`")
    ] = _EMPTY
    timeout_seconds: Annotated[Seconds, doc("Time limit of the workflow, in seconds")] = 600.0


class ServiceConfig(ServiceSection, frozen=True, kw_only=True):
    """The configuration of the server, and of commands that use its tools, models or index."""

    schema: Annotated[str | None, doc("URL or path of the JSON Schema of this file, for editors")] = field(
        default=None, name="$schema"
    )
    server: Annotated[ServerSection, doc("The MCP server")] = ServerSection()
    providers: Annotated[dict[Name, ProviderSection], doc("Model providers by name")] = _EMPTY
    tool_packs: Annotated[dict[Name, PackSection], doc("Tool packs by name")] = _EMPTY
    workflows: Annotated[dict[Name, WorkflowSection], doc("Workflows by name")] = _EMPTY
    routing: Annotated[dict[Name, RouteSection], doc("Models by task")] = _EMPTY
    pages: Annotated[
        tuple[PagesSection, ...],
        doc("Markdown pages; by default the Markdown files in `docs` that are not specifications"),
    ] = ()
    ingest: Annotated[IngestSection, doc("Files that `duvet ingest` indexes")] = IngestSection()
    store: Annotated[StoreSection, doc("Location of the index and its backups")] = StoreSection()
    search: Annotated[SearchSection, doc("Model for search by meaning, and ranking of results")] = SearchSection()
    uploads: Annotated[UploadsSection, doc("Files that `km-upload` and `km-storetext` write")] = UploadsSection()

    def packs(self, by_default: tuple[str, ...] = settings.DEFAULT_PACKS) -> tuple[str, ...]:
        named = self.tool_packs
        kept = [name for name in by_default if name not in named or named[name].enabled]
        return (*kept, *(name for name, pack in named.items() if pack.enabled and name not in by_default))
