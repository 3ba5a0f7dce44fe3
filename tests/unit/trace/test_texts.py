"""Texts in which the words are in order, compared with texts as they are."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import example, given
from hypothesis import strategies as st

from duvet.trace.match import OrderedText, QuoteMatcher, SearchText, find_one_edit
from tests.unit.trace.sections import section_of
from tests.unit.trace.test_fuzzy import plain_find

WORDS = st.lists(st.sampled_from(["a", "b", "ab", "ba", "", "é"]), max_size=12).map(" ".join)
LONG = " ".join(["much"] * 90)
ALIKE = [f"The endpoint numbered {number:04} MUST close the connection." for number in range(600)]


@given(WORDS, WORDS)
@example(f"{LONG} a {LONG} b", f"{LONG} b")
@example("a " * 600, "a a")
def test_all_places_are_found(text: str, part: str) -> None:
    data, wanted = text.encode(), part.encode()
    plain, ordered = SearchText(data), OrderedText(data)
    places = [at for at in range(len(data) + 1) if data.startswith(wanted, at)]
    assert list(plain.places(wanted)) == list(ordered.places(wanted)) == places
    assert plain.find(wanted) == ordered.find(wanted) == data.find(wanted)


@given(WORDS, st.text(st.sampled_from("ab é"), min_size=2))
def test_quotes_are_cut_into_two_parts(text: str, quote: str) -> None:
    data = quote.encode()
    assert all(0 < kind(text.encode()).split(data) < len(data) for kind in (SearchText, OrderedText))


@given(WORDS, st.text(st.sampled_from("ab é"), min_size=1))
@example("a " * 600, "a a b")
def test_one_edit_is_found_alike(text: str, quote: str) -> None:
    data, wanted = text.encode(), quote.encode()
    if wanted not in data:
        assert find_one_edit(wanted, OrderedText(data)) == plain_find(wanted, data)


class Counting(OrderedText):
    """Counts the places that it tells."""

    told = 0

    def places(self, part: bytes) -> Iterable[int]:
        for place in super().places(part):
            self.told += 1
            yield place


def test_few_places_of_alike_sentences_are_looked_at() -> None:
    text = Counting(" ".join(ALIKE).encode())
    for number, sentence in enumerate(ALIKE):
        for at in range(0, len(sentence), 7):
            quote = f"{sentence[:at]}~{sentence[at + 1 :]}".encode()
            assert find_one_edit(quote, text) == (
                len(sentence) * number + number,
                len(sentence) * (number + 1) + number,
            )
    assert text.told < 10 * len(ALIKE)


def test_one_matcher_finds_as_much_as_many() -> None:
    section = section_of("\n".join(ALIKE[:200]))
    matcher = QuoteMatcher(section)
    for number, sentence in enumerate(ALIKE[:200]):
        for quote in (sentence.replace("MUST", "MAST"), sentence.replace(".", " ."), sentence.replace("MUST", "may")):
            assert matcher.find(quote) == QuoteMatcher(section).find(quote), number
