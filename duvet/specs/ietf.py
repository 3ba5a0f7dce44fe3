"""Sections of RFCs and Internet-Drafts in plain text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, compress, count, pairwise
from operator import add

from msgspec import Struct

from duvet.model import Section
from duvet.specs.front_page import front_title
from duvet.specs.numbering import Numbers, heading_of, may_stand
from duvet.specs.slug import slug
from duvet.text import BOM, byte_length, trim

__all__ = ["front_title", "parse"]

# What a line is, as one letter, so that one expression sees all lines of a file: blank, text, a page break,
# a running head or foot, a heading.
_BLANK, _TEXT, _PAGE, _RUNNING, _HEADING = b"btprh"
_KINDS = bytes.maketrans(b"\0\1", b"bt")

_NAMED = (
    "Abstract",
    "Acknowledgement",
    "Acknowledgements",
    "Acknowledgments",
    "Appendix",
    "AUTHORS' ADDRESSES",
    "Author's Address",
    "Authors' Addresses",
    "Contributors",
    "Copyright Notice",
    "Editors' Addresses",
    "Full Copyright Statement",
    "IANA Considerations",
    "Index",
    "Informative References",
    "Intellectual Property",
    "Intellectual Property Statement",
    "Normative References",
    "References",
    "REFERENCES",
    "Security Considerations",
    "Status of this Memo",
    "Status of This Memo",
    "Table of Contents",
    "Working Group Information",
)
_NAMED_IDS = {title: f"name-{slug(title)}" for title in _NAMED}

_BREAKS = (b"b", b"p")
_ALONE = b"bb"
"""What the lines around a title without a number are."""

# The first look at a line keeps most of them from a second one.
_TITLE = re.compile(rb"\n(?=[0-9]|[A-Z](?:[0-9.]|[A-Za-z' ]{4,30}\r?\n|(?:ppendix|PPENDIX|nnex) ))")
_HEAD = re.compile(rb"\nRFC [1-9][0-9]*  ")
_PAGE_NUMBER = re.compile(rb"\[Page [0-9]+\](\r?\n)?")

# More than one empty line, or a page break, or running heads. A text right after a page break is a head that
# doesn't look like one.
_GAP = re.compile(rb"(?:[pr]|b[bpr])[bpr]*(?:(?<=p)t[bpr]*)*")


class _Lines(Struct, frozen=True):
    """The lines of a file, the bytes at which they start, and what they are."""

    texts: list[str]
    starts: list[int]
    kinds: bytearray


class _Title(Struct, frozen=True):
    """A heading, and the byte at which its title starts."""

    id: str
    text: str
    start: int


def parse(data: bytes) -> tuple[Section, ...]:
    """The sections of a text in UTF-8, in its order."""
    lines = _split(data)
    _mark_blanks(lines)
    _mark_running(data, lines)
    sections: dict[str, Section] = {}
    for section in _sections(_mark_titles(data, lines), lines):
        sections.pop(section.id, None)  # the last of several stays, at its own place
        sections[section.id] = section
    return tuple(sections.values())


def _split(data: bytes) -> _Lines:
    text = data.decode()
    marked = text.startswith(BOM)
    texts = (text[1:] if marked else text).split("\n")
    lengths = map(len, texts if text.isascii() else data[3 * marked :].split(b"\n"))
    starts = list(map(add, accumulate(lengths, initial=3 * marked), count()))
    last = texts.pop()
    if "\r" in text:
        texts = [line.removesuffix("\r") for line in texts]
    if last:
        texts.append(last)
    return _Lines(texts, starts, bytearray(map(bool, texts)).translate(_KINDS))


def _mark_blanks(lines: _Lines) -> None:
    for index in compress(count(), map(str.isspace, lines.texts)):
        line = lines.texts[index]
        if not trim(line):
            lines.kinds[index] = _PAGE if line == "\f" else _BLANK
            lines.texts[index] = ""


def _mark_running(data: bytes, lines: _Lines) -> None:
    """Mark the running heads and feet: lines that begin with the number of the RFC, or with or in that of a page."""
    ##= man/spec/trace.md#specifications
    ##% Page headers and footers MUST be left out of sections.
    for head in _HEAD.finditer(data):
        lines.kinds[_line_at(head.start() + 1, lines)] = _RUNNING
    for number in _PAGE_NUMBER.finditer(data):
        start, end = number.span()
        before = data[start - 1 : start]
        if before == b"\n" or (before == b" " and (number[1] or end == len(data))):
            lines.kinds[_line_at(start, lines)] = _RUNNING


def _line_at(offset: int, lines: _Lines) -> int:
    return bisect_right(lines.starts, offset) - 1


def _mark_titles(data: bytes, lines: _Lines) -> list[_Title]:
    texts, starts, kinds = lines.texts, lines.starts, lines.kinds
    titles: list[_Title] = []
    last: Numbers | None = None
    used = -1  # a blank line ends one title without a number, and can't begin another
    for index in [0, *(_line_at(title.end(), lines) for title in _TITLE.finditer(data))] if texts else ():
        line = texts[index]
        ##= man/spec/trace.md#specifications
        ##% Sections of IETF text MUST be found by their numbers, appendices by their letters, and a few sections by
        ##% their names.
        heading = heading_of(line)
        if heading and may_stand(heading, last, kinds[index - 1 : index] in _BREAKS):
            last = heading.numbers
            start = starts[index] + byte_length(line[: heading.column])
            titles.append(_Title(heading.id, heading.title, start))
        elif line in _NAMED_IDS and kinds[index - 1 : index + 2 : 2] == _ALONE and index - 1 != used:
            used = index + 1
            titles.append(_Title(_NAMED_IDS[line], line, starts[index]))
        else:
            continue
        kinds[index] = _HEADING
    return titles


def _sections(titles: list[_Title], lines: _Lines) -> Iterator[Section]:
    ##= man/spec/trace.md#specifications
    ##% Page headers and footers MUST be left out of sections.
    keep = _kept(lines.kinds)
    texts, starts = list(compress(lines.texts, keep)), list(compress(lines.starts, keep))
    places = [place.start() for place in re.finditer(b"h", bytes(compress(lines.kinds, keep)))]
    places.append(len(texts))
    for title, (place, end) in zip(titles, pairwise(places), strict=True):
        first = place + 1
        if first < end and not texts[end - 1]:
            end -= 1
        if first < end and not texts[first]:
            first += 1
        span = (title.start, title.start + byte_length(title.text))
        yield Section(title.id, title.text, span, title.text, tuple(texts[first:end]), tuple(starts[first:end]))


def _kept(kinds: bytearray) -> bytearray:
    """Which lines stay: those with text, and one empty line for each gap that doesn't begin with a running head."""
    keep = bytearray(b"\1") * len(kinds)
    for gap in _GAP.finditer(kinds):
        start, end = gap.span()
        start += kinds[start] != _RUNNING
        keep[start:end] = bytes(end - start)
    return keep
