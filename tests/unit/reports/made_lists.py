"""Lists of cups, plain and hostile ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct

from duvet.reports.tables import Column, ListFormat, Listing, TableLook, render_listing


class Cup(Struct, frozen=True):
    """A row."""

    name: str
    text: str
    place: str = "shelf"
    marks: tuple[tuple[int, int], ...] = ()


NAME = Column("name", lambda cup: cup.name)
PLACE = Column("place", lambda cup: cup.place, in_heading=True)
TEXT = Column("text", lambda cup: cup.text, wraps=True, marks=lambda cup: cup.marks)
CUPS = (
    Cup("red", "It holds tea.", marks=((9, 12),)),
    Cup("blue", "It holds coffee, and never anything else.", "table", ((3, 8), (9, 15))),
)
HOSTILE = (
    Cup("\x1b[31mred", 'a | b\n"c", d\te\\f `x` *y* <b>&amp; #1 ~z~ [l](u)_', "\u202eshelf\x9b", ((0, 1), (4, 7))),
)


def shown(rows: Sequence[Cup], format: str, look: TableLook = TableLook(), **more: Any) -> str:  # noqa: B008 - immutable
    return render_listing(Listing((NAME, PLACE, TEXT), rows, **more), ListFormat(format), look).decode()


def by_place(cup: Cup) -> str:
    return f"on the {cup.place}"


TEXTS = st.text(st.sampled_from("ab 日\N{COMBINING ACUTE ACCENT}\x1b\t\n|é"), max_size=60)
