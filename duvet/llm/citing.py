"""The numbers of sources in what a model answers: those that it made up are taken out."""

from __future__ import annotations

import re
from collections.abc import Container

from msgspec import Struct

# Numbers in code are none of sources.
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)
_NUMBERS = r"[0-9]{1,999}(?:[ \t]{0,4}[-\u2013,;][ \t]{0,4}[0-9]{1,999}){0,99}"
_MARK = re.compile(
    rf"(?P<blank>[ \t]{{0,9}})[\[【](?:sources?[ \t]|\^|#)?(?P<numbers>{_NUMBERS})[\]】](?:\([^)\s]{{0,999}}\))?",
    re.IGNORECASE,
)
_RANGE = re.compile(r"([0-9]{1,3})[ \t]*[-\u2013][ \t]*([0-9]{1,3})\Z")
_SHOWN = 12
"""So many digits of a number are told."""


class Checked(Struct, frozen=True):
    """An answer that names sources alone that there are."""

    text: str
    named: frozenset[int]
    made_up: tuple[str, ...]
    """The numbers that named no source."""


def checked(text: str, known: Container[int]) -> Checked:
    """The text without the numbers that name no source."""
    named: set[int] = set()
    made_up: dict[str, None] = {}

    def replaced(mark: re.Match[str]) -> str:
        ##= man/spec/ask.md#answers
        ##% Numbers that name no source MUST be dropped from an answer, and a warning MUST name them.
        numbers = dict.fromkeys(_numbers(mark["numbers"]))
        kept = [int(one) for one in numbers if len(one) < _SHOWN and int(one) in known]
        named.update(kept)
        made_up.update(dict.fromkeys(one for one in numbers if len(one) >= _SHOWN or int(one) not in known))
        return f"{mark['blank']}{''.join(f'[{one}]' for one in kept)}" if kept else ""

    pieces = _CODE.split(text)
    # What the pattern matches stands at the odd places.
    shown = [piece if index % 2 else _MARK.sub(replaced, piece) for index, piece in enumerate(pieces)]
    return Checked("".join(shown).strip(), frozenset(named), tuple(one[:_SHOWN] for one in made_up))


def _numbers(written: str) -> list[str]:
    """The numbers that stand in one mark, those of a range each."""
    found: list[str] = []
    for part in re.split(r"[ \t]*[,;][ \t]*", written):
        ends = _RANGE.match(part)
        if ends and int(ends[1]) <= int(ends[2]):
            found += map(str, range(int(ends[1]), int(ends[2]) + 1))
        else:
            found += [one.lstrip("0") or "0" for one in re.split(r"[ \t]*[-\u2013][ \t]*", part)]
    return found
