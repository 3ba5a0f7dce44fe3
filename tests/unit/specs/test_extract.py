"""Requirements in sections, rule by rule."""

from __future__ import annotations

import pytest

from duvet.model import ExtractedSentence, Level, Section
from duvet.specs.extraction import extract_requirements


def extract(*lines: str, breaks: frozenset[int] = frozenset()) -> list[tuple[str, str]]:
    """The requirements of these lines: each with its level, and its pieces with a bar between them."""
    section = Section("s", "S", (0, 0), "S", lines, tuple(range(len(lines))), breaks)
    return [(found.level.name, "|".join(found.pieces)) for found in extract_requirements(section)]


def quotes(*lines: str, breaks: frozenset[int] = frozenset()) -> list[str]:
    return [quote for _, quote in extract(*lines, breaks=breaks)]


def test_a_requirement_whole() -> None:
    section = Section("s", "S", (0, 0), "S", ("  This MUST be  ", "\there. And so on."), (0, 17))
    assert extract_requirements(section) == (ExtractedSentence(Level.MUST, ("This MUST be", "here.")),)


@pytest.mark.parametrize("lines", [(), ("",), ("no keyword.",), ("must may should",)])
def test_no_requirements(lines: tuple[str, ...]) -> None:
    assert extract(*lines) == []


@pytest.mark.parametrize(
    ("keyword", "level"),
    [
        ("MUST", "MUST"),
        ("MUST NOT", "MUST"),
        ("SHALL", "MUST"),
        ("SHALL NOT", "MUST"),
        ("REQUIRED", "MUST"),
        ("SHOULD", "SHOULD"),
        ("SHOULD NOT", "SHOULD"),
        ("RECOMMENDED", "SHOULD"),
        ("NOT RECOMMENDED", "SHOULD"),
        ("MAY", "MAY"),
        ("OPTIONAL", "MAY"),
    ],
)
def test_each_keyword(keyword: str, level: str) -> None:
    ##= man/spec/trace.md#requirements
    ##% Each sentence, and each item of a Markdown list, with a keyword of RFC 2119 MUST be a requirement with the level
    ##% of its strongest keyword.
    assert extract(f"It {keyword} be.") == [(level, f"It {keyword} be.")]


@pytest.mark.parametrize(
    "text", ["MUST-NOT", "MUST's", "'MUST'", "(MUST)", "MUST NOTE", "MUST NOT_", '"MUST', "MAY NOT"]
)
def test_words_of_their_own(text: str) -> None:
    assert quotes(text) == [text]


@pytest.mark.parametrize(
    "text", ["must", "Must", "MUSTY", "AMUST", "MUST_", "_MAY", "MAY2", 'MUST"', 'MUST NOT"', '"OPTIONAL"', "REQUIREDS"]
)
def test_no_keywords(text: str) -> None:
    assert quotes(text) == []


@pytest.mark.parametrize(
    ("text", "is_keyword"),
    [
        ("ÉMUST", False),
        ("MUSTé", False),
        ("MUST\u0301", False),
        ("MUST\u200d", False),
        ("MUST\u203f", False),
        ("\u2163MAY", False),
        ("MUST\u24b6", False),
        ("MUST NOTé", True),
        ("MUST²", True),
        ("“MUST”", True),
        ("日 MUST", True),
    ],
)
def test_words_in_other_scripts(text: str, is_keyword: bool) -> None:
    assert quotes(text) == [text] * is_keyword


def test_sentences_of_a_line() -> None:
    assert quotes("One. Two MUST be.  Three MAY be. Four.") == ["Two MUST be.", "Three MAY be."]


def test_sentences_across_lines() -> None:
    lines = ("Nothing. It", "  goes on  ", "and MUST", "end", "here. Not here.")
    assert quotes(*lines) == ["It|goes on|and MUST|end|here."]


def test_empty_lines_end_sentences() -> None:
    assert quotes("before", "", "it MUST", "be", "", "after") == ["it MUST|be"]
    assert quotes("", "it MUST", "") == ["it MUST"]
    assert quotes("before", " ", "it MUST", "\t", "after") == ["before|it MUST|after"]


def test_list_items_end_sentences() -> None:
    lines = ("They MUST:", "* do this", "* MAY do that", "  also", "and SHOULD rest")
    assert quotes(*lines) == ["They MUST:|* do this|* MAY do that|also|and SHOULD rest"]
    expected = ["They MUST:", "* MAY do that|also", "and SHOULD rest"]
    assert quotes(*lines, breaks=frozenset({1, 2, 4})) == expected


def test_breaks_at_both_ends() -> None:
    assert quotes("it MUST", "", breaks=frozenset({0, 1, 2})) == ["it MUST"]


@pytest.mark.parametrize("mark", ["!", "?", ":", ";", ",", "\u3002"])
def test_only_dots_end_sentences(mark: str) -> None:
    assert quotes(f"a{mark} it MUST be{mark} b") == [f"a{mark} it MUST be{mark} b"]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("It MUST be 3.1 now. b", "It MUST be 3.1 now."),
        ("It MUST be.\tb", "It MUST be."),
        ("It MUST be.\u00a0b. c", "It MUST be.\u00a0b."),
        ("It MUST be.) b. c", "It MUST be.) b."),
        ("It MUST be... b", "It MUST be..."),
        ("It MUST be.. b. c", "It MUST be.. b."),
        ("It MUST be.” b. c", "It MUST be.” b."),
        ("It MUST be.\u2028 b. c", "It MUST be.\u2028 b."),
        ("1. It MUST be", "It MUST be"),
    ],
)
def test_dots(text: str, quote: str) -> None:
    assert quotes(text) == [quote]


def test_a_dot_inside_a_word_hides_the_sentence_before_it() -> None:
    text = "See 3.1. It MUST x. Version 1.0 MUST y. End"
    assert quotes(text) == ["It MUST x.", "It MUST x. Version 1.0 MUST y."]
    assert quotes("a. b..c MUST d") == ["b..c MUST d"]
    assert quotes("a. b", "c 1.2 d MUST e") == ["b|c 1.2 d MUST e"]
    assert quotes("a..b MUST c") == [".b MUST c"]


def test_a_dot_right_before_the_keyword() -> None:
    assert quotes("a.MUST b") == ["MUST b"]
    assert quotes("a.NOT RECOMMENDED b") == ["NOT RECOMMENDED b"]
    assert quotes("a.x RECOMMENDED b") == ["a.x RECOMMENDED b"]


def test_a_sentence_has_its_highest_level() -> None:
    ##= man/spec/trace.md#requirements
    ##% Each sentence, and each item of a Markdown list, with a keyword of RFC 2119 MUST be a requirement with the level
    ##% of its strongest keyword.
    assert extract("It MAY and SHOULD be.", "Others MUST and", "SHOULD be.") == [
        ("SHOULD", "It MAY and SHOULD be."),
        ("MUST", "Others MUST and|SHOULD be."),
    ]


def test_equal_sentences_are_one() -> None:
    ##= man/spec/trace.md#requirements
    ##% Sentences of a section that differ only in wrapping and in white space around punctuation MUST be one
    ##% requirement, and wrapping MUST NOT change its id.
    assert extract("It MUST be , so. It MAY. It MUST be,  so. It MAY.") == [
        ("MUST", "It MUST be , so."),
        ("MAY", "It MAY."),
    ]
    assert quotes("It MUST", "be. It MUST be. It MUST  be.") == ["It MUST|be.", "It MUST be."]


def test_equal_sentences_have_one_level() -> None:
    assert extract('It MUST" and MAY. It MUST " and MAY.') == [("MUST", 'It MUST " and MAY.')]
    assert extract('It MUST" and MAY.', 'It MUST " and MAY.') == [("MUST", 'It MUST" and MAY.')]


def test_order_of_equal_starts() -> None:
    assert extract("a. It MAY x. B 1.0 MUST y. C 1.0 SHOULD z. D 2.0 MAY") == [
        ("MAY", "It MAY x."),
        ("MAY", "It MAY x. B 1.0 MUST y. C 1.0 SHOULD z. D 2.0 MAY"),
        ("SHOULD", "It MAY x. B 1.0 MUST y. C 1.0 SHOULD z."),
        ("MUST", "It MAY x. B 1.0 MUST y."),
    ]


def test_many_lines_that_end_no_sentence() -> None:
    lines = ("1.2 MUST", "3.4 x") * 3000
    assert extract(*lines) == [("MUST", "|".join(lines))]
