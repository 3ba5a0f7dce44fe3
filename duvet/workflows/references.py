"""References and paths into values, such as `${steps.ID.result.items[0]}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from msgspec import Struct, json

from duvet.errors import DuvetError
from duvet.text import format_count, join_names, quote_text

ValuePath = tuple[str | int, ...]  # Keys of objects, and indexes of lists.

_NAME = r"""[^\s.\[\]{}"'$\\]+"""
_FIRST = re.compile(_NAME)
_NEXT = re.compile(
    rf"""\.(?P<name>{_NAME}) | \[(?P<index>[0-9]{{1,9}})\] | \[(?:"(?P<json>(?:[^"\\]|\\.)*)"|'(?P<plain>[^']*)')\]""",
    re.VERBOSE | re.DOTALL,
)
_PATH_HINT = 'write it like result.items[0]["a.b"]'
_MAX_VALUE_DEPTH = 64
_MAX_LEVEL = 1_000_000  # Maximum number of values on one level; this limit also stops at cyclic values.
MAX_EXPANDED_BYTES = 1_000_000  # Maximum bytes of a value as JSON, with its references expanded.
_MARK = re.compile(r"\$\$\{|\$\{")

ValueScope = Mapping[str, object]  # The values that references can use, by the first part of the reference.


class UnresolvedError(DuvetError):
    pass


def parse_path(text: str) -> ValuePath:
    path, end = parse_path_at(text, 0)
    if not path or end < len(text):
        raise UnresolvedError(f"invalid path {quote_text(text)}", hint=_PATH_HINT)
    return path


def parse_path_at(text: str, start: int) -> tuple[ValuePath, int]:
    first = _FIRST.match(text, start)
    if first is None:
        return (), start
    path: list[str | int] = [first[0]]
    end = first.end()
    while found := _NEXT.match(text, end):
        end = found.end()
        if found["index"] is not None:
            path.append(int(found["index"]))
        elif found["json"] is None:
            path.append(str(found["name"] if found["plain"] is None else found["plain"]))
        else:
            try:
                path.append(json.decode(f'"{found["json"]}"', type=str))
            except ValueError as error:
                raise UnresolvedError(f"invalid JSON string in {quote_text(found[0])}", hint=_PATH_HINT) from error
    return tuple(path), end


def format_path(path: Sequence[str | int]) -> str:
    text = ""
    for number, key in enumerate(path):
        if isinstance(key, int):
            text += f"[{key}]"
        elif _FIRST.fullmatch(key):
            text += f".{key}"
        else:
            text += f"[{_encode(key).decode()}]" if number else key
    return text.removeprefix(".")


def walk_path(value: object, path: ValuePath) -> tuple[object, int]:
    for number, key in enumerate(path):
        match value, key:
            case dict(), str() if key in value:
                value = value[key]
            case list(), int() if key < len(value):
                value = value[key]
            case _:
                return value, number
    return value, len(path)


def copy_plain_value(value: object, most_bytes: int, what: str) -> Any:
    _check_depth(value, what)
    ##= man/spec/workflows.md#limits
    ##% The engine MUST reject arguments, prompts and outputs above 1 MB, and a result above 16 MB.
    if _is_larger(value, most_bytes):
        raise UnresolvedError(f"{what} is larger than {most_bytes:,} bytes")
    try:
        data = _encode(value)
    except ValueError as error:
        raise UnresolvedError(f"{what} contains a number that is too long") from error
    except (TypeError, RecursionError) as error:
        raise UnresolvedError(f"{what} is not JSON: {error}") from error
    if len(data) > most_bytes:
        raise UnresolvedError(f"{what} is larger than {most_bytes:,} bytes")
    return json.decode(data)


def _check_depth(value: object, what: str) -> None:
    level = [value]
    for _ in range(_MAX_VALUE_DEPTH + 1):
        level = [*islice(chain.from_iterable(map(_list_inner, level)), _MAX_LEVEL + 1)]
        if len(level) > _MAX_LEVEL:
            break
    if level:
        raise UnresolvedError(f"{what} is nested deeper than {_MAX_VALUE_DEPTH} levels, or contains too many values")


def _is_larger(value: object, most_bytes: int) -> bool:
    # A lower bound of the size, without encoding the value.
    # A value that occurs a thousand times counts each time.
    left, level = most_bytes, [value]
    while level:
        for one in level:
            left -= 1
            match one:
                case str():
                    left -= len(one) - 1
                case Mapping():
                    left -= sum(len(key) for key in one if isinstance(key, str))
                case int():
                    # Ten bits are three digits.
                    left -= one.bit_length() * 3 // 10
            if left < 0:
                return True
        level = [*islice(chain.from_iterable(map(_list_inner, level)), left + 1)]
    return False


def measure_value(value: object) -> int:
    return len(json.encode(value))


def format_value(value: object) -> str:
    return value if isinstance(value, str) else json.encode(value).decode()


def preview_value(value: object) -> str:
    return _cut(json.encode(value).decode())


def are_equal_values(one: object, other: object) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_equal_values(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_equal_values, one, other))
    # In JSON, 1 and true differ.
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _list_inner(value: object) -> Any:
    match value:
        case Mapping():
            return value.values()
        case list() | tuple():
            return value
    return ()


def _encode(value: object) -> bytes:
    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return json.encode(map_texts(value, lambda text: text.encode(errors="replace").decode()))


def map_texts(value: Any, change: Callable[[str], Any], change_key: Callable[[str], str] | None = None) -> Any:
    match value:
        case str():
            return change(value)
        case Mapping():
            of_key = change_key or change
            return {map_texts(key, of_key): map_texts(inner, change, change_key) for key, inner in value.items()}
        case list() | tuple():
            return [map_texts(inner, change, change_key) for inner in value]
    return value


class Reference(Struct, frozen=True):
    path: ValuePath
    text: str  # As it is written.


def escape_references(text: str) -> str:
    return text.replace("${", "$${")


def split_references(text: str) -> list[str | Reference]:
    found: list[str | Reference] = []
    at = 0
    while mark := _MARK.search(text, at):
        ##= man/spec/workflows.md#references
        ##% The engine MUST replace `$${` with a literal `${`, and MUST NOT evaluate references in inserted values.
        literal = mark[0] == "$${"
        found.append(text[at : mark.start()] + ("${" if literal else ""))
        at = mark.end()
        if not literal:
            path, end = parse_path_at(text, at)
            if not path or text[end : end + 1] != "}":
                message = f"invalid reference {quote_text(_cut(text[mark.start() :]))}"
                hint = "write a reference like ${vars.NAME}, and a literal ${ as $${"
                raise UnresolvedError(message, hint=hint)
            at = end + 1
            found.append(Reference(path, text[mark.start() : at]))
    return [piece for piece in (*found, text[at:]) if piece]


def find_texts(value: object, keys: ValuePath) -> Iterator[tuple[ValuePath, str]]:
    match value:
        case str():
            yield keys, value
        case Mapping():
            for key, inner in value.items():
                yield from find_texts(inner, (*keys, key))
        case list() | tuple():
            for number, inner in enumerate(value):
                yield from find_texts(inner, (*keys, number))


def look_up_reference(reference: Reference, scope: ValueScope) -> Any:
    value, steps = walk_path(scope, reference.path)
    if steps == len(reference.path):
        return value
    missing, before = _cut(format_path(reference.path[: steps + 1])), _cut(format_path(reference.path[:steps]))
    match value:
        case Mapping() if value:
            hint = f"available: {join_names([_cut(str(name)) for name in value], 10)}"
        case list():
            hint = f"{before} is a list of {format_count(len(value), 'item')}"
        case _:
            hint = f"{before} is {'empty' if isinstance(value, Mapping) else preview_value(value)}"
    raise UnresolvedError(f"{_cut(reference.text)}: {missing} does not exist", hint=hint)


def expand_references(value: object, scope: ValueScope, keys: ValuePath) -> Any:
    what = format_path(keys)
    _check_depth(value, what)
    left = MAX_EXPANDED_BYTES

    def look_up(reference: Reference) -> Any:
        nonlocal left
        found = look_up_reference(reference, scope)
        left -= measure_value(found)
        if left < 0:
            raise UnresolvedError(f"{_cut(reference.text)} makes the value larger than {MAX_EXPANDED_BYTES:,} bytes")
        return found

    return copy_plain_value(_expand(value, keys, look_up), MAX_EXPANDED_BYTES, what)


def _expand(value: object, keys: ValuePath, look_up: Callable[[Reference], Any]) -> Any:
    match value:
        case Mapping():
            return {key: _expand(inner, (*keys, key), look_up) for key, inner in value.items()}
        case list() | tuple():
            return [_expand(inner, (*keys, number), look_up) for number, inner in enumerate(value)]
        case str():
            try:
                found = split_references(value)
                ##= man/spec/workflows.md#references
                ##% If a reference is the whole text of a value, the engine MUST keep the type of the referenced value.
                if len(found) == 1 and isinstance(found[0], Reference):
                    return look_up(found[0])
                return "".join(piece if isinstance(piece, str) else format_value(look_up(piece)) for piece in found)
            except UnresolvedError as error:
                raise UnresolvedError(f"{format_path(keys)}: {error.message}", hint=error.hint) from error
    return value


def is_constant(value: object) -> bool:
    # Escapes contain `${`, too.
    return not any("${" in text for _, text in find_texts(value, ()))


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
