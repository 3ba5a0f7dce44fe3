"""A TOML reader that can find the position of every key and value, and a writer of TOML strings."""

from __future__ import annotations

import re
from typing import Any

from duvet.config.document import DataDocument, DocumentDraft, KeyPath, KeySpans
from duvet.model import Place
from duvet.text import BOM, find_place


class TomlDocument(DataDocument):
    def __init__(self, values: dict[str, Any], text: str, path: str) -> None:
        def find_spans(text: str) -> dict[KeyPath, KeySpans]:
            # Only messages and edits need positions.
            from duvet.config.document_formats import find_spans

            return find_spans(text)

        super().__init__(values, text, path, find_spans)

    def string(self, *keys: str | int) -> str:
        start, end = self.value_span(*keys)
        if self.text.find("\r\n", start, end) >= 0:
            return _restore_line_ends(self.text[start:end])
        value: Any = self.values
        for key in keys:
            value = value[key]
        return str(value)


def parse_toml_bytes(data: bytes, path: str) -> TomlDocument:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        raise DocumentDraft(before, path, "TOML").make_syntax_error(reason, len(before), is_text=False) from error
    return parse_toml(text, path)


def parse_toml(text: str, path: str) -> TomlDocument:
    import tomllib

    draft = DocumentDraft(text, path, "TOML")
    try:
        return TomlDocument(tomllib.loads(text.removeprefix(BOM)), text, path)
    except RecursionError:
        raise draft.make_syntax_error("nested too deeply", Place(1, 1)) from None
    except ValueError as error:
        found = re.fullmatch(_POSITION, str(error), re.DOTALL)
        if not found:
            # All other messages contain a position; this one is about Python's limit for integers.
            long = re.search("[0-9_]{4300,}", text)
            place = find_place(text, *long.span()) if long else Place(1, 1)
            raise draft.make_syntax_error("the number has too many digits", place) from error
        line, column = found["line"], found["column"]
        raise draft.make_syntax_error(
            _reword(found["reason"]), Place(int(line), int(column)) if line else len(text)
        ) from error


_POSITION = r"(?P<reason>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)"
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
    for beginning, words in _WORDS.items():
        if message.startswith(beginning):
            character = re.search(r"character ('.*'|\".*\")$", message)
            return f"{words} {character[1]}" if character else words
    return message[:1].lower() + message[1:]


def _restore_line_ends(written: str) -> str:
    import tomllib

    inner = written[3:-3]
    inner = inner[2:] if inner.startswith("\r\n") else inner.removeprefix("\n")
    if written.startswith("'"):
        return inner
    pattern = r"(?P<joined>\\[ \t]*\r?\n\s*)|\\.|(?P<end>\r\n)"
    escaped = re.sub(pattern, lambda one: "" if one["joined"] else "\\r\\n" if one["end"] else one[0], inner)
    value: str = tomllib.loads(f'value = """\n{escaped}"""')["value"]
    return value


_CONTROLS = bytes({*range(32), 127} - {ord("\t"), ord("\n")})
_ESCAPED = {**{code: f"\\u{code:04X}" for code in _CONTROLS}, ord("\\"): "\\\\"}
_ESCAPED_LINE = {**_ESCAPED, ord('"'): '\\"', ord("\n"): "\\n"}


def has_control_characters(data: bytes) -> bool:
    return data.translate(None, _CONTROLS) != data


def strip_control_characters(text: str) -> str:
    return text.translate(dict.fromkeys(_CONTROLS))


def format_one_line_string(text: str) -> str:
    plain = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text if plain else text.translate(_ESCAPED_LINE)}"'


def format_multi_line_string(text: str) -> str:
    """Format `text` with a line end added."""
    if "'''" not in text and not has_control_characters(text.encode()):
        return f"'''\n{text}\n'''"
    escaped = text.translate(_ESCAPED).replace('"""', '""\\"')
    return f'"""\n{escaped}\n"""'
