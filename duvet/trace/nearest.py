"""Finds the text that a wrong quote was meant to be."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from itertools import accumulate, product
from math import log
from typing import NamedTuple

from duvet.model import Specification
from duvet.sources.editor import split_words
from duvet.text import remove_spacing
from duvet.trace.match import QuoteMatcher
from duvet.trace.records import Fit

SIMILARITY_THRESHOLD = 60.0
"""What is less like a quote than this, of 100, is not worth showing."""
_CLEAR = 75.0
_MARGIN = 5.0
_SHORTEST = 12
"""Of fewer characters too much is alike."""
_PUNCTUATION = re.compile(r"^\W+|\W+$")
_INK = re.compile(r"\w")
_FEWEST, _MOST = 4, 12
"""By how many words a stretch may be shorter or longer at each end than what rapidfuzz finds, which counts characters."""
_FURTHER = 30
"""So many words away the end of a sentence is looked for."""
_ENDS = re.compile(r"[.!?:;][\"')\]\u2019\u201d]?\Z")
_BEGINS = re.compile(r"[\"'(\[\u2018\u201c]?[A-Z0-9]")


class TextStretch(NamedTuple):
    """Words of a text, how like the quote they are, and how like it the best of the rest of the text is."""

    text: str
    score: float
    second: float = 0.0
    is_whole: bool = True
    """Whether it begins and ends as the quote does, or where sentences do."""

    @property
    def is_clear(self) -> bool:
        """Whether nothing else can be meant: it is like the quote, and all else is twice as far from it."""
        if not self.is_whole:
            return False
        ##= man/spec/validate.md#fixes
        ##% With `--fix`, `duvet validate` MUST correct a wrong target or quote, in comments and in requirement files,
        ##% when exactly one correction fits.
        far, further = 100 - self.score, 100 - self.second
        return self.score >= _CLEAR and further >= 2 * far and further - far >= _MARGIN


class CommonWords(NamedTuple):
    """The words of a quote and of a text from the first to the last that are the same."""

    quoted: range
    found: range


_Span = tuple[int, int]


class TextWords:
    """A text word by word, with what is known of its sentences."""

    def __init__(self, words: list[str], sentences: Iterable[str] = (), *, weighs: bool = True) -> None:
        self.words = words
        self._weighs = weighs
        self.text = " ".join(words)
        self._bare_words = list(map(_bare, words))
        self._offsets = list(accumulate((len(word) + 1 for word in words), initial=0))
        self._starts = {0} | {index + 1 for index, word in enumerate(words) if _ENDS.search(word)}
        self._ends = {len(words)} | {index for index in self._starts if index}
        for sentence in sentences:
            at = self.text.find(sentence)
            if at >= 0:
                self._starts.add(bisect_left(self._offsets, at))
                self._ends.add(bisect_left(self._offsets, at + len(sentence)))

    def nearest(self, quote: list[str]) -> TextStretch | None:
        """The stretch that is most like the quote; None where nothing is like it."""
        from rapidfuzz import fuzz

        wanted = " ".join(quote)
        if not self.words or len(wanted) < _SHORTEST:
            return None
        first, last = 0, len(self.words)
        if len(wanted) < len(self.text):
            near = fuzz.partial_ratio_alignment(wanted, self.text, score_cutoff=SIMILARITY_THRESHOLD)
            if near is None:
                return None
            first = bisect_right(self._offsets, near.dest_start) - 1
            last = bisect_left(self._offsets, near.dest_end)
        part = self._best_of_core(quote, first, last)
        whole = self._whole(quote, *part)
        found = self._stretch(quote, whole)
        if found is None and whole != part and (found := self._stretch(quote, part)) is not None:
            # What was a whole sentence is a part of a much longer one.
            return found._replace(second=found.score)
        return found

    def _stretch(self, quote: list[str], span: tuple[int, int]) -> TextStretch | None:
        from rapidfuzz import fuzz

        wanted, text = " ".join(quote), _as_quoted(quote, self.words[span[0] : span[1]])
        score = fuzz.ratio(wanted, text)
        if score < SIMILARITY_THRESHOLD:
            return None
        if not self._weighs:
            return TextStretch(text, score)
        return TextStretch(text, score, self._second(wanted, *span), self._is_whole(quote, *span))

    def _is_whole(self, quote: list[str], start: int, end: int) -> bool:
        """Whether the words at both ends of a quote stay, or give way to a whole sentence.

        One of them may be another word now, unless that belongs to the sentence beside it.
        """
        common = self._common(quote, start, end)
        if common is None:
            return False
        gone, come = _inked(quote[: common.quoted.start]), _inked(self.words[start : common.found.start])
        begins = gone == come <= 1 and not (come and common.found.start in self._starts)
        gone, come = _inked(quote[common.quoted.stop :]), _inked(self.words[common.found.stop : end])
        ends = gone == come <= 1 and not (come and common.found.stop in self._ends)
        return (begins or start in self._starts) and (ends or end in self._ends)

    def _common(self, quote: list[str], start: int, end: int) -> CommonWords | None:
        """What lies between the first and the last word that a quote has in common with these words."""
        from rapidfuzz.distance import Levenshtein

        blocks = Levenshtein.opcodes(list(map(_bare, quote)), self._bare_words[start:end])
        same = [block for block in blocks if block.tag == "equal"]
        if not same:
            return None
        first, last = same[0], same[-1]
        return CommonWords(range(first.src_start, last.src_end), range(start + first.dest_start, start + last.dest_end))

    def _best_of_core(self, quote: list[str], first: int, last: int) -> tuple[int, int]:
        """The best words for a quote that may begin or end with a mere sign, such as the mark of an item of a list.

        Where such a sign was there is one, or nothing, but no word.
        """
        inner = [index for index, word in enumerate(quote) if _INK.search(word)]
        low, high = (inner[0], inner[-1] + 1) if inner else (0, len(quote))
        start, end = self._best(quote[low:high], first, last)
        before, behind = self.words[max(0, start - low) : start], self.words[end : end + len(quote) - high]
        return start - len(before) * _are_signs(before), end + len(behind) * _are_signs(behind)

    def _best(self, quote: list[str], first: int, last: int) -> tuple[int, int]:
        """The words around these that take the fewest changes, and of those as many as are quoted."""
        from rapidfuzz import fuzz

        reach = min(_MOST, max(_FEWEST, len(quote) // 4))
        wanted, bare = " ".join(quote), list(map(_bare, quote))

        def rank(span: tuple[int, int]) -> tuple[int, int, float]:
            start, end = span
            words = self._bare_words[start:end]
            edges = _is_other_start(bare, words) + _is_other_start(bare[::-1], words[::-1])
            edges += _are_signs(words[:1]) + _are_signs(words[-1:])
            return edges, abs(len(words) - len(bare)), -fuzz.ratio(wanted, " ".join(self.words[start:end]))

        return min(self._with_fewest_changes(bare, (first, last), reach), key=rank)

    def _with_fewest_changes(self, bare: list[str], likely: _Span, reach: int) -> list[_Span]:
        """The spans around this one that are least far from these words."""
        from rapidfuzz.distance import OSA

        first, last = likely
        best: int = OSA.distance(bare, self._bare_words[first:last])
        found: list[_Span] = []
        ends = self._around(last, reach)
        for start in self._around(first, reach):
            # What is longer or shorter by more words than the best takes changes is further away.
            fitting = start + len(bare)
            for end in range(max(ends.start, start + 1, fitting - best), min(ends.stop, fitting + best + 1)):
                changes: int = OSA.distance(bare, self._bare_words[start:end], score_cutoff=best)
                if changes < best:
                    best, found = changes, []
                if changes == best:
                    found.append((start, end))
        return found

    def _around(self, index: int, reach: int) -> range:
        return range(max(0, index - reach), min(len(self.words), index + reach) + 1)

    def _whole(self, quote: list[str], start: int, end: int) -> tuple[int, int]:
        """Where another word is now at an end of the quote, and a sentence begins or ends there: up to that.

        That is so where the quote began or ended with a sentence, and where a sentence ends before the words that differ.
        """
        from rapidfuzz import fuzz

        common = self._common(quote, start, end)
        first, last = (common.found.start, common.found.stop) if common else (end - 1, start + 1)
        starts, ends = [], []
        if self._bare_words[start] != _bare(quote[0]):
            known = [one for one in self._around(start, _FURTHER) if one in self._starts and one <= first]
            starts = known if _BEGINS.match(quote[0]) or any(start <= one for one in known) else []
        if self._bare_words[end - 1] != _bare(quote[-1]):
            known = [one for one in self._around(end, _FURTHER) if one in self._ends and one >= last]
            ends = known if _ENDS.search(quote[-1]) or any(one <= end for one in known) else []
        wanted = " ".join(quote)
        spans = product(starts or [start], ends or [end])
        return max(spans, key=lambda span: fuzz.ratio(wanted, " ".join(self.words[span[0] : span[1]])))

    def _second(self, wanted: str, start: int, end: int) -> float:
        """How like the quote the best of what is before and behind these words is."""
        own = " ".join(self.words[start:end])
        rest = (" ".join(self.words[:start]), " ".join(self.words[end:]))
        return max(score for part in rest for score in _scores(wanted, part, own))


def _bare(word: str) -> str:
    """The word without the punctuation around it."""
    return _PUNCTUATION.sub("", word) or word


def _is_other_start(quote: list[str], found: list[str]) -> bool:
    """Whether the first words are others, which two in the wrong order are not."""
    return quote[0] != found[0] and found[:2] != quote[1::-1]


def _are_signs(words: list[str]) -> bool:
    return not _inked(words)


def _inked(words: list[str]) -> int:
    """How many of these are more than mere signs."""
    return sum(_INK.search(word) is not None for word in words)


def _as_quoted(quote: list[str], found: list[str]) -> str:
    """The words without punctuation before the first and behind the last of them that the quote leaves out."""
    words = list(found)
    if _bare(words[0]) == _bare(quote[0]) and words[0].endswith(quote[0]):
        words[0] = quote[0]
    if _bare(words[-1]) == _bare(quote[-1]) and words[-1].startswith(quote[-1]):
        words[-1] = quote[-1]
    return " ".join(words)


def _scores(wanted: str, part: str, own: str) -> Iterator[float]:
    """How like the quote a part of the text is; one that says the same as the best stretch is no other answer."""
    from rapidfuzz import fuzz

    yield 0.0
    if len(part) <= len(wanted):
        yield fuzz.ratio(wanted, part)
        return
    found = fuzz.partial_ratio_alignment(wanted, part, score_cutoff=SIMILARITY_THRESHOLD)
    if found is not None and own not in part:
        yield found.score


_TRIED = 5
_VALID = (Fit.EXACT, Fit.NORMALISED)


class BestStretch(NamedTuple):
    """The best stretch of a specification, and the index of its section."""

    section: int
    stretch: TextStretch


class Neighbourhood:
    """The sections of a specification, to find what a quote is near to; what is read of them is kept."""

    weighs = True
    """Whether it is to be found out what else could be meant, without which nothing may be written."""

    def __init__(self, specification: Specification, sentences: Mapping[int, Sequence[str]] | None = None) -> None:
        self.specification = specification
        self._sentences = sentences or {}
        """The texts of requirements by section."""
        self._words: dict[int, TextWords] = {}

    def section_id(self, section: int) -> str:
        """What targets call a section."""
        return self.specification.sections[section].id

    @cached_property
    def _bare(self) -> list[str]:
        """What holds whatever a section holds, however it is spaced."""
        return [remove_spacing("".join(section.lines)) for section in self.specification.sections]

    @cached_property
    def _whole(self) -> str:
        """All of them, for most quotes stand in none."""
        return "\n".join(self._bare)

    def holding(self, quote: str) -> list[int]:
        """The sections in which the quote stands."""
        wanted = remove_spacing(quote)
        if not wanted or wanted not in self._whole:
            return []
        candidates = [index for index, text in enumerate(self._bare) if wanted in text]
        return [index for index in candidates if self.holds(index, quote)]

    def holds(self, section: int, quote: str) -> bool:
        """Whether the quote stands in the section as it should, or names its title."""
        found = QuoteMatcher(self.specification.sections[section]).find(quote)
        return found is not None and (found[1] in _VALID or not quote)

    def near(self, section: int, quote: str) -> TextStretch | None:
        """What is most like the quote in a section."""
        return self._words_of(section).nearest(split_words(quote))

    def anywhere(self, quote: str) -> BestStretch | None:
        """What is most like the quote in any section."""
        found = [(self.near(index, quote), index) for _, index in self.likely(quote)]
        near = sorted(((one, index) for one, index in found if one is not None), key=lambda pair: -pair[0].score)
        if not near:
            return None
        best, index = near[0]
        others = [one.score for one, _ in near[1:] if one.text != best.text]
        return BestStretch(index, best._replace(second=max([best.second, *others])))

    def likely(self, quote: str) -> list[tuple[float, int]]:
        """The few sections that have most of the quote's words, rare ones before all, with how much that is."""
        count = len(self.specification.sections)
        shares: dict[int, float] = {}
        for word in set(split_words(quote)) & self._by_word.keys():
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

    def _words_of(self, section: int) -> TextWords:
        if section not in self._words:
            lines = self.specification.sections[section].lines
            self._words[section] = TextWords(
                split_words(" ".join(lines)), self._sentences.get(section, ()), weighs=self.weighs
            )
        return self._words[section]


def make_word_diff(old: str, new: str) -> str:
    """The new text with what is gone as `[-old-]` and what has come as `{+new+}`."""
    return " ".join(_marked(split_words(old), split_words(new)))


def _marked(old: list[str], new: list[str]) -> Iterator[str]:
    from difflib import SequenceMatcher

    for tag, low, high, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from new[first:last]
            continue
        gone, come = " ".join(old[low:high]), " ".join(new[first:last])
        yield (f"[-{gone}-]" if gone else "") + (f"{{+{come}+}}" if come else "")
