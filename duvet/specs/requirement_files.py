"""Reads, checks and generates requirement files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from duvet import rules
from duvet.config import toml
from duvet.config.document import DocumentError, describe_invalid_type, describe_unknown_field, did_you_mean
from duvet.config.toml import TomlDocument, parse_toml_bytes
from duvet.model import Annotation, ExtractedSentence, Format, Kind, Level, Problem, Section, Source
from duvet.text import WHITESPACE, quote_text

##= man/spec/trace.md#requirement-files
##% duvet MUST read requirement files as awslabs duvet does.
_REQUIREMENT_TABLES = {
    "spec": Kind.SPEC,
    "specs": Kind.SPEC,
    "exception": Kind.EXCEPTION,
    "exceptions": Kind.EXCEPTION,
    "TODO": Kind.TODO,
    "todo": Kind.TODO,
    "todos": Kind.TODO,
}
_TOP_LEVEL_KEYS = ("target", *_REQUIREMENT_TABLES)
_FIELDS_BY_KIND = {
    Kind.SPEC: ("target", "level", "format", "quote"),
    Kind.EXCEPTION: ("target", "quote", "reason"),
    Kind.TODO: ("target", "quote", "feature", "tracking-issue", "tracking_issue", "reason", "tags"),
}
_REQUIRED_FIELDS = {Kind.SPEC: ("quote",), Kind.EXCEPTION: ("quote", "reason"), Kind.TODO: ("quote",)}
_LEVELS_BY_NAME = {level.name: level for level in Level}
_FORMATS_BY_NAME = {"md": Format.MARKDOWN, **{name: form for form in Format for name in (form.name, form.name.lower())}}
_ONLY_IN_COMMENTS = ("citation", "implementation", "implication", "test")
_CHOICES: dict[str, tuple[str, Collection[str], str]] = {
    "level": ("annotation level", _LEVELS_BY_NAME, '["AUTO", "MUST", "SHOULD", "MAY"]'),
    "format": ("spec type", _FORMATS_BY_NAME, '["auto", "ietf", "markdown"]'),
}

_Span = tuple[int, int]


@cache
def _compile_statement() -> re.Pattern[str]:
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


def _read_tables(text: str) -> list[tuple[str, _Span, dict[str, _Span]]] | None:
    values: dict[str, _Span] = {}
    tables = [("", (0, 0), values)]
    blank = re.match(r"[ \t\n]*+(?:#[^\n]*+[ \t\n]*+)*+", text)
    position = blank.end() if blank else 0
    for match in _compile_statement().finditer(text, position):
        if match["other"]:
            return None
        start, position = match.span()
        group = match.lastindex
        if group == 2:
            values = {"level": match.span(1), "quote": match.span(2)}
            tables.append(("spec", (start, start + 8), values))
        elif group == 3:
            values = {}
            tables.append((match[3], (start, match.end(3) + 2), values))
        elif match[4] in values:
            return None
        else:
            values[match[4]] = match.span(5)
    return tables if position == len(text) else None


def read_requirements_plain(path: str, data: bytes) -> list[Annotation] | None:
    """Read a valid file in the usual form, much faster than a TOML parser; return None for any other file."""
    try:
        tables = None if toml.has_control_characters(data) else _read_tables(text := data.decode())
    except UnicodeDecodeError:
        return None
    if tables is None:
        return None
    top = tables[0][2]
    names = {name for name, _, _ in tables[1:]}
    # Each kind of table must have one spelling.
    is_usual = names <= _REQUIREMENT_TABLES.keys() and len({_REQUIREMENT_TABLES[name] for name in names}) == len(names)
    if not top.keys() <= {"target"} or not is_usual:
        return None
    found = []
    line, position = 1, 0
    for name, header, values in tables[1:]:
        line += text.count("\n", position, header[0])
        position = header[0]
        kind, target = _REQUIREMENT_TABLES[name], values.get("target") or top.get("target")
        if target is None or not _is_complete(kind, tuple(values)):
            return None
        strings = {key: _read_string(text, span) for key, span in values.items()}
        strings["target"] = _read_string(text, target)
        if strings.get("level", "AUTO") not in _LEVELS_BY_NAME or strings.get("format", "AUTO") not in _FORMATS_BY_NAME:
            return None
        source = Source(*target, *header, *values["quote"])
        found.append(_make_entry_annotation(path, line, kind, strings, (), source))
    return found


def _make_entry_annotation(
    path: str, line: int, kind: Kind, strings: dict[str, str], tags: tuple[str, ...], source: Source
) -> Annotation:
    # duvet searches for a quote with trimmed lines and single spaces between them.
    quote = " ".join(filter(None, [line.strip(WHITESPACE) for line in strings["quote"].split("\n")]))
    return Annotation(
        path,
        line,
        kind,
        strings["target"],
        quote,
        _LEVELS_BY_NAME[strings.get("level", "AUTO")],
        _FORMATS_BY_NAME[strings.get("format", "AUTO")],
        strings["quote"] if kind is Kind.SPEC else strings.get("reason", ""),
        strings.get("feature", ""),
        strings.get("tracking-issue", strings.get("tracking_issue", "")),
        tags,
        from_file=True,
        source=source,
    )


@lru_cache(maxsize=256)
def _is_complete(kind: Kind, keys: tuple[str, ...]) -> bool:
    unfit = {"tags", *(["tracking_issue"] if "tracking-issue" in keys else [])}
    return set(_REQUIRED_FIELDS[kind]) <= set(keys) <= set(_FIELDS_BY_KIND[kind]) - unfit


def _read_string(text: str, span: _Span) -> str:
    start, end = span
    if not text.startswith("'''", start):
        return text[start + 1 : end - 1]
    return text[start + 4 : end - 3] if text[start + 3] == "\n" else text[start + 3 : end - 3]


def read_requirement_file(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    plain = read_requirements_plain(path, data)
    return read_requirements_checked(path, data) if plain is None else (plain, [])


def _check_requirement_file(toml: TomlDocument) -> Iterator[Problem]:
    spelt: dict[Kind, str] = {}
    for name, value in toml.values.items():
        if name == "target":
            yield from _check_type(toml, ("target",), value, str, "a string")
        elif name in _REQUIREMENT_TABLES:
            if not isinstance(value, list):
                hint = f"write `[[{name}]]` with double brackets" if isinstance(value, dict) else ""
                message = describe_invalid_type(value, "a sequence")
                yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(name), hint=hint)
            kind = _REQUIREMENT_TABLES[name]
            if spelt.setdefault(kind, name) != name:
                message = f"duplicate field `{kind.name.lower()}s`"
                hint = f"keep either [[{spelt[kind]}]] or [[{name}]]"
                yield rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, toml.value_place(name), hint=hint)
        else:
            hint = did_you_mean(name, _TOP_LEVEL_KEYS)
            if name in _ONLY_IN_COMMENTS:
                hint = (
                    "requirement files can only contain [[spec]], [[exception]] and [[todo]]; "
                    "write this annotation as a comment in a source file"
                )
            message = describe_unknown_field(name, _TOP_LEVEL_KEYS)
            yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(name), hint=hint)


def _check_requirement_table(toml: TomlDocument, name: str, index: int, table: Any) -> Iterator[Problem]:
    if not isinstance(table, dict):
        yield from _check_type(toml, (name, index), table, dict, "a table")
        return
    kind = _REQUIREMENT_TABLES[name]
    known = _FIELDS_BY_KIND[kind]
    for key, value in table.items():
        keys = (name, index, key)
        if key not in known:
            message, hint = describe_unknown_field(key, known), did_you_mean(key, known)
            yield rules.REQUIREMENT_UNKNOWN_KEY.problem(message, toml.path, toml.key_place(*keys), hint=hint)
        elif key == "tags":
            yield from _check_type(toml, keys, value, list, "a sequence")
            for number, tag in enumerate(value if isinstance(value, list) else ()):
                yield from _check_type(toml, (*keys, number), tag, str, "a string")
        elif not isinstance(value, str):
            yield from _check_type(toml, keys, value, str, "a string")
        elif key in _CHOICES and value not in _CHOICES[key][1]:
            noun, names, expected = _CHOICES[key]
            message = f"Invalid {noun} {quote_text(value)}, expected one of {expected}"
            hint, place = did_you_mean(value, names), toml.value_place(*keys)
            yield rules.REQUIREMENT_BAD_VALUE.problem(message, toml.path, place, label=f"unknown {noun}", hint=hint)
    if "tracking-issue" in table and "tracking_issue" in table:
        message, place = ("duplicate field `tracking_issue`", toml.key_place(name, index, "tracking_issue"))
        hint = "keep either `tracking-issue` or `tracking_issue`"
        yield rules.REQUIREMENT_REPEATED_KEY.problem(message, toml.path, place, hint=hint)
    place = toml.value_place(name, index)
    for key in _REQUIRED_FIELDS[kind]:
        if key not in table:
            yield rules.REQUIREMENT_MISSING_KEY.problem(f"missing field `{key}`", toml.path, place)
    if "target" not in table and "target" not in toml.values:
        hint = 'add `target = "specification#section"` here, or at the top of the file for all its tables'
        yield rules.REQUIREMENT_MISSING_KEY.problem("missing target", toml.path, place, hint=hint)


def _check_type(
    toml: TomlDocument, keys: tuple[str | int, ...], value: Any, type: type, noun: str
) -> Iterator[Problem]:
    if not isinstance(value, type):
        message = describe_invalid_type(value, noun)
        yield rules.REQUIREMENT_WRONG_TYPE.problem(message, toml.path, toml.value_place(*keys))


def read_requirements_checked(path: str, data: bytes) -> tuple[list[Annotation], list[Problem]]:
    try:
        toml = parse_toml_bytes(data, path)
    except DocumentError as error:
        return [], [error.make_problem(rules.REQUIREMENT_SYNTAX)]
    problems = list(_check_requirement_file(toml))
    inheritable = isinstance(toml.values.get("target"), str)
    annotations = []
    for name, kind in _REQUIREMENT_TABLES.items():
        tables = toml.values.get(name)
        for index, table in enumerate(tables if isinstance(tables, list) else ()):
            keys = (name, index)
            own = list(_check_requirement_table(toml, name, index, table))
            problems += own
            if own or not ("target" in table or inheritable):
                continue
            strings = {key: toml.string(*keys, key) for key, value in table.items() if isinstance(value, str)}
            target = (*keys, "target") if "target" in table else ("target",)
            strings["target"] = toml.string(*target)
            source = Source(*toml.value_span(*target), *toml.value_span(*keys), *toml.value_span(*keys, "quote"))
            line, tags = toml.value_place(*keys).line, tuple(sorted(set(table.get("tags", ()))))
            annotations.append(_make_entry_annotation(path, line, kind, strings, tags, source))
    annotations.sort(key=lambda annotation: annotation.source.text)
    problems.sort(key=lambda problem: problem.sort_key)
    return annotations, problems


_BEFORE_TARGET = "target = "
_HEADER = "[[spec]]"
_AFTER_QUOTE = "\n\n"
_BEFORE_QUOTE = {level: f'{_HEADER}\nlevel = "{level.name}"\nquote = ' for level in Level}


def make_requirement_file(
    path: str, target: str, section: Section, found: Sequence[ExtractedSentence]
) -> tuple[bytes, list[Annotation]]:
    """Return the requirement file of a section, and the annotations that reading it would return."""
    ##= man/spec/trace.md#requirement-files
    ##% Except with duvet's own schema, `duvet extract` MUST write the same requirement files as awslabs duvet.
    title = section.full_title.replace("\n", "\n# ")
    lines = "# " + "\n# ".join(section.lines) + "\n" if section.lines else ""
    comment = f"# {title}\n#\n{lines}"
    if toml.has_control_characters(comment.encode()):
        comment = toml.strip_control_characters(comment)
    target_string = toml.format_one_line_string(target)
    head = f"{_BEFORE_TARGET}{target_string}\n\n{comment}\n"
    texts = ["\n".join(extracted.pieces) for extracted in found]
    together = "\n".join(texts)
    is_literal = "'''" not in together and not toml.has_control_characters(together.encode())
    target_span = (len(_BEFORE_TARGET), len(_BEFORE_TARGET) + len(target_string))
    line, position = head.count("\n") + 1, len(head)
    # Looking up a member of an enum in the loop takes longer.
    kind, form = Kind.SPEC, Format.AUTO
    parts, annotations = [head], []
    for extracted, text in zip(found, texts, strict=True):
        level, name = extracted.level, extracted.name
        string = f"'''\n{text}\n'''" if is_literal else toml.format_multi_line_string(text)
        parts.append(f"{_BEFORE_QUOTE[level]}{string}{_AFTER_QUOTE}")
        start = position + len(_BEFORE_QUOTE[level])
        end = start + len(string)
        source = Source(*target_span, position, position + len(_HEADER), start, end)
        quote, written = " ".join(extracted.pieces), text + "\n"
        annotations.append(
            Annotation(path, line, kind, target, quote, level, form, written, "", "", (), None, True, source, name)
        )
        # The lines of the text, of its quotes, above and below.
        line += len(extracted.pieces) + 5
        position = end + len(_AFTER_QUOTE)
    return "".join(parts).encode(), annotations


def render_rust_file(target: str, section: Section, found: Sequence[ExtractedSentence]) -> bytes:
    # Rust doesn't allow a carriage return in a doc comment.
    context = "".join(f"//! {line}\n" for line in section.lines).replace("\r", "")
    title = "".join(f"//! {line}\n" for line in section.full_title.split("\n")).replace("\r", "")
    blocks = [
        f"//= {target}\n//= type=spec\n//= level={extracted.level.name}\n"
        + "".join(f"//# {piece}\n" for piece in extracted.pieces)
        + "\n"
        for extracted in found
    ]
    return f"//! {target}\n//!\n{title}//!\n{context}\n{''.join(blocks)}".encode()
