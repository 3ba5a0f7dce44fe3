"""Paths into values: `result.items[0]["a.b"]`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import json

from duvet.text import quoted
from duvet.workflows.errors import UnresolvedError

Path = tuple[str | int, ...]
"""Keys of objects, and numbers in lists from 0."""

_NAME = r"""[^\s.\[\]{}"'$\\]+"""
_FIRST = re.compile(_NAME)
_NEXT = re.compile(
    rf"""\.(?P<name>{_NAME}) | \[(?P<index>[0-9]{{1,9}})\] | \[(?:"(?P<json>(?:[^"\\]|\\.)*)"|'(?P<plain>[^']*)')\]""",
    re.VERBOSE | re.DOTALL,
)
_HOW = 'write it as in result.items[0]["a.b"]'


def parsed(text: str) -> Path:
    """The path that the whole text is."""
    path, end = parsed_at(text, 0)
    if not path or end < len(text):
        raise UnresolvedError(f"{quoted(text)} is no path", hint=_HOW)
    return path


def parsed_at(text: str, start: int) -> tuple[Path, int]:
    """The path that begins there, and where it ends; an empty one where none does."""
    first = _FIRST.match(text, start)
    if first is None:
        return (), start
    path: list[str | int] = [first[0]]
    end = first.end()
    while found := _NEXT.match(text, end):
        path.append(_key(found))
        end = found.end()
    return tuple(path), end


def spelled(path: Sequence[str | int]) -> str:
    """The path as text."""
    return "".join(_spelled(path)).removeprefix(".")


def walk(value: object, path: Path) -> tuple[object, int]:
    """The value at the path, or the last one that there is on the way; and how many steps lead to it."""
    for number, key in enumerate(path):
        match value, key:
            case dict(), str() if key in value:
                value = value[key]
            case list(), int() if key < len(value):
                value = value[key]
            case _:
                return value, number
    return value, len(path)


def _key(found: re.Match[str]) -> str | int:
    if found["index"] is not None:
        return int(found["index"])
    if found["json"] is None:
        return str(found["name"] if found["plain"] is None else found["plain"])
    try:
        return json.decode(f'"{found["json"]}"', type=str)
    except ValueError as error:
        raise UnresolvedError(f"{quoted(found[0])} holds no JSON string", hint=_HOW) from error


def _spelled(path: Sequence[str | int]) -> Iterator[str]:
    for number, key in enumerate(path):
        if isinstance(key, int):
            yield f"[{key}]"
        elif _FIRST.fullmatch(key):
            yield f".{key}"
        else:
            yield f"[{_string(key)}]" if number else key


def _string(key: str) -> str:
    try:
        return json.encode(key).decode()
    except UnicodeEncodeError:
        return json.encode(key.encode(errors="replace").decode()).decode()
