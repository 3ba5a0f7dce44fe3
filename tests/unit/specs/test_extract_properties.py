"""Requirements of any lines, compared with the rules taken line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from duvet.model import ExtractedSentence, Level, Section
from duvet.specs.extraction import extract_requirements
from duvet.text import normalise, trim

KEYWORDS = [
    (Level.MUST, r'\bMUST( NOT)?\b"?'),
    (Level.MUST, r'\bSHALL( NOT)?\b"?'),
    (Level.MUST, r'\bREQUIRED\b"?'),
    (Level.SHOULD, r'\bSHOULD( NOT)?\b"?'),
    (Level.SHOULD, r'\b(NOT )?RECOMMENDED\b"?'),
    (Level.MAY, r'\bMAY\b"?'),
    (Level.MAY, r'\bOPTIONAL\b"?'),
]
WORDS = st.sampled_from(
    [
        *("MUST", "MUST NOT", "SHALL", "REQUIRED", "SHOULD NOT", "NOT RECOMMENDED", "RECOMMENDED", "MAY", "OPTIONAL"),
        *(".", ".", ". ", ".\t", ".. ", "...", "1.2", " ", " ", "  ", "\t", "\f", "\u00a0", "\r", '"', ",", " , "),
        *("a", "b", "é", "日", "”", "_", "X"),
    ]
)
LINES = st.lists(st.lists(WORDS, max_size=8).map("".join), max_size=8) | st.lists(
    st.text().map(lambda text: text.replace("\n", " "))
)


@st.composite
def sections(draw: st.DrawFn) -> Section:
    lines = draw(LINES)
    breaks = draw(st.frozensets(st.integers(0, len(lines)), max_size=3))
    return Section("s", "S", (0, 0), "S", tuple(lines), tuple(range(len(lines))), breaks)


def closing(text: str) -> int | None:
    """Where the first sentence of the text ends."""
    at = text.find(".")
    while at >= 0:
        if text[at + 1 : at + 2] in ("", " ", "\t"):
            return at + 1
        at = text.find(".", at + 2)
    return None


def opening(text: str) -> int | None:
    """Where the last sentence of the text begins."""
    at = text.rfind(".")
    if at < 0:
        return None
    return at + 1 if text[at + 1 : at + 2] in ("", " ", "\t") else closing(text[:at])


def start_of(section: Section, line: int, column: int) -> tuple[int, int]:
    found = opening(section.lines[line][:column])
    while found is None and line > 0 and line not in section.breaks and section.lines[line - 1]:
        line -= 1
        found = opening(section.lines[line])
    return line, found or 0


def end_of(section: Section, line: int, column: int) -> tuple[int, int]:
    found = closing(section.lines[line][column:])
    if found is not None:
        return line, column + found
    while found is None and line + 1 not in section.breaks and "".join(section.lines[line + 1 : line + 2]):
        line += 1
        found = closing(section.lines[line])
    return line, len(section.lines[line]) if found is None else found


def pieces_between(section: Section, start: tuple[int, int], end: tuple[int, int]) -> tuple[str, ...]:
    lines = list(section.lines[start[0] : end[0] + 1])
    lines[-1] = lines[-1][: end[1]]
    lines[0] = lines[0][start[1] :]
    return tuple(piece for piece in map(trim, lines) if piece)


def hits(section: Section) -> Iterator[tuple[tuple[int, int], Level, tuple[str, ...]]]:
    for number, line in enumerate(section.lines):
        for level, pattern in KEYWORDS:
            for match in re.finditer(pattern, line):
                if not match[0].endswith('"'):
                    start = start_of(section, number, match.start())
                    yield start, level, pieces_between(section, start, end_of(section, number, match.end()))


def plain_requirements(section: Section) -> tuple[ExtractedSentence, ...]:
    found: dict[str, tuple[tuple[int, int], Level, tuple[str, ...]]] = {}
    for hit in hits(section):
        start, level, pieces = found.setdefault(normalise("\n".join(hit[2])), hit)
        found[normalise("\n".join(pieces))] = (start, max(level, hit[1]), pieces)
    return tuple(ExtractedSentence(level, pieces) for _, level, pieces in sorted(found.values()))


@given(sections())
def test_equals_the_plain_rules(section: Section) -> None:
    assert extract_requirements(section) == plain_requirements(section)


@given(sections())
def test_each_requirement_stands_in_the_section(section: Section) -> None:
    text = "\n".join(section.lines)
    for found in extract_requirements(section):
        assert found.level > Level.AUTO
        at = 0
        for piece in found.pieces:
            assert piece and piece == trim(piece)
            at = text.find(piece)
            assert at >= 0
