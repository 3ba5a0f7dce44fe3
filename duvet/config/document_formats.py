"""Readers of JSON, YAML and TOML documents that keep the position of every value."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.config.document import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_LEVELS,
    TOO_DEEP,
    DataDocument,
    DocumentDraft,
    DocumentError,
    PlacedDocument,
    check_document_size,
)
from duvet.config.toml import (
    DUPLICATE_KEY,
    KeyPath,
    KeySpans,
    TextSpan,
    TomlDocument,
    TomlError,
    collect_spans,
    parse_toml_bytes,
)
from duvet.model import Place
from duvet.text import BOM, find_place

if TYPE_CHECKING:
    import yaml


DOCUMENT_ENDINGS = ("json", "yaml", "yml", "toml")
"""What the names of files end with that can be read."""


class DocumentFormat(StrEnum):
    """What files are written in."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"


def find_file_ending(path: str) -> str:
    """What the name of a file ends with, without the dot."""
    return path.rpartition("/")[2].rpartition(".")[2].lower()


def detect_document_format(path: str) -> DocumentFormat:
    """The format that the name of a file says."""
    found = find_file_ending(path)
    return DocumentFormat(found) if found in (DocumentFormat.JSON, DocumentFormat.TOML) else DocumentFormat.YAML


def read_document(data: bytes, path: str) -> DataDocument:
    """The values in a file, or DocumentError."""
    if len(data) > MAX_DOCUMENT_BYTES:
        raise DocumentError("larger than 1 MiB", path, Place())
    document = _parsed(_text(data, path), path)
    check_document_size(document)
    return document


def _parsed(text: str, path: str) -> DataDocument:
    # Each format costs its imports only where it is met.
    match detect_document_format(path):
        case DocumentFormat.JSON:
            return parse_json(text, path)
        case DocumentFormat.TOML:
            return parse_toml(text, path)
        case DocumentFormat.YAML:
            return parse_yaml(text, path)


def _text(data: bytes, path: str) -> str:
    try:
        return data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        message = f"invalid utf-8 sequence of {error.end - error.start} bytes from index {error.start}"
        place = find_place(before, len(before), len(before))
        raise DocumentError(message, path, place, "save the file as UTF-8", is_text=False) from None


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
_MALFORMED = re.compile(r"JSON is malformed: (?P<reason>.*) \(byte (?P<byte>\d+)\)")
_LONG_NUMBER = re.compile(r"[0-9.]{300,}|[0-9.]+[eE]\+?[0-9]{3,}")


class _Container(Struct):
    """An array or object that isn't closed yet."""

    keys: KeyPath
    key: TextSpan
    start: int
    is_array: bool
    length: int = 0


def parse_json(text: str, path: str) -> PlacedDocument:
    """The document in a text, or DocumentError; a blank text holds nothing."""
    draft = DocumentDraft(text, path, "JSON")
    values = _decoded(draft) if text.strip() else {}
    spans = _Scan(draft).spans()
    if not isinstance(values, dict):
        start = len(text) - len(text.lstrip())
        raise draft.refused("expected a table, the whole file in `{` and `}`", start, start)
    return PlacedDocument(values, text, path, spans)


def _decoded(draft: DocumentDraft) -> Any:
    from msgspec import DecodeError, json

    try:
        return json.decode(draft.text)
    except RecursionError:
        raise draft.broken(TOO_DEEP, 0) from None
    except DecodeError as error:
        raise _broken(draft, str(error)) from None


def _broken(draft: DocumentDraft, message: str) -> DocumentError:
    if found := _MALFORMED.fullmatch(message):
        return draft.broken(found["reason"], len(draft.text.encode()[: int(found["byte"])].decode(errors="ignore")))
    if "out of range" in message:
        number = _LONG_NUMBER.search(draft.text)
        return draft.broken("number out of range", number.start() if number else 0)
    return draft.broken("unexpected end of the file", len(draft.text))


class _Scan:
    """Goes through a text that is known to be JSON."""

    def __init__(self, draft: DocumentDraft) -> None:
        self._draft = draft
        self._found: dict[KeyPath, KeySpans] = {}
        self._open: list[_Container] = []
        self._keys: KeyPath = ()
        self._key: TextSpan = (0, 0)
        self._awaits_key = False

    def spans(self) -> dict[KeyPath, KeySpans]:
        """The places of everything, by path of keys and indexes."""
        for token in _TOKEN.finditer(self._draft.text):
            match token[0]:
                case "{" | "[":
                    self._enter(token.start(), is_array=token[0] == "[")
                case "}" | "]":
                    self._leave(token.end())
                case ",":
                    self._next(token.end())
                case ":":
                    self._awaits_key = False
                case _ if self._awaits_key:
                    self._name(token)
                case _:
                    self._found[self._keys] = KeySpans(self._key, token.span())
        return self._found

    def _enter(self, start: int, *, is_array: bool) -> None:
        if len(self._open) == MAX_DOCUMENT_LEVELS:
            raise self._draft.refused(TOO_DEEP, start, start)
        self._open.append(_Container(self._keys, self._key, start, is_array))
        self._item(start + 1)

    def _leave(self, end: int) -> None:
        done = self._open.pop()
        self._found[done.keys] = KeySpans(done.key, (done.start, end))
        self._awaits_key = False

    def _next(self, start: int) -> None:
        self._open[-1].length += 1
        self._item(start)

    def _item(self, start: int) -> None:
        within = self._open[-1]
        self._awaits_key = not within.is_array
        self._keys, self._key = (*within.keys, within.length), (start, start)

    def _name(self, token: re.Match[str]) -> None:
        from msgspec import json

        name = json.decode(token[0], type=str)
        keys = (*self._open[-1].keys, name)
        if before := self._found.get(keys):
            raise self._draft.repeated(name, *token.span(), before.key[0])
        self._keys, self._key = keys, token.span()
        self._found[keys] = KeySpans(self._key, self._key)


def parse_toml(text: str, path: str) -> TomlDocument:
    """The document in a text, or DocumentError."""
    try:
        return parse_toml_bytes(text.encode(), path)
    except TomlError as error:
        if error.message.endswith(DUPLICATE_KEY):
            _tell_both(DocumentDraft(text, path, "TOML"), error.line)
        raise DocumentError(error.message, path, error.place) from None


def _tell_both(draft: DocumentDraft, line: int) -> None:
    end = sum(len(one) + 1 for one in draft.text.split("\n")[:line])
    found = _Repeated()
    collect_spans(draft.text[:end], found)
    if found.last:
        name, first, again = found.last
        raise draft.repeated(name, *again, first[0]) from None


class _Repeated(dict[KeyPath, KeySpans]):
    """Places, and the last key that stands at two of them."""

    last: tuple[str, tuple[int, int], tuple[int, int]] | None = None

    def __setitem__(self, keys: KeyPath, spans: KeySpans) -> None:
        before = self.get(keys)
        if before and before.key != spans.key and isinstance(keys[-1], str):
            self.last = (keys[-1], before.key, spans.key)
        super().__setitem__(keys, spans)


_NULL = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {**dict.fromkeys(("true", "True", "TRUE"), True), **dict.fromkeys(("false", "False", "FALSE"), False)}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_BASES = {"0o": 8, "0x": 16}


def parse_scalar(word: str) -> str | int | float | bool | None:
    """The value of a word; ValueError where it is a number of too many digits."""
    ##= man/spec/service.md#configuration
    ##% duvet MUST refuse duplicate keys, and read YAML by the core schema of YAML 1.2, without other tags or a second
    ##% document.
    if word in _NULL:
        return None
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    if _INTEGER.fullmatch(word):
        return int(word, _BASES.get(word[:2], 10))
    if _FLOAT.fullmatch(word):
        return float(word.replace(".", "", 1) if word[-1:] in "fFnN" else word)
    return word


def parse_scalar_as_text(word: str) -> str | bool | None:
    """The same, but that numbers are the words that they are written as."""
    if _INTEGER.fullmatch(word) or _FLOAT.fullmatch(word):
        return word
    value = parse_scalar(word)
    return value if isinstance(value, bool) or value is None else word


_STANDARD = "tag:yaml.org,2002:"
_TAGS = {f"{_STANDARD}str", f"{_STANDARD}map", f"{_STANDARD}seq"}
_IN_QUOTES = "write it between quotes"


class _YamlDocumentContainer(Struct):
    """A table or list that isn't complete yet."""

    keys: KeyPath
    key: TextSpan
    value: dict[str, Any] | list[Any]
    event: Any
    name: str | None = None
    """The key whose value comes next."""
    name_span: TextSpan = (0, 0)


def parse_yaml(text: str, path: str, scalar: Callable[[str], Any] = parse_scalar) -> PlacedDocument:
    """The document in a text, or DocumentError; a text without values holds nothing.

    `scalar` says what a word without quotes means.
    """
    import yaml

    builder = _Builder(DocumentDraft(text, path, "YAML"), scalar)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # Event by event: a tree would be nested as deeply as a hostile file wants.
        for event in yaml.parse(text, Loader=loader):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        start = error.problem_mark.index if error.problem_mark else len(text)
        raise builder.draft.broken(error.problem or "not understood", start) from None
    except yaml.reader.ReaderError as error:
        # The position is one of bytes where the parser is the one in C.
        start = len(text.encode()[: error.position].decode(errors="ignore"))
        raise builder.draft.broken(str(error.reason), start) from None
    return PlacedDocument(builder.table(), text, path, builder.spans)


class _Builder:
    """Values and their places, from what the parser tells one after another."""

    def __init__(self, draft: DocumentDraft, scalar: Callable[[str], Any]) -> None:
        self.draft = draft
        self.scalar = scalar
        self.spans: dict[KeyPath, KeySpans] = {}
        self._documents = 0
        self._whole: Any = None
        self._open: list[_YamlDocumentContainer] = []
        self._anchors: dict[str, Any] = {}

    def table(self) -> dict[str, Any]:
        """The values of the whole document."""
        if self._whole is None:
            return {}
        if not isinstance(self._whole, dict):
            raise self.draft.refused("expected a table, lines such as `key: value`", *self.spans[()].value)
        return self._whole

    def take(self, event: yaml.Event) -> None:
        """One more event."""
        import yaml

        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise self.draft.refused("more than one document in a file", *_span(event))
            case yaml.ScalarEvent() | yaml.AliasEvent() if self._awaits_key():
                self._name(event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._enter(event, {} if isinstance(event, yaml.MappingStartEvent) else [])
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._leave(event)
            case yaml.ScalarEvent():
                self._add(self._scalar(event), event)
            case yaml.AliasEvent():
                self._add(self._aliased(event), event)

    def _awaits_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].value, dict) and self._open[-1].name is None

    def _name(self, event: Any) -> None:
        within = self._open[-1]
        name = self._scalar(event) if hasattr(event, "value") else None
        if not isinstance(name, str):
            raise self.draft.refused("a key has to be a string", *_span(event), hint=_IN_QUOTES)
        if name == "<<" and event.implicit[0]:
            raise self.draft.refused("`<<` merges nothing here", *_span(event), hint="write the keys themselves")
        if before := self.spans.get((*within.keys, name)):
            raise self.draft.repeated(name, *_span(event), before.key[0])
        within.name, within.name_span = name, _span(event)
        self.spans[(*within.keys, name)] = KeySpans(within.name_span, within.name_span)

    def _enter(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        if self._awaits_key():
            raise self.draft.refused("a key has to be a string", *_span(event))
        self._require_no_tag(event)
        if len(self._open) == MAX_DOCUMENT_LEVELS:
            raise self.draft.refused(TOO_DEEP, *_span(event))
        keys, key = self._next(event)
        self.spans[keys] = KeySpans(key, _span(event))
        self._put(value)
        self._open.append(_YamlDocumentContainer(keys, key, value, event))

    def _leave(self, event: Any) -> None:
        done = self._open.pop()
        if done.event.flow_style:
            self.spans[done.keys] = KeySpans(done.key, (done.event.start_mark.index, event.end_mark.index))
        # Not before: nothing may stand within itself.
        self._remember(done.event.anchor, done.value)

    def _add(self, value: Any, event: Any) -> None:
        keys, key = self._next(event)
        self.spans[keys] = KeySpans(key, _span(event))
        self._put(value)
        if hasattr(event, "value"):
            self._remember(event.anchor, value)

    def _next(self, event: Any) -> tuple[KeyPath, TextSpan]:
        """The path of the value that comes next, and where its key stands."""
        if not self._open:
            return (), _span(event)
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

    def _scalar(self, event: Any) -> Any:
        self._require_no_tag(event)
        if not event.implicit[0]:
            return event.value
        try:
            return self.scalar(event.value)
        except ValueError:
            raise self.draft.refused("number of too many digits", *_span(event)) from None

    def _aliased(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise self.draft.refused("an alias of nothing that is complete before it", *_span(event))
        return self._anchors[event.anchor]

    def _require_no_tag(self, event: Any) -> None:
        if event.tag is not None and event.tag not in _TAGS:
            raise self.draft.refused("a tag, which begins with `!`, can't stand here", *_span(event), hint=_IN_QUOTES)


def _span(event: Any) -> TextSpan:
    return (event.start_mark.index, event.end_mark.index)
