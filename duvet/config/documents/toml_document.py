"""Reads TOML, and tells both places of a key that stands twice."""

from __future__ import annotations

from duvet.config.documents.document import DocumentError, Draft
from duvet.config.toml import Toml, TomlError, parse
from duvet.config.toml_reasons import DUPLICATE
from duvet.config.toml_spans import Keys, Spans, note_spans


def parse_toml(text: str, path: str) -> Toml:
    """The document in a text, or DocumentError."""
    try:
        return parse(text.encode(), path)
    except TomlError as error:
        if error.message.endswith(DUPLICATE):
            _tell_both(Draft(text, path, "TOML"), error.line)
        raise DocumentError(error.message, path, error.place) from None


def _tell_both(draft: Draft, line: int) -> None:
    end = sum(len(one) + 1 for one in draft.text.split("\n")[:line])
    found = _Repeated()
    note_spans(draft.text[:end], found)
    if found.last:
        name, first, again = found.last
        raise draft.repeated(name, *again, first[0]) from None


class _Repeated(dict[Keys, Spans]):
    """Places, and the last key that stands at two of them."""

    last: tuple[str, tuple[int, int], tuple[int, int]] | None = None

    def __setitem__(self, keys: Keys, spans: Spans) -> None:
        before = self.get(keys)
        if before and before.key != spans.key and isinstance(keys[-1], str):
            self.last = (keys[-1], before.key, spans.key)
        super().__setitem__(keys, spans)
