import csv
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import Struct
from pytest_snapshot.plugin import Snapshot

from duvet.commands.config import render_settings_table
from duvet.config.schema import Setting, SettingOrigin
from duvet.reports import tables
from duvet.reports.cells import COLUMN_GAP, TableLook, escape_cell, measure_width
from tests.unit.reports.test_cells import TEXTS


class Cup(Struct, frozen=True):
    name: str
    text: str
    place: str = "shelf"
    marks: tuple[tuple[int, int], ...] = ()


NAME = tables.Column("name", lambda cup: cup.name)
PLACE = tables.Column("place", lambda cup: cup.place, in_heading=True)
TEXT = tables.Column("text", lambda cup: cup.text, wraps=True, marks=lambda cup: cup.marks)
CUPS = (
    Cup("red", "It holds tea.", marks=((9, 12),)),
    Cup("blue", "It holds coffee, and never anything else.", "table", ((3, 8), (9, 15))),
)
HOSTILE = (
    Cup("\x1b[31mred", 'a | b\n"c", d\te\\f `x` *y* <b>&amp; #1 ~z~ [l](u)_', "\u202eshelf\x9b", ((0, 1), (4, 7))),
)


def render(rows: Sequence[Cup], format: str, look: TableLook = TableLook(), **more: Any) -> str:  # noqa: B008 - immutable
    listing = tables.Listing((NAME, PLACE, TEXT), rows, **more)
    return tables.render_listing(listing, tables.ListFormat(format), look).decode()


def by_place(cup: Cup) -> str:
    return f"on the {cup.place}"


def with_names(texts: Mapping[str, str]) -> str:
    return "".join(f"=== {name}\n{text}" for name, text in texts.items())


@pytest.mark.parametrize("format", list(tables.ListFormat))
def test_rows_are_rendered_in_every_format(format: str, snapshot: Snapshot) -> None:
    found = {
        "rows": render(CUPS, format),
        "grouped": render(CUPS, format, heading=by_place),
        "empty": render((), format),
        "empty, grouped": render((), format, heading=by_place),
        "hostile": render(HOSTILE, format),
    }
    snapshot.assert_match(with_names(found), f"lists/{format}.txt")


@pytest.mark.parametrize("format", list(tables.ListFormat))
def test_names_that_are_not_utf8(format: str) -> None:
    written = render((Cup("caf\udce9", "It holds tea."),), format)
    assert written.count(r"caf\u{dce9}" if format not in ("json", "jsonl", "markdown") else "caf") == 1
    assert (r"caf\\u{dce9}" in written) is (format == "markdown")


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_values_come_back_from_csv_as_they_are_seen(rows: list[tuple[str, str]]) -> None:
    _, *found = csv.reader(render([Cup(*row) for row in rows], "csv").splitlines())
    assert found == [[escape_cell(name), "shelf", escape_cell(text)] for name, text in rows]


COLOURED = TableLook(100, colour=True)


def test_colours_are_only_in_tables(snapshot: Snapshot) -> None:
    # A mark goes on in the next line.
    marked = Cup("blue", CUPS[1].text, "table", ((3, 30),))
    found = {
        "table": render(CUPS[:1], "table", COLOURED),
        "plain": render(CUPS[:1], "plain", COLOURED),
        "grouped": render(CUPS[:1], "table", COLOURED, heading=by_place),
        "wrapped": render((marked,), "table", TableLook(40, colour=True)),
        "hostile": render(HOSTILE, "table", COLOURED),
    }
    snapshot.assert_match(with_names(found).replace("\x1b", "ESC"), "lists/colours.txt")
    assert render(CUPS[:1], "markdown", COLOURED) == render(CUPS[:1], "markdown")


WIDE = (Cup("日本", "茶碗の中にはお茶が入っている"), Cup("e\N{COMBINING ACUTE ACCENT}", "é is one cell wide"))
SHARED = tables.Listing(
    (tables.Column("a", lambda cup: cup.name, wraps=True), TEXT), (Cup("a short one", CUPS[1].text), Cup("red", "tea"))
)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), st.integers(8, 90), st.booleans())
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, str, str]], room: int, grouped: bool) -> None:
    cups = [Cup(*row) for row in rows]
    written = render(cups, "table", TableLook(room), **({"heading": by_place} if grouped else {}))
    assert [line for line in written.splitlines() if measure_width(line) > room] == []
    assert all(escape_cell(line) == line for line in written.splitlines())


def test_tables_fit_the_terminal(snapshot: Snapshot) -> None:
    shared = tables.render_listing(SHARED, tables.ListFormat.TABLE, TableLook(50))
    found = {
        "40: long texts are wrapped": render(CUPS, "table", TableLook(40)),
        "30: long texts stand below": render(CUPS, "table", TableLook(30)),
        "16: with headings": render(
            CUPS, "table", TableLook(16), heading=lambda cup: f"on the {cup.place} of the house"
        ),
        "8: columns stand below one another": render(CUPS[:1], "table", TableLook(8)),
        "40: wide characters take two cells": render(WIDE, "table", TableLook(40)),
        "40: words that are longer than a line": render((Cup("red", "x" * 60 + " y"),), "table", TableLook(40)),
        "a row without values is a line": render((Cup("", "", ""), CUPS[0]), "table"),
        "50: columns leave one another what they do not need": shared.decode(),
    }
    snapshot.assert_match(with_names(found), "lists/widths.txt")
    assert len(render((Cup("red", "tea " * 250_000),), "table").splitlines()) == 11_365


BANDS = {
    "nothing wraps": (([4, 6], [], 20), [(0, {0: 4, 1: 6})]),
    "nothing wraps, and all is taken": (([4, 6], [], 12), [(0, {0: 4, 1: 6})]),
    "there is room": (([4, 30], [1], 60), [(0, {0: 4, 1: 30})]),
    "one takes what is left": (([4, 100], [1], 60), [(0, {0: 4, 1: 54})]),
    "two share what is left": (([4, 100, 100], [1, 2], 100), [(0, {0: 4, 1: 46, 2: 46})]),
    "one leaves the other more": (([4, 25, 100], [1, 2], 100), [(0, {0: 4, 1: 25, 2: 67})]),
    "the order is kept": (([80, 4, 70], [0, 2], 104), [(0, {0: 48, 1: 4, 2: 48})]),
    "narrow, but few lines": (([4, 80], [1], 26), [(0, {0: 4, 1: 20})]),
    "too narrow": (([4, 80], [1], 25), [(0, {0: 4}), (2, {1: 23})]),
    "narrow, and many lines": (([4, 200], [1], 45), [(0, {0: 4}), (2, {1: 43})]),
    "two long texts": (([4, 30, 50], [1, 2], 36), [(0, {0: 4}), (2, {1: 30}), (2, {2: 34})]),
    "one of two long texts is too long": (([4, 10, 200], [1, 2], 45), [(0, {0: 4}), (2, {1: 10}), (2, {2: 43})]),
    "what is below just fits": (([12, 12, 12], [], 28), [(0, {0: 12, 1: 12}), (2, {2: 12})]),
    "no room for the others": (([12, 12, 12], [], 30), [(0, {0: 12, 1: 12}), (2, {2: 12})]),
    "no room for a gap": (([12, 13, 12], [], 28), [(0, {0: 12}), (2, {1: 13}), (2, {2: 12})]),
    "no room for one": (([40], [], 30), [(0, {0: 28})]),
}


def test_columns_stand_beside_or_below_one_another() -> None:
    for name, (arguments, bands) in BANDS.items():
        assert tables.arrange_bands(*arguments) == [tables.ColumnBand(*band) for band in bands], name


@given(st.lists(st.integers(0, 200), min_size=1, max_size=6), st.data(), st.integers(8, 200))
def test_each_column_stands_somewhere_and_fits(needs: list[int], data: st.DataObject, room: int) -> None:
    found = tables.arrange_bands(needs, [index for index in range(len(needs)) if data.draw(st.booleans())], room)
    assert sorted(index for band in found for index in band.widths) == [*range(len(needs))]
    for band in found:
        assert band.indent + sum(band.widths.values()) + len(COLUMN_GAP) * (len(band.widths) - 1) <= room
        assert all(width <= needs[index] for index, width in band.widths.items())


def test_settings_are_rendered() -> None:
    settings = (
        Setting("config-path", "a.toml", SettingOrigin.COMMAND_LINE, option="--config-path"),
        Setting("source[0].pattern", ("ä/*", "b/*"), SettingOrigin.FILE, "a.toml", 3),
        Setting("source[0].exclude", (), SettingOrigin.DEFAULT),
        Setting("source[0].gitignore", False, SettingOrigin.DEFAULT),
        Setting("report.html.blob-link", "x/y", SettingOrigin.FILE, "a.toml", 9, ("X", "Y")),
    )
    assert render_settings_table(()) == b""
    assert render_settings_table(settings).decode().splitlines() == [
        "config-path            a.toml    --config-path",
        "source[0].pattern      ä/*, b/*  a.toml:3",
        "source[0].exclude      -         default",
        "source[0].gitignore    false     default",
        "report.html.blob-link  x/y       a.toml:9 $X $Y",
    ]
