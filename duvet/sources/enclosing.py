"""Comments that begin and end, for annotations whose lines don't begin one by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from duvet.config.languages import STARS, Language
from duvet.text import line_starts

_STRINGS = r'"(?:[^"\\\n]|\\.)*+"'


class Pair(NamedTuple):
    """What begins a comment, and what ends it."""

    first: str
    last: str


_C = Pair("/*", "*/")
_ML = Pair("(*", "*)")
_OF_ML = (Language.COQ, Language.CRYPTOVERIF, Language.OCAML, Language.PROVERIF)
_ENDINGS = tuple(pattern.rpartition("*")[2] for language in _OF_ML for pattern in language.patterns)


def pair_of(path: str, meta: str) -> Pair | None:
    """What such an annotation has to stand between in that file; None where each of its lines is a comment."""
    if not meta.startswith(STARS.meta[0]):
        return None
    return _ML if path.endswith(_ENDINGS) else _C


def is_inside(text: str, line: int, pair: Pair) -> bool:
    """Whether a line begins inside a comment."""
    start = line_starts(text)[line - 1]
    first, last = map(re.escape, pair)
    lines = r"//[^\n]*+|'(?:[^'\\\n]|\\.)'|" if pair == _C else ""
    for found in re.finditer(rf"{lines}{_STRINGS}|(?P<comment>{first}(?s:.*?)(?:{last}|\Z))", text):
        if found.start() >= start:
            return False
        if found["comment"] and start < found.end():
            return True
    return False


def enclosed(lines: Sequence[str], indent: str, pair: Pair) -> list[str]:
    """The lines in a comment of their own."""
    return [f"{indent}{pair.first}", *lines, f"{indent} {pair.last}"]
