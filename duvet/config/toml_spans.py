"""Finds the position of every key and value in a TOML document."""

from __future__ import annotations

import re
import tomllib

from msgspec import Struct

from duvet.config.document import KeyPath, KeySpans, TextSpan


class _Container(Struct, frozen=True):
    keys: KeyPath
    key: TextSpan
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


def find_spans(text: str, found: dict[KeyPath, KeySpans] | None = None) -> dict[KeyPath, KeySpans]:
    """Return the position of every key and value, by the path of keys and indexes."""
    found = {} if found is None else found
    lengths: dict[KeyPath, int] = {}
    table: KeyPath = ()
    position = _end(_BLANK, text, 0)
    while position < len(text):
        if header := _HEADER.match(text, position):
            table = _enter_table(header, lengths, found)
            position = header.end()
        elif assignment := _ASSIGNMENT.match(text, position):
            keys, key = _resolve_dotted_key(assignment, table, found)
            position = _note_value(text, assignment.end(), keys, key, found)
        else:
            break
        position = _end(_BLANK, text, position)
    return found


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _enter_table(header: re.Match[str], lengths: dict[KeyPath, int], found: dict[KeyPath, KeySpans]) -> KeyPath:
    """Return the path of the table under a header; an array's name stands for its last element."""
    keys: KeyPath = ()
    key = span = header.span()
    for part in _PARTS.finditer(header[0], header.start(2) - span[0], header.end(2) - span[0]):
        if keys in lengths:
            keys += (lengths[keys] - 1,)
        keys += (_unquote_key(part[0]),)
        key = (span[0] + part.start(), span[0] + part.end())
        found.setdefault(keys, KeySpans(key, span))
    if header[1] == "[":
        found[keys] = KeySpans(key, span)
        return (*keys, lengths[keys] - 1) if keys in lengths else keys
    index = lengths.get(keys, 0)
    lengths[keys] = index + 1
    found[(*keys, index)] = KeySpans(key, span)
    return (*keys, index)


def _resolve_dotted_key(
    assignment: re.Match[str], table: KeyPath, found: dict[KeyPath, KeySpans]
) -> tuple[KeyPath, TextSpan]:
    """Return the full path and range of a dotted key, and record the first position of each part."""
    keys, key = table, assignment.span(1)
    for part in _PARTS.finditer(assignment.string, *key):
        keys, key = (*keys, _unquote_key(part[0])), part.span()
        found.setdefault(keys, KeySpans(key, key))
    return keys, key


def _note_value(text: str, position: int, keys: KeyPath, key: TextSpan, found: dict[KeyPath, KeySpans]) -> int:
    """Record the position of a value and of all values in it; data may be nested deeper than Python's stack."""
    open_containers: list[_Container] = []
    lengths: list[int] = []
    while True:
        if (opener := text[position : position + 1]) in ("[", "{"):
            open_containers.append(_Container(keys, key, position, opener == "["))
            lengths.append(0)
            position += 1
        else:
            end = _end(_SCALAR, text, position)
            found[keys] = KeySpans(key, (position, end))
            position = end
        position = _close_containers(text, position, open_containers, lengths, found)
        if not open_containers or position >= len(text):
            return position
        if open_containers[-1].is_array:
            keys, key = (*open_containers[-1].keys, lengths[-1]), (position, position)
            lengths[-1] += 1
        elif assignment := _ASSIGNMENT.match(text, position):
            keys, key = _resolve_dotted_key(assignment, open_containers[-1].keys, found)
            position = assignment.end()
        else:
            return position


def _close_containers(
    text: str, position: int, containers: list[_Container], lengths: list[int], found: dict[KeyPath, KeySpans]
) -> int:
    """Close the containers that end here, and return where the innermost open one continues."""
    while containers:
        position = _end(_BETWEEN, text, position)
        if text[position : position + 1] not in ("]", "}"):
            return position
        position += 1
        done = containers.pop()
        lengths.pop()
        found[done.keys] = KeySpans(done.key, (done.start, position))
    return position


def _unquote_key(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] != '"':
        return part
    if "\\" not in part:
        return part[1:-1]
    name: str = tomllib.loads(f"name = {part}")["name"]
    return name
