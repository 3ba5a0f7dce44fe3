"""Reads JSON, YAML and TOML, and finds the position of every key and value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, Struct, json

from duvet.config import document
from duvet.config.document import KeyPath, KeySpans, TextSpan
from duvet.config.toml import DUPLICATE_KEY, TomlDocument, parse_toml
from duvet.model import Place
from duvet.text import BOM, find_place

if TYPE_CHECKING:
    import yaml


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
    """Return the position of every key and value of a TOML file, by the path of keys and indexes."""
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
    """Return the full path of a dotted key and the range of its last part; record where each part first occurs."""
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


DOCUMENT_ENDINGS = ("json", "yaml", "yml", "toml")  # The extensions of files that duvet can read.


class DocumentFormat(StrEnum):
    """A format, detected by the file extension."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


def find_file_ending(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def detect_document_format(path: str) -> DocumentFormat:
    """Return the format for a file name; unknown extensions mean YAML."""
    found = find_file_ending(path)
    return DocumentFormat(found) if found in (DocumentFormat.JSON, DocumentFormat.TOML) else DocumentFormat.YAML


def read_document(data: bytes, path: str) -> document.DataDocument:
    """Parse a file in the format of its extension, or raise DocumentError; a blank file has no values."""
    if len(data) > document.MAX_DOCUMENT_BYTES:
        message = f"the file has {len(data):,} bytes; the limit is {document.MAX_DOCUMENT_BYTES:,}"
        raise document.DocumentError(message, path, Place())
    try:
        text = data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        message = f"invalid UTF-8 at byte offset {error.start}"
        place = find_place(before, len(before), len(before))
        raise document.DocumentError(message, path, place, "save the file as UTF-8", is_text=False) from None
    parsers = {DocumentFormat.JSON: _parse_json, DocumentFormat.TOML: _parse_toml, DocumentFormat.YAML: parse_yaml}
    parsed = parsers[detect_document_format(path)](text, path)
    document.check_document_size(parsed)
    return parsed


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
_MALFORMED = re.compile(r"JSON is malformed: (?P<reason>.*) \(byte (?P<byte>\d+)\)")
_LONG_NUMBER = re.compile(r"[0-9.]{300,}|[0-9.]+[eE]\+?[0-9]{3,}")


class _OpenJson(Struct):
    keys: document.KeyPath
    key: document.TextSpan
    start: int
    is_array: bool
    length: int = 0


def _parse_json(text: str, path: str) -> document.DataDocument:
    draft = document.DocumentDraft(text, path, "JSON")
    try:
        values = json.decode(text) if text.strip() else {}
    except RecursionError:
        raise draft.make_syntax_error(document.TOO_DEEP, 0) from None
    except DecodeError as error:
        raise _make_json_error(draft, str(error)) from None
    spans = _JsonScanner(draft).scan()
    if not isinstance(values, dict):
        start = len(text) - len(text.lstrip())
        raise draft.make_unsupported_error("expected an object: put the whole file in `{` and `}`", start, start)
    return document.DataDocument(values, text, path, lambda _: spans)


def _make_json_error(draft: document.DocumentDraft, message: str) -> document.DocumentError:
    if found := _MALFORMED.fullmatch(message):
        return draft.make_syntax_error(
            found["reason"], len(draft.text.encode()[: int(found["byte"])].decode(errors="ignore"))
        )
    if "out of range" in message:
        number = _LONG_NUMBER.search(draft.text)
        return draft.make_syntax_error("number out of range", number.start() if number else 0)
    return draft.make_syntax_error("unexpected end of file", len(draft.text))


class _JsonScanner:
    def __init__(self, draft: document.DocumentDraft) -> None:
        self._draft = draft
        self._found: dict[document.KeyPath, document.KeySpans] = {}
        self._open: list[_OpenJson] = []
        self._keys: document.KeyPath = ()
        self._key: document.TextSpan = (0, 0)
        self._awaits_key = False

    def scan(self) -> dict[document.KeyPath, document.KeySpans]:
        for token in _TOKEN.finditer(self._draft.text):
            match token[0]:
                case "{" | "[":
                    if len(self._open) == document.MAX_DOCUMENT_LEVELS:
                        raise self._draft.make_unsupported_error(document.TOO_DEEP, token.start(), token.start())
                    self._open.append(_OpenJson(self._keys, self._key, token.start(), token[0] == "["))
                    self._expect_item(token.end())
                case "}" | "]":
                    done = self._open.pop()
                    self._found[done.keys] = document.KeySpans(done.key, (done.start, token.end()))
                    self._awaits_key = False
                case ",":
                    self._open[-1].length += 1
                    self._expect_item(token.end())
                case ":":
                    self._awaits_key = False
                case _ if self._awaits_key:
                    name = json.decode(token[0], type=str)
                    keys = (*self._open[-1].keys, name)
                    if before := self._found.get(keys):
                        raise self._draft.make_duplicate_error(name, *token.span(), before.key[0])
                    self._keys, self._key = keys, token.span()
                    self._found[keys] = document.KeySpans(self._key, self._key)
                case _:
                    self._found[self._keys] = document.KeySpans(self._key, token.span())
        return self._found

    def _expect_item(self, start: int) -> None:
        within = self._open[-1]
        self._awaits_key = not within.is_array
        self._keys, self._key = (*within.keys, within.length), (start, start)


def _parse_toml(text: str, path: str) -> TomlDocument:
    try:
        return parse_toml(text, path)
    except document.DocumentError as error:
        if error.message.endswith(DUPLICATE_KEY):
            end = sum(len(one) + 1 for one in text.split("\n")[: error.line])
            found = _RepeatedKeys()
            find_spans(text[:end], found)
            if found.last:
                name, first, again = found.last
                raise document.DocumentDraft(text, path, "TOML").make_duplicate_error(name, *again, first[0]) from None
        raise


class _RepeatedKeys(dict[document.KeyPath, document.KeySpans]):
    """The position of each key, and the last repeated key."""

    last: tuple[str, document.TextSpan, document.TextSpan] | None = None

    def __setitem__(self, keys: document.KeyPath, spans: document.KeySpans) -> None:
        before = self.get(keys)
        if before and before.key != spans.key and isinstance(keys[-1], str):
            self.last = (keys[-1], before.key, spans.key)
        super().__setitem__(keys, spans)


_BOOLEANS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def parse_scalar(word: str) -> str | int | float | bool | None:
    """Convert an unquoted YAML scalar; raise ValueError for a number with too many digits."""
    if word in {"", "~", "null", "Null", "NULL"}:
        return None
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    if _INTEGER.fullmatch(word):
        return int(word, {"0o": 8, "0x": 16}.get(word[:2], 10))
    if _FLOAT.fullmatch(word):
        return float(word.replace(".", "", 1) if word[-1:] in "fFnN" else word)
    return word


@lru_cache(maxsize=4096)
def parse_scalar_as_text(word: str) -> str | bool | None:
    """Convert an unquoted YAML scalar, but keep numbers as text."""
    if _INTEGER.fullmatch(word) or _FLOAT.fullmatch(word):
        return word
    value = parse_scalar(word)
    return value if isinstance(value, bool) or value is None else word


_STANDARD = "tag:yaml.org,2002:"
_TAGS = {f"{_STANDARD}str", f"{_STANDARD}map", f"{_STANDARD}seq"}
_IN_QUOTES = "put it in quotes"


class _OpenYaml(Struct):
    keys: document.KeyPath
    key: document.TextSpan
    value: dict[str, Any] | list[Any]
    event: Any
    name: str | None = None
    name_span: document.TextSpan = (0, 0)


def parse_yaml(text: str, path: str, scalar: Callable[[str], Any] = parse_scalar) -> document.DataDocument:
    """Parse YAML, or raise DocumentError; `scalar` converts unquoted scalars."""
    import yaml

    builder = _YamlBuilder(document.DocumentDraft(text, path, "YAML"), scalar)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Read event by event, because a tree could be nested without limit in a hostile file.
        for event in yaml.parse(text, Loader=loader):
            builder.add_event(event)
    except yaml.MarkedYAMLError as error:
        start = error.problem_mark.index if error.problem_mark else len(text)
        raise builder.draft.make_syntax_error(error.problem or "invalid syntax", start) from None
    except yaml.reader.ReaderError as error:
        # The C parser counts bytes.
        start = len(text.encode()[: error.position].decode(errors="ignore"))
        raise builder.draft.make_syntax_error(str(error.reason), start) from None
    return document.DataDocument(builder.get_table(), text, path, lambda _: builder.spans)


class _YamlBuilder:
    def __init__(self, draft: document.DocumentDraft, scalar: Callable[[str], Any]) -> None:
        self.draft = draft
        self.scalar = scalar
        self.spans: dict[document.KeyPath, document.KeySpans] = {}
        self._documents = 0
        self._whole: Any = None
        self._open: list[_OpenYaml] = []
        self._anchors: dict[str, Any] = {}

    def get_table(self) -> dict[str, Any]:
        if self._whole is None:
            return {}
        if not isinstance(self._whole, dict):
            raise self.draft.make_unsupported_error(
                "expected a table: write lines such as `key: value`", *self.spans[()].value
            )
        return self._whole

    def add_event(self, event: yaml.Event) -> None:
        import yaml

        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise self.draft.make_unsupported_error(
                        "the file contains more than one document", *_get_span(event)
                    )
            case yaml.ScalarEvent() | yaml.AliasEvent() if self._awaits_key():
                self._set_key(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open_container(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = self._open.pop()
                if done.event.flow_style:
                    self.spans[done.keys] = document.KeySpans(
                        done.key, (done.event.start_mark.index, event.end_mark.index)
                    )
                # Not earlier, because a value must not contain itself.
                self._remember(done.event.anchor, done.value)
            case yaml.ScalarEvent():
                self._add_value(self._parse_scalar(event), event)
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    raise self.draft.make_unsupported_error(
                        "undefined alias: the anchored value must end before the alias", *_get_span(event)
                    )
                self._add_value(self._anchors[event.anchor], event)

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].name is None

    def _set_key(self, event: Any) -> None:
        within = self._open[-1]
        name = self._parse_scalar(event) if hasattr(event, "value") else None
        if not isinstance(name, str):
            raise self.draft.make_unsupported_error("a key must be a string", *_get_span(event), hint=_IN_QUOTES)
        if name == "<<" and event.implicit[0]:
            raise self.draft.make_unsupported_error(
                "merge keys (`<<`) are not supported", *_get_span(event), hint="copy the merged keys into this mapping"
            )
        if before := self.spans.get((*within.keys, name)):
            raise self.draft.make_duplicate_error(name, *_get_span(event), before.key[0])
        within.name, within.name_span = name, _get_span(event)
        self.spans[(*within.keys, name)] = document.KeySpans(within.name_span, within.name_span)

    def _open_container(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        if self._awaits_key():
            raise self.draft.make_unsupported_error("a key must be a string", *_get_span(event))
        self._refuse_tag(event)
        if len(self._open) == document.MAX_DOCUMENT_LEVELS:
            raise self.draft.make_unsupported_error(document.TOO_DEEP, *_get_span(event))
        keys, key = self._locate_next(event)
        self.spans[keys] = document.KeySpans(key, _get_span(event))
        self._put(value)
        self._open.append(_OpenYaml(keys, key, value, event))

    def _add_value(self, value: Any, event: Any) -> None:
        keys, key = self._locate_next(event)
        self.spans[keys] = document.KeySpans(key, _get_span(event))
        self._put(value)
        if hasattr(event, "value"):
            self._remember(event.anchor, value)

    def _locate_next(self, event: Any) -> tuple[document.KeyPath, document.TextSpan]:
        if not self._open:
            return (), _get_span(event)
        within = self._open[-1]
        if isinstance(within.value, list):
            return (*within.keys, len(within.value)), (event.start_mark.index,) * 2
        return (*within.keys, within.name or ""), within.name_span

    def _put(self, value: Any) -> None:
        if not self._open:
            self._whole = value
            return
        within = self._open[-1]
        if isinstance(within.value, list):
            within.value.append(value)
        else:
            within.value[within.name or ""] = value
            within.name = None

    def _remember(self, anchor: str | None, value: Any) -> None:
        if anchor is not None:
            self._anchors[anchor] = value

    def _parse_scalar(self, event: Any) -> Any:
        self._refuse_tag(event)
        if not event.implicit[0]:
            return event.value
        try:
            return self.scalar(event.value)
        except ValueError:
            raise self.draft.make_unsupported_error("the number has too many digits", *_get_span(event)) from None

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _TAGS:
            raise self.draft.make_unsupported_error(
                "YAML tags, which start with `!`, are not supported", *_get_span(event), hint=_IN_QUOTES
            )


def _get_span(event: Any) -> document.TextSpan:
    return (event.start_mark.index, event.end_mark.index)
