"""Reads requirement files: a fast reader for the usual form, a checking one for any other TOML."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from duvet import rules
from duvet.config import fields
from duvet.config.toml import TomlDocument, TomlEncodingError, TomlError, has_control_characters, parse_toml_bytes
from duvet.model import Annotation, Format, Kind, Level, Problem, Source
from duvet.text import WHITESPACE, quote_text

##= man/spec/trace.md#annotations
##% duvet MUST read a requirement file with every table name that awslabs duvet accepts, give entries without a target
##% that of the file, and report each problem with its place.
REQUIREMENT_TABLES = {
    "spec": Kind.SPEC,
    "specs": Kind.SPEC,
    "exception": Kind.EXCEPTION,
    "exceptions": Kind.EXCEPTION,
    "TODO": Kind.TODO,
    "todo": Kind.TODO,
    "todos": Kind.TODO,
}
TOP_LEVEL_KEYS = ("target", *REQUIREMENT_TABLES)
FIELDS_BY_KIND = {
    Kind.SPEC: ("target", "level", "format", "quote"),
    Kind.EXCEPTION: ("target", "quote", "reason"),
    Kind.TODO: ("target", "quote", "feature", "tracking-issue", "tracking_issue", "reason", "tags"),
}
REQUIRED_FIELDS = {Kind.SPEC: ("quote",), Kind.EXCEPTION: ("quote", "reason"), Kind.TODO: ("quote",)}
LEVELS_BY_NAME = {level.name: level for level in Level}
FORMATS_BY_NAME = {"md": Format.MARKDOWN, **{name: form for form in Format for name in (form.name, form.name.lower())}}


def fold_quote(text: str) -> str:
    """The text on one line, as it is searched for in its section."""
    if "\n" not in text:
        return text.strip(WHITESPACE)
    return " ".join(filter(None, [line.strip(WHITESPACE) for line in text.split("\n")]))


_Span = tuple[int, int]


class _Table(Struct, frozen=True):
    """A `[[name]]`, and the places of its values."""

    name: str
    header: _Span
    values: dict[str, _Span]


def read_requirements_plain(path: str, data: bytes) -> list[Annotation] | None:
    """Read a file of plain strings without mistakes, much faster than TOML; None for any other file."""
    if has_control_characters(data):
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    tables = _tables(text)
    return _annotations(path, text, tables) if tables else None


@cache
def _statement() -> re.Pattern[str]:
    """Match a statement with the comments and blank lines after it; the first form is what duvet itself writes.

    Any other character matches as `other`, so that the search stops at once.
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
    return names <= REQUIREMENT_TABLES.keys() and len({REQUIREMENT_TABLES[name] for name in names}) == len(names)


def _annotation(
    path: str, line: int, text: str, table: _Table, target: str | None, target_span: _Span | None
) -> Annotation | None:
    kind = REQUIREMENT_TABLES[table.name]
    values = table.values
    if "target" in values:
        target_span = values["target"]
        target = _string(text, target_span)
    if target is None or target_span is None or not _complete(kind, tuple(values)):
        return None
    level = LEVELS_BY_NAME.get(_string(text, values["level"])) if "level" in values else Level.AUTO
    form = FORMATS_BY_NAME.get(_string(text, values["format"])) if "format" in values else Format.AUTO
    if level is None or form is None:
        return None
    quote = _string(text, values["quote"])
    source = Source(*target_span, *table.header, *values["quote"])
    matched = fold_quote(quote)
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
    """Whether a table has all required keys and no unsupported ones."""
    unfit = {"tags", *(["tracking_issue"] if "tracking-issue" in keys else [])}
    return set(REQUIRED_FIELDS[kind]) <= set(keys) <= set(FIELDS_BY_KIND[kind]) - unfit


def _string(text: str, span: _Span) -> str:
    start, end = span
    if not text.startswith("'''", start):
        return text[start + 1 : end - 1]
    return text[start + 4 : end - 3] if text[start + 3] == "\n" else text[start + 3 : end - 3]


def read_requirement_file(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    """Return the annotations of a requirement file in order, and the problems of those that can't be read."""
    plain = read_requirements_plain(path, data)
    if plain is not None:
        return plain, []
    return read_requirements_checked(path, data)


_Key = str | int
_ONLY_IN_COMMENTS = ("citation", "implementation", "implication", "test")
_CHOICES: dict[str, tuple[str, Collection[str], str]] = {
    "level": ("annotation level", LEVELS_BY_NAME, '["AUTO", "MUST", "SHOULD", "MAY"]'),
    "format": ("spec type", FORMATS_BY_NAME, '["auto", "ietf", "markdown"]'),
}


def check_requirement_file(toml: TomlDocument) -> Iterator[Problem]:
    """Check the top level of a file."""
    spelt: dict[Kind, str] = {}
    for name, value in toml.values.items():
        if name == "target":
            yield from _type_problems(toml, ("target",), value, str, "a string")
        elif name in REQUIREMENT_TABLES:
            yield from _array_problems(toml, name, value)
            if spelt.setdefault(REQUIREMENT_TABLES[name], name) != name:
                yield _repeated(
                    toml,
                    name,
                    plural=f"{REQUIREMENT_TABLES[name].name.lower()}s",
                    other=spelt[REQUIREMENT_TABLES[name]],
                )
        else:
            hint = _comment_hint(name) if name in _ONLY_IN_COMMENTS else fields.did_you_mean(name, TOP_LEVEL_KEYS)
            message = fields.describe_unknown_field(name, TOP_LEVEL_KEYS)
            yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(name), hint=hint)


def check_requirement_table(toml: TomlDocument, name: str, index: int, table: Any) -> Iterator[Problem]:
    """Check a `[[spec]]`, `[[exception]]` or `[[todo]]`."""
    if not isinstance(table, dict):
        yield from _type_problems(toml, (name, index), table, dict, "a table")
        return
    kind = REQUIREMENT_TABLES[name]
    for key, value in table.items():
        yield from _field_problems(toml, kind, (name, index, key), value)
    if "tracking-issue" in table and "tracking_issue" in table:
        message, place = (
            fields.describe_duplicate_field("tracking_issue"),
            toml.key_place(name, index, "tracking_issue"),
        )
        hint = "keep one of `tracking-issue` and `tracking_issue`"
        yield rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, place, hint=hint)
    yield from _missing(toml, (name, index), [key for key in REQUIRED_FIELDS[kind] if key not in table])
    if "target" not in table and "target" not in toml.values:
        hint = 'write `target = "specification#section"` here, or above all tables for the whole file'
        place = toml.value_place(name, index)
        yield rules.REQUIREMENT_MISSING_KEY.problem("missing target", toml.path, place, hint=hint)


def _field_problems(toml: TomlDocument, kind: Kind, keys: tuple[str, int, str], value: Any) -> Iterator[Problem]:
    key = keys[2]
    if key not in FIELDS_BY_KIND[kind]:
        message, hint = (
            fields.describe_unknown_field(key, FIELDS_BY_KIND[kind]),
            fields.did_you_mean(key, FIELDS_BY_KIND[kind]),
        )
        yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(*keys), hint=hint)
    elif key == "tags":
        yield from _type_problems(toml, keys, value, list, "a sequence")
        for index, tag in enumerate(value if isinstance(value, list) else ()):
            yield from _type_problems(toml, (*keys, index), tag, str, "a string")
    elif not isinstance(value, str):
        yield from _type_problems(toml, keys, value, str, "a string")
    elif key in _CHOICES and value not in _CHOICES[key][1]:
        noun, known, expected = _CHOICES[key]
        message, hint = (
            f"Invalid {noun} {quote_text(value)}, expected one of {expected}",
            fields.did_you_mean(value, known),
        )
        place = toml.value_place(*keys)
        yield rules.REQUIREMENT_BAD_VALUE.problem(message, toml.path, place, label="defined here", hint=hint)


def _type_problems(
    toml: TomlDocument, keys: tuple[_Key, ...], value: Any, wanted: type, noun: str
) -> Iterator[Problem]:
    if not isinstance(value, wanted):
        message = fields.describe_invalid_type(value, noun)
        yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(*keys))


def _array_problems(toml: TomlDocument, name: str, value: Any) -> Iterator[Problem]:
    if not isinstance(value, list):
        hint = f"write [[{name}]], in double brackets" if isinstance(value, dict) else ""
        message = fields.describe_invalid_type(value, "a sequence")
        yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(name), hint=hint)


def _repeated(toml: TomlDocument, name: str, *, plural: str, other: str) -> Problem:
    message, hint = fields.describe_duplicate_field(plural), f"keep one of [[{other}]] and [[{name}]]"
    return rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, toml.value_place(name), hint=hint)


def _missing(toml: TomlDocument, keys: tuple[_Key, ...], names: Iterable[str]) -> Iterator[Problem]:
    for name in names:
        message = fields.describe_missing_field(name)
        yield rules.REQUIREMENT_MISSING_KEY.problem(message, toml.path, toml.value_place(*keys))


def _comment_hint(name: str) -> str:
    return f"a requirement file has [[spec]], [[exception]] and [[todo]]; write the {name} as a comment in the source"


def read_requirements_checked(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    """Read any TOML, and report every problem with its place."""
    try:
        toml = parse_toml_bytes(data, path)
    except TomlEncodingError as error:
        hint = "save the file as UTF-8"
        return [], [rules.FILE_NOT_UTF8.problem(error.message, path, error.place, hint=hint)]
    except TomlError as error:
        return [], [rules.REQUIREMENT_SYNTAX.problem(error.message, path, error.place)]
    return _read(toml)


def _read(toml: TomlDocument) -> tuple[list[Annotation], list[Problem]]:
    problems = list(check_requirement_file(toml))
    inheritable = isinstance(toml.values.get("target"), str)
    annotations = []
    for name, index, table in _requirement_checked_tables(toml.values):
        wrong = list(check_requirement_table(toml, name, index, table))
        problems += wrong
        if not wrong and ("target" in table or inheritable):
            annotations.append(_requirement_checked_annotation(toml, name, index, table))
    annotations.sort(key=lambda annotation: annotation.source.text)
    problems.sort(key=lambda problem: problem.sort_key)
    return annotations, problems


def _requirement_checked_tables(values: dict[str, Any]) -> Iterator[tuple[str, int, Any]]:
    for name in REQUIREMENT_TABLES:
        tables = values.get(name)
        if isinstance(tables, list):
            for index, table in enumerate(tables):
                yield name, index, table


def _requirement_checked_annotation(toml: TomlDocument, name: str, index: int, table: dict[str, Any]) -> Annotation:
    kind = REQUIREMENT_TABLES[name]
    keys = (name, index)
    strings = {key: toml.string(*keys, key) for key, value in table.items() if isinstance(value, str)}
    target_keys = (*keys, "target") if "target" in table else ("target",)
    source = Source(*toml.value_span(*target_keys), *toml.value_span(*keys), *toml.value_span(*keys, "quote"))
    return Annotation(
        toml.path,
        toml.value_place(*keys).line,
        kind,
        toml.string(*target_keys),
        fold_quote(strings["quote"]),
        LEVELS_BY_NAME[strings["level"]] if "level" in strings else Level.AUTO,
        FORMATS_BY_NAME[strings["format"]] if "format" in strings else Format.AUTO,
        strings["quote"] if kind is Kind.SPEC else strings.get("reason", ""),
        strings.get("feature", ""),
        strings.get("tracking-issue", strings.get("tracking_issue", "")),
        tuple(sorted(set(table.get("tags", ())))),
        from_file=True,
        source=source,
    )
