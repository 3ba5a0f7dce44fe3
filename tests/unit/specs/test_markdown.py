import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.errors import MarkdownError
from duvet.model import Section
from duvet.specs.markdown import MarkdownDocument, parse_markdown

Shown = tuple[str, str, int, int, list[str | None]]


def show(document: MarkdownDocument) -> list[Shown]:
    """Return each section with its lines, and None for each break."""
    shown: list[Shown] = []
    for one in document.sections:
        rows = [[None, line] if row in one.breaks else [line] for row, line in enumerate(one.lines)]
        shown.append((one.id, one.title, *one.heading, [line for row in rows for line in row]))
    return shown


def sections(text: str) -> list[Shown]:
    return show(parse_markdown(text.encode()))


def titles(text: str) -> list[tuple[str, str]]:
    return [(section[0], section[1]) for section in sections(text)]


def lines(text: str) -> list[str | None]:
    ((_, _, _, _, shown),) = sections(text)
    return shown


HEADINGS = [
    *("# `code` title", "# X's *em* `code`", "## `only code`", "   ## `code`", "> ## `code`"),
    *("# *Starts* with", "# **a** b", "# With [link](http://x) end", "# [link](http://x)", "# <http://x.org>"),
    *("# ![alt](i.png) z", "# a <b>c</b>", "# <b>c</b>", "# a\\*b", "# \\*b", "# a &amp; b", "# a &amp;"),
    *("# &amp;", "# a # b ##", "##", "# #", "a_b.c & d\n===", "one\ntwo *x*\n---", "one  \ntwo\n---"),
    *("`one`\n`two`\n---", "> one\n> two\n> ---"),
    # Attributes.
    *("## A { #a1 }", "## A {#b1 #b2}", "## A {#A_b.c .cls key=1}", "## A ## {#b}", "## A {#b} ##", "## A{#f}"),
    *("## A {#}", "## A {#e} tail", "A {#g}\n---", "## I {#ü-id} ##", "## {#only}", "a\n {#b}\n==="),
]


def test_headings_become_titles_and_ids(snapshot: Snapshot) -> None:
    found = {heading: titles(heading + "\n") for heading in HEADINGS}
    lines = (
        f"{heading!r}: {' '.join(f'{id} {title!r}' for id, title in all_of_it)}\n"
        for heading, all_of_it in found.items()
    )
    snapshot.assert_match("".join(lines), "specs/markdown_headings.txt")
    ids = [id for id, _ in titles("# Dup\n# Dup\n# Dup 1\n# Dup\n# X {#dup}\n# !\n# ?\n")]
    assert ids == ["dup", "dup-1", "dup-1-1", "dup-2", "dup-3", "", "-1"]


def test_a_document_has_a_title_a_description_and_sections() -> None:
    assert parse_markdown(b"lost\n\n## Sub\n\n# Main *part*\n\nIt MUST.\n\n\nEnd\n\n") == MarkdownDocument(
        title="Main *part*",
        description="lost",
        sections=(
            Section("sub", "Sub", (9, 12), "Sub", (), ()),
            Section("main-part", "Main *part*", (16, 27), "Main *part*", ("It MUST.", "", "", "End"), (29, 38, 39, 40)),
        ),
    )
    assert parse_markdown(b"") == parse_markdown(b"\n \n") == MarkdownDocument("", "", ())
    assert parse_markdown(b"## Sub\n\nFirst\nsecond\n======\n\n# Third\n").title == "First second"
    assert parse_markdown(b"## Sub\n").title == ""


DIVIDED = [
    *("    # code\n", "```\n# code\n```\n", "<div>\n# html\n</div>\n", "<h2>raw</h2>\n"),
    "#none\n",
    # Headings in quotes and items count.
    "> # Q\n\n- # I\n\n  1. ## J\n",
    # A byte order mark hides a heading, and its bytes count.
    *("\ufeff# A\n\n# B\n", "# Ü\n\n日本 MUST\n\n## Élan\nx\n"),
    *("# A\r\n\r\nb\r\n\r\nc\rd\r\n\r\nO\r\nP\r\n---\r\nlast\r", "## `c`\r\nx\r\n"),
    # A lone carriage return makes a heading of its line.
    "# Doc\n\nOne.\r## Two\rMore.\n\n# E\n",
    # The break after an item with a heading comes a line later, and the item cuts the heading after it.
    *("# A\nx\n- # B\nc\nd\n", "- # A\none\ntwo\nthree\n===\nx\n"),
]
BROKEN = [
    # Blank lines inside stay as they are.
    "\n \n\t\na\n  \n\u2003\nb\n\x1c\n\u3000\n",
    # Breaks stand around items, and not at the edges of a section.
    "\nlead:\n- one\n  more\n- two\n\n  three\n\nend\n",
    *("\nx\n1. one\n   - sub\n     lazy\nlazier\n2. two\n", "\nx\n\n-\n- a\n\n*\n\ny\n"),
    "\n\n- one\n- two\n\n",
    # An item ends after the line on which its last event begins.
    "\nx\n- ```\n  a\n\n  ```\n- b\\\n  *c\n  d*\ny\n",
    # An event at the end of a line counts for the next line.
    "\nx\n- ```\n\n\ny\n",
]


def test_headings_divide_sections_and_line_breaks_are_kept(snapshot: Snapshot) -> None:
    divided = ("\n".join([repr(text), *(f"  {section}" for section in sections(text))]) for text in DIVIDED)
    snapshot.assert_match("\n".join(divided) + "\n", "specs/markdown_sections.txt")
    broken = "".join(f"{text!r}\n  {lines(f'# A{text}')}\n" for text in BROKEN)
    snapshot.assert_match(broken, "specs/markdown_lines.txt")


def test_the_first_paragraph_is_the_description() -> None:
    for text, description in [
        ("# T\n\nA *b* `c`\n[d](e) &amp; \\* <i>f</i>\n\ng\n", "A b c d & * f"),
        ("[![build](b.svg)](u) ![x](y)\n\n# T\n\nReal.\n", "Real."),
        ("![Logo](l.png) is a tool\n", "Logo is a tool"),
        ("# T\n\n- tight\n- list\n\n> quoted  \n> text\n", "quoted text"),
        ("# T\n\n```\ncode\n```\n", ""),
        ("one " * 200, ("one " * 99).strip() + "…"),
        ("x" * 500, "x" * 399 + "…"),
    ]:
        assert parse_markdown(text.encode()).description == description


def test_markdown_on_which_the_parser_fails(capfd: pytest.CaptureFixture[str]) -> None:
    for text, line in [
        ("+ a\n   {#b}\n  ===\n", 2),
        ("# É\n\n> a\n>  {#b}\n> ===\n", 4),
        ("> a\\\n>  {.b #c}\n> ---", 2),
        ("- > a\n  >  {}\n  > =\n", 2),
    ]:
        with pytest.raises(MarkdownError) as raised:
            parse_markdown(text.encode())
        assert (raised.value.line, raised.value.message) == (line, "the Markdown parser fails on this line")
        assert capfd.readouterr() == ("", "")


def test_recorded_documents_are_parsed_as_before(shared: Path) -> None:
    folder = shared / "markdown"
    with gzip.open(folder / "expected.jsonl.gz", "rt", encoding="utf-8") as expected:
        records = [json.loads(line) for line in expected]
    assert len(records) == 130
    for record in records:
        document = parse_markdown((folder / record["file"]).read_bytes())
        assert (record["file"], document.title) == (record["file"], record["title"] or "")
        assert show(document) == [tuple(section) for section in record["sections"]], record["file"]


PIECES = (
    "# |## |###|=\n|===|---|- |* |1. |> |    |```\n|`c`|*e*|**s**|[l](u)|![i](u)|<b>|</b>|<div>|&amp;|\\|{#id}|{#i .c}"
    "|MUST|a|É|日|✅|\t|\r|\r\n|\n|\n\n|  \n|\ufeff|\x00|\x1c"
)


@given(st.lists(st.sampled_from(PIECES.split("|")), max_size=60).map("".join) | st.text())
def test_any_text_is_parsed(text: str) -> None:
    data = text.encode()
    try:
        found = parse_markdown(data).sections
    except MarkdownError as error:
        # The parser itself fails on some attributes of headings.
        assert "{" in text.split("\n")[error.line - 1]
        return
    assert len({section.id for section in found}) == len(found)
    assert [section.heading for section in found] == sorted(section.heading for section in found)
    for section in found:
        start, end = section.heading
        assert data[start:end].decode() == section.full_title
        for at, line in zip(section.starts, section.lines, strict=True):
            assert data[at : at + len(line.encode())] == line.encode()
        assert all(0 < row < len(section.lines) for row in section.breaks)
