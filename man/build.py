"""Builds the man pages from the commands' help and the configuration schemas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from inspect import cleandoc
from textwrap import dedent
from typing import Any

import click
from msgspec import Struct

from duvet.templates import environment

JsonSchema = dict[str, Any]

_ROFF_ESCAPES = {"\\": r"\e", "-": r"\-", '"': r"\(dq", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}
_CODE = re.compile(r"`([^`]+)`")
_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")
_EXAMPLES = "Examples:"
_MAX_LISTED_CHOICES = 12
_TYPES = {"array": "a list of strings", "boolean": "true | false", "string": "a string", "object": "a table"}


class ManBlock(Struct, frozen=True):
    """A paragraph of roff, or lines that keep their line ends."""

    text: str
    verbatim: bool = False


def escape_roff(text: str) -> str:
    """Escape text so that roff prints every character literally."""
    return _protect_dots(_escape_characters(text))


def format_prose(text: str) -> str:
    """Format a paragraph as roff, with code in bold."""
    parts = _CODE.split(" ".join(text.split()))
    return _protect_dots(
        "".join(format_bold(part) if index % 2 else _escape_characters(part) for index, part in enumerate(parts))
    )


def format_bold(text: str) -> str:
    return rf"\fB{_escape_characters(text)}\fR"


def render_man_page(template: str, **facts: object) -> str:
    """Render a template; `facts` are already roff."""
    return environment().get_template(template).render(**facts)


def _escape_characters(text: str) -> str:
    return "".join(_ROFF_ESCAPES.get(char, char if char.isascii() else rf"\[u{ord(char):04X}]") for char in text)


def _protect_dots(roff: str) -> str:
    # A line that begins with a dot would be a request.
    return re.sub(r"(?m)^\.", r"\\&.", roff)


def make_command_pages(group: click.Group, version: str) -> dict[str, str]:
    """Return the pages of section 1 by file name: one for duvet, and one for each command with its subcommands."""
    top = click.Context(group, info_name="duvet", **group.context_settings)
    version = escape_roff(version)
    entries, pages = {}, {}
    for name, command in _list_visible_commands(group, top):
        entries[name] = {"term": escape_roff(name), "text": format_prose(command.get_short_help_str(limit=1000))}
        context = click.Context(command, info_name=name, parent=top)
        subcommands = _list_visible_commands(command, context) if isinstance(command, click.Group) else ()
        facts = [_describe_command(click.Context(one, info_name=sub, parent=context)) for sub, one in subcommands]
        described = {**_describe_command(context), "commands": facts}
        pages[f"duvet-{name}.1"] = render_man_page("man_command.1.j2", **described, version=version)
    sections: Mapping[str, Iterable[str]] = getattr(group, "sections", {"Commands": entries})
    headings = [(escape_roff(heading), [entries[name] for name in names]) for heading, names in sections.items()]
    program = render_man_page("man_duvet.1.j2", **_describe_command(top), version=version, headings=headings)
    return {"duvet.1": program, **pages}


def _list_visible_commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command


def _describe_command(context: click.Context) -> dict[str, object]:
    command = context.command
    name = context.command_path.replace(" ", "-")
    # The NAME line has neither a capital nor a full stop.
    summary = command.get_short_help_str(limit=1000).rstrip(".")
    summary = summary[:1].lower() + summary[1:] if summary[1:2].islower() else summary
    # `--help` ends at a form feed; the details after it are for the page alone.
    help, _, details = cleandoc(command.help or "").partition("\f")
    blocks = [*_split_help(help), *_split_help(command.epilog or "")]
    examples = [block for block in blocks if block.text.startswith(_EXAMPLES)]
    # A section about a subcommand doesn't repeat `--help`.
    is_section = context.parent is not None and context.parent.parent is not None
    params = [param for param in command.get_params(context) if not (is_section and "--help" in param.opts)]
    records = [record for param in params if (record := param.get_help_record(context)) and record[1]]
    return {
        "name": escape_roff(name),
        "title": escape_roff(name.upper()),
        "summary": format_prose(summary),
        "usage": escape_roff(context.command_path),
        "pieces": [escape_roff(piece) for piece in command.collect_usage_pieces(context)],
        "description": [block for block in blocks if block not in examples],
        "details": list(_split_help(details)),
        "options": [{"term": _format_term(term), "text": format_prose(text)} for term, text in records],
        "examples": [dedent(block.text.removeprefix(_EXAMPLES).strip("\n")) for block in examples],
    }


def _split_help(text: str) -> Iterator[ManBlock]:
    r"""Split help text as click does: a paragraph after `\b` keeps its lines."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        mark, _, lines = paragraph.partition("\n")
        if mark.strip() == "\b":
            yield ManBlock(escape_roff(dedent(lines)), verbatim=True)
        elif paragraph:
            yield ManBlock(format_prose(paragraph))


def _format_term(text: str) -> str:
    """Format `-f, --format FORMAT` with the options in bold and the value in italics."""
    parts, end = [], 0
    for match in _OPTION.finditer(text):
        parts += [_format_value(text[end : match.start()]), format_bold(match[0])]
        end = match.end()
    return "".join([*parts, _format_value(text[end:])]).strip()


def _format_value(text: str) -> str:
    return rf" \fI{_escape_characters(text.strip())}\fR" if re.search(r"\w", text) else escape_roff(text)


def make_config_page(
    upstream: JsonSchema, extended: JsonSchema, languages: Mapping[tuple[str, str], Iterable[str]], version: str
) -> str:
    """Return the page of section 5 about the project configuration; `languages` are keyed by comment style."""
    upstream_tables = _find_tables(upstream)
    headings = []
    for name, table in _find_tables(extended).items():
        keys = []
        for key, value in table.items():
            known = upstream_tables.get(name, {}).get(key)
            extension = "Extended schema only." if known is None else ""
            if known and known.get("description") != value.get("description"):
                extension = f"In the extended schema: {value['description']}."
            keys.append(_make_key(key, known or value, extension))
        headings.append({"name": escape_roff(name), "keys": keys})
    rows = [
        (escape_roff(", ".join(names)), escape_roff(meta), escape_roff(content))
        for (meta, content), names in languages.items()
    ]
    return render_man_page("man_config.5.j2", headings=headings, languages=rows, version=escape_roff(version))


def _find_tables(schema: JsonSchema) -> dict[str, JsonSchema]:
    top = resolve_schema(schema, schema)
    return dict(
        table for name, value in top["properties"].items() for table in _find_nested_tables(name, value, schema)
    )


def _find_nested_tables(name: str, value: JsonSchema, schema: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    table = _find_table(value, schema)
    if table is None:
        return
    properties = table["properties"]
    if "items" in value:
        yield f"[[{name}]]", dict(_flatten_properties("", properties, schema))
        return
    own = {key: resolve_schema(inner, schema) for key, inner in properties.items() if not _find_table(inner, schema)}
    if own:
        yield f"[{name}]", own
    for key, inner in properties.items():
        yield from _find_nested_tables(f"{name}.{key}", inner, schema)


def _flatten_properties(prefix: str, properties: JsonSchema, schema: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    """Yield the keys of a table in a list; keys of nested tables are joined with dots."""
    for name, value in properties.items():
        table = _find_table(value, schema)
        if table is None:
            yield prefix + name, resolve_schema(value, schema)
        else:
            yield from _flatten_properties(f"{prefix}{name}.", table["properties"], schema)


def _find_table(value: JsonSchema, schema: JsonSchema) -> JsonSchema | None:
    """Return the schema of the value, or of its items, if that is a table; otherwise None."""
    found = resolve_schema(value.get("items", value), schema)
    return found if "properties" in found else None


def resolve_schema(value: JsonSchema, schema: JsonSchema) -> JsonSchema:
    """Merge a schema with the definition that it refers to; its own keys take precedence."""
    options = [resolve_schema(option, schema) for option in value.get("anyOf", [])]
    value = {**value, "anyOf": options} if options else value
    name = value.get("$ref", "").rpartition("/")[2]
    return {**resolve_schema(schema["$defs"][name], schema), **value} if name else value


def _make_key(name: str, value: JsonSchema, extension: str = "") -> dict[str, str]:
    text = f"{value['description'].rstrip('.')}."
    default = value.get("default")
    if isinstance(default, bool | int | float | str) and default != "":
        text += f" Default: `{str(default).lower() if isinstance(default, bool) else default}`."
    takes = escape_roff(describe_values(value))
    return {"name": format_bold(name), "takes": takes, "text": format_prose(text), "extension": format_prose(extension)}


def describe_values(value: JsonSchema) -> str:
    if options := value.get("anyOf"):
        parts = [describe_values(option) for option in options]
        return (" | " if any(" | " in part for part in parts) else " or ").join(parts)
    if choices := value.get("enum"):
        return " | ".join(choices) if len(choices) < _MAX_LISTED_CHOICES else "a name"
    if value.get("format") == "date":
        return "a date"
    if "maximum" in value:
        low = f"from {value['minimum']} to" if "minimum" in value else f"above {value['exclusiveMinimum']}, up to"
        return f"a number {low} {value['maximum']}"
    if "minimum" in value:
        return f"a number from {value['minimum']}"
    return _TYPES.get(value.get("type", ""), "any value")


def make_service_page(schema: JsonSchema, examples: Mapping[str, str], version: str) -> str:
    top = resolve_schema(schema, schema)
    headings = [
        table for name, value in top["properties"].items() for table in _make_service_tables(name, value, schema)
    ]
    files = [(escape_roff(name), escape_roff(text)) for name, text in examples.items()]
    return render_man_page("man_service.5.j2", headings=headings, examples=files, version=escape_roff(version))


def _make_service_tables(name: str, value: JsonSchema, schema: JsonSchema) -> Iterator[dict[str, object]]:
    path, table = _find_service_table(name, resolve_schema(value, schema), schema)
    if table is None:
        return
    properties = {key: resolve_schema(inner, schema) for key, inner in table["properties"].items()}
    keys = [
        _make_key(key, inner) for key, inner in properties.items() if _find_service_table(key, inner, schema)[1] is None
    ]
    yield {"name": escape_roff(path), "keys": keys}
    for key, inner in properties.items():
        yield from _make_service_tables(f"{path}.{key}", inner, schema)


def _find_service_table(name: str, value: JsonSchema, schema: JsonSchema) -> tuple[str, JsonSchema | None]:
    """Return the table in a value and its path: `[]` after a list, `.NAME` for named tables."""
    if "anyOf" in value and "properties" not in value:
        return _find_service_table(name, value["anyOf"][0], schema)
    if "items" in value:
        return _find_service_table(f"{name}[]", resolve_schema(value["items"], schema), schema)
    if isinstance(value.get("additionalProperties"), dict) and value["additionalProperties"]:
        return _find_service_table(f"{name}.NAME", resolve_schema(value["additionalProperties"], schema), schema)
    return name, value if "properties" in value else None
