"""Where in a specification the text is that a quote should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from math import log
from typing import NamedTuple

from duvet.model import Specification
from duvet.normalise import unspaced
from duvet.sources.wrapping import words
from duvet.trace.match import Matcher
from duvet.trace.records import Fit
from duvet.trace.stretches import Stretch, Words

_TRIED = 5
_VALID = (Fit.EXACT, Fit.NORMALISED)


class Elsewhere(NamedTuple):
    """The best stretch of a specification, and the index of its section."""

    section: int
    stretch: Stretch


class Neighbourhood:
    """The sections of a specification, to find what a quote is near to; what is read of them is kept."""

    weighs = True
    """Whether it is to be found out what else could be meant, without which nothing may be written."""

    def __init__(self, specification: Specification, sentences: Mapping[int, Sequence[str]] | None = None) -> None:
        self.specification = specification
        self._sentences = sentences or {}
        """The texts of requirements by section."""
        self._words: dict[int, Words] = {}

    def section_id(self, section: int) -> str:
        """What targets call a section."""
        return self.specification.sections[section].id

    @cached_property
    def _bare(self) -> list[str]:
        """What holds whatever a section holds, however it is spaced."""
        return [unspaced("".join(section.lines)) for section in self.specification.sections]

    @cached_property
    def _whole(self) -> str:
        """All of them, for most quotes stand in none."""
        return "\n".join(self._bare)

    def holding(self, quote: str) -> list[int]:
        """The sections in which the quote stands."""
        wanted = unspaced(quote)
        if not wanted or wanted not in self._whole:
            return []
        candidates = [index for index, text in enumerate(self._bare) if wanted in text]
        return [index for index in candidates if self.holds(index, quote)]

    def holds(self, section: int, quote: str) -> bool:
        """Whether the quote stands in the section as it should, or names its title."""
        found = Matcher(self.specification.sections[section]).find(quote)
        return found is not None and (found[1] in _VALID or not quote)

    def near(self, section: int, quote: str) -> Stretch | None:
        """What is most like the quote in a section."""
        return self._words_of(section).nearest(words(quote))

    def anywhere(self, quote: str) -> Elsewhere | None:
        """What is most like the quote in any section."""
        found = [(self.near(index, quote), index) for _, index in self.likely(quote)]
        near = sorted(((one, index) for one, index in found if one is not None), key=lambda pair: -pair[0].score)
        if not near:
            return None
        best, index = near[0]
        others = [one.score for one, _ in near[1:] if one.text != best.text]
        return Elsewhere(index, best._replace(second=max([best.second, *others])))

    def likely(self, quote: str) -> list[tuple[float, int]]:
        """The few sections that have most of the quote's words, rare ones before all, with how much that is."""
        count = len(self.specification.sections)
        shares: dict[int, float] = {}
        for word in set(words(quote)) & self._by_word.keys():
            having = self._by_word[word]
            share = log(1 + count / len(having))
            for index in having:
                shares[index] = shares.get(index, 0.0) + share
        return nlargest(_TRIED, ((share, index) for index, share in shares.items()))

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        """The sections that have a word."""
        found: dict[str, list[int]] = {}
        for index in range(len(self.specification.sections)):
            for word in set(self._words_of(index).words):
                found.setdefault(word, []).append(index)
        return found

    def _words_of(self, section: int) -> Words:
        if section not in self._words:
            lines = self.specification.sections[section].lines
            self._words[section] = Words(words(" ".join(lines)), self._sentences.get(section, ()), weighs=self.weighs)
        return self._words[section]
