"""The manual page of the configuration file, from the JSON Schemas of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from duvet.terminal.roff import bold, escape, prose, render

Schema = dict[str, Any]
MANY_CHOICES = 12
"""From here on choices are not listed with the key."""


class Key(Struct, frozen=True):
    """A key of a table, ready for roff."""

    name: str
    takes: str
    text: str
    extension: str
    """What differs in our own schema."""


class Heading(Struct, frozen=True):
    """A table of the file and its keys."""

    name: str
    keys: tuple[Key, ...]


def config_page(
    upstream: Schema, extended: Schema, languages: Mapping[tuple[str, str], Iterable[str]], version: str
) -> str:
    """The page of section 5; languages are given by what begins their comments."""
    headings = [_heading(name, table, _tables(upstream).get(name, {})) for name, table in _tables(extended).items()]
    rows = [(escape(", ".join(names)), escape(meta), escape(content)) for (meta, content), names in languages.items()]
    return render("man_config.5.j2", headings=headings, languages=rows, version=escape(version))


def _tables(schema: Schema) -> dict[str, Schema]:
    """The properties of every table by its heading in the file."""
    top = resolved(schema, schema)
    return dict(table for name, value in top["properties"].items() for table in _tables_in(name, value, schema))


def _tables_in(name: str, value: Schema, schema: Schema) -> Iterator[tuple[str, Schema]]:
    table = _table_of(value, schema)
    if table is None:
        return
    properties = table["properties"]
    if "items" in value:
        yield f"[[{name}]]", dict(_flat("", properties, schema))
        return
    own = {key: resolved(inner, schema) for key, inner in properties.items() if not _table_of(inner, schema)}
    if own:
        yield f"[{name}]", own
    for key, inner in properties.items():
        yield from _tables_in(f"{name}.{key}", inner, schema)


def _flat(prefix: str, properties: Schema, schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The keys of a table in a list; a table inside it is written with dots."""
    for name, value in properties.items():
        table = _table_of(value, schema)
        if table is None:
            yield prefix + name, resolved(value, schema)
        else:
            yield from _flat(f"{prefix}{name}.", table["properties"], schema)


def _table_of(value: Schema, schema: Schema) -> Schema | None:
    """The table that a value is, or that each item of it is."""
    found = resolved(value.get("items", value), schema)
    return found if "properties" in found else None


def resolved(value: Schema, schema: Schema) -> Schema:
    """The value with what it refers to filled in; its own words win."""
    options = [resolved(option, schema) for option in value.get("anyOf", [])]
    value = {**value, "anyOf": options} if options else value
    name = value.get("$ref", "").rpartition("/")[2]
    return {**resolved(schema["$defs"][name], schema), **value} if name else value


def _heading(name: str, extended: Schema, upstream: Schema) -> Heading:
    return Heading(escape(name), tuple(_key(key, value, upstream.get(key)) for key, value in extended.items()))


def _key(name: str, extended: Schema, upstream: Schema | None) -> Key:
    shown = upstream or extended
    if upstream is None:
        extension = "Only in the extended schema."
    elif upstream.get("description") != extended.get("description"):
        extension = f"In the extended schema: {extended['description']}."
    else:
        extension = ""
    return Key(bold(name), escape(takes(shown)), sentence(shown), prose(extension))


def sentence(value: Schema) -> str:
    """What a key is for, and what it is where nothing is said."""
    default = value.get("default")
    written = f" Default: `{str(default).lower() if isinstance(default, bool) else default}`."
    return prose(
        f"{value['description'].rstrip('.')}."
        + (written if isinstance(default, bool | int | float | str) and default != "" else "")
    )


def takes(value: Schema) -> str:
    """What may be written, in words."""
    if options := value.get("anyOf"):
        return " or ".join(takes(option) for option in options)
    if choices := value.get("enum"):
        return " | ".join(choices) if len(choices) < MANY_CHOICES else "a name"
    if value.get("format") == "date":
        return "a date"
    if "maximum" in value:
        low = f"from {value['minimum']} to" if "minimum" in value else f"above {value['exclusiveMinimum']}, up to"
        return f"a number {low} {value['maximum']}"
    return _TYPES.get(value.get("type", ""), "any value")


_TYPES = {"array": "a list of strings", "boolean": "true | false", "string": "a string", "object": "a table"}
