"""A TOML reader that keeps the position of every key and value, and a writer of TOML strings."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, NamedTuple

from duvet.errors import DuvetError
from duvet.model import Place
from duvet.text import BOM, find_line_index, find_place, line_starts

KeyPath = tuple[str | int, ...]
TextSpan = tuple[int, int]


class KeySpans(NamedTuple):
    """The characters of a key and of its value; the value of a table with a header is that header."""

    key: TextSpan
    value: TextSpan


class _Container(NamedTuple):
    """An array or inline table that isn't closed yet."""

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


def find_spans(text: str) -> dict[KeyPath, KeySpans]:
    """The places of everything in a document that is known to be valid, by path of keys and indexes."""
    found: dict[KeyPath, KeySpans] = {}
    collect_spans(text, found)
    return found


def collect_spans(text: str, found: dict[KeyPath, KeySpans]) -> None:
    """Note the places of everything, one after another."""
    lengths: dict[KeyPath, int] = {}
    table: KeyPath = ()
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


def _enter(header: re.Match[str], lengths: dict[KeyPath, int], found: dict[KeyPath, KeySpans]) -> KeyPath:
    """The path of the table under a header; a name of an array stands for its last element."""
    keys: KeyPath = ()
    key = span = header.span()
    for part in _PARTS.finditer(header[0], header.start(2) - span[0], header.end(2) - span[0]):
        if keys in lengths:
            keys += (lengths[keys] - 1,)
        keys += (_name(part[0]),)
        key = (span[0] + part.start(), span[0] + part.end())
        found.setdefault(keys, KeySpans(key, span))
    if header[1] == "[":
        found[keys] = KeySpans(key, span)
        return (*keys, lengths[keys] - 1) if keys in lengths else keys
    index = lengths.get(keys, 0)
    lengths[keys] = index + 1
    found[(*keys, index)] = KeySpans(key, span)
    return (*keys, index)


def _assign(assignment: re.Match[str], table: KeyPath, found: dict[KeyPath, KeySpans]) -> int:
    keys, key = _dotted(assignment, table, found)
    return _value(assignment.string, assignment.end(), keys, key, found)


def _dotted(assignment: re.Match[str], table: KeyPath, found: dict[KeyPath, KeySpans]) -> tuple[KeyPath, TextSpan]:
    """The path that a key names; the tables on its way stand where they are named first."""
    keys, key = table, assignment.span(1)
    for part in _PARTS.finditer(assignment.string, *key):
        keys, key = (*keys, _name(part[0])), part.span()
        found.setdefault(keys, KeySpans(key, key))
    return keys, key


def _value(text: str, position: int, keys: KeyPath, key: TextSpan, found: dict[KeyPath, KeySpans]) -> int:
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
            found[keys] = KeySpans(key, (position, end))
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


def _close(
    text: str, position: int, containers: list[_Container], lengths: list[int], found: dict[KeyPath, KeySpans]
) -> int:
    """Leave the containers that end here, for the position of the next element of the one that doesn't."""
    while containers:
        position = _end(_BETWEEN, text, position)
        if text[position : position + 1] not in ("]", "}"):
            return position
        position += 1
        done = containers.pop()
        lengths.pop()
        found[done.keys] = KeySpans(done.key, (done.start, position))
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


_POSITION = r"(?P<reason>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)"


class TomlError(DuvetError):
    """A file that isn't TOML."""

    def __init__(self, reason: str, path: str, place: Place) -> None:
        message = f"TOML parse error at line {place.line}, column {place.column}: {reason}"
        super().__init__(message, path=path, line=place.line)
        self.place = place


class TomlEncodingError(TomlError):
    """A TOML file that isn't UTF-8."""


class PlacedValues:
    """The values of a file, and where in it each of them stands."""

    def __init__(self, values: dict[str, Any], text: str, path: str) -> None:
        self.values = values
        self.text = text
        self.path = path

    def value_place(self, *keys: str | int) -> Place:
        """The place of a value, or of the nearest table around it: `value_place("source", 0, "pattern")`."""
        return self._place(self.value_span(*keys))

    def key_place(self, *keys: str | int) -> Place:
        """The place of the last of the keys, or of the nearest table around it."""
        spans = self._spans.get(keys)
        return self._place(spans.key if spans else self.value_span(*keys))

    def value_span(self, *keys: str | int) -> TextSpan:
        """The characters of a value, or of the nearest table around it; (0, 0) where there is neither."""
        while keys:
            if spans := self._spans.get(keys):
                return spans.value
            keys = keys[:-1]
        return (0, 0)

    def _place(self, span: TextSpan) -> Place:
        start, end = span
        line = find_line_index(self._starts, start)
        line_start, line_end = self._starts[line], self._starts[line + 1] - 1
        return Place(line + 1, start - line_start + 1, max(1, min(end, line_end) - start))

    @cached_property
    def _starts(self) -> list[int]:
        return [*line_starts(self.text), len(self.text) + 1]

    @cached_property
    def _spans(self) -> dict[KeyPath, KeySpans]:
        raise NotImplementedError


class TomlDocument(PlacedValues):
    """A TOML document; its places are looked for when one is asked for."""

    def headers(self, name: str) -> list[int]:
        """The line of each table in an array of tables: of its `[[name]]`, or of its `{`."""
        lines: list[int] = []
        while spans := self._spans.get((name, len(lines))):
            lines.append(self._place(spans.value).line)
        return lines

    def string(self, *keys: str | int) -> str:
        """A string with its line ends as they stand in the file."""
        start, end = self.value_span(*keys)
        if self.text.find("\r\n", start, end) >= 0:
            return restore_line_ends(self.text[start:end])
        value: Any = self.values
        for key in keys:
            value = value[key]
        return str(value)

    @cached_property
    def _spans(self) -> dict[KeyPath, KeySpans]:
        return find_spans(self.text)


def parse_toml_bytes(data: bytes, path: str) -> TomlDocument:
    """The document in a file, or TomlError."""
    import tomllib

    text = _decode(data, path)
    try:
        return TomlDocument(tomllib.loads(text.removeprefix(BOM)), text, path)
    except RecursionError:
        raise TomlError("nested too deeply", path, Place(1, 1)) from None
    except ValueError as error:
        raise _syntax_error(str(error), text, path) from error


def _decode(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        raise TomlEncodingError(reason, path, _end_of(before)) from error


def _syntax_error(message: str, text: str, path: str) -> TomlError:
    found = re.fullmatch(_POSITION, message, re.DOTALL)
    if not found:
        # All other limits are about where the text goes wrong; this one is Python's, for whole numbers.
        long = re.search("[0-9_]{4300,}", text)
        return TomlError("number of too many digits", path, find_place(text, *long.span()) if long else Place(1, 1))
    place = Place(int(found["line"]), int(found["column"])) if found["line"] else _end_of(text)
    return TomlError(describe_toml_error(found["reason"]), path, place)


def _end_of(text: str) -> Place:
    return find_place(text, len(text), len(text))


DUPLICATE_KEY = "duplicate key"

_WORDS = {
    "Cannot overwrite": DUPLICATE_KEY,
    "Cannot declare": DUPLICATE_KEY,
    "Cannot redefine": DUPLICATE_KEY,
    "Cannot mutate": DUPLICATE_KEY,
    "Duplicate inline table key": DUPLICATE_KEY,
    "Expected ']]' at": "unclosed array table, expected `]`",
    "Expected ']' at": "unclosed table, expected `]`",
    "Expected '=' after": "key with no value, expected `=`",
    "Expected newline": "unexpected key or value, expected newline, `#`",
    "Unclosed array": "unclosed array, expected `]`",
    "Unclosed inline table": "unclosed inline table, expected `}`",
    "Found invalid character": "invalid character",
    "Invalid initial character": "invalid key",
    "Invalid statement": "invalid key",
}


def describe_toml_error(message: str) -> str:
    """The words for one of tomllib's messages; the character that it names is kept."""
    for beginning, words in _WORDS.items():
        if message.startswith(beginning):
            character = re.search(r"character ('.*'|\".*\")$", message)
            return f"{words} {character[1]}" if character else words
    return message[:1].lower() + message[1:]


_BASIC = re.compile(r"(?P<joined>\\[ \t]*\r?\n\s*)|\\.|(?P<end>\r\n)")


def restore_line_ends(written: str) -> str:
    """The value of a multi-line string in quotes, each of its line ends kept."""
    import tomllib

    inner = written[3:-3]
    inner = inner[2:] if inner.startswith("\r\n") else inner.removeprefix("\n")
    if written.startswith("'"):
        return inner
    escaped = _BASIC.sub(_escape_line_end, inner)
    value: str = tomllib.loads(f'value = """\n{escaped}"""')["value"]
    return value


def _escape_line_end(match: re.Match[str]) -> str:
    if match["joined"]:
        return ""
    return "\\r\n" if match["end"] else match[0]


_CONTROLS = bytes({*range(32), 127} - {ord("\t"), ord("\n")})
_DROPPED = dict.fromkeys(_CONTROLS)
_ESCAPED = {**{code: f"\\u{code:04X}" for code in _CONTROLS}, ord("\\"): "\\\\"}
_ESCAPED_LINE = {**_ESCAPED, ord('"'): '\\"', ord("\n"): "\\n"}


def has_control_characters(data: bytes) -> bool:
    """Whether there are control characters other than tabs and line feeds; a carriage return is one."""
    return len(data.translate(None, _CONTROLS)) != len(data)


def strip_control_characters(text: str) -> str:
    """The text with those left out."""
    return text.translate(_DROPPED)


def format_one_line_string(text: str) -> str:
    """The text in double quotes."""
    plain = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text if plain else text.translate(_ESCAPED_LINE)}"'


def format_multi_line_string(text: str) -> str:
    """The text, each line on a line of its own, with a line end after the last; as it stands wherever it can be."""
    if "'''" not in text and not has_control_characters(text.encode()):
        return f"'''\n{text}\n'''"
    escaped = text.translate(_ESCAPED).replace('"""', '""\\"')
    return f'"""\n{escaped}\n"""'
