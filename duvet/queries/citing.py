"""Which citations have come, gone, or become wrong from one catalogue to another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

from msgspec import Struct

from duvet.model import Problem, Severity
from duvet.queries.catalogue import SHOWN, Catalogue, CitationCard
from duvet.queries.pairing import Pairing


class CitationChange(Struct, frozen=True, kw_only=True):
    """Citations of one kind that a text has got, or lost."""

    target: str
    identifier: str | None
    """The first digits of the id of the requirement; none where the text is no requirement."""
    text: str
    kind: str
    places: tuple[str, ...]
    """Where they stand, or stood."""


class StaleCitation(Struct, frozen=True, kw_only=True):
    """A citation that was right and is wrong."""

    file_path: str
    line_number: int
    kind: str
    target: str
    quote: str
    message: str


_Text = tuple[Hashable, ...]
"""What tells a cited text from others: a requirement by its place, another by its words."""
_Numbers = list[int]


def stale_citations(then: Catalogue, now: Catalogue) -> list[tuple[int, int]]:
    """The numbers, then and now, of citations that have become wrong where they stand."""
    ##= man/spec/diff.md#citations
    ##% A citation that was right and is wrong now, though it says the same, MUST be told as stale, with its place.
    return _lasting(then, now, are_valid=False)


def _lasting(then: Catalogue, now: Catalogue, *, are_valid: bool) -> list[tuple[int, int]]:
    """The numbers, then and now, of citations that were right and still say the same, whether that is right or wrong."""
    right = _by_words(then, are_valid=True)
    found: list[tuple[int, int]] = []
    for words, numbers in _by_words(now, are_valid=are_valid).items():
        found += _matched(then, right.get(words, []), now, numbers)
    return sorted(found, key=lambda pair: pair[1])


def _by_words(catalogue: Catalogue, *, are_valid: bool) -> dict[_Text, _Numbers]:
    """The citations that say the same of the same."""
    groups: defaultdict[_Text, _Numbers] = defaultdict(list)
    for number, card in enumerate(catalogue.citations):
        if card.is_valid is are_valid:
            groups[card.kind, card.target, _plain(card.quote)].append(number)
    return groups


def _plain(quote: str) -> str:
    return " ".join(quote.split())


def _matched(then: Catalogue, ours: _Numbers, now: Catalogue, theirs: _Numbers) -> list[tuple[int, int]]:
    """Pairs of citations that are one and the same: those of one file first, then whichever are left."""
    ##= man/spec/diff.md#citations
    ##% A file that has another name, and a citation that stands on another line, MUST NOT be told as a change.
    waiting: defaultdict[str, _Numbers] = defaultdict(list)
    for number in reversed(ours):
        waiting[then.citations[number].path].append(number)
    pairs, others = [], []
    for number in theirs:
        same_file = waiting[now.citations[number].path]
        if same_file:
            pairs.append((same_file.pop(), number))
        else:
            others.append(number)
    left = sorted(number for numbers in waiting.values() for number in numbers)
    return [*pairs, *zip(left, others, strict=False)]


def stale_rows(now: Catalogue, stale: Iterable[tuple[int, int]]) -> Iterator[StaleCitation]:
    """What there is to say about them."""
    problems: defaultdict[str, list[Problem]] = defaultdict(list)
    for problem in now.problems:
        if problem.severity is Severity.ERROR:
            problems[problem.path].append(problem)
    for _, number in stale:
        card = now.citations[number]
        below = (one.message for one in problems[card.path] if one.place.line >= card.line)
        yield StaleCitation(
            file_path=card.path,
            line_number=card.line,
            kind=_kind(card),
            target=card.target,
            quote=_plain(card.quote),
            message=next(below, "it leads nowhere"),
        )


class Cited:
    """The citations of a catalogue by text and kind; texts that are the same in two catalogues have the same key."""

    def __init__(self, catalogue: Catalogue, names: dict[int, _Text], left_out: Iterable[int]) -> None:
        self.catalogue = catalogue
        self.texts: dict[_Text, tuple[str, str | None, str]] = {}
        """The target, the id and the words of each text."""
        self.numbers: defaultdict[tuple[_Text, str], _Numbers] = defaultdict(list)
        unwanted = set(left_out)
        for number, card in enumerate(catalogue.citations):
            if card.is_valid and number not in unwanted:
                for text in self._texts_of(card, names):
                    self.numbers[text, _kind(card)].append(number)

    def _texts_of(self, card: CitationCard, names: dict[int, _Text]) -> Iterator[_Text]:
        for index in card.requirements:
            requirement = self.catalogue.requirements[index]
            target = self.catalogue.target_of(requirement)
            self.texts[names[index]] = target, requirement.id[:SHOWN], requirement.text
            yield names[index]
        if not card.requirements:
            specification = self.catalogue.specifications[card.specification]
            quote = _plain(card.quote)
            text = specification.locator, card.section, quote
            shown = quote or specification.titles[card.section]
            self.texts[text] = f"{specification.locator}#{card.section}", None, shown
            yield text

    def beyond(self, other: Cited) -> tuple[CitationChange, ...]:
        """The citations that the other catalogue has no counterpart of."""
        found = []
        for (text, kind), numbers in self.numbers.items():
            theirs = other.numbers.get((text, kind), [])
            kept = {new for _, new in _matched(other.catalogue, theirs, self.catalogue, numbers)}
            cards = [self.catalogue.citations[number] for number in numbers if number not in kept]
            if cards:
                ##= man/spec/diff.md#citations
                ##% Citations that have come or gone MUST be told with their places.
                target, id, words = self.texts[text]
                places = tuple(card.id for card in sorted(cards, key=lambda card: (card.path, card.line)))
                found.append(CitationChange(target=target, identifier=id, text=words, kind=kind, places=places))
        return tuple(sorted(found, key=lambda one: (one.target, one.text, one.kind)))


def cited(then: Catalogue, now: Catalogue, pairing: Pairing, outlived: Iterable[int]) -> tuple[Cited, Cited]:
    """The citations of both, without those that are as they were, and those then that are wrong now."""
    # What they cite may have become a requirement, or be none any more.
    lasting = _lasting(then, now, are_valid=True)
    new_of = dict(pairing.pairs)
    ours: dict[int, _Text] = {old: ("now", new_of[old]) if old in new_of else ("then", old) for old in _all(then)}
    theirs: dict[int, _Text] = {new: ("now", new) for new in _all(now)}
    return (
        Cited(then, ours, [*outlived, *(old for old, _ in lasting)]),
        Cited(now, theirs, [new for _, new in lasting]),
    )


def _all(catalogue: Catalogue) -> range:
    return range(len(catalogue.requirements))


def _kind(card: CitationCard) -> str:
    return card.kind.name.lower()
