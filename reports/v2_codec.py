"""Upstream's second JSON report as text, both ways."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import fields

from duvet.errors import DuvetError
from duvet.reports.v2_records import VERSION, Annotations, Report, Repository, Sources

# Buckets have URLs for names; those that no field stands for are extensions.
_SOURCES = "https://awslabs.github.io/duvet/v2/sources.json#"
_ANNOTATIONS = "https://awslabs.github.io/duvet/v2/annotations.json#"
_EXTENSIONS = "extensions"
# What awslabs duvet doesn't write, and keeps like all that it doesn't know.
_OWN = {"not_applicable": "duvet-cli/v2/annotations.json#not_applicable"}

Buckets = TypeVar("Buckets", Sources, Annotations)


class _Wire(Struct, kw_only=True, forbid_unknown_fields=True):
    version: str
    issue_links: tuple[str, ...] = ()
    repositories: dict[str, Repository] = {}
    sources: dict[str, Raw]
    annotations: dict[str, Raw]


def encode(report: Report) -> bytes:
    """The text of a report, sorted by id."""
    document: dict[str, object] = {"version": VERSION}
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


def _with_urls(prefix: str, buckets: Sources | Annotations) -> dict[str, object]:
    found = {name: getattr(buckets, name) for name in buckets.__struct_fields__ if name != _EXTENSIONS}
    ##= man/spec/gates.md#not-applicable
    ##% Where there is no entry, a report MUST NOT differ from one of a duvet without such entries.
    written = {_url(prefix, name): bucket for name, bucket in found.items() if bucket or name not in _OWN}
    known = {url: dict(sorted(bucket.items())) for url, bucket in written.items()}
    return {**known, **dict(sorted(buckets.extensions.items()))}


def _url(prefix: str, name: str) -> str:
    return _OWN.get(name, prefix + name)


def decode(data: bytes) -> Report:
    """The report that a text holds; DuvetError where it holds none."""
    try:
        wire = msgspec.json.decode(data, type=_Wire)
        sources = _without_urls(_SOURCES, wire.sources, Sources)
        annotations = _without_urls(_ANNOTATIONS, wire.annotations, Annotations)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DuvetError(f"failed to parse JSON: {_in_words(error, data)}") from error
    if wire.version != VERSION:
        raise DuvetError(f"unsupported report version '{wire.version}', expected '{VERSION}'")
    return Report(wire.issue_links, wire.repositories, sources, annotations)


def _without_urls(prefix: str, found: dict[str, Raw], kind: type[Buckets]) -> Buckets:
    known = {
        field.name: msgspec.json.decode(found.pop(_url(prefix, field.name)), type=field.type)
        for field in fields(kind)
        if _url(prefix, field.name) in found
    }
    extensions = {name: _canonical(value) for name, value in found.items()}
    return kind(**known, extensions=extensions)


def _canonical(value: Raw) -> Raw:
    """The same value spelled as every other writer would spell it."""
    return Raw(msgspec.json.encode(msgspec.json.decode(value), order="sorted"))


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
