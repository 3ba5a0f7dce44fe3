"""Texts that are handed in, as files with a name and with what is said of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from duvet.errors import QueryError
from duvet.text import one_line
from duvet.tree.names import is_reserved

_LONGEST = 100
_DEEPEST = 8
_FALLBACK = "note"


class Text(Struct, frozen=True, kw_only=True):
    """A text, and what is said of it."""

    content: str
    title: str = ""
    subsystem: str = ""
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}

    @property
    def is_named(self) -> bool:
        """Whether its title is enough to call a file after."""
        return bool(slug(self.title))

    def file_name(self, now: datetime) -> str:
        ##= man/spec/gateway.md#maintenance
        ##% A text MUST be called after its title in ASCII letters, digits and `-`, with `-note` at its end where some
        ##% system keeps the name for itself, and after the time without a title or where nothing of it is left so.
        return f"{slug(self.title) or f'{_FALLBACK}-{now:%Y%m%d-%H%M%S}'}.md"

    def document(self) -> str:
        """The file: front matter, where anything is said, and the text with a line end."""
        ##= man/spec/gateway.md#maintenance
        ##% What is said of a text MUST stand before it as YAML, in the order title, subsystem, tags, metadata, in such a
        ##% way that whoever reads it gets what was said and nothing more.
        said = {
            "title": one_line(self.title),
            "subsystem": one_line(self.subsystem),
            "tags": [one_line(tag) for tag in self.tags],
            "metadata": _plain(self.metadata),
        }
        said = {name: value for name, value in said.items() if value}
        content = self.content if self.content.endswith("\n") else f"{self.content}\n"
        return f"---\n{_yaml(said)}---\n\n{content}" if said else content


def slug(title: str) -> str:
    """The title as a name of a file; empty where nothing is left of it."""
    from duvet.specs.slug import slug as ascii_of

    found = ascii_of(unicodedata.normalize("NFC", title))[:_LONGEST].strip("-")
    return f"{found}-{_FALLBACK}" if is_reserved(found) else found


class _Top(dict[str, Any]):
    """What is said, a line for each thing."""


def _yaml(said: Mapping[str, Any]) -> str:
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        """Keeps every text on its line: one of another could end what is said."""

    def on_one_line(dumper: Dumper, text: str) -> Any:
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"')

    def line_by_line(dumper: Dumper, top: _Top) -> Any:
        return dumper.represent_mapping("tag:yaml.org,2002:map", top.items(), flow_style=False)

    Dumper.add_representer(str, on_one_line)
    Dumper.add_representer(_Top, line_by_line)
    text: str = yaml.dump(
        _Top(said), Dumper=Dumper, default_flow_style=None, sort_keys=False, allow_unicode=True, width=1 << 30
    )
    return text


def _plain(value: Any, depth: int = 0) -> Any:
    """The same; QueryError where it is nested too deeply."""
    if depth > _DEEPEST:
        raise QueryError("metadata is nested too deeply", hint=f"{_DEEPEST} levels are enough for anybody")
    if isinstance(value, Mapping):
        return {name: _plain(one, depth + 1) for name, one in value.items()}
    return [_plain(one, depth + 1) for one in value] if isinstance(value, list) else value
