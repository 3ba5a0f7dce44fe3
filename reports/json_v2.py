"""JSON v2, awslabs duvet's second report format: records, encoding, decoding, conversion of a trace, and merging."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from itertools import chain
from typing import Annotated, Any, BinaryIO, Literal, NamedTuple, TypeVar, cast

import msgspec
from fnv_c import fnv1a_64  # type: ignore[import-untyped]
from msgspec import Meta, Raw, Struct, field
from msgspec.structs import asdict, fields, replace

from duvet import rules
from duvet.errors import DuvetError, ProblemsError
from duvet.model import Annotation, Kind, Level, Locator, Problem, Severity
from duvet.specs.locator import format_locator
from duvet.text import byte_length, quote_text
from duvet.trace.records import Coverage, Finished
from duvet.tree.files import Tree

V2_VERSION = "2.0"

LevelName = Literal["AUTO", "MAY", "SHOULD", "MUST"]
KindName = Literal["CITATION", "TEST", "IMPLICATION", "EXCEPTION", "TODO"]
Offset = Annotated[int, Meta(ge=0)]


class V2Record(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, gc=False):
    pass


class ByteRange(Struct, frozen=True, order=True, forbid_unknown_fields=True, gc=False):
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
    source: SourceLocation
    origin: SourceRanges
    level: LevelName
    coverage: dict[str, tuple[ByteRange, ...]] = {}


class CiteRecord(V2Record, frozen=True):
    source: SourceLocation
    target: SourceRanges
    type: KindName
    # Values from a `default_factory` are encoded, too.
    level: LevelName = field(default_factory=lambda: "AUTO")
    comment: str | None = None
    feature: str | None = None
    tracking_issue: str | None = None
    tags: tuple[str, ...] = ()


class NotApplicableRecord(V2Record, frozen=True):
    target: str
    reason: str
    requirements: Offset
    quote: str | None = None
    owner: str | None = None
    expiry: date | None = None


class V2Sources(Struct, frozen=True):
    inline: dict[str, InlineSource] = {}
    linked: dict[str, LinkedSource] = {}
    extensions: dict[str, Raw] = {}  # The buckets of other tools.


class V2Annotations(Struct, frozen=True):
    specification: dict[str, SpecificationRecord] = {}
    section: dict[str, SectionRecord] = {}
    requirement: dict[str, RequirementRecord] = {}
    cite: dict[str, CiteRecord] = {}
    # duvet-cli's own bucket; awslabs duvet keeps it as an extension.
    not_applicable: dict[str, NotApplicableRecord] = {}
    extensions: dict[str, Raw] = {}


class V2Report(Struct, frozen=True):
    issue_links: tuple[str, ...] = ()
    repositories: dict[str, RepositoryRecord] = {}
    sources: V2Sources = V2Sources()
    annotations: V2Annotations = V2Annotations()


# The names of buckets are URLs; buckets without a field are extensions.
_SOURCES = "https://awslabs.github.io/duvet/v2/sources.json#"
_ANNOTATIONS = "https://awslabs.github.io/duvet/v2/annotations.json#"
# awslabs duvet doesn't write these buckets; it keeps unknown ones when it merges reports.
_OWN = {"not_applicable": "duvet-cli/v2/annotations.json#not_applicable"}

Buckets = TypeVar("Buckets", V2Sources, V2Annotations)


class _Wire(Struct, kw_only=True, forbid_unknown_fields=True):
    version: str
    issue_links: tuple[str, ...] = ()
    repositories: dict[str, RepositoryRecord] = {}
    sources: dict[str, Raw]
    annotations: dict[str, Raw]


def render_json_v2(report: Finished, out: BinaryIO) -> None:
    out.write(encode_v2_report(build_v2_report(report)))


def encode_v2_report(report: V2Report) -> bytes:
    document: dict[str, object] = {"version": V2_VERSION}
    if report.issue_links:
        document["issue_links"] = report.issue_links
    if report.repositories:
        document["repositories"] = dict(sorted(report.repositories.items()))
    document["sources"] = _insert_urls(_SOURCES, report.sources)
    document["annotations"] = _insert_urls(_ANNOTATIONS, report.annotations)
    try:
        return msgspec.json.format(msgspec.json.encode(document), indent=2)
    except RecursionError as error:
        raise DuvetError("the report contains another tool's data that is nested too deeply") from error


def _insert_urls(prefix: str, buckets: V2Sources | V2Annotations) -> dict[str, object]:
    found = {name: getattr(buckets, name) for name in buckets.__struct_fields__ if name != "extensions"}
    ##= man/spec/trace.md#reports
    ##% With awslabs duvet's schema, the snapshot, LCOV and both versions of the JSON report MUST equal the files
    ##% that awslabs duvet writes, except for known defects of awslabs duvet.
    written = {name: dict(sorted(bucket.items())) for name, bucket in found.items() if bucket or name not in _OWN}
    known = {_OWN.get(name, prefix + name): bucket for name, bucket in written.items()}
    return known | dict(sorted(buckets.extensions.items()))


def decode_v2_report(data: bytes) -> V2Report:
    try:
        wire = msgspec.json.decode(data, type=_Wire)
        sources = _extract_urls(_SOURCES, wire.sources, V2Sources)
        annotations = _extract_urls(_ANNOTATIONS, wire.annotations, V2Annotations)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DuvetError(f"failed to parse JSON: {_reword(error, data)}") from error
    if wire.version != V2_VERSION:
        raise DuvetError(f"unsupported report version '{wire.version}', expected '{V2_VERSION}'")
    return V2Report(wire.issue_links, wire.repositories, sources, annotations)


def _extract_urls(prefix: str, found: dict[str, Raw], kind: type[Buckets]) -> Buckets:
    urls = {_OWN.get(field.name, prefix + field.name): field for field in fields(kind)}
    known = {
        field.name: msgspec.json.decode(found.pop(url), type=field.type) for url, field in urls.items() if url in found
    }
    # Encode extensions canonically, so that equal values have equal bytes.
    extensions = {
        name: Raw(msgspec.json.encode(msgspec.json.decode(value), order="sorted")) for name, value in found.items()
    }
    return kind(**known, extensions=extensions)


def _reword(error: Exception, data: bytes) -> str:
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


def read_reports(paths: Sequence[str], tree: Tree) -> list[tuple[str, V2Report]]:
    reports: list[tuple[str, V2Report]] = []
    problems: list[Problem] = []
    for path in paths:
        failure, hint = f"failed to open file '{path}'", ""
        try:
            data = tree.read(path)
            failure = f"failed to read report from '{path}'"
            hint = "write the input with `duvet report --json-v2 FILE`"
            reports.append((path, decode_v2_report(data)))
        except DuvetError as error:
            problems.append(rules.REPORT_UNREADABLE.problem(f"{failure}: {error.message}", path, hint=hint))
    if problems:
        raise ProblemsError(tuple(problems))
    return reports


def make_entity_id(prefix: str, *fields: str | int) -> str:
    joined = "\0".join(map(str, fields)).encode()
    return f"{prefix}-{fnv1a_64(joined):016x}"


_LEVEL_NAMES = {level: cast("LevelName", level.name) for level in Level}
_KIND_NAMES = {kind: cast("KindName", kind.name) for kind in Kind if kind is not Kind.SPEC}


def merge_ranges(*parts: Iterable[ByteRange]) -> tuple[ByteRange, ...]:
    return tuple(sorted({one for part in parts for one in part}))


def make_cite_records(
    annotations: Sequence[Annotation], files: Sequence[str], targets: dict[int, SourceRanges]
) -> tuple[dict[str, CiteRecord], dict[int, str]]:
    records: dict[str, CiteRecord] = {}
    ids: dict[int, str] = {}
    for index, annotation in enumerate(annotations):
        target = targets.get(index)
        if target is None or annotation.kind is Kind.SPEC:
            continue
        file = files[index]
        id = ids[index] = make_entity_id("cite", file, annotation.line, target.src)
        known = records.get(id)
        if known is None:
            records[id] = CiteRecord(
                source=SourceLocation(file, annotation.line or None),
                target=target,
                type=_KIND_NAMES[annotation.kind],
                level=_LEVEL_NAMES[annotation.level],
                comment=annotation.reason or None,
                feature=annotation.feature or None,
                tracking_issue=annotation.tracking_issue or None,
                tags=annotation.tags,
            )
        else:
            # Several annotations on one line have the same id; use the first one.
            ranges = merge_ranges(known.target.ranges, target.ranges)
            records[id] = replace(known, target=replace(known.target, ranges=ranges))
    return records, ids


def make_requirement_records(
    report: Finished, files: Sequence[str], targets: dict[int, SourceRanges], cites: dict[int, str]
) -> dict[str, RequirementRecord]:
    records: dict[str, RequirementRecord] = {}
    # A citation counts for all formats in which its specification is read.
    names: dict[str, list[Coverage]] = {}
    for coverage in report.trace.coverages:
        names.setdefault(format_locator(coverage.specification.locator, report.root), []).append(coverage)
    for coverages in names.values():
        referred = []
        for coverage in coverages:
            found = sorted(
                (segment.start, segment.end, segment.ids)
                for lines in coverage.sections.values()
                for segments in lines.values()
                for segment in segments
                if segment.ids
            )
            referred.append(([end for _, end, _ in found], found))
        for coverage in coverages:
            # Annotations on the same line state the same requirement.
            stating: dict[tuple[str, int], list[int]] = {}
            for id in sorted(coverage.tallies):
                stating.setdefault((files[id], report.trace.annotations[id].line), []).append(id)
            for (file, line), ids in stating.items():
                origin = targets[ids[0]]
                if len(ids) > 1:
                    origin = replace(origin, ranges=merge_ranges(*(targets[id].ranges for id in ids)))
                bounds = chain.from_iterable((one.start, one.end) for one in origin.ranges)
                records[make_entity_id("req", origin.src, *bounds, file, line)] = RequirementRecord(
                    source=SourceLocation(file, line or None),
                    origin=origin,
                    level=_LEVEL_NAMES[report.trace.annotations[ids[0]].level],
                    coverage=_make_coverage(origin.ranges, referred, targets, cites),
                )
    return records


_Segments = tuple[list[int], list[tuple[int, int, tuple[int, ...]]]]
"""The ends of the cited segments of a specification, and for each segment its start, its end and its annotations."""


def _make_coverage(
    origin: tuple[ByteRange, ...],
    referred: Sequence[_Segments],
    targets: dict[int, SourceRanges],
    cites: dict[int, str],
) -> dict[str, tuple[ByteRange, ...]]:
    ids: set[int] = set()
    for ends, segments in referred:
        for one in origin:
            at = bisect_right(ends, one.start)
            while at < len(segments) and segments[at][0] < one.end:
                ids.update(segments[at][2])
                at += 1
    covered: dict[str, tuple[ByteRange, ...]] = {}
    for id in ids:
        cite = cites.get(id)
        if cite is not None:
            # The parts of the ranges that are inside the origin.
            ranges = targets[id].ranges
            if ranges is origin and all(one.start < one.end for one in origin):
                part = origin
            else:
                part = merge_ranges(
                    ByteRange(max(one.start, whole.start), min(one.end, whole.end))
                    for whole in origin
                    for one in ranges
                    if max(one.start, whole.start) < min(one.end, whole.end)
                )
            covered[cite] = merge_ranges(covered[cite], part) if cite in covered else part
    return dict(sorted(covered.items()))


def make_specification_records(
    report: Finished,
) -> tuple[dict[str, InlineSource], dict[str, SpecificationRecord], dict[str, SectionRecord], dict[int, SourceRanges]]:
    sources: dict[str, InlineSource] = {}
    specifications: dict[str, SpecificationRecord] = {}
    sections: dict[str, SectionRecord] = {}
    targets: dict[int, SourceRanges] = {}
    for coverage in report.trace.coverages:
        specification = coverage.specification
        locator, data = specification.locator, specification.data
        src = f"src-{fnv1a_64(data):016x}"
        if src not in sources:
            name = format_locator(Locator(specification.path) if locator.is_url else locator, report.root)
            sources[src] = InlineSource(name, data.decode())
        record = SpecificationRecord(
            source=SourceSpan(src, 0, len(data)),
            title=specification.title or None,
            format=specification.format.name.lower(),
            url=specification.url if locator.is_url else None,
        )
        specifications.setdefault(make_entity_id("spc", src, 0, len(data)), record)
        for section in specification.sections:
            start, end = section.heading
            if section.lines:
                end = section.starts[-1] + byte_length(section.lines[-1])
            id = make_entity_id("sec", src, start, end)
            sections.setdefault(id, SectionRecord(SourceSpan(src, start, end), section.id, section.title))
        for match in coverage.matches:
            target = SourceRanges(src, tuple([ByteRange(piece.start, piece.end) for piece in match.pieces]))
            targets.update(dict.fromkeys(match.ids, target))
    return sources, specifications, sections, targets


def build_v2_report(report: Finished) -> V2Report:
    links = (report.blob_link, *(one.blob_link for one in report.trace.annotations))
    repositories: dict[str | None, str] = {link: make_entity_id("repo", link) for link in {*links} if link is not None}
    linked: dict[str, LinkedSource] = {}
    found: dict[tuple[str, str | None], str] = {}
    files: list[str] = []  # The id of the file of each annotation.
    for annotation in report.trace.annotations:
        key = (annotation.path, annotation.blob_link)
        if key not in found:
            repository = repositories.get(report.blob_link if annotation.blob_link is None else annotation.blob_link)
            path = report.spelled.get(annotation.path, annotation.path)
            found[key] = make_entity_id("lnk", path, repository or "")
            linked[found[key]] = LinkedSource(path, repository)
        files.append(found[key])
    inline, specifications, sections, targets = make_specification_records(report)
    cites, cite_ids = make_cite_records(report.trace.annotations, files, targets)
    requirements = make_requirement_records(report, files, targets, cite_ids)
    ##= man/spec/gates.md#not-applicable
    ##% The summary, the HTML report, the snapshot and both versions of the JSON report MUST list every
    ##% `[[not-applicable]]` entry.
    not_applicable = {
        make_entity_id("not", one.target, one.quote, one.reason, one.owner, str(one.expiry or "")): NotApplicableRecord(
            one.target, one.reason, one.requirements, one.quote or None, one.owner or None, one.expiry
        )
        for one in report.not_applicable
    }
    return V2Report(
        () if report.issue_link is None else (report.issue_link,),
        {id: RepositoryRecord(link) for link, id in repositories.items() if link is not None},
        V2Sources(inline, linked),
        V2Annotations(specifications, sections, requirements, cites, not_applicable),
    )


_SEEN = "conflicting with previously seen"


class _Rule(NamedTuple):
    field: str  # Empty for the whole record.
    show: Callable[[Any], str] = "'{}'".format
    words: str = f"with {{field}} {{new}} {_SEEN} {{old}}"
    broken: bool = False  # Whether ids are equal although the hashed content differs.


def _quote(value: str | None) -> str:
    return "none" if value is None else quote_text(value)


_named = partial(_Rule, show=str.capitalize)
_hashed = partial(_Rule, words="with {field} differing from previously seen", broken=True)
_RULES: dict[type[V2Record], tuple[str, tuple[_Rule, ...]]] = {
    RepositoryRecord: ("repository", (_Rule("blob_link", broken=True),)),
    InlineSource: ("inline source", (_hashed("contents", words=f"with contents {_SEEN} contents"), _Rule("file_name"))),
    LinkedSource: ("linked source", (_hashed("", words="that differs from previously seen entry under the same id"),)),
    SpecificationRecord: (
        "specification annotation",
        (_Rule("title", _quote), _Rule("format"), _Rule("url", _quote), _hashed("source")),
    ),
    SectionRecord: ("section annotation", (_Rule("short_name"), _Rule("long_name", _quote), _hashed("source"))),
    RequirementRecord: ("requirement annotation", (_named("level"), _hashed("source"), _hashed("origin"))),
    CiteRecord: (
        "cite annotation",
        (_named("type"), _named("level"), _Rule("target", words=f"with target {_SEEN}"), _hashed("source")),
    ),
    # Two records with the same id differ only in how much of the specification each package cites.
    NotApplicableRecord: ("", ()),
}
"""The name of each kind of record in messages, and the fields that must be equal in two records with the same id."""

_TEXTS = ("comment", "feature", "tracking_issue")
T = TypeVar("T", bound=V2Record)


def join_records(earlier: T, later: T) -> T:
    match earlier, later:
        case SpecificationRecord(), SpecificationRecord():
            return replace(earlier, url=earlier.url or later.url)
        case RequirementRecord(), RequirementRecord():
            both = {**earlier.coverage, **later.coverage}
            coverage = {cite: earlier.coverage.get(cite, ()) + later.coverage.get(cite, ()) for cite in both}
            return replace(earlier, coverage=coverage)
        case CiteRecord(), CiteRecord():
            # Keep the text that sorts first.
            pairs = {name: (getattr(earlier, name), getattr(later, name)) for name in _TEXTS}
            texts = {name: min((one for one in pair if one is not None), default=None) for name, pair in pairs.items()}
            return replace(earlier, tags=tuple(sorted({*earlier.tags, *later.tags})), **texts)
        case NotApplicableRecord(), NotApplicableRecord():
            return replace(earlier, requirements=max(earlier.requirements, later.requirements))
    return earlier


class _Reporter(NamedTuple):
    number: int
    name: str
    problems: list[Problem]

    def report(self, rule: rules.Rule, words: str, *, broken: bool = False, hint: str = "") -> None:
        message = f"input #{self.number} has {words}"
        if broken:
            message = f"internal invariant violation: {message}"
            hint = "ids are content hashes; use unedited reports from duvet"
        self.problems.append(rule.problem(message, self.name, hint=hint))


def merge_reports(inputs: Sequence[tuple[str, V2Report]]) -> tuple[V2Report, tuple[Problem, ...]]:
    if not inputs:
        raise DuvetError("merge requires at least one input report")
    problems: list[Problem] = []
    first: dict[str, int] = {}
    for number, (name, report) in enumerate(inputs):
        for id, source in sorted(report.sources.linked.items()):
            if source.repository is None and first.setdefault(id, number) != number:
                message = (
                    f"linked source '{id}' (file '{source.file_name}') without a repository "
                    f"appears in inputs #{first[id]} and #{number}"
                )
                hint = "add a blob-link to disambiguate: `blob-link` in each [[source]], or --blob-link"
                problems.append(rules.MERGE_CONFLICT.problem(message, name, hint=hint))
    if problems:
        raise ProblemsError(tuple(problems))
    merged = inputs[0][1]
    for number, (name, report) in enumerate(inputs[1:], 1):
        reporter = _Reporter(number, name, problems)
        merged = V2Report(
            tuple(sorted({*merged.issue_links, *report.issue_links})),
            _merge_sets(merged.repositories, report.repositories, reporter),
            _merge_buckets("sources", merged.sources, report.sources, reporter),
            _merge_buckets("annotations", merged.annotations, report.annotations, reporter),
        )
    if errors := tuple(problem for problem in problems if problem.severity is Severity.ERROR):
        raise ProblemsError(errors)
    requirements = {
        id: replace(record, coverage={cite: tuple(sorted(set(all))) for cite, all in sorted(record.coverage.items())})
        for id, record in merged.annotations.requirement.items()
    }
    return replace(merged, annotations=replace(merged.annotations, requirement=requirements)), tuple(problems)


def _merge_buckets(name: str, earlier: Buckets, later: Buckets, reporter: _Reporter) -> Buckets:
    pairs = zip(asdict(earlier).items(), asdict(later).values(), strict=True)
    known = {one: _merge_sets(old, new, reporter) for (one, old), new in pairs if one != "extensions"}
    # Different values are a conflict, because only the tool that wrote them knows what they mean.
    for key in sorted(earlier.extensions.keys() & later.extensions.keys()):
        if earlier.extensions[key] != later.extensions[key]:
            words = f"extension '{key}' under {name} conflicting with previously seen value"
            reporter.report(rules.MERGE_CONFLICT, words)
    return type(earlier)(**known, extensions={**later.extensions, **earlier.extensions})


def _merge_sets(earlier: dict[str, T], later: dict[str, T], reporter: _Reporter) -> dict[str, T]:
    kept = dict(earlier)
    for id, new in later.items():
        old = kept.setdefault(id, new)
        if old == new:
            continue
        ##= man/spec/trace.md#reports
        ##% `duvet merge` MUST refuse contradictory reports and list the contradictions, and its result MUST NOT depend
        ##% on the order of its inputs.
        noun, checks = _RULES[type(old)]
        for rule in checks:
            was, now = (getattr(record, rule.field) if rule.field else record for record in (old, new))
            # A specification that one package downloads may be a file in another package.
            if was != now and not (rule.field == "url" and None in (was, now)):
                words = rule.words.format(field=rule.field, old=rule.show(was), new=rule.show(now))
                subject = noun.removesuffix(" annotation") if rule.broken else noun
                reporter.report(rules.MERGE_CONFLICT, f"{subject} '{id}' {words}", broken=rule.broken)
        texts = (*_TEXTS, "tags") if isinstance(old, CiteRecord) else ()
        if drifted := ", ".join(name for name in texts if getattr(old, name) != getattr(new, name)):
            reporter.report(
                rules.MERGE_DRIFT,
                f"cite annotation '{id}' with metadata drift from previously seen ({drifted})",
                hint="the merged report keeps all tags and, of two different texts, the first in alphabetical order",
            )
        kept[id] = join_records(old, new)
    return kept
