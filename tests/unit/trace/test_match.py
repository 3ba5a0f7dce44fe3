"""Finding quotes, compared with the rules spelt out byte by byte."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duvet.model import Section
from duvet.text import WHITESPACE
from duvet.trace.match import QuoteMatcher
from duvet.trace.records import TITLE_LINE, Fit, FoundQuote, Piece
from tests.unit.test_text import plain_normalise
from tests.unit.trace.sections import HEADING, file_of, section_of
from tests.unit.trace.test_fuzzy import plain_find

POT = "  The pot MUST be\n\n\twarm ( and\u00a0clean).  \nIt is é日🩸.\n\nx\n"
CHARS = st.sampled_from(["a", "b", ".", "-", " ", "\n", "\n", "\t", "é", "è", "斩", "🩸", "\u00a0", "©"])
TEXTS = st.text(CHARS, max_size=20)


def read(text: str, found: FoundQuote | None) -> tuple[list[str], Fit]:
    """What stands where a quote was found."""
    assert found is not None
    data = file_of(text)
    return [data[piece.start : piece.end].decode() for piece in found[0]], found[1]


@pytest.mark.parametrize(
    ("quote", "texts", "fit"),
    [
        ("The pot MUST be warm", ["The pot MUST be", "warm"], Fit.EXACT),
        ("pot MUST", ["pot MUST"], Fit.EXACT),
        ("pot  MUST", ["pot MUST"], Fit.NORMALISED),
        ("warm (and\u00a0clean)", ["warm ( and\u00a0clean)"], Fit.NORMALISED),
        ("warm ( and\u00a0clean) .", ["warm ( and\u00a0clean)."], Fit.NORMALISED),
        ("The pot MUST bee warm", ["The pot MUST be", "warm"], Fit.ONE_EDIT),
        ("the pot MUST", ["The pot MUST"], Fit.ONE_EDIT),
        ("It is é日🩸.", ["It is é日🩸."], Fit.EXACT),
        ("is è日🩸.", ["is é日🩸."], Fit.ONE_EDIT),
        ("is é日🩹.", ["is é日🩸."], Fit.ONE_EDIT),
        ("日🩸. x", ["日🩸.", ""], Fit.EXACT),
    ],
)
def test_quotes(quote: str, texts: list[str], fit: Fit) -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% duvet MUST find a quote in its section despite different wrapping or white space around punctuation, or one
    ##% wrong byte, which SHOULD cause a warning.
    assert read(POT, QuoteMatcher(section_of(POT)).find(quote)) == (texts, fit)


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        (POT, "the pot must be"),
        (POT, "THE"),
        (POT, "pot MUST warm"),
        (POT, "It is é本🩸."),
        ("The **pot** MUST", "The pot MUST"),
        ("don\u2019t", "don't"),
        ("", "x"),
        ("\n \n", "x"),
        ("", "pot"),
        ("\u2028", "\u2028a"),
        # One byte of the quote stands in white space, or in a part of a character.
        ("x \u00a0", "©"),
        ("a\u00a0b", "©"),
    ],
)
def test_what_is_not_found(text: str, quote: str) -> None:
    assert QuoteMatcher(section_of(text)).find(quote) is None


def test_an_empty_quote_refers_to_the_title() -> None:
    ##= man/spec/trace.md#targets-and-quotes
    ##% An annotation without a quote MUST refer to the title of its section.
    for text in (POT, ""):
        assert QuoteMatcher(section_of(text)).find("") == ((Piece(TITLE_LINE, 2, 3),), Fit.TITLE)


def test_one_matcher_finds_many_quotes() -> None:
    matcher = QuoteMatcher(section_of("one\ntwo"))
    pieces = [read("one\ntwo", matcher.find(quote)) for quote in ("one  two", "ona", "two", "one   two")]
    assert pieces == [
        (["one", "two"], Fit.NORMALISED),
        (["one"], Fit.ONE_EDIT),
        (["two"], Fit.EXACT),
        (["one", "two"], Fit.NORMALISED),
    ]


def plain_matches(section: Section, quote: str) -> FoundQuote | None:
    """Where a quote stands, with each byte of the section kept beside its place in the file."""
    chars = section_chars(section)
    text = "".join(char for char, _, _ in chars)
    start = text.find(quote)
    if start >= 0:
        return plain_pieces(chars[start : start + len(quote)]), Fit.EXACT
    kept = plain_kept(text)
    normal = "".join(text[at] for at in kept)
    start, wanted, fit = normal.find(plain_normalise(quote)), plain_normalise(quote), Fit.NORMALISED
    end = start + len(wanted)
    if start < 0:
        near = plain_find(wanted.encode(), normal.encode())
        if near is None or not normal:
            return None
        owners = [index for index, char in enumerate(normal) for _ in char.encode()]
        start, end, fit = owners[near[0]], owners[near[1] - 1] + 1, Fit.ONE_EDIT
    found = chars[kept[start] : kept[end - 1] + 1]
    while found and found[-1][0] in WHITESPACE:
        found.pop()
    return (plain_pieces(found), fit) if found else None


def section_chars(section: Section) -> list[tuple[str, int, int]]:
    """The characters of the view with line and place; -1 is the line of what joins two lines."""
    chars: list[tuple[str, int, int]] = []
    for index, line in enumerate(section.lines):
        place = section.starts[index]
        if line.strip(WHITESPACE):
            chars += [(" ", -1, 0)] if chars else []
            for at, char in enumerate(line):
                before, after = line[: at + 1].strip(WHITESPACE), line[at:].strip(WHITESPACE)
                if before and after:
                    chars.append((char, index, place + len(line[:at].encode())))
    return chars


def plain_kept(text: str) -> list[int]:
    """The indexes of the characters that stay when a text is normalised."""
    kept: list[int] = []
    waiting: int | None = None
    for at, char in enumerate(text):
        is_blank = waiting is None or text[waiting] in WHITESPACE
        if char in WHITESPACE:
            waiting = at if waiting is None and kept else waiting
        elif char.isalnum():
            kept += [at] if waiting is None else [waiting, at]
            waiting = None
        else:
            kept += [] if is_blank or waiting is None else [waiting]
            waiting = at
    return kept if waiting is None or text[waiting] in WHITESPACE else [*kept, waiting]


def plain_pieces(chars: list[tuple[str, int, int]]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for line in dict.fromkeys(line for _, line, _ in chars if line >= 0):
        here = [(place, place + len(char.encode())) for char, own, place in chars if own == line]
        start, end = here[0][0], here[-1][1]
        found.append(Piece(line, start, start if end - start == 1 else end))
    return tuple(found)


@given(TEXTS, TEXTS.map(lambda text: " ".join(text.split())).filter(bool))
@example("a🩸", "é")
@example("斩", "aé")
@example("bc日", "bcx")
@example("日bc", "xbc")
@example("a\u00a0. b", "a.\u00a0b")
def test_equals_the_plain_rules(text: str, quote: str) -> None:
    assert QuoteMatcher(section_of(text)).find(quote) == plain_matches(section_of(text), quote)


@given(TEXTS.filter(lambda text: bool(text.strip())), st.data())
def test_a_changed_part_of_the_text_equals_the_plain_rules(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    change = data.draw(st.sampled_from(["", "x", "é", " "]))
    at = data.draw(st.integers(start, end))
    quote = " ".join((text[start:at] + change + text[at + data.draw(st.booleans()) : end]).split())
    if quote:
        assert QuoteMatcher(section_of(text)).find(quote) == plain_matches(section_of(text), quote)


@given(st.lists(st.sampled_from(["ab", "cd.", "é日", "🩸x", "(ef", "gh)"]), min_size=1, max_size=12), st.data())
def test_what_is_found_exactly_is_what_was_quoted(words: list[str], data: st.DataObject) -> None:
    text = "".join(word + data.draw(st.sampled_from([" ", "\n", "\n\n   "])) for word in words)
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    texts, fit = read(text, QuoteMatcher(section_of(text)).find(quote))
    assert (" ".join(texts), fit) == (quote, Fit.EXACT)


def test_sections_are_where_they_say() -> None:
    section = section_of("é\nab")
    assert (section.lines, section.starts, file_of("é\nab")[:4].decode()) == (("é", "ab"), (4, 7), HEADING)
