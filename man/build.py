"""Builds the man pages from the help of the commands and the schemas of the configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from textwrap import dedent
from typing import Any

import click
from msgspec import Struct

from duvet.templates import environment

ROFF_ESCAPES = {
    "\\": r"\e",
    "-": r"\-",
    '"': r"\(dq",
    "'": r"\(aq",
    "`": r"\(ga",
    "^": r"\(ha",
    "~": r"\(ti",
}
CODE_PATTERN = re.compile(r"`([^`]+)`")


def escape_roff(text: str) -> str:
    """The text as roff shows it: no character is taken for a request, an escape or another character."""
    return _guard(_characters(text))


def format_bold(text: str) -> str:
    """What is typed as it stands."""
    return rf"\fB{_characters(text)}\fR"


def format_italic(text: str) -> str:
    """What is to be replaced."""
    return rf"\fI{_characters(text)}\fR"


def format_prose(text: str) -> str:
    """A paragraph; what stands between backticks is bold."""
    parts = CODE_PATTERN.split(" ".join(text.split()))
    return _guard("".join(format_bold(part) if index % 2 else _characters(part) for index, part in enumerate(parts)))


def render_man_page(template: str, **facts: object) -> str:
    """The page of a template; its facts are roff already."""
    return environment().get_template(template).render(**facts)


def _characters(text: str) -> str:
    return "".join(ROFF_ESCAPES.get(char, char if char.isascii() else rf"\[u{ord(char):04X}]") for char in text)


def _guard(roff: str) -> str:
    """A line that begins with a dot would be a request."""
    return re.sub(r"(?m)^\.", r"\\&.", roff)


OPTION_PATTERN = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
EXAMPLES = "Examples:"


class ManBlock(Struct, frozen=True):
    """A paragraph, or lines that keep their ends."""

    text: str
    verbatim: bool = False


class ManEntry(Struct, frozen=True):
    """Something with a name and what it does: an option or a command."""

    term: str
    text: str


def make_command_pages(group: click.Group, version: str) -> dict[str, str]:
    """The pages of section 1 by file name: the program's own, and one for each command."""
    top = click.Context(group, info_name="duvet", **group.context_settings)
    commands = {name: group.get_command(top, name) for name in group.list_commands(top)}
    visible = {name: command for name, command in commands.items() if command is not None and not command.hidden}
    entries = [ManEntry(escape_roff(name), format_prose(_first_sentence(command))) for name, command in visible.items()]
    pages = {
        "duvet.1": render_man_page("man_duvet.1.j2", **_facts(top), version=escape_roff(version), commands=entries)
    }
    for name, command in visible.items():
        context = click.Context(command, info_name=name, parent=top)
        pages[f"duvet-{name}.1"] = render_man_page("man_command.1.j2", **_facts(context), version=escape_roff(version))
    return pages


def _facts(context: click.Context) -> dict[str, object]:
    command = context.command
    name = context.command_path.replace(" ", "-")
    blocks = [*_blocks(command.help or ""), *_blocks(command.epilog or "")]
    examples = [block for block in blocks if block.text.startswith(EXAMPLES)]
    return {
        "name": escape_roff(name),
        "title": escape_roff(name.upper()),
        "summary": _summary(command),
        "usage": escape_roff(context.command_path),
        "pieces": [escape_roff(piece) for piece in command.collect_usage_pieces(context)],
        "description": [block for block in blocks if block not in examples],
        "options": list(_options(context)),
        "examples": [dedent(block.text.removeprefix(EXAMPLES).strip("\n")) for block in examples],
    }


def _first_sentence(command: click.Command) -> str:
    return command.get_short_help_str(limit=1000)


def _summary(command: click.Command) -> str:
    """The first sentence as the NAME line has it: neither a capital nor a full stop."""
    sentence = _first_sentence(command).rstrip(".")
    return format_prose(sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence)


def _blocks(text: str) -> Iterator[ManBlock]:
    """The paragraphs as click sees them: one that begins with `\\b` keeps its lines, `\\f` ends the help."""
    for paragraph in re.split(r"\n\s*\n", text.partition("\f")[0].strip()):
        mark, _, lines = paragraph.partition("\n")
        if mark.strip() == "\b":
            yield ManBlock(escape_roff(dedent(lines)), verbatim=True)
        elif paragraph:
            yield ManBlock(format_prose(paragraph))


def _options(context: click.Context) -> Iterator[ManEntry]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record and record[1]:
            yield ManEntry(_term(record[0]), format_prose(record[1]))


def _term(spelled: str) -> str:
    """`-f, --format FORMAT` with the option bold and its value in italics."""
    parts, last = [], 0
    for found in OPTION_PATTERN.finditer(spelled):
        parts += [_value(spelled[last : found.start()]), format_bold(found[0])]
        last = found.end()
    return "".join([*parts, _value(spelled[last:])]).strip()


def _value(text: str) -> str:
    return f" {format_italic(text.strip())}" if re.search(r"\w", text) else escape_roff(text)


JsonSchema = dict[str, Any]
MAX_LISTED_CHOICES = 12
"""From here on choices are not listed with the key."""


class ManKey(Struct, frozen=True):
    """A key of a table, ready for roff."""

    name: str
    takes: str
    text: str
    extension: str
    """What differs in our own schema."""


class ManTable(Struct, frozen=True):
    """A table of the file and its keys."""

    name: str
    keys: tuple[ManKey, ...]


def make_config_page(
    upstream: JsonSchema, extended: JsonSchema, languages: Mapping[tuple[str, str], Iterable[str]], version: str
) -> str:
    """The page of section 5; languages are given by what begins their comments."""
    headings = [_heading(name, table, _tables(upstream).get(name, {})) for name, table in _tables(extended).items()]
    rows = [
        (escape_roff(", ".join(names)), escape_roff(meta), escape_roff(content))
        for (meta, content), names in languages.items()
    ]
    return render_man_page("man_config.5.j2", headings=headings, languages=rows, version=escape_roff(version))


def _tables(schema: JsonSchema) -> dict[str, JsonSchema]:
    """The properties of every table by its heading in the file."""
    top = resolve_schema(schema, schema)
    return dict(table for name, value in top["properties"].items() for table in _tables_in(name, value, schema))


def _tables_in(name: str, value: JsonSchema, schema: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    table = _table_of(value, schema)
    if table is None:
        return
    properties = table["properties"]
    if "items" in value:
        yield f"[[{name}]]", dict(_flat("", properties, schema))
        return
    own = {key: resolve_schema(inner, schema) for key, inner in properties.items() if not _table_of(inner, schema)}
    if own:
        yield f"[{name}]", own
    for key, inner in properties.items():
        yield from _tables_in(f"{name}.{key}", inner, schema)


def _flat(prefix: str, properties: JsonSchema, schema: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    """The keys of a table in a list; a table inside it is written with dots."""
    for name, value in properties.items():
        table = _table_of(value, schema)
        if table is None:
            yield prefix + name, resolve_schema(value, schema)
        else:
            yield from _flat(f"{prefix}{name}.", table["properties"], schema)


def _table_of(value: JsonSchema, schema: JsonSchema) -> JsonSchema | None:
    """The table that a value is, or that each item of it is."""
    found = resolve_schema(value.get("items", value), schema)
    return found if "properties" in found else None


def resolve_schema(value: JsonSchema, schema: JsonSchema) -> JsonSchema:
    """The value with what it refers to filled in; its own words win."""
    options = [resolve_schema(option, schema) for option in value.get("anyOf", [])]
    value = {**value, "anyOf": options} if options else value
    name = value.get("$ref", "").rpartition("/")[2]
    return {**resolve_schema(schema["$defs"][name], schema), **value} if name else value


def _heading(name: str, extended: JsonSchema, upstream: JsonSchema) -> ManTable:
    return ManTable(escape_roff(name), tuple(_key(key, value, upstream.get(key)) for key, value in extended.items()))


def _key(name: str, extended: JsonSchema, upstream: JsonSchema | None) -> ManKey:
    shown = upstream or extended
    if upstream is None:
        extension = "Only in the extended schema."
    elif upstream.get("description") != extended.get("description"):
        extension = f"In the extended schema: {extended['description']}."
    else:
        extension = ""
    return ManKey(format_bold(name), escape_roff(describe_values(shown)), describe_key(shown), format_prose(extension))


def describe_key(value: JsonSchema) -> str:
    """What a key is for, and what it is where nothing is said."""
    default = value.get("default")
    written = f" Default: `{str(default).lower() if isinstance(default, bool) else default}`."
    return format_prose(
        f"{value['description'].rstrip('.')}."
        + (written if isinstance(default, bool | int | float | str) and default != "" else "")
    )


def describe_values(value: JsonSchema) -> str:
    """What may be written, in words."""
    if options := value.get("anyOf"):
        return " or ".join(describe_values(option) for option in options)
    if choices := value.get("enum"):
        return " | ".join(choices) if len(choices) < MAX_LISTED_CHOICES else "a name"
    if value.get("format") == "date":
        return "a date"
    if "maximum" in value:
        low = f"from {value['minimum']} to" if "minimum" in value else f"above {value['exclusiveMinimum']}, up to"
        return f"a number {low} {value['maximum']}"
    return _TYPES.get(value.get("type", ""), "any value")


_TYPES = {"array": "a list of strings", "boolean": "true | false", "string": "a string", "object": "a table"}


def make_service_page(schema: JsonSchema, examples: Mapping[str, str], version: str) -> str:
    """The page of section 5; the examples are given by the names of their files."""
    top = resolve_schema(schema, schema)
    headings = [heading for name, value in top["properties"].items() for heading in _headings(name, value, schema)]
    shown = [(escape_roff(name), escape_roff(text)) for name, text in examples.items()]
    return render_man_page("man_service.5.j2", headings=headings, examples=shown, version=escape_roff(version))


def _headings(name: str, value: JsonSchema, schema: JsonSchema) -> Iterator[ManTable]:
    """The tables below a name, each with its keys."""
    path, table = _table(name, resolve_schema(value, schema), schema)
    if table is None:
        return
    properties = {key: resolve_schema(inner, schema) for key, inner in table["properties"].items()}
    plain = {key: inner for key, inner in properties.items() if _table(key, inner, schema)[1] is None}
    yield ManTable(escape_roff(path), tuple(_man_service_key(key, inner) for key, inner in plain.items()))
    for key, inner in properties.items():
        yield from _headings(f"{path}.{key}", inner, schema)


def _table(name: str, value: JsonSchema, schema: JsonSchema) -> tuple[str, JsonSchema | None]:
    """What leads to the table that a value is, or holds by name or in a list, and that table."""
    if "anyOf" in value and "properties" not in value:
        return _table(name, value["anyOf"][0], schema)
    if "items" in value:
        return _table(f"{name}[]", resolve_schema(value["items"], schema), schema)
    if isinstance(value.get("additionalProperties"), dict) and value["additionalProperties"]:
        return _table(f"{name}.NAME", resolve_schema(value["additionalProperties"], schema), schema)
    return name, value if "properties" in value else None


def _man_service_key(name: str, value: JsonSchema) -> ManKey:
    return ManKey(format_bold(name), escape_roff(describe_values(value)), describe_key(value), "")
