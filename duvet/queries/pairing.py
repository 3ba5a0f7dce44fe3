"""Which requirement of one catalogue is which of another."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

from msgspec import Struct

from duvet.queries.catalogue import Catalogue, RequirementCard

_LIKENESS = 60
"""Of a hundred: sentences that are less alike are two requirements."""
_REACH = 100
"""Sentences that stand further apart in their sections than this are not compared."""

Pair = tuple[int, int]
"""The index of a requirement then, and of what it is now."""
_Key = Callable[[Catalogue, RequirementCard], Hashable]
_Section = tuple[str, str]
"""A specification and what a section of it is called."""


class Pairing(Struct, frozen=True):
    """The requirements of two catalogues, those in order that are in both."""

    same: list[Pair]
    moved: list[Pair]
    changed: list[Pair]
    removed: list[int]
    added: list[int]

    @property
    def pairs(self) -> list[Pair]:
        """Every requirement that is in both, in today's order."""
        return sorted([*self.same, *self.moved, *self.changed], key=lambda pair: pair[1])


def paired(then: Catalogue, now: Catalogue) -> Pairing:
    """Pair what stands where it stood, then what moved, then what was reworded."""
    rest = _Rest(then, now)
    same = rest.take(_place)
    ##= man/spec/diff.md#requirements
    ##% A sentence that stands in another section than before MUST be told as moved.
    moved = sorted([*rest.take(_in_specification), *rest.take(_text)], key=lambda pair: pair[1])
    ##= man/spec/diff.md#requirements
    ##% A sentence that resembles an earlier one of its section MUST be told as changed, also where the section or the
    ##% specification has another name now.
    changed = [*rest.take_alike({}), *rest.take_alike(_successors(then, now, moved))]
    return Pairing(same, moved, changed, rest.then, rest.now)


class _Rest:
    """What has no partner yet."""

    def __init__(self, then: Catalogue, now: Catalogue) -> None:
        self.catalogues = then, now
        self.then = list(range(len(then.requirements)))
        self.now = list(range(len(now.requirements)))

    def take(self, key: _Key) -> list[Pair]:
        """Pair those with the same key, in order."""
        ours, theirs = self._by(key)
        pairs = [pair for one in ours.keys() & theirs.keys() for pair in zip(ours[one], theirs[one], strict=False)]
        return self._taken(pairs)

    def take_alike(self, successors: Mapping[_Section, _Section]) -> list[Pair]:
        """Pair those of one section, or of a section and its successor, the most alike first."""

        def today(catalogue: Catalogue, card: RequirementCard) -> _Section:
            section = _section(catalogue, card)
            return successors.get(section, section)

        then, now = self.catalogues
        ours, theirs = _grouped(then, self.then, today), _grouped(now, self.now, _section)
        return self._taken(
            [pair for one in ours.keys() & theirs.keys() for pair in self._alike(ours[one], theirs[one])]
        )

    def _alike(self, ours: list[int], theirs: list[int]) -> Iterator[Pair]:
        taken_then, taken_now = set(), set()
        for _, old, new in sorted(self._scores(ours, theirs)):
            if old not in taken_then and new not in taken_now:
                taken_then.add(old)
                taken_now.add(new)
                yield old, new

    def _scores(self, ours: list[int], theirs: list[int]) -> Iterator[tuple[float, int, int]]:
        from rapidfuzz import fuzz

        then, now = (catalogue.requirements for catalogue in self.catalogues)
        for index, old in enumerate(ours):
            for new in theirs[max(0, index - _REACH) : index + _REACH]:
                score = fuzz.ratio(then[old].text, now[new].text, score_cutoff=_LIKENESS)
                if score:
                    yield -score, old, new

    def _by(self, key: _Key) -> tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]]:
        then, now = self.catalogues
        return _grouped(then, self.then, key), _grouped(now, self.now, key)

    def _taken(self, pairs: Iterable[Pair]) -> list[Pair]:
        found = sorted(pairs, key=lambda pair: pair[1])
        ours, theirs = {old for old, _ in found}, {new for _, new in found}
        self.then = [index for index in self.then if index not in ours]
        self.now = [index for index in self.now if index not in theirs]
        return found


def _grouped(catalogue: Catalogue, indexes: list[int], key: _Key) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index in indexes:
        groups[key(catalogue, catalogue.requirements[index])].append(index)
    return groups


def _successors(then: Catalogue, now: Catalogue, moved: Iterable[Pair]) -> dict[_Section, _Section]:
    """The sections that have another name now, or are in another specification: where most of their sentences are.

    Of a specification that took the place of another, sections that nothing has moved to may have kept their names.
    """
    sections: defaultdict[_Section, Counter[_Section]] = defaultdict(Counter)
    specifications: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for old, new in moved:
        before, after = _section(then, then.requirements[old]), _section(now, now.requirements[new])
        sections[before][after] += 1
        specifications[before[0]][after[0]] += 1
    for known in now.specifications:
        specifications.pop(known.locator, None)
    found = {}
    for locator, name in {_section(then, card) for card in then.requirements}:
        if (locator, name) in sections:
            found[locator, name] = sections[locator, name].most_common(1)[0][0]
        elif locator in specifications:
            found[locator, name] = specifications[locator].most_common(1)[0][0], name
    return found


def _place(catalogue: Catalogue, card: RequirementCard) -> Hashable:
    return (*_section(catalogue, card), card.text)


def _section(catalogue: Catalogue, card: RequirementCard) -> _Section:
    return catalogue.specification_of(card).locator, card.section


def _in_specification(catalogue: Catalogue, card: RequirementCard) -> Hashable:
    return catalogue.specification_of(card).locator, card.text


def _text(catalogue: Catalogue, card: RequirementCard) -> Hashable:
    return card.text
