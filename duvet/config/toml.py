"""A TOML reader that keeps the position of every key and value, and a writer of TOML strings."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from duvet.config.document import DataDocument, DocumentDraft, DocumentError, KeyPath, KeySpans, TextSpan
from duvet.model import Place
from duvet.text import BOM, find_place


class _Container(NamedTuple):
    keys: KeyPath
    key: TextSpan
    start: int
    is_array: bool


class TomlDocument(DataDocument):
    """A TOML document that finds its tables and strings in the original text."""

    def __init__(self, values: dict[str, Any], text: str, path: str) -> None:
        super().__init__(values, text, path, find_spans)

    def headers(self, name: str) -> list[int]:
        """Return the line of each table in an array of tables, which is that of its `[[name]]` or `{`."""
        lines: list[int] = []
        while spans := self.spans.get((name, len(lines))):
            lines.append(self._place(spans.value).line)
        return lines

    def string(self, *keys: str | int) -> str:
        """Return a string with its original line ends."""
        start, end = self.value_span(*keys)
        if self.text.find("\r\n", start, end) >= 0:
            return _restore_line_ends(self.text[start:end])
        value: Any = self.values
        for key in keys:
            value = value[key]
        return str(value)


def parse_toml_bytes(data: bytes, path: str) -> TomlDocument:
    """Parse a TOML file, or raise DocumentError."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        raise DocumentDraft(before, path, "TOML").broken(reason, len(before), is_text=False) from error
    return parse_toml(text, path)


def parse_toml(text: str, path: str) -> TomlDocument:
    """Parse TOML, or raise DocumentError."""
    import tomllib

    draft = DocumentDraft(text, path, "TOML")
    try:
        return TomlDocument(tomllib.loads(text.removeprefix(BOM)), text, path)
    except RecursionError:
        raise draft.broken("nested too deeply", Place(1, 1)) from None
    except ValueError as error:
        raise _make_syntax_error(str(error), draft) from error


_POSITION = r"(?P<reason>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)"


def _make_syntax_error(message: str, draft: DocumentDraft) -> DocumentError:
    text = draft.text
    found = re.fullmatch(_POSITION, message, re.DOTALL)
    if not found:
        # All other messages contain a position; this one is about Python's limit for integers.
        long = re.search("[0-9_]{4300,}", text)
        return draft.broken("the number has too many digits", find_place(text, *long.span()) if long else Place(1, 1))
    place = Place(int(found["line"]), int(found["column"])) if found["line"] else find_place(text, len(text), len(text))
    return draft.broken(_reword(found["reason"]), place)


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


def _reword(message: str) -> str:
    """Reword tomllib's message, keeping the character that it names."""
    for beginning, words in _WORDS.items():
        if message.startswith(beginning):
            character = re.search(r"character ('.*'|\".*\")$", message)
            return f"{words} {character[1]}" if character else words
    return message[:1].lower() + message[1:]


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
    """Return the places of all keys and values in a valid document, by their path of keys and indexes."""
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
    """Return the path of the table under a header; the name of an array refers to its last element."""
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
    """Return the full path and the span of a dotted key, and record where each part of the path first occurs."""
    keys, key = table, assignment.span(1)
    for part in _PARTS.finditer(assignment.string, *key):
        keys, key = (*keys, _unquote_key(part[0])), part.span()
        found.setdefault(keys, KeySpans(key, key))
    return keys, key


def _note_value(text: str, position: int, keys: KeyPath, key: TextSpan, found: dict[KeyPath, KeySpans]) -> int:
    """Note a value and all values in it, without recursion, because data may be nested deeper than Python's stack."""
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
    """Close the containers that end here; return the position of the next element of the innermost open one."""
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
    import tomllib

    name: str = tomllib.loads(f"name = {part}")["name"]
    return name


_BASIC = re.compile(r"(?P<joined>\\[ \t]*\r?\n\s*)|\\.|(?P<end>\r\n)")


def _restore_line_ends(written: str) -> str:
    """Return the value of a quoted multi-line string with its original line ends."""
    import tomllib

    inner = written[3:-3]
    inner = inner[2:] if inner.startswith("\r\n") else inner.removeprefix("\n")
    if written.startswith("'"):
        return inner
    escaped = _BASIC.sub(lambda one: "" if one["joined"] else "\\r\\n" if one["end"] else one[0], inner)
    value: str = tomllib.loads(f'value = """\n{escaped}"""')["value"]
    return value


_CONTROLS = bytes({*range(32), 127} - {ord("\t"), ord("\n")})
_ESCAPED = {**{code: f"\\u{code:04X}" for code in _CONTROLS}, ord("\\"): "\\\\"}
_ESCAPED_LINE = {**_ESCAPED, ord('"'): '\\"', ord("\n"): "\\n"}


def has_control_characters(data: bytes) -> bool:
    """Return whether a text contains control characters (including carriage returns, but not tabs and line feeds)."""
    return len(data.translate(None, _CONTROLS)) != len(data)


def strip_control_characters(text: str) -> str:
    return text.translate(dict.fromkeys(_CONTROLS))


def format_one_line_string(text: str) -> str:
    plain = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text if plain else text.translate(_ESCAPED_LINE)}"'


def format_multi_line_string(text: str) -> str:
    """Format a string over several lines, with a final line end, and without escapes where TOML allows it."""
    if "'''" not in text and not has_control_characters(text.encode()):
        return f"'''\n{text}\n'''"
    escaped = text.translate(_ESCAPED).replace('"""', '""\\"')
    return f'"""\n{escaped}\n"""'
