"""Which columns of a table stand beside one another, and which stand below, so that they fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

GAP = "  "
_INDENT = 2
_NARROWEST, _NARROW, _LINES = 20, 40, 4
"""Texts that would get narrower than the first stand below the other columns, and so do those that would get narrower
than the second and take more than so many lines."""
_WIDEST_CHARACTER = 2


class Band(Struct, frozen=True):
    """Columns beside one another, with their widths."""

    indent: int
    widths: Mapping[int, int]
    """By the index of the column."""


def bands(needs: Sequence[int], wrapping: Sequence[int], room: int) -> list[Band]:
    """The bands of every row, from what each column needs and from those that hold long texts."""
    fixed = [index for index in range(len(needs)) if index not in wrapping]
    rest = room - sum(needs[index] for index in fixed) - len(GAP) * (len(needs) - 1)
    shares = _shared({index: needs[index] for index in wrapping}, max(rest, 0))
    if rest >= 0 and all(_is_readable(needs[index], share) for index, share in shares.items()):
        return [Band(0, {index: shares.get(index, need) for index, need in enumerate(needs)})]
    below = max(room - _INDENT, _WIDEST_CHARACTER)
    groups = [*_packed({index: min(needs[index], below) for index in fixed}, below)]
    groups += [{index: min(needs[index], below)} for index in wrapping]
    # The first one shows where a row begins.
    return [Band(_INDENT if number else 0, widths) for number, widths in enumerate(groups)]


def _is_readable(need: int, share: int) -> bool:
    """Whether a text that needs so much may be wrapped in that width."""
    return share >= min(need, _NARROWEST) and (share >= _NARROW or need <= share * _LINES)


def _shared(needs: Mapping[int, int], room: int) -> dict[int, int]:
    """Equal shares of the room; what one doesn't need is for the others."""
    shares: dict[int, int] = {}
    for index in sorted(needs, key=lambda index: needs[index]):
        shares[index] = min(needs[index], room // (len(needs) - len(shares)))
        room -= shares[index]
    return shares


def _packed(widths: Mapping[int, int], room: int) -> Iterator[dict[int, int]]:
    """As many columns beside one another as fit."""
    band: dict[int, int] = {}
    for index, width in widths.items():
        if band and sum(band.values()) + len(GAP) * len(band) + width > room:
            yield band
            band = {}
        band[index] = width
    if band:
        yield band
