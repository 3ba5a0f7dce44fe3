"""Lists as people see them: in colour, and wrapped to the width of the terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from duvet.reports.cells import escape_cell, measure_width
from duvet.reports.tables import Column, ListFormat, Listing, TableLook, render_listing
from tests.unit.reports.made_lists import CUPS, TEXT, TEXTS, Cup, by_place, shown

WIDE = (Cup("日本", "茶碗の中にはお茶が入っている"), Cup("e\N{COMBINING ACUTE ACCENT}", "é is one cell wide"))


def test_marks_in_colour() -> None:
    assert shown(CUPS[:1], "table", TableLook(100, colour=True)) == (
        "\x1b[1mname  place  text\x1b[0m\nred   shelf  It holds \x1b[1;33mtea\x1b[0m.\n"
    )
    assert shown(CUPS[:1], "plain", TableLook(100, colour=True)) == "red\tshelf\tIt holds \x1b[1;33mtea\x1b[0m.\n"
    assert shown(CUPS[:1], "markdown", TableLook(100, colour=True)) == shown(CUPS[:1], "markdown")


def test_headings_in_colour() -> None:
    assert shown(CUPS[:1], "table", TableLook(100, colour=True), heading=by_place) == (
        "\x1b[1mon the shelf\x1b[0m\nred  It holds \x1b[1;33mtea\x1b[0m.\n"
    )


def test_long_texts_are_wrapped() -> None:
    assert (
        shown(CUPS, "table", TableLook(40))
        == """\
name  place  text
red   shelf  It holds **tea**.
blue  table  It **holds** **coffee**,
             and never anything else.
"""
    )


def test_a_row_without_values_is_a_line() -> None:
    assert shown((Cup("", "", ""), CUPS[0]), "table") == ("name  place  text\n\nred   shelf  It holds **tea**.\n")


def test_a_mark_over_two_lines() -> None:
    marked = Cup("blue", CUPS[1].text, "table", ((3, 30),))
    assert shown((marked,), "table", TableLook(40, colour=True)) == (
        "\x1b[1mname  place  text\x1b[0m\n"
        "blue  table  It \x1b[1;33mholds coffee, and never\x1b[0m\n"
        "             \x1b[1;33many\x1b[0mthing else.\n"
    )


def test_where_there_is_no_room_long_texts_stand_below() -> None:
    assert (
        shown(CUPS, "table", TableLook(30))
        == """\
name  place
  text
red   shelf
  It holds **tea**.
blue  table
  It **holds** **coffee**, and
  never anything else.
"""
    )
    assert (
        shown(CUPS, "table", TableLook(16), heading=lambda cup: f"on the {cup.place} of the house")
        == """\
on the shelf of
the house
red
  It holds
  **tea**.

on the table of
the house
blue
  It **holds**
  **coffee**,
  and never
  anything else.
"""
    )


def test_where_there_is_hardly_any_room_columns_stand_below_one_another() -> None:
    assert (
        shown(CUPS[:1], "table", TableLook(8))
        == """\
name
  place
  text
red
  shelf
  It
  holds
  **tea*
  *.
"""
    )


def test_wrapped_columns_leave_one_another_what_they_do_not_need() -> None:
    columns = (Column("a", lambda cup: cup.name, wraps=True), TEXT)
    listing = Listing(columns, (Cup("a short one", CUPS[1].text), Cup("red", "tea")))
    assert (
        render_listing(listing, ListFormat.TABLE, TableLook(50)).decode()
        == """\
a            text
a short one  It holds coffee, and never anything
             else.
red          tea
"""
    )


def test_wide_characters_take_two_cells() -> None:
    assert (
        shown(WIDE, "table", TableLook(40))
        == """\
name  place  text
日本  shelf  茶碗の中にはお茶が入ってい
             る
e\N{COMBINING ACUTE ACCENT}     shelf  é is one cell wide
"""
    )


def test_words_that_are_longer_than_a_line() -> None:
    assert shown((Cup("red", "x" * 60 + " y"),), "table", TableLook(40)) == (
        f"name  place  text\nred   shelf  {'x' * 27}\n             {'x' * 27}\n             xxxxxx y\n"
    )


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), st.integers(8, 90), st.booleans())
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, str, str]], room: int, grouped: bool) -> None:
    cups = [Cup(*row) for row in rows]
    written = shown(cups, "table", TableLook(room), **({"heading": by_place} if grouped else {}))
    assert [line for line in written.splitlines() if measure_width(line) > room] == []
    assert all(escape_cell(line) == line for line in written.splitlines())


def test_a_text_of_a_megabyte_is_wrapped() -> None:
    lines = shown((Cup("red", "tea " * 250_000),), "table").splitlines()
    assert len(lines) == 11_365
