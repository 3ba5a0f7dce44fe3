"""Records of JSON v2, encoded and decoded."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta, Raw, Struct, field
from msgspec.structs import fields

from duvet import rules
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Problem
from duvet.tree.files import Tree

V2_VERSION = "2.0"

LevelName = Literal["AUTO", "MAY", "SHOULD", "MUST"]
KindName = Literal["CITATION", "TEST", "IMPLICATION", "EXCEPTION", "TODO"]
Offset = Annotated[int, Meta(ge=0)]


class V2Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    """Base of every record: unknown fields are refused, empty ones are omitted."""


class ByteRange(Struct, frozen=True, order=True, forbid_unknown_fields=True, gc=False):
    """Bytes of a source, the end excluded."""

    start: Offset
    end: Offset


class SourceSpan(V2Record, frozen=True):
    src: str
    start: Offset
    end: Offset


class SourceRanges(V2Record, frozen=True):
    src: str
    ranges: tuple[ByteRange, ...]


class SourceLocation(V2Record, frozen=True):
    src: str
    line: Offset | None = None


class RepositoryRecord(V2Record, frozen=True):
    blob_link: str


class InlineSource(V2Record, frozen=True):
    file_name: str
    contents: str


class LinkedSource(V2Record, frozen=True):
    file_name: str
    repository: str | None = None


class SpecificationRecord(V2Record, frozen=True, kw_only=True):
    source: SourceSpan
    title: str | None = None
    format: str
    url: str | None = None


class SectionRecord(V2Record, frozen=True):
    source: SourceSpan
    short_name: str
    long_name: str | None = None


class RequirementRecord(V2Record, frozen=True):
    """A requirement, where it is stated, and what cites each part of it."""

    source: SourceLocation
    origin: SourceRanges
    level: LevelName
    coverage: dict[str, tuple[ByteRange, ...]] = {}


class CiteRecord(V2Record, frozen=True):
    """An annotation that refers to a specification."""

    source: SourceLocation
    target: SourceRanges
    type: KindName
    # Made by a function, a default is written too.
    level: LevelName = field(default_factory=lambda: "AUTO")
    comment: str | None = None
    feature: str | None = None
    tracking_issue: str | None = None
    tags: tuple[str, ...] = ()


class NotApplicableRecord(V2Record, frozen=True):
    """Requirements that a package does not owe."""

    target: str
    reason: str
    requirements: Offset
    quote: str | None = None
    owner: str | None = None
    expiry: date | None = None


class V2Sources(Struct, frozen=True):
    """The sources by id. Extensions are buckets that only their writer knows."""

    inline: dict[str, InlineSource] = {}
    linked: dict[str, LinkedSource] = {}
    extensions: dict[str, Raw] = {}


class V2Annotations(Struct, frozen=True):
    specification: dict[str, SpecificationRecord] = {}
    section: dict[str, SectionRecord] = {}
    requirement: dict[str, RequirementRecord] = {}
    cite: dict[str, CiteRecord] = {}
    not_applicable: dict[str, NotApplicableRecord] = {}
    """Ours: awslabs duvet keeps it as an extension."""
    extensions: dict[str, Raw] = {}


class V2Report(Struct, frozen=True):
    issue_links: tuple[str, ...] = ()
    repositories: dict[str, RepositoryRecord] = {}
    sources: V2Sources = V2Sources()
    annotations: V2Annotations = V2Annotations()


# Buckets have URLs for names; those that no field stands for are extensions.
_SOURCES = "https://awslabs.github.io/duvet/v2/sources.json#"
_ANNOTATIONS = "https://awslabs.github.io/duvet/v2/annotations.json#"
# What awslabs duvet doesn't write, and keeps like all that it doesn't know.
_OWN = {"not_applicable": "duvet-cli/v2/annotations.json#not_applicable"}

Buckets = TypeVar("Buckets", V2Sources, V2Annotations)


class _Wire(Struct, kw_only=True, forbid_unknown_fields=True):
    version: str
    issue_links: tuple[str, ...] = ()
    repositories: dict[str, RepositoryRecord] = {}
    sources: dict[str, Raw]
    annotations: dict[str, Raw]


def encode_v2_report(report: V2Report) -> bytes:
    """The text of a report, sorted by id."""
    document: dict[str, object] = {"version": V2_VERSION}
    if report.issue_links:
        document["issue_links"] = report.issue_links
    if report.repositories:
        document["repositories"] = dict(sorted(report.repositories.items()))
    document["sources"] = _with_urls(_SOURCES, report.sources)
    document["annotations"] = _with_urls(_ANNOTATIONS, report.annotations)
    try:
        return msgspec.json.format(msgspec.json.encode(document), indent=2)
    except RecursionError as error:
        raise DuvetError("a bucket that duvet doesn't know is nested too deeply") from error


def _with_urls(prefix: str, buckets: V2Sources | V2Annotations) -> dict[str, object]:
    found = {name: getattr(buckets, name) for name in buckets.__struct_fields__ if name != "extensions"}
    ##= man/spec/trace.md#reports
    ##% Both versions of JSON, LCOV and the snapshot MUST equal those of awslabs duvet, except for its defects and
    ##% `[[not-applicable]]`.
    written = {_url(prefix, name): bucket for name, bucket in found.items() if bucket or name not in _OWN}
    known = {url: dict(sorted(bucket.items())) for url, bucket in written.items()}
    return {**known, **dict(sorted(buckets.extensions.items()))}


def _url(prefix: str, name: str) -> str:
    return _OWN.get(name, prefix + name)


def decode_v2_report(data: bytes) -> V2Report:
    """The report that a text holds; DuvetError where it holds none."""
    try:
        wire = msgspec.json.decode(data, type=_Wire)
        sources = _without_urls(_SOURCES, wire.sources, V2Sources)
        annotations = _without_urls(_ANNOTATIONS, wire.annotations, V2Annotations)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DuvetError(f"failed to parse JSON: {_in_words(error, data)}") from error
    if wire.version != V2_VERSION:
        raise DuvetError(f"unsupported report version '{wire.version}', expected '{V2_VERSION}'")
    return V2Report(wire.issue_links, wire.repositories, sources, annotations)


def _without_urls(prefix: str, found: dict[str, Raw], kind: type[Buckets]) -> Buckets:
    known = {
        field.name: msgspec.json.decode(found.pop(_url(prefix, field.name)), type=field.type)
        for field in fields(kind)
        if _url(prefix, field.name) in found
    }
    # The same value spelled as every other writer would spell it.
    extensions = {
        name: Raw(msgspec.json.encode(msgspec.json.decode(value), order="sorted")) for name, value in found.items()
    }
    return kind(**known, extensions=extensions)


def _in_words(error: Exception, data: bytes) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return "a string is not UTF-8"
    text = str(error).removeprefix("Object contains ").replace("Object missing required", "missing", 1)
    if at := re.search(r" \(byte (\d+)\)$", text):
        before = data[: int(at[1])]
        line, column = before.count(b"\n") + 1, len(before) - before.rfind(b"\n")
        return f"{text[: at.start()]} at line {line} column {column}"
    return text


_HINT = "`duvet report --json-v2 FILE` writes what can be merged"


def read_reports(paths: Sequence[str], tree: Tree) -> list[tuple[str, V2Report]]:
    """The reports in these files; ProblemsError with every file that holds none."""
    reports: list[tuple[str, V2Report]] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            data = tree.read(path)
        except DuvetError as error:
            problems.append(_unreadable(path, f"failed to open file '{path}': {error.message}"))
            continue
        try:
            reports.append((path, decode_v2_report(data)))
        except DuvetError as error:
            problems.append(_unreadable(path, f"failed to read report from '{path}': {error.message}", _HINT))
    if problems:
        raise ProblemsError(tuple(problems))
    return reports


def _unreadable(path: str, message: str, hint: str = "") -> Problem:
    return rules.REPORT_UNREADABLE.problem(message, path, hint=hint)
