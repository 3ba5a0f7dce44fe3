"""What a question names: files, and what code declares."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from duvet.store.protocol import Store
from duvet.store.records import Filters
from duvet.store.words import as_one, indexed

_MOST = 8
"""So many names of a question count."""
_DEPTH = 100
"""So many pieces that hold a name are looked at."""
_TOKEN = re.compile(r"[\w./:\\-]+")
_END = ".:-/"
_LINE = re.compile(r":\d+(?:-\d+)?\Z")
_QUALIFIED = re.compile(r"[.:]+")
NAMED, HELD = 2.0, 1.0
"""What stands before all that is only like what is asked: where the thing is that is named, and where its name stands."""


def names_in(text: str) -> tuple[str, ...]:
    """The names in a question: what is composed of several words, or the only word."""
    words = [name for name in map(_name, _TOKEN.findall(text)) if name]
    if len(words) == 1 and words[0] == text.strip():
        return (words[0],)
    composed = [name for name in words if len(indexed(name)) > 1]
    return tuple(dict.fromkeys(composed))[:_MOST]


def _name(token: str) -> str:
    return _LINE.sub("", token.rstrip(_END)).replace("\\", "/").removeprefix("./")


def named(store: Store, names: tuple[str, ...], filters: Filters, *, alone: bool) -> Mapping[int, float]:
    """What the pieces are worth that a question names; alone, a name also stands for the pieces that hold it."""
    worth: dict[int, float] = defaultdict(float)
    for name in names:
        ##= man/spec/knowledge.md#search
        ##% The piece that declares a symbol, and the first one of a file, MUST come first where the query has the name of
        ##% the symbol, or the path or the name of the file, as a word.
        for number in dict.fromkeys(_things(store, name, filters)):
            worth[number] += NAMED
        if alone and name.isidentifier() and len(indexed(name)) > 1:
            ##= man/spec/knowledge.md#search
            ##% Where the query is one name such as `parse_header_line` or `parseHeaderLine`, what holds that name MUST come
            ##% before what only holds its parts, or only means the same.
            for number, _ in store.lexical([as_one(name)], filters, _DEPTH, every=True):
                worth[number] += HELD
    return worth


def _things(store: Store, name: str, filters: Filters) -> Iterator[int]:
    yield from store.called(name, filters)
    if "/" not in name:
        yield from store.declaring(_QUALIFIED.split(name)[-1], filters)
