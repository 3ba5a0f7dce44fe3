"""Where the keys and values of a valid TOML document stand."""

from __future__ import annotations

import re
from typing import NamedTuple

Keys = tuple[str | int, ...]
Span = tuple[int, int]


class Spans(NamedTuple):
    """The characters of a key and of its value; the value of a table with a header is that header."""

    key: Span
    value: Span


class _Container(NamedTuple):
    """An array or inline table that isn't closed yet."""

    keys: Keys
    key: Span
    start: int
    is_array: bool


_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_PARTS = re.compile(_PART)
_BLANK = re.compile(r"(?:[\s\ufeff]|#[^\n]*)*")
_BETWEEN = re.compile(r"(?:[\s,]|#[^\n]*)*")
_HEADER = re.compile(rf"(\[\[?)[ \t]*({_KEY})[ \t]*\]\]?")
_ASSIGNMENT = re.compile(rf"({_KEY})[ \t]*=[ \t]*")
_SCALAR = re.compile(
    r"'''[\s\S]*?''''{0,2}"
    r'|"""(?:[^\\"]|\\[\s\S]|"(?!""))*""""{0,2}'
    r"|'[^'\n]*'"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|[^\s,\]}#](?:[^,\]}#\n]*[^\s,\]}#])?"
)


def spans(text: str) -> dict[Keys, Spans]:
    """The places of everything in a document that is known to be valid, by path of keys and indexes."""
    found: dict[Keys, Spans] = {}
    note_spans(text, found)
    return found


def note_spans(text: str, found: dict[Keys, Spans]) -> None:
    """Note the places of everything, one after another."""
    lengths: dict[Keys, int] = {}
    table: Keys = ()
    position = _end(_BLANK, text, 0)
    while position < len(text):
        if header := _HEADER.match(text, position):
            table = _enter(header, lengths, found)
            position = header.end()
        elif assignment := _ASSIGNMENT.match(text, position):
            position = _assign(assignment, table, found)
        else:
            break
        position = _end(_BLANK, text, position)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _enter(header: re.Match[str], lengths: dict[Keys, int], found: dict[Keys, Spans]) -> Keys:
    """The path of the table under a header; a name of an array stands for its last element."""
    keys: Keys = ()
    key = span = header.span()
    for part in _PARTS.finditer(header[0], header.start(2) - span[0], header.end(2) - span[0]):
        if keys in lengths:
            keys += (lengths[keys] - 1,)
        keys += (_name(part[0]),)
        key = (span[0] + part.start(), span[0] + part.end())
        found.setdefault(keys, Spans(key, span))
    if header[1] == "[":
        found[keys] = Spans(key, span)
        return (*keys, lengths[keys] - 1) if keys in lengths else keys
    index = lengths.get(keys, 0)
    lengths[keys] = index + 1
    found[(*keys, index)] = Spans(key, span)
    return (*keys, index)


def _assign(assignment: re.Match[str], table: Keys, found: dict[Keys, Spans]) -> int:
    keys, key = _dotted(assignment, table, found)
    return _value(assignment.string, assignment.end(), keys, key, found)


def _dotted(assignment: re.Match[str], table: Keys, found: dict[Keys, Spans]) -> tuple[Keys, Span]:
    """The path that a key names; the tables on its way stand where they are named first."""
    keys, key = table, assignment.span(1)
    for part in _PARTS.finditer(assignment.string, *key):
        keys, key = (*keys, _name(part[0])), part.span()
        found.setdefault(keys, Spans(key, key))
    return keys, key


def _value(text: str, position: int, keys: Keys, key: Span, found: dict[Keys, Spans]) -> int:
    """Note a value and all inside it, without recursion: data may be nested deeper than Python's stack."""
    open_containers: list[_Container] = []
    lengths: list[int] = []
    while True:
        if (opener := text[position : position + 1]) in ("[", "{"):
            open_containers.append(_Container(keys, key, position, opener == "["))
            lengths.append(0)
            position += 1
        else:
            end = _end(_SCALAR, text, position)
            found[keys] = Spans(key, (position, end))
            position = end
        position = _close(text, position, open_containers, lengths, found)
        if not open_containers or position >= len(text):
            return position
        if open_containers[-1].is_array:
            keys, key = (*open_containers[-1].keys, lengths[-1]), (position, position)
            lengths[-1] += 1
        elif assignment := _ASSIGNMENT.match(text, position):
            keys, key = _dotted(assignment, open_containers[-1].keys, found)
            position = assignment.end()
        else:
            return position


def _close(text: str, position: int, containers: list[_Container], lengths: list[int], found: dict[Keys, Spans]) -> int:
    """Leave the containers that end here, for the position of the next element of the one that doesn't."""
    while containers:
        position = _end(_BETWEEN, text, position)
        if text[position : position + 1] not in ("]", "}"):
            return position
        position += 1
        done = containers.pop()
        lengths.pop()
        found[done.keys] = Spans(done.key, (done.start, position))
    return position


def _name(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] != '"':
        return part
    if "\\" not in part:
        return part[1:-1]
    import tomllib

    name: str = tomllib.loads(f"name = {part}")["name"]
    return name
