"""Sections of RFCs, rule by rule."""

from __future__ import annotations

import pytest

from duvet.model import Section
from duvet.specs.ietf import parse_ietf

Outline = list[tuple[str, str, list[str]]]


def outline(text: str) -> Outline:
    return [(section.id, section.title, list(section.lines)) for section in parse_ietf(text.encode())]


def body(text: str) -> list[str]:
    """The lines of the one section that the text is put into."""
    ((_, _, lines),) = outline(f"1. A\n\n{text}\n")
    return lines


def test_a_section_whole() -> None:
    data = "1.  Über\n\n   é MUST\n \t\n   be.\n\n".encode()
    assert parse_ietf(data) == (
        Section(
            id="section-1",
            title="Über",
            heading=(4, 9),
            full_title="Über",
            lines=("   é MUST", "", "   be."),
            starts=(11, 22, 25),
        ),
    )


@pytest.mark.parametrize("text", ["", "\n", "\ufeff", "\f", "text\n", "\r\n", "   1. Indented\n", "1. A ..... 1"])
def test_no_sections(text: str) -> None:
    assert outline(text) == []


def test_text_before_the_first_section_is_left_out() -> None:
    assert outline("Front\n\n1. A\n\n   a\n") == [("section-1", "A", ["   a"])]


def test_nested_sections_and_appendixes() -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST find sections of IETF text by number, appendices by letter, and a few sections by name.
    text = "1. A\n   a\n1.1. B\n\n   b\n\n2. C\n\n\nAppendix A. D\n   d\nA.1. E\nAppendix B\n"
    assert outline(text) == [
        ("section-1", "A", ["   a"]),
        ("section-1.1", "B", ["   b"]),
        ("section-2", "C", []),
        ("appendix-A", "D", ["   d"]),
        ("appendix-A.1", "E", []),
        ("appendix-B", "", []),
    ]


def test_table_of_contents_is_no_section() -> None:
    text = "Table of Contents\n\n1. A ....... 1\n2. B . . . 2\n\n1. A\n\n   a\n"
    assert outline(text) == [("section-1", "A", ["   a"])]


def test_numbers_in_a_row_have_to_grow() -> None:
    assert outline("1. A\n3. B\n2. C\n2. D\n") == [("section-1", "A", ["3. B"]), ("section-2", "C", ["2. D"])]


def test_numbers_after_an_empty_line_need_not_grow() -> None:
    text = "7. A\n\n7. B\n\n3. C\n \n5. D\n\f\n4. E\n"
    assert [id for id, _, _ in outline("\n" + text)] == ["section-7", "section-3", "section-5", "section-4"]


def test_the_first_number_on_the_first_line_is_one() -> None:
    assert outline("1.0 A\n") == [("section-1.0", "A", [])]
    assert outline("2. A\n1. B\n") == [("section-1", "B", [])]


def test_an_odd_line_does_not_count() -> None:
    assert body("5. x | y\n\n2. f(\n\n2. ; c") == ["5. x | y", "", "2. f(", "", "2. ; c"]


def test_the_last_of_equal_numbers_stays() -> None:
    text = "1. A\n\n   a\n\n2. B\n\n   b\n\n1. C\n\n   c\n"
    assert outline(text) == [("section-2", "B", ["   b"]), ("section-1", "C", ["   c"])]


NAMED = {
    "Abstract": "abstract",
    "Acknowledgement": "acknowledgement",
    "Acknowledgements": "acknowledgements",
    "Acknowledgments": "acknowledgments",
    "Appendix": "appendix",
    "AUTHORS' ADDRESSES": "authors-addresses",
    "Author's Address": "author-s-address",
    "Authors' Addresses": "authors-addresses",
    "Contributors": "contributors",
    "Copyright Notice": "copyright-notice",
    "Editors' Addresses": "editors-addresses",
    "Full Copyright Statement": "full-copyright-statement",
    "IANA Considerations": "iana-considerations",
    "Index": "index",
    "Informative References": "informative-references",
    "Intellectual Property": "intellectual-property",
    "Intellectual Property Statement": "intellectual-property-statement",
    "Normative References": "normative-references",
    "REFERENCES": "references",
    "References": "references",
    "Security Considerations": "security-considerations",
    "Status of This Memo": "status-of-this-memo",
    "Status of this Memo": "status-of-this-memo",
    "Table of Contents": "table-of-contents",
    "Working Group Information": "working-group-information",
}


def test_titles_without_a_number() -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST find sections of IETF text by number, appendices by letter, and a few sections by name.
    assert [outline(f"\n{title}\n\n   a\n") for title in NAMED] == [
        [(f"name-{id}", title, ["   a"])] for title, id in NAMED.items()
    ]


@pytest.mark.parametrize("title", ["Introduction", "abstract", "References ", " References", "References:"])
def test_other_titles_need_a_number(title: str) -> None:
    assert outline(f"\n{title}\n\n   a\n") == []


@pytest.mark.parametrize("text", ["Index\n\n", "\nIndex\n", "\nIndex", "a\nIndex\n\n", "\nIndex\na\n", "\f\nIndex\n\n"])
def test_titles_without_a_number_stand_between_empty_lines(text: str) -> None:
    assert outline(text) == []


def test_an_empty_line_serves_one_title() -> None:
    assert outline("\nIndex\n\nReferences\n\nAppendix\n\n") == [("name-index", "Index", ["References"]), APPENDIX]
    assert outline("\nIndex\n\n\nAppendix\n\n") == [("name-index", "Index", []), APPENDIX]


APPENDIX: tuple[str, str, list[str]] = ("name-appendix", "Appendix", [])


def test_empty_lines_become_one() -> None:
    assert body("   a\n\n \n\t\n   b\n\n   c") == ["   a", "", "   b", "", "   c"]


def test_a_page_boundary_becomes_one_empty_line() -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST leave the headers and footers of pages out of sections.
    boundary = "\n\nDoe          Informational          [Page 1]\n\f\nRFC 1          Title          May 1999\n\n"
    assert body(f"   a\n{boundary}   b") == ["   a", "", "   b"]


@pytest.mark.parametrize(
    ("line", "is_running"),
    [
        ("RFC 12  Title", True),
        ("RFC 12 Title", False),
        ("RFC 012  Title", False),
        (" RFC 12  Title", False),
        ("[Page 3] and more", True),
        (" [Page 3] and more", False),
        ("Doe   [Page 3]", True),
        ("   indented [Page 3]", True),
        ("Doe   [Page 3] ", False),
        ("Doe   [Page iv]", False),
        ("Doe  ([Page 3]", False),
    ],
)
def test_running_heads_and_feet(line: str, is_running: bool) -> None:
    ##= man/spec/trace.md#specifications
    ##% duvet MUST leave the headers and footers of pages out of sections.
    assert body(f"   a\n{line}\n   b") == (["   a", "   b"] if is_running else ["   a", line, "   b"])


def test_a_running_head_counts_as_the_empty_line_before_others() -> None:
    assert body("   a\n[Page 1]\n\n   b") == ["   a", "   b"]
    assert body("   a\n\n[Page 1]\n\n   b") == ["   a", "", "   b"]


def test_text_right_after_a_page_break_is_a_head() -> None:
    assert body("   a\n\f\nhead\n\n   b") == ["   a", "", "   b"]
    assert body("   a\n\n\f\nhead\n\f\nhead\n   b") == ["   a", "", "   b"]
    assert body("   a\n\f\n\nno head\n   b") == ["   a", "", "no head", "   b"]


def test_a_section_right_after_a_page_break_stays() -> None:
    assert outline("1. A\n\f\n5. B\n") == [("section-1", "A", []), ("section-5", "B", [])]


def test_a_section_may_end_like_a_foot() -> None:
    assert outline("1. A [Page 1]\n") == [("section-1", "A [Page 1]", [])]


def test_form_feeds_inside_lines_are_text() -> None:
    assert body("   a\fb\n\f x") == ["   a\fb", "\f x"]


def test_line_ends_of_windows() -> None:
    text = "1. A\r\n\r\n   a\r\n   b\r\n\f\r\nhead\r\n\r\nIndex\r\n\r\n   c\r\n[Page 1]\r\n"
    first, second = parse_ietf(text.encode())
    assert (first.lines, first.starts, first.heading) == (("   a", "   b"), (8, 14), (3, 4))
    assert (second.lines, second.starts, second.heading) == (("   c",), (40,), (31, 36))


def test_a_lone_carriage_return_is_text() -> None:
    assert outline("1. A\n\n   a\r   b\r") == [("section-1", "A", ["   a\r   b\r"])]


def test_a_byte_order_mark_counts_in_offsets() -> None:
    (section,) = parse_ietf("\ufeff1. A\n\n   a".encode())
    assert (section.id, section.heading, section.starts) == ("section-1", (6, 7), (9,))


def test_control_characters_are_no_white_space() -> None:
    assert body("   a\n\x1c\n   b") == ["   a", "\x1c", "   b"]
    assert body("   a\n\u3000\u2028\n   b") == ["   a", "", "   b"]


def test_offsets_of_empty_lines() -> None:
    (section,) = parse_ietf(b"1. A\n\n   a\n  \n\n   b\n")
    assert list(zip(section.lines, section.starts, strict=True)) == [("   a", 6), ("", 11), ("   b", 15)]
