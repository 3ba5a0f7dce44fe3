"""References and paths into values: `${steps.ID.result.items[0]}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from blake3 import blake3
from msgspec import Struct, json

from duvet.errors import DuvetError
from duvet.text import quote_text
from duvet.workflows.workflow import FailureCode


class UnresolvedError(DuvetError):
    """A reference that leads nowhere, or a value that can't be used."""


class WorkflowError(DuvetError):
    """A step has failed, and its workflow with it."""

    def __init__(self, code: FailureCode, message: str, *, hint: str = "", cause: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.cause = cause


ValuePath = tuple[str | int, ...]
"""Keys of objects, and numbers in lists from 0."""

_NAME = r"""[^\s.\[\]{}"'$\\]+"""
_FIRST = re.compile(_NAME)
_NEXT = re.compile(
    rf"""\.(?P<name>{_NAME}) | \[(?P<index>[0-9]{{1,9}})\] | \[(?:"(?P<json>(?:[^"\\]|\\.)*)"|'(?P<plain>[^']*)')\]""",
    re.VERBOSE | re.DOTALL,
)
_HOW = 'write it as in result.items[0]["a.b"]'


def parse_path(text: str) -> ValuePath:
    """The path that the whole text is."""
    path, end = parse_path_at(text, 0)
    if not path or end < len(text):
        raise UnresolvedError(f"{quote_text(text)} is no path", hint=_HOW)
    return path


def parse_path_at(text: str, start: int) -> tuple[ValuePath, int]:
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


def format_path(path: Sequence[str | int]) -> str:
    """The path as text."""
    return "".join(_spelled(path)).removeprefix(".")


def walk_path(value: object, path: ValuePath) -> tuple[object, int]:
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
        raise UnresolvedError(f"{quote_text(found[0])} holds no JSON string", hint=_HOW) from error


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


MAX_VALUE_DEPTH = 64
_MOST_AT_ONCE = 1_000_000
"""Values that hold each other would never end."""
_SHOWN = 80


def copy_plain_value(value: object, most_bytes: int, what: str) -> Any:
    """A copy of the value; UnresolvedError where it is not JSON, too deep or too large."""
    if is_too_deep(value):
        raise UnresolvedError(f"{what} is nested deeper than {MAX_VALUE_DEPTH} levels, or holds too many values")
    ##= man/spec/workflows.md#limits
    ##% The engine MUST refuse values that are not JSON or deeper than 64 levels, arguments, prompts and outputs above 1
    ##% MB, and results above 16 MB or 64 MB in total.
    if _is_larger(value, most_bytes):
        raise UnresolvedError(f"{what} has more than {most_bytes:,} bytes")
    try:
        data = _encoded(value)
    except ValueError as error:
        raise UnresolvedError(f"{what} has a number in it that is too long") from error
    except (TypeError, RecursionError) as error:
        raise UnresolvedError(f"{what} is no JSON: {error}") from error
    if len(data) > most_bytes:
        raise UnresolvedError(f"{what} has more than {most_bytes:,} bytes")
    return json.decode(data)


def is_too_deep(value: object) -> bool:
    """Whether it is nested too deeply to be looked through."""
    level = [value]
    for _ in range(MAX_VALUE_DEPTH + 1):
        level = [*islice(chain.from_iterable(map(_inner, level)), _MOST_AT_ONCE + 1)]
        if len(level) > _MOST_AT_ONCE:
            return True
    return bool(level)


def _is_larger(value: object, most_bytes: int) -> bool:
    """Whether it takes more bytes as JSON for sure; what is not too deep is not written down to tell."""
    # One value may stand in it a thousand times, and take its bytes each time.
    left, level = most_bytes, [value]
    while level:
        for one in level:
            left -= _least(one)
            if left < 0:
                return True
        level = [*islice(chain.from_iterable(map(_inner, level)), left + 1)]
    return False


def _least(value: object) -> int:
    """Bytes that the value takes at least, besides those in it."""
    match value:
        case str():
            return len(value)
        case Mapping():
            return 1 + sum(len(key) for key in value if isinstance(key, str))
        case int():
            # Ten bits are three digits.
            return 1 + value.bit_length() * 3 // 10
    return 1


def measure_value(value: object) -> int:
    """How many bytes the value takes as JSON."""
    return len(json.encode(value))


def digest_value(value: object) -> str:
    """What is the same for an equal value alone, of whatever records and plain values it is made."""
    return blake3(repr(value).encode(errors="replace")).hexdigest(length=8)


def format_value(value: object) -> str:
    """What stands for the value inside of a text: itself if it is one, else its JSON."""
    return value if isinstance(value, str) else json.encode(value).decode()


def preview_value(value: object) -> str:
    """The value for a message: the beginning of its JSON."""
    text = json.encode(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def are_equal_values(one: object, other: object) -> bool:
    """Whether they are the same JSON."""
    ##= man/spec/workflows.md#steps
    ##% A check MUST compare values as JSON, distinguish null from a missing value, and fail its step with
    ##% `assert_failed`, the path and both values.
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(are_equal_values(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(are_equal_values, one, other))
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _inner(value: object) -> Any:
    match value:
        case Mapping():
            return value.values()
        case list() | tuple():
            return value
    return ()


def _encoded(value: object) -> bytes:
    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return json.encode(_as_unicode(value))


def _as_unicode(value: Any) -> Any:
    """The value with a mark for each half of a character."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case Mapping():
            return {_as_unicode(key): _as_unicode(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_as_unicode(inner) for inner in value]
    return value


MAX_EXPANDED_BYTES = 1_000_000
"""No value has more once its references are filled in."""
_NAMED = 10
_MARK = re.compile(r"\$\$\{|\$\{")
_REFERENCES_HOW = "write a reference as in ${vars.NAME}, and a literal one with two dollars: $${"

ValueScope = Mapping[str, object]
"""What references lead into, by its first name."""


class Reference(Struct, frozen=True):
    """A place where a value is to be filled in."""

    path: ValuePath
    text: str
    """As it is written."""


def escape_references(text: str) -> str:
    """The text as it has to be written to stand for itself."""
    return text.replace("${", "$${")


def split_references(text: str) -> list[str | Reference]:
    """The text in pieces: what stands for itself, and references."""
    found: list[str | Reference] = []
    at = 0
    while mark := _MARK.search(text, at):
        ##= man/spec/workflows.md#references
        ##% `$${` MUST insert a literal `${`, and an inserted value MUST NOT be searched for references.
        literal = mark[0] == "$${"
        found.append(text[at : mark.start()] + ("${" if literal else ""))
        at = mark.end()
        if not literal:
            reference = _reference(text, mark.start())
            found.append(reference)
            at = mark.start() + len(reference.text)
    return [piece for piece in (*found, text[at:]) if piece]


def find_texts(value: object, keys: ValuePath) -> Iterator[tuple[ValuePath, str]]:
    """The texts in a value, each with its keys."""
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
    """What the reference leads to; UnresolvedError where there is nothing."""
    value, steps = walk_path(scope, reference.path)
    if steps == len(reference.path):
        return value
    ##= man/spec/workflows.md#references
    ##% A reference that leads nowhere MUST be an error that names the step, the key, the reference and what is
    ##% available.
    missing, before = format_path(reference.path[: steps + 1]), format_path(reference.path[:steps])
    raise UnresolvedError(f"{_cut(reference.text)}: there is no {_cut(missing)}", hint=_instead(value, before))


def expand_references(value: object, scope: ValueScope, keys: ValuePath) -> Any:
    """The value with what its references lead to; the keys say where it stands."""
    what = format_path(keys)
    if is_too_deep(value):
        raise UnresolvedError(f"{what} is nested deeper than {MAX_VALUE_DEPTH} levels, or holds too many values")
    return copy_plain_value(_Filling(scope).filled(value, keys), MAX_EXPANDED_BYTES, what)


def is_constant(value: object) -> bool:
    """Whether nothing is to be filled in, so that the value is what it says."""
    return not any("${" in text for _, text in find_texts(value, ()))


class _Filling:
    """References of one value being filled in; what is taken in is counted before it is."""

    def __init__(self, scope: ValueScope) -> None:
        self.scope = scope
        self.left = MAX_EXPANDED_BYTES

    def filled(self, value: object, keys: ValuePath) -> Any:
        match value:
            case str():
                return self._text(value, keys)
            case Mapping():
                return {key: self.filled(inner, (*keys, key)) for key, inner in value.items()}
            case list() | tuple():
                return [self.filled(inner, (*keys, number)) for number, inner in enumerate(value)]
        return value

    def _text(self, text: str, keys: ValuePath) -> Any:
        try:
            found = split_references(text)
            ##= man/spec/workflows.md#references
            ##% A reference that is the whole text MUST keep the type of its value; inside a text, strings MUST be
            ##% inserted as they are and other values as JSON.
            if len(found) == 1 and isinstance(found[0], Reference):
                return self._value(found[0])
            return "".join(piece if isinstance(piece, str) else format_value(self._value(piece)) for piece in found)
        except UnresolvedError as error:
            raise UnresolvedError(f"{format_path(keys)}: {error.message}", hint=error.hint) from error

    def _value(self, reference: Reference) -> Any:
        value = look_up_reference(reference, self.scope)
        self.left -= measure_value(value)
        if self.left < 0:
            raise UnresolvedError(f"with {_cut(reference.text)} it has more than {MAX_EXPANDED_BYTES:,} bytes")
        return value


def _reference(text: str, start: int) -> Reference:
    path, end = parse_path_at(text, start + 2)
    if not path or text[end : end + 1] != "}":
        raise UnresolvedError(f"{quote_text(_cut(text[start:]))} is no reference", hint=_REFERENCES_HOW)
    return Reference(path, text[start : end + 1])


def _instead(value: object, where: str) -> str:
    match value:
        case Mapping() if value:
            names = [_cut(str(name)) for name in value]
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            return f"there are {', '.join(names[:_NAMED])}{more}"
        case list():
            return f"{_cut(where)} is a list of {len(value)}"
        case Mapping():
            return f"{_cut(where)} is empty"
    return f"{_cut(where)} is {preview_value(value)}"


def _cut(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
