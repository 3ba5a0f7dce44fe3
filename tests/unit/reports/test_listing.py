"""Lists in every format"""

from __future__ import annotations

import csv
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.reports.cells import escape_cell
from duvet.reports.tables import ListFormat
from tests.unit.reports.made_lists import CUPS, HOSTILE, TEXTS, Cup, by_place, shown

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


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=4))
def test_values_come_back_from_csv_as_they_are_seen(rows: list[tuple[str, str]]) -> None:
    _, *found = csv.reader(shown([Cup(*row) for row in rows], "csv").splitlines())
    assert found == [[escape_cell(name), "shelf", escape_cell(text)] for name, text in rows]
