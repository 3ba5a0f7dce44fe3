"""The tables of a configuration file with duvet's own schema."""

# Without `from __future__ import annotations`: msgspec would compile the text of each annotation at every start.
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from msgspec import Meta, field
from msgspec.structs import replace

from duvet.config import project_file, settings
from duvet.config.languages import Language
from duvet.config.settings import Table, TableError, doc
from duvet.config.toml import TomlDocument
from duvet.model import RequirementForm
from duvet.rules import CONFIG_BAD_VALUE, CONFIG_MISSING_KEY


class ExtendedSource(project_file.SourceTable, frozen=True, kw_only=True):
    """Source files, and the comment style of their annotations."""

    pattern: Annotated[
        settings.PatternSetting | None,
        doc("Glob pattern of the files, or a list of patterns; by default the patterns of the language"),
    ] = None
    exclude: settings.Excluded = ()
    gitignore: Annotated[
        bool,
        doc(
            "Skip files that git ignores. duvet reads the `.gitignore` files of the repository and "
            "`.git/info/exclude`, but not the user's `core.excludesFile`"
        ),
    ] = False
    language: Annotated[Language | None, doc("Language, which sets the default pattern and comment style")] = None

    def __post_init__(self) -> None:
        if self.pattern is None and self.language is None:
            raise TableError(CONFIG_MISSING_KEY, "missing field `pattern`", "set `pattern` or `language`")

    def settled(self, environ: Mapping[str, str], default: tuple[str, str] = settings.DEFAULT_STYLE) -> Self:
        if self.language is None:
            return super().settled(environ, default)
        ##= man/spec/trace.md#sources
        ##% If a `[[source]]` has a `language`, duvet MUST use the comment style and the patterns of that language,
        ##% unless the `[[source]]` sets its own.
        source = super().settled(environ, self.language.style)
        return source if source.pattern is not None else replace(source, pattern=self.language.patterns)

    def rule(self) -> settings.SourceRule:
        return replace(
            super().rule(),
            exclude=settings.make_pattern_tuple(self.exclude),
            gitignore=self.gitignore,
            language="" if self.language is None else self.language.value,
        )


class RequirementFileTable(Table, frozen=True, kw_only=True):
    """The files with extracted requirements."""

    enabled: Annotated[
        bool, doc("Write extracted requirements to files in `.duvet/requirements`, for other programs")
    ] = False


class ExtendedReport(settings.Report, frozen=True, kw_only=True):
    """The reports that `duvet report` writes."""

    html: Annotated[settings.ExtendedHtmlReport, doc("The HTML report")] = settings.ExtendedHtmlReport()
    requirements: Annotated[RequirementFileTable, doc("The files with extracted requirements")] = RequirementFileTable()


# The JSON Schema keywords for the checks of `__post_init__`.
_ONE_OF_BOTH = {"anyOf": [{"required": ["pattern"]}, {"required": ["language"]}]}
_Source = Annotated[ExtendedSource, Meta(extra_json_schema=_ONE_OF_BOTH)]
_SECTION_OF_QUOTE = {"if": {"required": ["quote"]}, "then": {"properties": {"target": {"pattern": r"#[\s\S]"}}}}
_NotApplicable = Annotated[settings.NotApplicableTable, Meta(extra_json_schema=_SECTION_OF_QUOTE)]


class KeywordCase(StrEnum):
    """The case of keywords that make a requirement."""

    UPPERCASE = "uppercase"
    ANY = "any"


class RequirementBasis(StrEnum):
    """The property that makes text a requirement."""

    KEYWORDS = "keywords"
    IDS = "ids"


class _Specification(project_file.SpecificationTable, frozen=True, kw_only=True):
    """A specification whose requirements are extracted."""

    keywords: Annotated[
        KeywordCase | None,
        doc(
            "Keywords that make a requirement in Markdown: `uppercase`, the default, accepts only capitals; `any` also accepts lower-case `must`, `shall` and `should`"
        ),
    ] = None
    requirements: Annotated[
        RequirementBasis,
        doc(
            "Requirements in Markdown: `keywords` selects sentences with a keyword; `ids` selects everything with a requirement id"
        ),
    ] = RequirementBasis.KEYWORDS
    ids: Annotated[str, doc("Regular expression for more requirement ids, besides built-in forms such as `FR-001`")] = (
        ""
    )

    def __post_init__(self) -> None:
        if self.ids and (fault := find_pattern_fault(self.ids)):
            hint = "write a pattern such as `[A-Z]+-\\d+`"
            raise TableError(CONFIG_BAD_VALUE, f"invalid pattern: {fault}", hint, "ids")

    def rule(self) -> settings.SpecificationRule:
        form = RequirementForm(self.keywords is KeywordCase.ANY, self.requirements is RequirementBasis.IDS, self.ids)
        return replace(super().rule(), form=form, has_keywords=self.keywords is not None)


class ExtendedConfig(project_file.ConfigTable, frozen=True, kw_only=True):
    """The configuration of a project."""

    source: Annotated[tuple[_Source, ...], doc("Source files to scan for annotations")] = ()
    specification: Annotated[tuple[_Specification, ...], doc("Specifications to trace")] = ()
    schema: Annotated[project_file.SchemaName, Meta(extra_json_schema={"enum": [settings.EXTENDED_SCHEMA]})] = field(
        name="$schema"
    )
    report: Annotated[ExtendedReport, doc("Reports to write")] = ExtendedReport()
    not_applicable: Annotated[tuple[_NotApplicable, ...], doc("Requirements that don't apply to the project")] = ()

    server: Annotated[settings.ServerTable, doc("Identity and limits of the MCP server")] = settings.ServerTable()
    pages: Annotated[
        tuple[settings.PagesTable, ...],
        doc("Markdown pages; by default the Markdown files in `docs` that are not specifications"),
    ] = ()

    def resolve(self, path: str, toml: TomlDocument) -> settings.Config:
        return replace(
            super().resolve(path, toml),
            not_applicable=self.not_applicable,
            writes_requirements=self.report.requirements.enabled,
            notes=self.pages or None,
        )


_MOST_REPEATS = 4


def find_pattern_fault(pattern: str) -> str:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% duvet MUST refuse an id pattern that can take exponential time to match.
    from re import _parser  # type: ignore[attr-defined]

    repeats = [0]
    try:
        if fault := _find_nested_repeat(_parser.parse(pattern), repeats, within=False):
            return fault
        compiled = re.compile(f"(?P<own>{pattern})")
    except (re.error, RecursionError, OverflowError) as error:
        return f"not a regular expression: {error}"
    if compiled.match(""):
        return "it matches the empty string"
    if compiled.groupindex.keys() != {"own"}:
        return "it has named groups"
    return f"it has more than {_MOST_REPEATS} repetitions of variable length" if repeats[0] > _MOST_REPEATS else ""


def _find_nested_repeat(node: Any, repeats: list[int], *, within: bool) -> str:
    for name, value in node:
        bodies, is_inside = [], within
        match str(name):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, body = value
                is_open = high - low > 1
                if is_open and within:
                    return "a repetition inside a repetition can take exponential time"
                repeats[0] += is_open
                bodies, is_inside = [body], within or is_open
            case "SUBPATTERN":
                bodies = [value[-1]]
            case "BRANCH":
                if within:
                    return "alternatives inside a repetition can take exponential time"
                bodies = value[1]
            case "GROUPREF" | "GROUPREF_EXISTS" | "ASSERT" | "ASSERT_NOT" | "ATOMIC_GROUP":
                return "back-references, conditions, look-around and atomic groups are not supported"
        for body in bodies:
            if fault := _find_nested_repeat(body, repeats, within=is_inside):
                return fault
    return ""
