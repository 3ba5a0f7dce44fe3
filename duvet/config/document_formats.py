"""Reads JSON, YAML and TOML, and finds the position of every key and value."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError, Struct, json

from duvet.config import document
from duvet.config.document import DataDocument, DocumentDraft, DocumentError, KeyPath, KeySpans, TextSpan
from duvet.config.toml import DUPLICATE_KEY, TomlDocument, parse_toml
from duvet.model import Place
from duvet.text import BOM, find_place
from duvet.tree.files import find_file_ending

if TYPE_CHECKING:
    import yaml


class _OpenContainer(Struct):
    keys: KeyPath
    key: TextSpan
    start: int = 0
    is_array: bool = False
    length: int = 0


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
    found = {} if found is None else found
    lengths: dict[KeyPath, int] = {}
    table: KeyPath = ()
    position = 0
    while True:
        position = _end(_BLANK, text, position)
        if header := _HEADER.match(text, position):
            table = _enter_table(header, lengths, found)
            position = header.end()
        elif assignment := _ASSIGNMENT.match(text, position):
            position = _note_value(assignment, table, found)
        else:
            return found


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _enter_table(header: re.Match[str], lengths: dict[KeyPath, int], found: dict[KeyPath, KeySpans]) -> KeyPath:
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


def _note_value(assignment: re.Match[str], table: KeyPath, found: dict[KeyPath, KeySpans]) -> int:
    def resolve_dotted_key(assignment: re.Match[str], keys: KeyPath) -> tuple[KeyPath, TextSpan]:
        # The position of each part of a key is where it first occurs.
        key = assignment.span(1)
        for part in _PARTS.finditer(assignment.string, *key):
            keys, key = (*keys, _unquote_key(part[0])), part.span()
            found.setdefault(keys, KeySpans(key, key))
        return keys, key

    value = _OpenContainer(*resolve_dotted_key(assignment, table))
    return _scan_value(assignment.string, assignment.end(), value, found, _ASSIGNMENT, resolve_dotted_key)


def _scan_value(
    text: str,
    position: int,
    value: _OpenContainer,
    found: dict[KeyPath, KeySpans],
    pair: re.Pattern[str],
    resolve_key: Callable[[re.Match[str], KeyPath], tuple[KeyPath, TextSpan]],
    limited: DocumentDraft | None = None,
) -> int:
    # Data may be nested deeper than Python's stack.
    containers: list[_OpenContainer] = []
    while True:
        if (opener := text[position : position + 1]) in ("[", "{"):
            if limited and len(containers) == document.MAX_DOCUMENT_LEVELS:
                raise limited.make_unsupported_error(document.TOO_DEEP, position, position)
            value.start, value.is_array = position, opener == "["
            containers.append(value)
            position += 1
        else:
            end = _end(_SCALAR, text, position)
            found[value.keys] = KeySpans(value.key, (position, end))
            position = end
        while containers:
            position = _end(_BETWEEN, text, position)
            if text[position : position + 1] not in ("]", "}"):
                break
            position += 1
            done = containers.pop()
            found[done.keys] = KeySpans(done.key, (done.start, position))
        if not containers or position >= len(text):
            return position
        within = containers[-1]
        if within.is_array:
            value = _OpenContainer((*within.keys, within.length), (position, position))
            within.length += 1
        elif inner := pair.match(text, position):
            value = _OpenContainer(*resolve_key(inner, within.keys))
            position = inner.end()
        else:
            return position


def _unquote_key(part: str) -> str:
    if part[0] == '"' and "\\" in part:
        return str(tomllib.loads(f"name = {part}")["name"])
    return part[1:-1] if part[0] in "'\"" else part


def read_document(data: bytes, path: str) -> DataDocument:
    if len(data) > document.MAX_DOCUMENT_BYTES:
        message = f"the file has {len(data):,} bytes; the limit is {document.MAX_DOCUMENT_BYTES:,}"
        raise DocumentError(message, path, Place())
    try:
        text = data.decode().removeprefix(BOM)
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        message = f"invalid UTF-8 at byte offset {error.start}"
        place = find_place(before, len(before), len(before))
        raise DocumentError(message, path, place, is_text=False) from None
    parsed = {"json": _parse_json, "toml": _parse_toml}.get(find_file_ending(path), parse_yaml)(text, path)
    document.check_document_size(parsed)
    return parsed


_JSON_PAIR = re.compile(r'("(?:[^"\\]|\\.)*")\s*:\s*')
_MALFORMED = re.compile(r"JSON is malformed: (?P<reason>.*) \(byte (?P<byte>\d+)\)")
_LONG_NUMBER = re.compile(r"[0-9.]{300,}|[0-9.]+[eE]\+?[0-9]{3,}")


def _parse_json(text: str, path: str) -> DataDocument:
    draft = DocumentDraft(text, path, "JSON")
    try:
        values = json.decode(text) if text.strip() else {}
    except RecursionError:
        raise draft.make_syntax_error(document.TOO_DEEP, 0) from None
    except DecodeError as error:
        if found := _MALFORMED.fullmatch(str(error)):
            start = len(text.encode()[: int(found["byte"])].decode(errors="ignore"))
            raise draft.make_syntax_error(found["reason"], start) from None
        if "out of range" in str(error):
            number = _LONG_NUMBER.search(text)
            raise draft.make_syntax_error("number out of range", number.start() if number else 0) from None
        raise draft.make_syntax_error("unexpected end of file", len(text)) from None
    spans = _scan_json(draft)
    if not isinstance(values, dict):
        start = len(text) - len(text.lstrip())
        message = 'expected an object at the top level, such as `{"key": "value"}`'
        raise draft.make_unsupported_error(message, start, start)
    return DataDocument(values, text, path, lambda _: spans)


def _scan_json(draft: DocumentDraft) -> dict[KeyPath, KeySpans]:
    found: dict[KeyPath, KeySpans] = {}

    def resolve_key(pair: re.Match[str], keys: KeyPath) -> tuple[KeyPath, TextSpan]:
        name, key = json.decode(pair[1], type=str), pair.span(1)
        keys = (*keys, name)
        if before := found.get(keys):
            raise draft.make_duplicate_error(name, *key, before.key[0])
        found[keys] = KeySpans(key, key)
        return keys, key

    start = len(draft.text) - len(draft.text.lstrip())
    _scan_value(draft.text, start, _OpenContainer((), (0, 0)), found, _JSON_PAIR, resolve_key, draft)
    return found


def _parse_toml(text: str, path: str) -> TomlDocument:
    try:
        return parse_toml(text, path)
    except DocumentError as error:
        if error.message.endswith(DUPLICATE_KEY):
            end = sum(len(one) + 1 for one in text.split("\n")[: error.line])
            found = _RepeatedKeys()
            find_spans(text[:end], found)
            if found.last:
                name, first, again = found.last
                raise DocumentDraft(text, path, "TOML").make_duplicate_error(name, *again, first[0]) from None
        raise


class _RepeatedKeys(dict[KeyPath, KeySpans]):
    last: tuple[str, TextSpan, TextSpan] | None = None

    def __setitem__(self, keys: KeyPath, spans: KeySpans) -> None:
        before = self.get(keys)
        if before and before.key != spans.key and isinstance(keys[-1], str):
            self.last = (keys[-1], before.key, spans.key)
        super().__setitem__(keys, spans)


_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def parse_scalar(word: str) -> str | int | float | bool | None:
    """Raise ValueError for a decimal integer with too many digits."""
    if word in _WORDS:
        return _WORDS[word]
    if _INTEGER.fullmatch(word):
        return int(word, {"0o": 8, "0x": 16}.get(word[:2], 10))
    if _FLOAT.fullmatch(word):
        return float(word.replace(".", "", 1) if word[-1:] in "fFnN" else word)
    return word


@lru_cache(maxsize=4096)
def parse_scalar_as_text(word: str) -> str | bool | None:
    return _WORDS.get(word, word)


_TAGS = {None, *(f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq"))}
_IN_QUOTES = "put it in quotes"
_UNDEFINED_ALIAS = "undefined alias: no earlier value has this anchor"
_RECURSIVE_ALIAS = "the alias refers to a value that contains it"


class _OpenYaml(Struct):
    keys: KeyPath
    key: TextSpan
    value: dict[str, Any] | list[Any]
    event: Any
    name: str | None = None  # The key whose value comes next.
    name_span: TextSpan = (0, 0)


def parse_yaml(text: str, path: str, scalar: Callable[[str], Any] = parse_scalar) -> DataDocument:
    import yaml

    builder = _YamlBuilder(DocumentDraft(text, path, "YAML"), scalar)
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
    values = {} if builder.whole is None else builder.whole
    if not isinstance(values, dict):
        message = "expected a table: write lines such as `key: value`"
        raise builder.draft.make_unsupported_error(message, *builder.spans[()].value)
    return DataDocument(values, text, path, lambda _: builder.spans)


class _YamlBuilder:
    def __init__(self, draft: DocumentDraft, scalar: Callable[[str], Any]) -> None:
        self.draft = draft
        self.scalar = scalar
        self.spans: dict[KeyPath, KeySpans] = {}
        self.whole: Any = None
        self._documents = 0
        self._open: list[_OpenYaml] = []
        self._anchors: dict[str | None, Any] = {}

    def add_event(self, event: yaml.Event) -> None:
        import yaml

        within = self._open[-1] if self._open else None
        awaits_key = within and isinstance(within.value, dict) and within.name is None
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                if self._documents > 1:
                    raise self._refuse("the file contains more than one document", event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                done = self._open.pop()
                if done.event.flow_style:
                    self.spans[done.keys] = KeySpans(done.key, (done.event.start_mark.index, event.end_mark.index))
                # Not earlier, because a value must not contain itself.
                self._anchors[done.event.anchor] = done.value
            case yaml.NodeEvent() if awaits_key:
                self._set_key(self._open[-1], event)
            case yaml.ScalarEvent():
                value = self._parse_scalar(event)
                self._add_value(value, event)
                self._anchors[event.anchor] = value
            case yaml.AliasEvent():
                if event.anchor not in self._anchors:
                    is_recursive = any(one.event.anchor == event.anchor for one in self._open)
                    raise self._refuse(_RECURSIVE_ALIAS if is_recursive else _UNDEFINED_ALIAS, event)
                self._add_value(self._anchors[event.anchor], event)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._check_tag(event)
                if len(self._open) == document.MAX_DOCUMENT_LEVELS:
                    raise self._refuse(document.TOO_DEEP, event)
                container: dict[str, Any] | list[Any] = {} if isinstance(event, yaml.MappingStartEvent) else []
                self._open.append(_OpenYaml(*self._add_value(container, event), container, event))

    def _set_key(self, within: _OpenYaml, event: Any) -> None:
        name, span = self._parse_scalar(event) if hasattr(event, "value") else None, _get_span(event)
        if not isinstance(name, str):
            raise self._refuse("a key must be a string", event, "" if hasattr(event, "flow_style") else _IN_QUOTES)
        if name == "<<" and event.implicit[0]:
            hint = "copy the merged keys into this mapping"
            raise self._refuse("merge keys (`<<`) are not supported", event, hint)
        if before := self.spans.get((*within.keys, name)):
            raise self.draft.make_duplicate_error(name, *span, before.key[0])
        within.name, within.name_span = name, span
        self.spans[(*within.keys, name)] = KeySpans(span, span)

    def _add_value(self, value: Any, event: Any) -> tuple[KeyPath, TextSpan]:
        keys: KeyPath = ()
        key = span = _get_span(event)
        if not self._open:
            self.whole = value
        elif isinstance((within := self._open[-1]).value, list):
            keys, key = (*within.keys, len(within.value)), (span[0], span[0])
            within.value.append(value)
        else:
            name, key = within.name or "", within.name_span
            keys, within.name = (*within.keys, name), None
            within.value[name] = value
        self.spans[keys] = KeySpans(key, span)
        return keys, key

    def _parse_scalar(self, event: Any) -> Any:
        self._check_tag(event)
        if not event.implicit[0]:
            return event.value
        try:
            return self.scalar(event.value)
        except ValueError:
            raise self._refuse("the number has too many digits", event) from None

    def _check_tag(self, event: Any) -> None:
        if event.tag not in _TAGS:
            hint = "remove the tag, or put text that starts with `!` in quotes"
            raise self._refuse("YAML tags, which start with `!`, are not supported", event, hint)

    def _refuse(self, message: str, event: Any, hint: str = "") -> DocumentError:
        return self.draft.make_unsupported_error(message, *_get_span(event), hint)


def _get_span(event: Any) -> TextSpan:
    return event.start_mark.index, event.end_mark.index
