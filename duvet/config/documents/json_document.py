"""Reads JSON, strictly, with the place of everything in it."""

from __future__ import annotations

import re
from typing import Any

from msgspec import Struct

from duvet.config.documents.document import DocumentError, Draft, PlacedDocument
from duvet.config.documents.limits import MOST_LEVELS, TOO_DEEP
from duvet.config.toml_spans import Keys, Span, Spans

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
_MALFORMED = re.compile(r"JSON is malformed: (?P<reason>.*) \(byte (?P<byte>\d+)\)")
_LONG_NUMBER = re.compile(r"[0-9.]{300,}|[0-9.]+[eE]\+?[0-9]{3,}")


class _Container(Struct):
    """An array or object that isn't closed yet."""

    keys: Keys
    key: Span
    start: int
    is_array: bool
    length: int = 0


def parse_json(text: str, path: str) -> PlacedDocument:
    """The document in a text, or DocumentError; a blank text holds nothing."""
    draft = Draft(text, path, "JSON")
    values = _decoded(draft) if text.strip() else {}
    spans = _Scan(draft).spans()
    if not isinstance(values, dict):
        start = len(text) - len(text.lstrip())
        raise draft.refused("expected a table, the whole file in `{` and `}`", start, start)
    return PlacedDocument(values, text, path, spans)


def _decoded(draft: Draft) -> Any:
    from msgspec import DecodeError, json

    try:
        return json.decode(draft.text)
    except RecursionError:
        raise draft.broken(TOO_DEEP, 0) from None
    except DecodeError as error:
        raise _broken(draft, str(error)) from None


def _broken(draft: Draft, message: str) -> DocumentError:
    if found := _MALFORMED.fullmatch(message):
        return draft.broken(found["reason"], len(draft.text.encode()[: int(found["byte"])].decode(errors="ignore")))
    if "out of range" in message:
        number = _LONG_NUMBER.search(draft.text)
        return draft.broken("number out of range", number.start() if number else 0)
    return draft.broken("unexpected end of the file", len(draft.text))


class _Scan:
    """Goes through a text that is known to be JSON."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._found: dict[Keys, Spans] = {}
        self._open: list[_Container] = []
        self._keys: Keys = ()
        self._key: Span = (0, 0)
        self._awaits_key = False

    def spans(self) -> dict[Keys, Spans]:
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
                    self._found[self._keys] = Spans(self._key, token.span())
        return self._found

    def _enter(self, start: int, *, is_array: bool) -> None:
        if len(self._open) == MOST_LEVELS:
            raise self._draft.refused(TOO_DEEP, start, start)
        self._open.append(_Container(self._keys, self._key, start, is_array))
        self._item(start + 1)

    def _leave(self, end: int) -> None:
        done = self._open.pop()
        self._found[done.keys] = Spans(done.key, (done.start, end))
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
        self._found[keys] = Spans(self._key, self._key)
