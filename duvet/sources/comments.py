"""Reads annotations from comments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from duvet import rules
from duvet.model import Annotation, Format, Kind, Level, Note, Problem, Source
from duvet.text import WHITESPACE, find_place, quote_text, suggest_nearest

# `\s` matches these four characters, which are not white space in Unicode.
_BLANKS = r"[^\S\n\x1c-\x1f]*+"
_INK = r"[\S\x1c-\x1f]"
_REST = r"[^\n]*+"


# Matching one expression against the whole text takes a fifteenth of the time of a loop over lines.
class AnnotationFinder(Struct, frozen=True):
    runs: Callable[[str], Iterator[re.Match[str]]]
    """Finds consecutive lines with a prefix. Groups capture the parts of the usual form; `quote` is the last group."""
    texts: Callable[[str], list[str]]  # Finds the text after the prefix on each line of a quote, except on empty lines.
    without_text: str  # The end of a quote line with no text after its prefix; few other lines end like this.


@lru_cache
def make_finder(meta: str, content: str) -> AnnotationFinder:
    # Lines are matched without their indentation, so a prefix that begins with white space never matches.
    possible = [re.escape(one) for one in (meta, content) if one[:1] not in WHITESPACE and "\n" not in one]
    # An empty prefix matches every line that is not blank.
    first = f"(?:{'|'.join(possible) or '(?!)'})" if meta and content else _INK
    ##= man/spec/trace.md#annotations
    ##% Consecutive lines that start with a prefix of the comment style MUST form one annotation, which ends at the next
    ##% target.
    run = rf"{_REST}(?:\n{_BLANKS}{first}{_REST})*"
    if len(possible) == 2 and meta not in content and content not in meta:
        # The usual form: a target, lines with fields, a quote that begins with text.
        meta_sign, content_sign = possible
        fields = rf"(?:\n{_BLANKS}{meta_sign}{_REST})*"
        text = rf"{_INK}{_REST}(?:\n{_BLANKS}{content_sign}{_REST})*"
        usual = (
            rf"(?<={meta_sign}){_BLANKS}(?P<target>{_INK}{_REST})(?P<fields>{fields})"
            rf"\n{_BLANKS}(?P<quote>{content_sign}{_BLANKS}(?P<text>{text}))"
        )
        run = rf"(?:{usual}(?!\n{_BLANKS}{first})|{run})"
    texts = rf"{re.escape(content)}{_BLANKS}([^\n]*{_INK})"
    return AnnotationFinder(re.compile(first + run).finditer, re.compile(texts).findall, content.rstrip(WHITESPACE))


class LineRun(Struct, frozen=True):
    line: int
    start: int  # The offset of the first prefix.
    found: re.Match[str]  # A match; it may begin earlier, on a line without a prefix.

    @property
    def text(self) -> str:
        return self.found.string[self.start : self.found.end()]


def find_runs(text: str, finder: AnnotationFinder) -> Iterator[LineRun]:
    line, counted = 1, 0
    for found in finder.runs(text):
        start = found.start()
        if start and text[start - 1] != "\n" and text[text.rfind("\n", 0, start) + 1 : start].strip(WHITESPACE):
            below = found[0].partition("\n")[2].lstrip(WHITESPACE)
            if not below:
                continue
            start = found.end() - len(below)
        line += text.count("\n", counted, start)
        counted = start
        yield LineRun(line, start, found)


class LineToken(Struct, frozen=True):
    line: int
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class AnnotationBlock(Struct):
    metas: list[LineToken]
    contents: list[LineToken]


def split_blocks(run: LineRun, meta: str, content: str) -> list[AnnotationBlock]:
    block = AnnotationBlock([], [])
    found = [block]
    end = run.start - 1
    for number, written in enumerate(run.text.split("\n"), run.line):
        end += len(written) + 1
        line = written.lstrip(WHITESPACE)
        is_meta = line.startswith(meta)
        if is_meta and block.contents:
            block = AnnotationBlock([], [])
            found.append(block)
        rest = line[len(meta if is_meta else content) :].lstrip(WHITESPACE)
        token = LineToken(number, rest.rstrip(WHITESPACE), end - len(rest))
        if is_meta:
            block.metas.append(token)
        elif token.text:
            block.contents.append(token)
    return [block for block in found if block.metas or block.contents]


# Keys whose value is one of a few words: what it is, the words, those that a message lists, and the rule.
_CHOICES: dict[str, tuple[str, Mapping[str, Any], tuple[str, ...], rules.Rule]] = {
    "type": (
        "annotation type",
        {
            "IMPLEMENTATION": Kind.CITATION,
            "implementation": Kind.CITATION,
            **{name: kind for kind in Kind for name in (kind.name, kind.name.lower())},
        },
        ("spec", "test", "implementation", "exception", "todo", "implication"),
        rules.COMMENT_BAD_TYPE,
    ),
    "level": (
        "annotation level",
        {level.name: level for level in Level},
        ("AUTO", "MUST", "SHOULD", "MAY"),
        rules.COMMENT_BAD_LEVEL,
    ),
    "format": (
        "spec type",
        {"md": Format.MARKDOWN, **{name: one for one in Format for name in (one.name, one.name.lower())}},
        ("auto", "ietf", "markdown"),
        rules.COMMENT_BAD_FORMAT,
    ),
}
_REASONED = frozenset({Kind.EXCEPTION, Kind.IMPLICATION, Kind.CITATION, Kind.TEST})
_ONLY_FOR = {"reason": _REASONED, "feature": frozenset({Kind.TODO}), "tracking-issue": frozenset({Kind.TODO})}
_KEYS = ("source", "type", "level", "format", "reason", "feature", "tracking-issue")


def read_fields(
    path: str, text: str, lines: Sequence[LineToken], default: Kind
) -> tuple[Annotation, tuple[int, int], list[Problem]]:
    """Return an annotation (without path, line and quote), the range of its target, and the problems of its fields."""
    if len(lines) == 1 and "=" not in lines[0].text:
        ##= man/spec/trace.md#annotations
        ##% An annotation without a type MUST have the type of its `[[source]]`, by default `citation`.
        return Annotation("", 0, default, lines[0].text, ""), (lines[0].start, lines[0].end), []
    problems: list[Problem] = []

    def report(rule: rules.Rule, message: str, where: LineToken, label: str = "defined here", **more: Any) -> None:
        place = find_place(text, where.start, where.end)
        problems.append(rule.problem(message, path, place, label=label, **more))

    ##= man/spec/trace.md#annotations
    ##% duvet MUST report an annotation without a target, and a key that is unknown, repeated (except `reason`) or
    ##% not allowed for the annotation's type.
    values: list[LineToken] = []
    by_key: dict[str, list[LineToken]] = {}
    for line in lines:
        key, equals, value = line.text.partition("=")
        key, value = (key.rstrip(WHITESPACE), value.lstrip(WHITESPACE)) if equals else ("source", line.text)
        values.append(LineToken(line.line, value, line.end - len(value)))
        if key not in _KEYS:
            available = f"available: {', '.join(_KEYS[1:])}; write a target that contains `=` as `source=TARGET`"
            hint = suggest_nearest(key, _KEYS[1:]) or available
            report(rules.COMMENT_UNKNOWN_KEY, "invalid metadata field", LineToken(0, key, line.start), hint=hint)
        elif key in by_key and key != "reason":
            first = by_key[key][0]
            notes = (Note(find_place(text, first.start, first.end), "already defined here"),)
            report(rules.COMMENT_REPEATED_KEY, f'"{key}" already specified', values[-1], "redefined here", notes=notes)
        else:
            by_key.setdefault(key, []).append(values[-1])
    chosen: dict[str, Any] = {"type": default, "level": Level.AUTO, "format": Format.AUTO}
    has_kind = True
    for key, (noun, known, expected, rule) in _CHOICES.items():
        for field in by_key.get(key, ()):
            chosen[key] = known.get(field.text, chosen[key])
            if field.text not in known:
                has_kind = has_kind and key != "type"
                listed = ", ".join(map(quote_text, expected))
                message = f"Invalid {noun} {quote_text(field.text)}, expected one of [{listed}]"
                report(rule, message, field, f"unknown {noun}", hint=suggest_nearest(field.text, expected))
    kind = chosen["type"]
    for key, kinds in _ONLY_FOR.items():
        if has_kind and key in by_key and kind not in kinds:
            *others, last = sorted(kind.name.lower() for kind in kinds)
            allowed = f"{', '.join(others)} or {last}" if others else last
            hint = f"remove `{key}`, or set `type` to {allowed}"
            message, label = f"invalid key for type {kind.name}", f"`{key}` is allowed only for {allowed}"
            report(rules.COMMENT_KEY_NOT_ALLOWED, message, by_key[key][0], label, hint=hint)
    if "source" not in by_key:
        hint = "add a line with the target, such as `spec.md#section`"
        report(rules.COMMENT_NO_TARGET, "comment is missing source specification", values[0], hint=hint)
    target = by_key.get("source", values)[0]
    reason, feature, issue = (" ".join(field.text for field in by_key.get(key, ())) for key in _ONLY_FOR)
    level, form = chosen["level"], chosen["format"]
    annotation = Annotation("", 0, kind, target.text, "", level, form, reason, feature, issue)
    return annotation, (target.start, target.end), problems


class SourceStyle(Struct, frozen=True):
    meta: str = "//="
    content: str = "//#"
    kind: Kind = Kind.CITATION
    blob_link: str | None = None


def parse_usual_run(path: str, run: LineRun, style: SourceStyle, finder: AnnotationFinder) -> Annotation | None:
    """Parse a valid run in the usual form (target, fields, quote); return None for any other run."""
    found = run.found
    if found.lastgroup != "quote" or found.start() != run.start:
        return None
    target, fields, quote, _ = found.groups()
    quote = quote.rstrip(WHITESPACE)
    parsed = _parse_usual_fields(style.kind, style.meta, fields)
    if parsed is None or "=" in target or quote.endswith(finder.without_text):
        return None
    target = target.rstrip(WHITESPACE)
    start = found.start("target")
    end = found.start("quote") + len(quote)
    source = Source(start, start + len(target), start, end, found.start("text"), end)
    return Annotation(
        path,
        run.line,
        parsed.kind,
        target,
        " ".join(finder.texts(quote)),
        parsed.level,
        parsed.format,
        parsed.reason,
        parsed.feature,
        parsed.tracking_issue,
        blob_link=style.blob_link,
        source=source,
    )


@lru_cache(maxsize=512)
def _parse_usual_fields(kind: Kind, meta: str, fields: str) -> Annotation | None:
    texts = [line.lstrip(WHITESPACE)[len(meta) :].strip(WHITESPACE) for line in fields.split("\n")[1:]]
    annotation, _, problems = read_fields("", "", [LineToken(0, text, 0) for text in ("", *texts)], kind)
    return None if problems else annotation


_CUT_DISTANCE = 3  # Within this many lines, quoted text probably belongs to the target above.


def scan_comments(path: str, text: str, style: SourceStyle) -> tuple[list[Annotation], list[Problem]]:
    found: list[Annotation] = []
    problems: list[Problem] = []
    before: AnnotationBlock | None = None
    finder = make_finder(style.meta, style.content)
    for run in find_runs(text, finder):
        annotation = parse_usual_run(path, run, style, finder)
        if annotation is not None:
            found.append(annotation)
            before = None
            continue
        for block in split_blocks(run, style.meta, style.content):
            if block.metas:
                found += parse_block(path, text, block, style, problems)
            else:
                problems.append(_make_missing_target_problem(path, text, block, before))
            before = block
    return found, problems


def parse_block(
    path: str, text: str, block: AnnotationBlock, style: SourceStyle, problems: list[Problem]
) -> list[Annotation]:
    metas, contents = block.metas, block.contents
    annotation, target, found = read_fields(path, text, metas, style.kind)
    if found:
        problems += found
        return []
    start, end = metas[0].start, (contents or metas)[-1].end
    source = Source(*target, start, end, *((contents[0].start, end) if contents else (0, 0)))
    quote = " ".join([token.text for token in contents])
    line, link = metas[0].line, style.blob_link
    return [replace(annotation, path=path, line=line, quote=quote, blob_link=link, source=source)]


def _make_missing_target_problem(
    path: str, text: str, block: AnnotationBlock, before: AnnotationBlock | None
) -> Problem:
    first, last = block.contents[0], block.contents[-1]
    place = find_place(text, first.start, last.end)
    if before and before.metas and not before.contents and first.line - before.metas[-1].line <= _CUT_DISTANCE:
        message = f"this quote is separated from its target on line {before.metas[0].line}"
        hint = f"move the quote directly below line {before.metas[-1].line}"
        return rules.COMMENT_CUT.problem(message, path, place, label="separated quote", hint=hint)
    message = "this quote has no target and is ignored"
    hint = "add a line with the target, such as `spec.md#section`, above the quote; if this is not a quote, use another comment prefix"
    return rules.COMMENT_STRAY_CONTENT.problem(message, path, place, label="quote without a target", hint=hint)
