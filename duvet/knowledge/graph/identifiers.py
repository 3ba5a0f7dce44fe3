"""What nodes of the graph are called by those who ask for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from msgspec import Struct

from duvet.errors import QueryError
from duvet.queries.names import nearest_hint
from duvet.store.records import Label
from duvet.text import shortened

_ALIASES = {
    "Code": Label.SOURCE_FILE,
    "Doc": Label.DESIGN_DOC,
    "Test": Label.TEST_CASE,
    "Config": Label.CONFIG_FILE,
    "Spec": Label.SPECIFICATION,
}
LABELS_BY_NAME = {**{label.value: label for label in Label}, **_ALIASES}
LONGEST = 4096
"""Characters; longer than any path."""
SHOWN_DIGITS = 12
"""Digits of the id of a requirement in its key."""
_TRACED = (Label.SPECIFICATION, Label.SECTION, Label.REQUIREMENT)
_PATH = re.compile(r"/?specifications/(?P<spec>[^/]+)(/sections/(?P<section>[^/]+))?(/requirements/(?P<id>[^/]+))?\Z")
_DIGITS = re.compile(r"[0-9a-f]{4,64}\Z")


class IdentifierError(QueryError):
    """What can't be the name of a node."""


class Identifier(Struct, frozen=True):
    """A label, and what may be meant by what follows it."""

    label: Label
    key: str

    @property
    def keys(self) -> Iterator[str]:
        """The key as it is given, and as it is meant where it is quoted for a URL."""
        plain = unquote(self.key)
        for given in dict.fromkeys([self.key, plain]):
            key = _of_path(given) if self.label in _TRACED else given
            yield key
            if self.label is Label.REQUIREMENT:
                place, slash, digits = key.rpartition("/")
                if _DIGITS.match(digits) and len(digits) > SHOWN_DIGITS:
                    yield place + slash + digits[:SHOWN_DIGITS]

    @property
    def digits(self) -> str:
        """The first digits of the id of a requirement, where nothing else is given."""
        found = self.key.lower()
        return found[:SHOWN_DIGITS] if self.label is Label.REQUIREMENT and _DIGITS.match(found) else ""


def _of_path(key: str) -> str:
    """The key of what a full path names; anything else stays as it is."""
    ##= man/spec/knowledge.md#graph
    ##% Specifications, sections and requirements MUST also be found by their full paths.
    found = _PATH.match(key)
    if not found:
        return key
    parts = found["spec"], found["section"] and f"#{found['section']}", found["id"] and f"/{found['id']}"
    return "".join(unquote(part) for part in parts if part)


def identifier(text: str) -> Identifier:
    """What is asked for; IdentifierError where that can't be the name of a node."""
    ##= man/spec/knowledge.md#graph
    ##% A node MUST be named by its label, the first colon and its key, whatever colons and slashes the key has, and also
    ##% where it is quoted for a URL; `Code`, `Doc`, `Test`, `Config` and `Spec` stand for the labels that they abbreviate.
    whole = text.strip()
    if ":" not in whole:
        whole = unquote(whole)
    name, colon, key = whole.partition(":")
    if not colon or not key.strip() or len(whole) > LONGEST:
        raise IdentifierError("Invalid node identifier", hint="write LABEL:KEY, such as DesignDoc:docs/README.md")
    if name not in LABELS_BY_NAME:
        hint = nearest_hint(shortened(name), tuple(LABELS_BY_NAME)) or f"there are {', '.join(LABELS_BY_NAME)}"
        raise IdentifierError(f"Unsupported node label '{shortened(name)}'", hint=hint)
    return Identifier(LABELS_BY_NAME[name], key)
