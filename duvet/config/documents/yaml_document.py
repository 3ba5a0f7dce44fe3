"""Reads YAML: one document of tables, lists and plain values, with the place of everything in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duvet.config.documents.document import Draft, PlacedDocument
from duvet.config.documents.limits import MOST_LEVELS, TOO_DEEP
from duvet.config.documents.yaml_scalars import meaning
from duvet.config.toml_spans import Keys, Span, Spans

if TYPE_CHECKING:
    import yaml

_STANDARD = "tag:yaml.org,2002:"
_TAGS = {f"{_STANDARD}str", f"{_STANDARD}map", f"{_STANDARD}seq"}
_IN_QUOTES = "write it between quotes"


class _Container(Struct):
    """A table or list that isn't complete yet."""

    keys: Keys
    key: Span
    value: dict[str, Any] | list[Any]
    event: Any
    name: str | None = None
    """The key whose value comes next."""
    name_span: Span = (0, 0)


def parse_yaml(text: str, path: str, scalar: Callable[[str], Any] = meaning) -> PlacedDocument:
    """The document in a text, or DocumentError; a text without values holds nothing.

    `scalar` says what a word without quotes means.
    """
    import yaml

    builder = _Builder(Draft(text, path, "YAML"), scalar)
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

    def __init__(self, draft: Draft, scalar: Callable[[str], Any]) -> None:
        self.draft = draft
        self.scalar = scalar
        self.spans: dict[Keys, Spans] = {}
        self._documents = 0
        self._whole: Any = None
        self._open: list[_Container] = []
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
        self.spans[(*within.keys, name)] = Spans(within.name_span, within.name_span)

    def _enter(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        if self._awaits_key():
            raise self.draft.refused("a key has to be a string", *_span(event))
        self._require_no_tag(event)
        if len(self._open) == MOST_LEVELS:
            raise self.draft.refused(TOO_DEEP, *_span(event))
        keys, key = self._next(event)
        self.spans[keys] = Spans(key, _span(event))
        self._put(value)
        self._open.append(_Container(keys, key, value, event))

    def _leave(self, event: Any) -> None:
        done = self._open.pop()
        if done.event.flow_style:
            self.spans[done.keys] = Spans(done.key, (done.event.start_mark.index, event.end_mark.index))
        # Not before: nothing may stand within itself.
        self._remember(done.event.anchor, done.value)

    def _add(self, value: Any, event: Any) -> None:
        keys, key = self._next(event)
        self.spans[keys] = Spans(key, _span(event))
        self._put(value)
        if hasattr(event, "value"):
            self._remember(event.anchor, value)

    def _next(self, event: Any) -> tuple[Keys, Span]:
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
        ##= man/spec/service.md#configuration
        ##% In YAML, a tag that is not one of the standard ones for text, tables and lists, a key that is no string and a
        ##% second document MUST be refused.
        if event.tag is not None and event.tag not in _TAGS:
            raise self.draft.refused("a tag, which begins with `!`, can't stand here", *_span(event), hint=_IN_QUOTES)


def _span(event: Any) -> Span:
    return (event.start_mark.index, event.end_mark.index)
