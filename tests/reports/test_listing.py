"""Lists in every format"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from duvet.reports.cells import visible, width
from duvet.reports.listing import Column, ListFormat, Listing, Look, render


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
WIDE = (Cup("日本", "茶碗の中にはお茶が入っている"), Cup("e\N{COMBINING ACUTE ACCENT}", "é is one cell wide"))


def shown(rows: Sequence[Cup], format: str, look: Look = Look(), **more: Any) -> str:  # noqa: B008 - immutable
    return render(Listing((NAME, PLACE, TEXT), rows, **more), ListFormat(format), look).decode()


def by_place(cup: Cup) -> str:
    return f"on the {cup.place}"


IN_FORMATS = {
    "table": """\
name  place  text
red   shelf  It holds **tea**.
blue  table  It **holds** **coffee**, and never anything else.
""",
    "plain": """\
red\tshelf\tIt holds **tea**.
blue\ttable\tIt **holds** **coffee**, and never anything else.
""",
    "csv": """\
name,place,text
red,shelf,It holds tea.
blue,table,"It holds coffee, and never anything else."
""",
    "markdown": """\
| name | place | text |
| --- | --- | --- |
| red | shelf | It holds **tea**. |
| blue | table | It **holds** **coffee**, and never anything else. |
""",
    "json": """\
[
  {
    "name": "red",
    "text": "It holds tea.",
    "place": "shelf",
    "marks": [
      [
        9,
        12
      ]
    ]
  },
  {
    "name": "blue",
    "text": "It holds coffee, and never anything else.",
    "place": "table",
    "marks": [
      [
        3,
        8
      ],
      [
        9,
        15
      ]
    ]
  }
]
""",
    "jsonl": """\
{"name":"red","text":"It holds tea.","place":"shelf","marks":[[9,12]]}
{"name":"blue","text":"It holds coffee, and never anything else.","place":"table","marks":[[3,8],[9,15]]}
""",
}
GROUPED = {
    "table": """\
on the shelf
red   It holds **tea**.

on the table
blue  It **holds** **coffee**, and never anything else.
""",
    "plain": IN_FORMATS["plain"],
    "csv": IN_FORMATS["csv"],
    "markdown": """\
### on the shelf

| name | text |
| --- | --- |
| red | It holds **tea**. |

### on the table

| name | text |
| --- | --- |
| blue | It **holds** **coffee**, and never anything else. |
""",
    "json": IN_FORMATS["json"],
    "jsonl": IN_FORMATS["jsonl"],
}
EMPTY = {
    "table": "",
    "plain": "",
    "csv": "name,place,text\n",
    "markdown": "| name | place | text |\n| --- | --- | --- |\n",
    "json": "[]\n",
    "jsonl": "",
}
EMPTY_GROUPED = {**EMPTY, "markdown": ""}
ESCAPED = {
    "table": r"""name           place                text
\u{1b}[31mred  \u{202e}shelf\u{9b}  **a** | **b\u{a}"**c", d    e\f `x` *y* <b>&amp; #1 ~z~ [l](u)_
""",
    "plain": '\\u{1b}[31mred\t\\u{202e}shelf\\u{9b}\t**a** | **b\\u{a}"**c", d    e\\f `x` *y* <b>&amp; #1 ~z~ [l](u)_\n',
    "csv": """\
name,place,text
\\u{1b}[31mred,\\u{202e}shelf\\u{9b},"a | b\\u{a}""c"", d    e\\f `x` *y* <b>&amp; #1 ~z~ [l](u)_"
""",
    "markdown": r"""| name | place | text |
| --- | --- | --- |
| \\u{1b}\[31mred | \\u{202e}shelf\\u{9b} | **a** \| **b\\u{a}"**c", d    e\\f \`x\` \*y\* \<b\>\&amp; \#1 \~z\~ \[l\](u)\_ |
""",
    "json": r"""[
  {
    "name": "\u001b[31mred",
    "text": "a | b\n\"c\", d\te\\f `x` *y* <b>&amp; #1 ~z~ [l](u)_",
    "place": "\u202eshelf\u009b",
    "marks": [
      [
        0,
        1
      ],
      [
        4,
        7
      ]
    ]
  }
]
""",
    "jsonl": (
        r'{"name":"\u001b[31mred","text":"a | b\n\"c\", d\te\\f `x` *y* <b>&amp; #1 ~z~ [l](u)_",'
        r'"place":"\u202eshelf\u009b","marks":[[0,1],[4,7]]}'
        "\n"
    ),
}


@pytest.mark.parametrize("format", list(ListFormat))
def test_every_format(format: str) -> None:
    assert shown(CUPS, format) == IN_FORMATS[format]


@pytest.mark.parametrize("format", list(ListFormat))
def test_grouped_in_every_format(format: str) -> None:
    assert shown(CUPS, format, heading=by_place) == GROUPED[format]


@pytest.mark.parametrize("format", list(ListFormat))
def test_nothing_in_every_format(format: str) -> None:
    assert shown((), format) == EMPTY[format]
    assert shown((), format, heading=by_place) == EMPTY_GROUPED[format]


@pytest.mark.parametrize("format", list(ListFormat))
def test_hostile_text_in_every_format(format: str) -> None:
    ##= man/spec/trace.md#diagnostics
    ##= type=test
    ##% Text from files MUST NOT drive the terminal.
    assert shown(HOSTILE, format) == ESCAPED[format]


def test_programs_get_the_text_back() -> None:
    (row,) = json.loads(shown(HOSTILE, "json"))
    assert (row["name"], row["text"], row["place"]) == (HOSTILE[0].name, HOSTILE[0].text, HOSTILE[0].place)
    assert json.loads(shown(HOSTILE, "jsonl")) == row


@pytest.mark.parametrize("format", list(ListFormat))
def test_names_that_are_no_utf8(format: str) -> None:
    written = shown((Cup("caf\udce9", "It holds tea."),), format)
    assert written.count(r"caf\u{dce9}" if format not in ("json", "jsonl", "markdown") else "caf") == 1
    assert (r"caf\\u{dce9}" in written) is (format == "markdown")


def test_marks_in_colour() -> None:
    assert shown(CUPS[:1], "table", Look(100, colour=True)) == (
        "\x1b[1mname  place  text\x1b[0m\nred   shelf  It holds \x1b[1;33mtea\x1b[0m.\n"
    )
    assert shown(CUPS[:1], "plain", Look(100, colour=True)) == "red\tshelf\tIt holds \x1b[1;33mtea\x1b[0m.\n"
    assert shown(CUPS[:1], "markdown", Look(100, colour=True)) == shown(CUPS[:1], "markdown")


def test_headings_in_colour() -> None:
    assert shown(CUPS[:1], "table", Look(100, colour=True), heading=by_place) == (
        "\x1b[1mon the shelf\x1b[0m\nred  It holds \x1b[1;33mtea\x1b[0m.\n"
    )


def test_long_texts_are_wrapped() -> None:
    assert (
        shown(CUPS, "table", Look(40))
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
    assert shown((marked,), "table", Look(40, colour=True)) == (
        "\x1b[1mname  place  text\x1b[0m\n"
        "blue  table  It \x1b[1;33mholds coffee, and never\x1b[0m\n"
        "             \x1b[1;33many\x1b[0mthing else.\n"
    )


def test_where_there_is_no_room_long_texts_stand_below() -> None:
    assert (
        shown(CUPS, "table", Look(30))
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
        shown(CUPS, "table", Look(16), heading=lambda cup: f"on the {cup.place} of the house")
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
        shown(CUPS[:1], "table", Look(8))
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
        render(listing, ListFormat.TABLE, Look(50)).decode()
        == """\
a            text
a short one  It holds coffee, and never anything
             else.
red          tea
"""
    )


def test_wide_characters_take_two_cells() -> None:
    assert (
        shown(WIDE, "table", Look(40))
        == """\
name  place  text
日本  shelf  茶碗の中にはお茶が入ってい
             る
e\N{COMBINING ACUTE ACCENT}     shelf  é is one cell wide
"""
    )


def test_words_that_are_longer_than_a_line() -> None:
    assert shown((Cup("red", "x" * 60 + " y"),), "table", Look(40)) == (
        f"name  place  text\nred   shelf  {'x' * 27}\n             {'x' * 27}\n             xxxxxx y\n"
    )


TEXTS = st.text(st.sampled_from("ab 日\N{COMBINING ACUTE ACCENT}\x1b\t\n|é"), max_size=60)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), st.integers(8, 90), st.booleans())
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, str, str]], room: int, grouped: bool) -> None:
    cups = [Cup(*row) for row in rows]
    written = shown(cups, "table", Look(room), **({"heading": by_place} if grouped else {}))
    assert [line for line in written.splitlines() if width(line) > room] == []
    assert all(visible(line) == line for line in written.splitlines())


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_values_come_back_from_csv_as_they_are_seen(rows: list[tuple[str, str]]) -> None:
    _, *found = csv.reader(shown([Cup(*row) for row in rows], "csv").splitlines())
    assert found == [[visible(name), "shelf", visible(text)] for name, text in rows]


def test_a_text_of_a_megabyte_is_wrapped() -> None:
    lines = shown((Cup("red", "tea " * 250_000),), "table").splitlines()
    assert len(lines) == 11_365
