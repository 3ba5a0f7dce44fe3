import gzip
import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from hypothesis import given, strategies as st
from pytest_snapshot.plugin import Snapshot

from duvet.model import Section
from duvet.specs import ietf
from duvet.specs.extraction import extract_requirements
from duvet.specs.section_names import make_anchor
from duvet.text import byte_length, trim

Outline = list[tuple[str, str, list[str]]]
HEADS = "RFC 12  Title|[Page 3] and more|Doe   [Page 3]|   indented [Page 3]"
LINES = "RFC 12 Title|RFC 012  Title| RFC 12  Title| [Page 3] and more|Doe   [Page 3] |Doe   [Page iv]|Doe  ([Page 3]"


def outline(text: str) -> Outline:
    return [(section.id, section.title, list(section.lines)) for section in ietf.parse_ietf(text.encode())]


def body(text: str) -> list[str]:
    ((_, _, lines),) = outline(f"1. A\n\n{text}\n")
    return lines


SECTIONED = [
    "Front\n\n1. A\n\n   a\n",
    "1. A\n   a\n1.1. B\n\n   b\n\n2. C\n\n\nAppendix A. D\n   d\nA.1. E\nAppendix B\n",
    # A table of contents is no section.
    "Table of Contents\n\n1. A ....... 1\n2. B . . . 2\n\n1. A\n\n   a\n",
    # Numbers in a row have to grow, and those after an empty line needn't.
    *("1. A\n3. B\n2. C\n2. D\n", "\n7. A\n\n7. B\n\n3. C\n \n5. D\n\f\n4. E\n"),
    # The first number, on the first line, is one.
    *("1.0 A\n", "2. A\n1. B\n"),
    # The last of equal numbers stays.
    "1. A\n\n   a\n\n2. B\n\n   b\n\n1. C\n\n   c\n",
    # An empty line serves one title.
    *("\nIndex\n\nReferences\n\nAppendix\n\n", "\nIndex\n\n\nAppendix\n\n"),
    # A section right after a page break stays, and it may end as a footer does.
    *("1. A\n\f\n5. B\n", "1. A [Page 1]\n"),
    # A lone carriage return is text.
    "1. A\n\n   a\r   b\r",
]
LINED = [
    *("5. x | y\n\n2. f(\n\n2. ; c", "   a\n\n \n\t\n   b\n\n   c"),
    # A page boundary becomes one empty line.
    "   a\n\n\nDoe   Informational   [Page 1]\n\f\nRFC 1    Title    May 1999\n\n   b",
    # A header counts as the empty line before others.
    *("   a\n[Page 1]\n\n   b", "   a\n\n[Page 1]\n\n   b"),
    # Text right after a page break is a header.
    *("   a\n\f\nhead\n\n   b", "   a\n\n\f\nhead\n\f\nhead\n   b", "   a\n\f\n\nno head\n   b"),
    "   a\fb\n\f x",
    # Control characters are no white space.
    *("   a\n\x1c\n   b", "   a\n\u3000\u2028\n   b"),
]


def test_sections_are_found(snapshot: Snapshot) -> None:
    for text in [
        *("", "\n", "\ufeff", "\f", "text\n", "\r\n", "   1. Indented\n", "1. A ..... 1"),
        # Other titles need a number, and those that don't stand between empty lines.
        *(
            f"\n{title}\n\n   a\n"
            for title in ["Introduction", "abstract", "References ", " References", "References:"]
        ),
        *("Index\n\n", "\nIndex\n", "\nIndex", "a\nIndex\n\n", "\nIndex\na\n", "\f\nIndex\n\n"),
    ]:
        assert outline(text) == []
    ##= man/spec/trace.md#specifications
    ##% In IETF text, duvet MUST find sections by number, appendices by letter, and sections without a number, such as
    ##% `References`, by title.
    lines = ("\n".join([repr(text), *(f"  {section}" for section in outline(text))]) for text in SECTIONED)
    snapshot.assert_match("\n".join(lines) + "\n", "specs/ietf_sections.txt")
    named = (
        "Abstract|Acknowledgement|Acknowledgements|Acknowledgments|Appendix|AUTHORS' ADDRESSES|Author's Address"
        "|Authors' Addresses|Contributors|Copyright Notice|Editors' Addresses|Full Copyright Statement|IANA Considerations"
        "|Index|Informative References|Intellectual Property|Intellectual Property Statement|Normative References"
        "|REFERENCES|References|Security Considerations|Status of This Memo|Status of this Memo|Table of Contents"
        "|Working Group Information"
    )
    for title in named.split("|"):
        assert outline(f"\n{title}\n\n   a\n") == [(f"name-{make_anchor(title)}", title, ["   a"])]


def test_blank_lines_are_kept_and_page_headers_and_footers_removed(snapshot: Snapshot) -> None:
    snapshot.assert_match("".join(f"{text!r}\n  {body(text)}\n" for text in LINED), "specs/ietf_lines.txt")
    ##= man/spec/trace.md#specifications
    ##% duvet MUST ignore page headers and footers in IETF text.
    for line in [*HEADS.split("|"), *LINES.split("|")]:
        kept = [] if line in HEADS.split("|") else [line]
        assert body(f"   a\n{line}\n   b") == ["   a", *kept, "   b"]


def test_a_section_has_title_lines_and_offsets() -> None:
    whole = Section("section-1", "Über", (4, 9), "Über", ("   é MUST", "", "   be."), (11, 22, 25))
    assert ietf.parse_ietf("1.  Über\n\n   é MUST\n \t\n   be.\n\n".encode()) == (whole,)
    text = "1. A\r\n\r\n   a\r\n   b\r\n\f\r\nhead\r\n\r\nIndex\r\n\r\n   c\r\n[Page 1]\r\n"
    first, second = ietf.parse_ietf(text.encode())
    assert (first.lines, first.starts, first.heading) == (("   a", "   b"), (8, 14), (3, 4))
    assert (second.lines, second.starts, second.heading) == (("   c",), (40,), (31, 36))
    (section,) = ietf.parse_ietf("\ufeff1. A\n\n   a".encode())
    assert (section.id, section.heading, section.starts) == ("section-1", (6, 7), (9,))
    (section,) = ietf.parse_ietf(b"1. A\n\n   a\n  \n\n   b\n")
    assert list(zip(section.lines, section.starts, strict=True)) == [("   a", 6), ("", 11), ("   b", 15)]


LINES_OF_HEADINGS = (
    "1.  Intro|1 Intro|2.1.3. A  b |1:  First|01.  Zero before|1.0 Zero behind|199.  Last|3\u00a0Wide|1.|2.1..|2.  "
    "|A.  Letter|A.1  Part|B2.  Part|C.1|Appendix B|Appendix B.|Appendix B. Title|Appendix B: Title|APPENDIX B : Title"
    "|Appendix B - Title|Annex B -- Title|Annex B Title|Annex B -Title|Annex B :|Appendix A.1. Title|Appendix 3 Title"
)
OTHER_LINES = (
    "| 1. Indented|Title|1.Title|1) Title|A Title|A1|A.|AB. Title|Appendix  A|Appendix AB|Appendix a. Title|appendix A"
    "|0. Zero|A.0 Zero|200. Large|1.200 Large|99999999999999999999 Large|1..2 Gap|. Nothing|.1 Nothing"
    "|1. Intro ..... 3|1. Intro . . . 3|1. Intro  . .  3|1. wide     gap|1. ; comment|1. struct {|1. call(|1. list["
    "|1. statement;"
)


def test_headings_are_recognised(snapshot: Snapshot) -> None:
    found = {line: ietf.parse_heading(line) for line in LINES_OF_HEADINGS.split("|")}
    lines = [f"{line!r}: {one.id} {one.numbers} {one.title!r} {one.column}" for line, one in found.items() if one]
    snapshot.assert_match("\n".join(lines) + "\n", "specs/ietf_headings.txt")
    assert [line for line in OTHER_LINES.split("|") if ietf.parse_heading(line) is not None] == []


IN_ORDER = "1 2|1 1.1|1 1.7|1.1 1.2|1.2 1|1.9 2.5|7 A|7.1 A.4|A B|A.1 A.2"


def test_section_numbers_must_be_in_order() -> None:
    for pairs, expected in [(IN_ORDER, True), ("1 1|1 3|1.1 1.3|2 1|7 B|A C|A 1|Z A", False)]:
        for pair in pairs.split("|"):
            before, after = (ietf.parse_heading(f"{number}. x") for number in pair.split())
            assert before and after
            assert ietf.is_successor(after.numbers, before.numbers) is expected, pair
    for line, last, after_break, is_valid in [
        # A line after a break needs no order, unless there is a bar inside its title.
        ("7. Seven", (1,), True, True),
        ("7. Seven", None, True, True),
        ("7. Seven", (1,), False, False),
        ("7. Seven", (6,), False, True),
        ("5. x | y", (1,), True, False),
        ("2. x | y", (1,), True, True),
        ("5. |x|", (1,), True, True),
        # Only one begins without a break.
        ("1 a", None, False, True),
        ("1.0 a", None, False, True),
        ("01 a", None, False, False),
        ("1.1 a", None, False, False),
        ("2 a", None, False, False),
    ]:
        heading = ietf.parse_heading(line)
        assert heading is not None and ietf.can_be_heading(heading, last, after_break=after_break) is is_valid


HEADER = """
Network Working Group                                           J. Doe
Request for Comments: 99999                                 Pot Makers
Category: Informational                                   January 2031

"""
WIDE = "A Title That Is as Wide as the Page, to the Last Column: Tea and Pots of"


def test_the_title_is_read_from_the_first_page() -> None:
    for page, title in [
        (f"{HEADER}\n{'Refilling Teapots':^72}\n\nAbstract\n", "Refilling Teapots"),
        (f"\ufeff{HEADER}{'Refilling Much':^72}\n{'Larger  Pots':^72}\n", "Refilling Much Larger Pots"),
        (f"{HEADER}{'Teapots':^72}\n\nIntro\n".replace("\n", "\r\n"), "Teapots"),
        (f"{HEADER}{'Teapots':^60}\n", "Teapots"),
        (f"{HEADER}Obsoletes: 99998\n\n{'Teapots':^72}\n", "Teapots"),
        (f"{HEADER}{'J. Roe':>72}\n{'Cup Makers':>72}\n\n{'Teapots':^72}\n", "Teapots"),
        (f"{HEADER}{WIDE}\n{'Porcelain':^72}\n\nAbstract\n", f"{WIDE} Porcelain"),
        (f"\n\n{'RFC 99999':^72}\n\n\n{'Teapots':^72}\n\n{'J. Doe':^72}\n", "Teapots"),
        (f"Internet-Draft\n\n{'Teapots':^72}\n{'draft-doe-teapots-03':^72}\n", "Teapots"),
        ("", ""),
        ("1. Intro\n\n                     Centred Text\n", ""),
        (HEADER, ""),
        (f"{HEADER}Abstract\n\n                     Centred Text\n", ""),
        (f"{HEADER}   This memo begins with its text, which fills each line of the page\n   and stops.\n", ""),
        (HEADER + f"{WIDE}\n" * 7, ""),
        (f"{HEADER}\f\n                     Next Page\n", ""),
    ]:
        assert ietf.find_front_title(page) == title


@given(st.text())
def test_any_text_has_a_title_of_one_line_or_none(text: str) -> None:
    assert "\n" not in ietf.find_front_title(HEADER + text)


TITLES = {
    869: "A Host Monitoring Protocol",
    959: "FILE TRANSFER PROTOCOL (FTP)",
    1035: "DOMAIN NAMES - IMPLEMENTATION AND SPECIFICATION",
    2351: "Mapping of Airline Reservation, Ticketing, and Messaging Traffic over IP",
    3216: "SMIng Objectives",
    7079: "The Pseudowire (PW) and Virtual Circuit Connectivity Verification (VCCV) Implementation Survey Results",
    7945: "Information-Centric Networking: Evaluation and Security Considerations",
    8446: "The Transport Layer Security (TLS) Protocol Version 1.3",
    9090: "Concise Binary Object Representation (CBOR) Tags for Object Identifiers",
    9293: "Transmission Control Protocol (TCP)",
}


def test_the_titles_of_real_documents_are_read(shared: Path) -> None:
    files = (shared / "rfc").glob("rfc*.txt")
    found = {int(file.stem[3:]): ietf.find_front_title(file.read_text("utf-8")) for file in files}
    assert {number: found[number] for number in TITLES} == TITLES
    assert [number for number, title in found.items() if not title] == []


NAMES = {"Abstract": "name-abstract", "References": "name-references", "Index": "name-index"}
TOKEN_LINES = st.sampled_from(
    [
        *("", "", "", " ", "\t\u00a0", "\f", "\f", "\f ", "\x1c", "\r", *NAMES),
        *("1. A", "1.1 B", "2. C", "2. C", "3.", "1.0 a | b", "9. É", "Appendix A. D", "A.1 E", "B. F", "0. G"),
        *("RFC 1  Title", "RFC 12  é", "[Page 1]", "[Page 2] x", "Doe   [Page 3]", "   a [Page 4]", "4. H [Page 5]"),
        *("   text", "   é MUST.", "text", "head ", "1. a ..... b", "\ufeff"),
    ]
)
DOCUMENTS = (
    st.builds(
        lambda mark, lines, last: mark + "".join(line + end for line, end in lines) + last,
        st.sampled_from(["", "", "\ufeff"]),
        st.lists(st.tuples(TOKEN_LINES, st.sampled_from(["\n", "\n", "\r\n"]))),
        TOKEN_LINES,
    )
    | st.text()
)


class Token(NamedTuple):
    """A line, and how the rules classify it."""

    kind: str
    offset: int
    line: str
    id: str = ""
    title: str = ""
    start: int = 0


def tokens(text: str) -> Iterator[Token]:
    """Steps 1 to 4: classify each line, and use the kind of the previous one."""
    offset, last, before = 0, None, ""
    for whole in text.split("\n"):
        line = whole.removeprefix("\ufeff") if offset == 0 else whole
        start = offset + byte_length(whole) - byte_length(line)
        offset += byte_length(whole) + 1
        if offset <= byte_length(text):
            line = line.removesuffix("\r")
        elif not line:
            return
        heading = ietf.parse_heading(line)
        if line == "\f":
            token = Token("page", start, line)
        elif not trim(line):
            token = Token("blank", start, line)
        elif heading and ietf.can_be_heading(heading, last, before in ("page", "blank")):
            last = heading.numbers
            title_start = start + byte_length(line[: heading.column])
            token = Token("section", start, line, heading.id, heading.title, title_start)
        elif re.match(r"RFC [1-9][0-9]*  |\[Page [0-9]+\]", line) or re.search(r" \[Page [0-9]+\]\Z", line):
            token = Token("running", start, line)
        else:
            token = Token("text", start, line)
        yield token
        before = token.kind


def with_names(found: list[Token]) -> Iterator[Token]:
    """Step 5: add titles without a number, which include the empty line below."""
    before, at = "", 0
    while at < len(found):
        token = found[at]
        after = found[at + 1].kind if at + 1 < len(found) else ""
        if token.kind == "text" and token.line in NAMES and before == after == "blank":
            yield Token("section", token.offset, token.line, NAMES[token.line], token.line, token.offset)
            before, at = "", at + 2
        else:
            yield token
            before, at = token.kind, at + 1


def without_furniture(found: Iterator[Token]) -> Iterator[Token]:
    """Step 6: join breaks, and drop running heads and text directly after a page break."""
    before = ""
    for token in found:
        if token.kind in ("page", "blank"):
            if before not in ("page", "blank"):
                yield token
            before = token.kind
        elif token.kind == "running" or (token.kind == "text" and before == "page"):
            before = "blank"
        else:
            yield token
            before = token.kind


def plain_parse(text: str) -> tuple[Section, ...]:
    """Step 7: take the text between two titles, without empty lines at both ends."""
    groups: dict[str, list[Token]] = {}
    current: list[Token] = []
    for token in without_furniture(with_names(list(tokens(text)))):
        if token.kind == "section":
            current = groups[token.id] = []
        current.append(token)
    return tuple(section_of_tokens(group) for group in sorted(groups.values(), key=lambda group: group[0].start))


def section_of_tokens(group: list[Token]) -> Section:
    title, *content = group
    while content and content[-1].kind != "text":
        content.pop()
    while content and content[0].kind != "text":
        content.pop(0)
    lines = tuple(token.line if token.kind == "text" else "" for token in content)
    heading = (title.start, title.start + byte_length(title.title))
    return Section(title.id, title.title, heading, title.title, lines, tuple(token.offset for token in content))


@given(DOCUMENTS)
def test_equals_the_plain_rules(text: str) -> None:
    assert ietf.parse_ietf(text.encode()) == plain_parse(text)


def test_sections_and_requirements(shared: Path) -> None:
    with gzip.open(shared / "rfc" / "expected.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    assert len(records) == len(list((shared / "rfc").glob("rfc*.txt"))) > 0
    for expected in records:
        rfc, requirements = expected["rfc"], expected["requirements"]
        sections = ietf.parse_ietf((shared / "rfc" / f"rfc{rfc}.txt").read_bytes())
        digests = [sha256("\n".join(one.lines).encode()).hexdigest()[:16] for one in sections]
        shown = [[one.id, one.title, len(one.lines), digest] for one, digest in zip(sections, digests, strict=True)]
        assert shown == expected["sections"], rfc
        found = {
            section.id: [[one.level.name, "\n".join(one.pieces) + "\n"] for one in extract_requirements(section)]
            for section in sections
            # Upstream could not read a few of its own files.
            if not isinstance(requirements.get(section.id), dict)
        }
        known = {id: one for id, one in requirements.items() if not isinstance(one, dict)}
        assert {id: one for id, one in found.items() if one} == known, rfc
