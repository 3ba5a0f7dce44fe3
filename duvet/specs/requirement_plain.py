"""Reads requirement files of the usual form, many times faster than a TOML parser does."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct

from duvet.config.toml_text import has_controls
from duvet.model import Annotation, Format, Kind, Level, Source
from duvet.specs.requirement_fields import FIELDS, FORMATS, LEVELS, REQUIRED, TABLES, quote_of

_Span = tuple[int, int]


class _Table(Struct, frozen=True):
    """A `[[name]]`, and where the values below it stand."""

    name: str
    header: _Span
    values: dict[str, _Span]


def read_plain(path: str, data: bytes) -> list[Annotation] | None:
    """The annotations of a file that has nothing but plain strings and no mistake; None for any other file."""
    if has_controls(data):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    tables = _tables(text)
    return _annotations(path, text, tables) if tables else None


@cache
def _statement() -> re.Pattern[str]:
    """One statement with the comments and blank lines after it; the first form is what duvet itself writes.

    Whatever is none is matched too, so that nobody looks for the next one in all the rest of the file.
    """
    literal = r"'''[^']*+(?:'{1,2}+[^']++)*+'''(?!')"
    end = r"[ \t]*+(?:\#[^\n]*+)?(?:(?:\n[ \t\n]*+(?:\#[^\n]*+)?)++|\Z)"
    return re.compile(
        rf"""
        \[\[spec\]\]\nlevel[ ]=[ ]("[A-Z]*+")\nquote[ ]=[ ]({literal}){end}
        | \[\[([A-Za-z]++)\]\]{end}
        | ([a-z_-]++)[ \t]*+=[ \t]*+({literal} | '[^'\n]*+'(?!') | "[^"\\\n]*+"(?!")){end}
        | (?P<other>[\s\S])
        """,
        re.VERBOSE,
    )


def _tables(text: str) -> list[_Table] | None:
    values: dict[str, _Span] = {}
    tables = [_Table("", (0, 0), values)]
    position = _blank_end(text)
    for match in _statement().finditer(text, position):
        if match["other"]:
            return None
        start, position = match.span()
        group = match.lastindex
        if group == 2:
            values = {"level": match.span(1), "quote": match.span(2)}
            tables.append(_Table("spec", (start, start + 8), values))
        elif group == 3:
            values = {}
            tables.append(_Table(match[3], (start, match.end(3) + 2), values))
        elif match[4] in values:
            return None
        else:
            values[match[4]] = match.span(5)
    return tables if position == len(text) else None


def _blank_end(text: str) -> int:
    match = re.match(r"[ \t\n]*+(?:#[^\n]*+[ \t\n]*+)*+", text)
    return match.end() if match else 0


def _annotations(path: str, text: str, tables: list[_Table]) -> list[Annotation] | None:
    top = tables[0].values
    if not top.keys() <= {"target"} or not _agree({table.name for table in tables[1:]}):
        return None
    target = _string(text, top["target"]) if top else None
    found = []
    line = 1
    position = 0
    for table in tables[1:]:
        start = table.header[0]
        line += text.count("\n", position, start)
        position = start
        annotation = _annotation(path, line, text, table, target, top.get("target"))
        if annotation is None:
            return None
        found.append(annotation)
    return found


def _agree(names: set[str]) -> bool:
    """Whether all tables are known, and each kind has one spelling."""
    return names <= TABLES.keys() and len({TABLES[name] for name in names}) == len(names)


def _annotation(
    path: str, line: int, text: str, table: _Table, target: str | None, target_span: _Span | None
) -> Annotation | None:
    kind = TABLES[table.name]
    values = table.values
    ##= man/spec/trace.md#requirement-files
    ##% An entry without a target of its own MUST have the target of its file.
    if "target" in values:
        target_span = values["target"]
        target = _string(text, target_span)
    if target is None or target_span is None or not _complete(kind, tuple(values)):
        return None
    level = LEVELS.get(_string(text, values["level"])) if "level" in values else Level.AUTO
    form = FORMATS.get(_string(text, values["format"])) if "format" in values else Format.AUTO
    if level is None or form is None:
        return None
    quote = _string(text, values["quote"])
    source = Source(*target_span, *table.header, *values["quote"])
    matched = quote_of(quote)
    if kind is Kind.SPEC:
        return Annotation(path, line, kind, target, matched, level, form, quote, from_file=True, source=source)
    reason, feature, issue = (
        _string(text, values[key]) if key in values else "" for key in ("reason", "feature", _issue_key(values))
    )
    return Annotation(
        path, line, kind, target, matched, level, form, reason, feature, issue, from_file=True, source=source
    )


def _issue_key(values: dict[str, _Span]) -> str:
    return "tracking-issue" if "tracking-issue" in values else "tracking_issue"


@lru_cache(maxsize=256)
def _complete(kind: Kind, keys: tuple[str, ...]) -> bool:
    """Whether a table has all the keys that it needs, and none that it may not have or that hold a list."""
    unfit = {"tags", *(["tracking_issue"] if "tracking-issue" in keys else [])}
    return set(REQUIRED[kind]) <= set(keys) <= set(FIELDS[kind]) - unfit


def _string(text: str, span: _Span) -> str:
    start, end = span
    if not text.startswith("'''", start):
        return text[start + 1 : end - 1]
    return text[start + 4 : end - 3] if text[start + 3] == "\n" else text[start + 3 : end - 3]
