"""The manual page of the service's configuration, from its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from duvet.terminal.man_config import Heading, Key, Schema, resolved, sentence, takes
from duvet.terminal.roff import bold, escape, render


def service_page(schema: Schema, examples: Mapping[str, str], version: str) -> str:
    """The page of section 5; the examples are given by the names of their files."""
    top = resolved(schema, schema)
    headings = [heading for name, value in top["properties"].items() for heading in _headings(name, value, schema)]
    shown = [(escape(name), escape(text)) for name, text in examples.items()]
    return render("man_service.5.j2", headings=headings, examples=shown, version=escape(version))


def _headings(name: str, value: Schema, schema: Schema) -> Iterator[Heading]:
    """The tables below a name, each with its keys."""
    path, table = _table(name, resolved(value, schema), schema)
    if table is None:
        return
    properties = {key: resolved(inner, schema) for key, inner in table["properties"].items()}
    plain = {key: inner for key, inner in properties.items() if _table(key, inner, schema)[1] is None}
    yield Heading(escape(path), tuple(_key(key, inner) for key, inner in plain.items()))
    for key, inner in properties.items():
        yield from _headings(f"{path}.{key}", inner, schema)


def _table(name: str, value: Schema, schema: Schema) -> tuple[str, Schema | None]:
    """What leads to the table that a value is, or holds by name or in a list, and that table."""
    if "anyOf" in value and "properties" not in value:
        return _table(name, value["anyOf"][0], schema)
    if "items" in value:
        return _table(f"{name}[]", resolved(value["items"], schema), schema)
    if isinstance(value.get("additionalProperties"), dict) and value["additionalProperties"]:
        return _table(f"{name}.NAME", resolved(value["additionalProperties"], schema), schema)
    return name, value if "properties" in value else None


def _key(name: str, value: Schema) -> Key:
    return Key(bold(name), escape(takes(value)), sentence(value), "")
