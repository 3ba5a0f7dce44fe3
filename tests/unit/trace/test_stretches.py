"""The stretch of a text that a quote was meant to be."""

from __future__ import annotations

import pytest

from duvet.trace.nearest import TextStretch, TextWords

TEXT = (
    "This section is about tea. The water MUST boil before the leaves are put into the pot. The leaves MUST be dry, "
    "and they MUST NOT be old. Milk (of a cow) MAY be added. * The cup SHOULD be warm and clean at all times."
)


def nearest(quote: str, text: str = TEXT) -> str | None:
    """What is found, if it is clear."""
    found = TextWords(text.split()).nearest(quote.split())
    return found.text if found and found.is_clear else None


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        # A word in the middle, at either end, more or fewer of them.
        ("The water MUST cook before the leaves are put into the pot.", None),
        ("The water MUST before the leaves are put into the pot.", None),
        ("The water MUST really boil before the leaves are put into the pot.", None),
        ("Hot water MUST boil before the leaves are put into the pot.", None),
        ("The water MUST boil before the leaves are put into the kettle.", None),
        ("The water MUST boil before the leaves get put into the hot pot.", None),
        # A part of a sentence stays a part, with the punctuation that it has.
        ("water MUST boil before a leaf is put", "water MUST boil before the leaves are put"),
        ("The leaves MUST all be dry", "The leaves MUST be dry"),
        ("The leaves MUST all be dry,", "The leaves MUST be dry,"),
        ("Milk (of a goat) MAY be added", "Milk (of a cow) MAY be added"),
        ("Milk (of a cow) MAY be put", "Milk (of a cow) MAY be added."),
        # A mark of a list that the text has not, has, or has another one for.
        ("* The water MUST cook before the leaves are put into the pot.", None),
        ("- The cup SHOULD be hot and clean at all times.", "* The cup SHOULD be warm and clean at all times."),
        # Where a sentence began or ended with another word, it is meant as a whole.
        ("This section tells of tea.", "This section is about tea."),
        # Two words in the wrong order.
        ("water The MUST boil before the leaves are put into the pot.", None),
        ("The water MUST boil before the leaves are put into pot. the", None),
        # Words that stand nowhere go away where they follow a sentence, or lead to one.
        ("The water MUST boil before the leaves are put into the pot. and so on", None),
        ("See also: The water MUST boil before the leaves are put into the pot.", None),
        ("The water MUST boil before the leaves are put into the pot. This is all.", None),
    ],
)
def test_a_quote_keeps_its_extent(quote: str, found: str | None) -> None:
    assert nearest(quote) == (found or "The water MUST boil before the leaves are put into the pot.")


def test_a_known_sentence_is_whole() -> None:
    """A sentence of a list may begin where no other ends."""
    text = "Hosts have rules - the host MUST smile at every guest who comes - the host MUST wait for all who come late"
    quote, sentence = "Any host MUST smile at every guest who came.", "the host MUST smile at every guest who comes"
    plain, known = (TextWords(text.split(), given).nearest(quote.split()) for given in ((), [sentence]))
    assert plain and plain.text == sentence and not plain.is_clear
    assert known and known.text == sentence and known.is_clear


@pytest.mark.parametrize(
    "quote",
    [
        # In the middle of a sentence it ends, or begins, with words that stand nowhere near.
        "The water MUST boil before the leaves and so on",
        "now and then before the leaves are put into the pot.",
        # Nothing is like it, it is too short, or two are.
        "Nobody has ever written down anything of this kind.",
        "boil the",
        "*",
        "A frame of type F MUST be ignored by all servers.",
    ],
)
def test_no_answer_is_clear(quote: str) -> None:
    frames = "A frame of type A MUST be ignored by all servers. A frame of type B MUST be ignored by all servers."
    assert nearest(quote, f"{TEXT} {frames}") is None
    assert nearest(quote, "") is None


@pytest.mark.parametrize(
    ("score", "second", "is_clear"),
    [(75, 0, True), (74, 0, False), (80, 60, True), (80, 61, False), (99, 94, True), (99, 95, False), (100, 95, True)],
)
def test_what_is_clear(score: float, second: float, is_clear: bool) -> None:
    ##= man/spec/validate.md#fixes
    ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote, in comments and in requirement files, when
    ##% exactly one correction fits.
    assert TextStretch("", score, second).is_clear is is_clear
    assert not TextStretch("", score, second, is_whole=False).is_clear


def test_one_text_in_two_places_is_one_answer() -> None:
    assert nearest("The leaves MUST be quite dry", f"{TEXT} The leaves MUST be dry") == "The leaves MUST be dry"


def test_a_quote_longer_than_the_text() -> None:
    assert nearest("The water in the pot MUST boil now.", "The water MUST boil now.") == "The water MUST boil now."
