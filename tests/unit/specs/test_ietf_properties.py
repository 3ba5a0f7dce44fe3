"""Sections of any text, compared with the rules taken one line and one step after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from duvet.model import Section
from duvet.specs.ietf import can_be_heading, parse_heading, parse_ietf
from duvet.text import byte_length, trim

NAMES = {"Abstract": "name-abstract", "References": "name-references", "Index": "name-index"}
LINES = st.sampled_from(
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
        st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\r\n"]))),
        LINES,
    )
    | st.text()
)


class Token(NamedTuple):
    """A line, and what the rules make of it."""

    kind: str
    offset: int
    line: str
    id: str = ""
    title: str = ""
    start: int = 0


def tokens(text: str) -> Iterator[Token]:
    """Steps 1 to 4: each line by itself, and by the kind of the one before."""
    offset, last, before = 0, None, ""
    for whole in text.split("\n"):
        line = whole.removeprefix("\ufeff") if offset == 0 else whole
        start = offset + byte_length(whole) - byte_length(line)
        offset += byte_length(whole) + 1
        if offset <= byte_length(text):
            line = line.removesuffix("\r")
        elif not line:
            return
        heading = parse_heading(line)
        if line == "\f":
            token = Token("page", start, line)
        elif not trim(line):
            token = Token("blank", start, line)
        elif heading and can_be_heading(heading, last, before in ("page", "blank")):
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
    """Step 5: titles without a number, which take the empty line below."""
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
    """Step 6: one break for several, no running heads, and no text right after a page."""
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
    """Step 7: what stands between two titles, without empty lines at both ends."""
    groups: dict[str, list[Token]] = {}
    current: list[Token] = []
    for token in without_furniture(with_names(list(tokens(text)))):
        if token.kind == "section":
            current = groups[token.id] = []
        current.append(token)
    return tuple(section_of(group) for group in sorted(groups.values(), key=lambda group: group[0].start))


def section_of(group: list[Token]) -> Section:
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
    assert parse_ietf(text.encode()) == plain_parse(text)


@given(DOCUMENTS)
def test_offsets_agree_with_the_bytes(text: str) -> None:
    data = text.encode()
    for section in parse_ietf(data):
        assert data[slice(*section.heading)].decode() == section.full_title == section.title
        for line, start in zip(section.lines, section.starts, strict=True):
            assert data[start : start + byte_length(line)].decode() == line
        assert section.starts == tuple(sorted(set(section.starts)))
        assert section.lines[:1] != ("",) and section.lines[-1:] != ("",)
