"""Finds the text that is most similar to a quote that doesn't match."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cached_property
from heapq import nlargest
from itertools import accumulate, pairwise, product
from math import log
from typing import NamedTuple

from duvet.model import Specification
from duvet.sources.editor import split_words
from duvet.specs.section_names import map_title_ids
from duvet.text import compare_sequences, load_rapidfuzz, remove_spacing
from duvet.trace.match import QuoteMatcher
from duvet.trace.names import NO_NAMES, NamedText, RequirementNames
from duvet.trace.records import Fit

_SIMILAR = 60.0  # Text with a similarity (from 0 to 100) below this is not shown.
_CLEAR = 75.0
_MARGIN = 5.0
_SHORTEST = 12  # A shorter quote is similar to too many texts.
_PUNCTUATION = re.compile(r"^\W+|\W+$")
_INK = re.compile(r"\w")
_FEWEST, _MOST = 4, 12
"""The least and most words by which each end of a match may move; rapidfuzz places the ends only roughly."""
_FURTHER = 30  # The words that each end may move to reach the end of a sentence.
_ENDS = re.compile(r"[.!?:;][\"')\]\u2019\u201d]?\Z")
_BEGINS = re.compile(r"[\"'(\[\u2018\u201c]?[A-Z0-9]")
_TRIED_SECTIONS = 5
_REWORDED = 70.0  # Minimum similarity of a reworded requirement to its old text.
_REWORDED_MARGIN = 15.0  # All other requirements of its section must be less similar by this much.
_REPLACED = 50.0  # Minimum share of words that requirements have in common with the sentences that they replaced.
_REPLACED_MARGIN = 10.0  # The share of all other requirements must be smaller by this much.
_MOST_JOINED = 4  # Maximum number of requirements that replace one sentence.
_RELATED = 45.0  # Text that shares fewer words with a quote is not similar, even if it shares characters.
_OPPOSED = 65.0  # The same if only one of them contains `NOT`.
_SURE = 90.0  # Words this similar identify the quoted requirement, even if it is much longer now.
# An underscore next to a word is emphasis, as in `_not_`.
_START, _END = r"(?<![^\W_])", r"(?![^\W_])"
_CHANGES = {
    "the keyword": re.compile(rf"{_START}(?:MUST|SHALL|SHOULD|MAY|REQUIRED|RECOMMENDED|OPTIONAL|NOT){_END}"),
    "a negation": re.compile(
        rf"{_START}(?:not|no|never|none|nor|neither|without|cannot|unless|except){_END}|n['\u2019]t{_END}",
        re.IGNORECASE,
    ),
    "a number": re.compile(r"\d+(?:[.,]\d+)*"),
}
"""If one of these words changes, the code may have to do something else, or even the opposite."""
_KEYWORD = _CHANGES["the keyword"]

_Span = tuple[int, int]


class TextStretch(NamedTuple):
    """A range of words, its similarity to the quote, and the best similarity of any other text."""

    text: str
    score: float
    second: float = 0.0
    is_whole: bool = True  # Whether it begins and ends as the quote does, or where sentences do.
    is_reworded: bool = False  # Whether it is the only requirement that may have replaced the quote.
    parts: int = 0  # The number of whole requirements, if the quote has fewer sentences.

    @property
    def is_clear(self) -> bool:
        if self.is_reworded:
            return True
        far, further = 100 - self.score, 100 - self.second
        return self.is_whole and self.score >= _CLEAR and further >= 2 * far and further - far >= _MARGIN


class TextWords:
    """The words of a text, and where its sentences begin and end.

    rapidfuzz aligns characters, which cuts words, and drops or adds words at the ends of a quote. Its alignment
    therefore only shows where to look; word and sentence ends then decide where the match begins and ends.
    """

    def __init__(self, words: list[str], sentences: Iterable[str] = (), *, weighs: bool = True) -> None:
        self.words = words
        self._weighs = weighs
        self.text = " ".join(words)
        self._bare_words = list(map(_strip_punctuation, words))
        self._offsets = list(accumulate((len(word) + 1 for word in words), initial=0))
        self._starts = {0} | {index + 1 for index, word in enumerate(words) if _ENDS.search(word)}
        self._ends = {len(words)} | {index for index in self._starts if index}
        self._requirements: dict[str, _Span] = {}
        for sentence in sentences:
            at = self.text.find(sentence)
            if at >= 0:
                start, end = (bisect_left(self._offsets, one) for one in (at, at + len(sentence)))
                self._requirements[sentence] = (start, end)
                self._starts.add(start)
                self._ends.add(end)

    def find_nearest(self, quote: list[str]) -> TextStretch | None:
        joined = " ".join(quote)
        if not self.words or len(joined) < _SHORTEST:
            return None
        first, last = 0, len(self.words)
        if len(joined) < len(self.text):
            near = load_rapidfuzz().fuzz.partial_ratio_alignment(joined, self.text, score_cutoff=_SIMILAR)
            if near is None:
                return None
            first = bisect_right(self._offsets, near.dest_start) - 1
            last = bisect_left(self._offsets, near.dest_end)
        part = self._fit_ends(quote, first, last)
        whole = self._select_requirement(quote, *self._extend_to_sentences(quote, *part))
        found = self._make_stretch(quote, *whole)
        if found is None and whole != part and (found := self._make_stretch(quote, *part)) is not None:
            # The whole sentence is much longer than the quote.
            found, whole = found._replace(second=found.score), part
        return found and self._extend_to_requirement(quote, found, *whole)

    def find_reworded(self, quote: list[str], candidates: Container[str]) -> TextStretch | None:
        # Only a whole sentence can be an earlier version of a requirement.
        if not _ENDS.search(quote[-1]):
            return None
        fuzz, joined = load_rapidfuzz().fuzz, " ".join(quote)
        scores = ((max(fuzz.ratio(joined, one), fuzz.token_sort_ratio(joined, one)), one) for one in self._requirements)
        (score, best), (second, _), *_ = *nlargest(2, scores), (0.0, ""), (0.0, "")
        if best not in candidates or score < _REWORDED or score - second < _REWORDED_MARGIN:
            return None
        words = best.split()
        text = " ".join(words[1:]) if _are_signs(words[:1]) and not _are_signs(quote[:1]) else best
        return TextStretch(text, score, is_reworded=True)

    def find_replacement(
        self, quote: list[str], candidates: Container[str], found: TextStretch | None
    ) -> TextStretch | None:
        counts = _count_words(quote)
        whole = self._find_whole(quote, counts, candidates, found)
        if whole is not None and found is not None:
            if found.text == whole.text:
                whole = found._replace(is_reworded=whole.is_reworded, parts=whole.parts)
            # Words that are a part of the requirements are no better than these.
            share = 0.0 if found.text in whole.text else _score_words(counts, _count_words(found.text.split()))
            whole = whole if (whole.is_clear, whole.score) > (found.is_clear, share) else found
        near = whole or found
        if near is None:
            return None
        # Text with few words in common helps nobody, least of all if only one of the two is negated.
        words = _count_words(near.text.split())
        least = _OPPOSED if ("not" in words) != ("not" in counts) else _RELATED
        return near if _score_words(counts, words) >= least else None

    def _find_whole(
        self, quote: list[str], counts: Counter[str], candidates: Container[str], found: TextStretch | None
    ) -> TextStretch | None:
        first = next(filter(_INK.search, quote), "")
        if not _ENDS.search(quote[-1]) or not self._begins_sentence(first):
            return None
        # Score each requirement, and each run of adjacent ones, by the words shared with the quote.
        scores: dict[_Span, float] = {}
        most = _MOST_JOINED + _count_sentences(quote) - 1
        for index, ((start, end), _) in enumerate(self._counts):
            words = Counter[str]()
            for (low, high), counted in self._counts[index : index + most]:
                if low not in (start, end):
                    break
                end, words = high, words + counted
                scores[start, end] = _score_words(counts, words)
        (start, end), score = max(scores.items(), key=lambda one: one[1], default=((0, 0), 0.0))
        if score < _REPLACED:
            return None
        second = max((other for (low, high), other in scores.items() if high <= start or end <= low), default=0.0)
        joined, text = " ".join(quote), " ".join(self.words[start:end])
        chosen = [one for one, (low, high) in self._requirements.items() if start <= low and high <= end]
        is_free = all(one in candidates or one in joined for one in chosen)
        is_sure = is_free and score - second >= _REPLACED_MARGIN
        is_sure |= found is not None and found.is_clear and len(chosen) == 1 and found.text in text
        parts = len(chosen) if len(chosen) > _count_sentences(quote) else 0
        return TextStretch(text, score, second, is_whole=False, is_reworded=is_sure, parts=parts)

    @cached_property
    def _counts(self) -> list[tuple[_Span, Counter[str]]]:
        return [(span, _count_words(self.words[slice(*span)])) for span in sorted(set(self._requirements.values()))]

    def _extend_to_requirement(self, quote: list[str], found: TextStretch, start: int, end: int) -> TextStretch:
        around = [one for one in self._requirements.values() if one[0] <= start and end <= one[1]]
        first, last = min(around, key=lambda one: one[1] - one[0], default=(start, end))
        is_ended = _ENDS.search(quote[-1]) is not None
        has_ended = is_ended and _find_mark(quote[-1]) != _find_mark(self.words[end - 1])
        if _are_signs(self.words[first:start]):
            # The quote leaves out the bullet of a list.
            first = start
        if not around and has_ended:
            known = range(end, min(end + _FURTHER, len(self.words)) + 1)
            last = next((one for one in known if one in self._ends and _ENDS.search(self.words[one - 1])), end)
        begins = first if is_ended and self._begins_sentence(quote[0]) else start
        # A quote without a full stop is only a part of a requirement that has one.
        is_part = _ENDS.search(self.words[last - 1]) is not None and (
            (found.is_clear and self._weighs) or self._bare_words[end - 1] == _strip_punctuation(quote[-1])
        )
        ends = last if has_ended or (start == first and not is_part) else end
        if (begins, ends) == (start, end):
            return found
        text = " ".join(self.words[begins:ends])
        score = load_rapidfuzz().fuzz.ratio(" ".join(quote), text)
        is_whole = not self._weighs or self._is_whole(quote, begins, ends)
        return found._replace(text=text, score=found.score if found.score >= _SURE else score, is_whole=is_whole)

    def _select_requirement(self, quote: list[str], start: int, end: int) -> _Span:
        inside = [one for one in self._requirements.values() if start <= one[0] and one[1] <= end]
        if (start, end) in inside or any(map(_ENDS.search, quote[:-1])):
            return start, end
        joined = " ".join(quote)
        scores = {one: load_rapidfuzz().fuzz.ratio(joined, " ".join(self.words[slice(*one)])) for one in inside}
        best = max(inside, key=lambda one: scores[one], default=(start, end))
        return best if scores.get(best, 0.0) >= _CLEAR else (start, end)

    def _begins_sentence(self, word: str) -> bool:
        if _KEYWORD.fullmatch(word):
            return False
        others = {self.words[one] for one in self._starts if one < len(self.words)}
        return word in others or word.startswith("`") or _BEGINS.match(word) is not None

    def _make_stretch(self, quote: list[str], start: int, end: int) -> TextStretch | None:
        joined, words = " ".join(quote), self.words[start:end]
        # Omit punctuation at the ends that the quote omits.
        if _strip_punctuation(words[0]) == _strip_punctuation(quote[0]) and words[0].endswith(quote[0]):
            words[0] = quote[0]
        if _strip_punctuation(words[-1]) == _strip_punctuation(quote[-1]) and words[-1].startswith(quote[-1]):
            words[-1] = quote[-1]
        text = " ".join(words)
        score = load_rapidfuzz().fuzz.ratio(joined, text)
        if score < _SIMILAR:
            return None
        if not self._weighs:
            return TextStretch(text, score)
        own = " ".join(self.words[start:end])
        # The best other text; a repetition of the best match does not count.
        second, fuzz = 0.0, load_rapidfuzz().fuzz
        for part in (" ".join(self.words[:start]), " ".join(self.words[end:])):
            if len(part) <= len(joined):
                second = max(second, fuzz.ratio(joined, part))
            elif own not in part and (near := fuzz.partial_ratio_alignment(joined, part, score_cutoff=_SIMILAR)):
                second = max(second, near.score)
        return TextStretch(text, score, second, self._is_whole(quote, start, end))

    def _is_whole(self, quote: list[str], start: int, end: int) -> bool:
        quoted, found = self._find_common(quote, start, end)
        if not quoted:
            return False
        gone, come = _count_inked(quote[: quoted.start]), _count_inked(self.words[start : found.start])
        begins = gone == come <= 1 and not (come and found.start in self._starts)
        gone, come = _count_inked(quote[quoted.stop :]), _count_inked(self.words[found.stop : end])
        ends = gone == come <= 1 and not (come and found.stop in self._ends)
        return (begins or start in self._starts) and (ends or end in self._ends)

    def _find_common(self, quote: list[str], start: int, end: int) -> tuple[range, range]:
        blocks = load_rapidfuzz().distance.Levenshtein.opcodes(
            list(map(_strip_punctuation, quote)), self._bare_words[start:end]
        )
        same = [block for block in blocks if block.tag == "equal"]
        if not same:
            return range(0), range(end - 1, start + 1)
        first, last = same[0], same[-1]
        return range(first.src_start, last.src_end), range(start + first.dest_start, start + last.dest_end)

    def _fit_ends(self, quote: list[str], first: int, last: int) -> _Span:
        inner = [index for index, word in enumerate(quote) if _INK.search(word)]
        low, high = (inner[0], inner[-1] + 1) if inner else (0, len(quote))
        core = quote[low:high]
        joined, bare = " ".join(core), list(map(_strip_punctuation, core))

        def rank(span: _Span) -> tuple[int, int, float]:
            words = self._bare_words[slice(*span)]
            edges = _has_other_start(bare, words) + _has_other_start(bare[::-1], words[::-1])
            edges += _are_signs(words[:1]) + _are_signs(words[-1:])
            return (
                edges,
                abs(len(words) - len(bare)),
                -load_rapidfuzz().fuzz.ratio(joined, " ".join(self.words[slice(*span)])),
            )

        reach = min(_MOST, max(_FEWEST, len(core) // 4))

        best: int = load_rapidfuzz().distance.OSA.distance(bare, self._bare_words[first:last])
        found: list[_Span] = []
        ends = self._list_ends(last, reach)
        for begin in self._list_ends(first, reach):
            # If the lengths differ by more words than the best has changes, there are more changes.
            fitting = begin + len(bare)
            for stop in range(max(ends.start, begin + 1, fitting - best), min(ends.stop, fitting + best + 1)):
                changes: int = load_rapidfuzz().distance.OSA.distance(
                    bare, self._bare_words[begin:stop], score_cutoff=best
                )
                if changes < best:
                    best, found = changes, []
                if changes == best:
                    found.append((begin, stop))
        start, end = min(found, key=rank)
        before, behind = self.words[max(0, start - low) : start], self.words[end : end + len(quote) - high]
        return start - len(before) * _are_signs(before), end + len(behind) * _are_signs(behind)

    def _list_ends(self, index: int, reach: int) -> range:
        return range(max(0, index - reach), min(len(self.words), index + reach) + 1)

    def _extend_to_sentences(self, quote: list[str], start: int, end: int) -> _Span:
        _, common = self._find_common(quote, start, end)
        starts, ends = [start], [end]
        if self._bare_words[start] != _strip_punctuation(quote[0]):
            known = [one for one in self._list_ends(start, _FURTHER) if one in self._starts and one <= common.start]
            if known and (_BEGINS.match(quote[0]) or any(start <= one for one in known)):
                starts = known
        if self._bare_words[end - 1] != _strip_punctuation(quote[-1]):
            known = [one for one in self._list_ends(end, _FURTHER) if one in self._ends and one >= common.stop]
            if known and (_ENDS.search(quote[-1]) or any(one <= end for one in known)):
                ends = known
        joined = " ".join(quote)
        return max(
            product(starts, ends),
            key=lambda span: load_rapidfuzz().fuzz.ratio(joined, " ".join(self.words[slice(*span)])),
        )


def _count_words(words: Iterable[str]) -> Counter[str]:
    return Counter(_strip_punctuation(word).casefold() for word in words if _INK.search(word))


def _score_words(quote: Counter[str], found: Counter[str]) -> float:
    return 200 * (quote & found).total() / max(1, quote.total() + found.total())


def _count_sentences(quote: list[str]) -> int:
    return 1 + sum(_ENDS.search(one) is not None and _BEGINS.match(two) is not None for one, two in pairwise(quote))


def _strip_punctuation(word: str) -> str:
    return _PUNCTUATION.sub("", word) or word


def _find_mark(word: str) -> str:
    return word[len(word.rstrip(".!?:;,")) :]


def _has_other_start(quote: list[str], found: list[str]) -> bool:
    return quote[0] != found[0] and found[:2] != quote[1::-1]


def _are_signs(words: list[str]) -> bool:
    return not _count_inked(words)


def _count_inked(words: list[str]) -> int:
    return sum(_INK.search(word) is not None for word in words)


class Neighbourhood:
    weighs = True  # Whether to score the second best text as well, which a fix requires.

    def __init__(
        self,
        specification: Specification,
        sentences: Mapping[int, Sequence[str]] | None = None,
        cited: Mapping[int, Iterable[str]] | None = None,
        names: RequirementNames = NO_NAMES,
    ) -> None:
        self.specification = specification
        self.names = names  # The ids of the requirements of the specification.
        self._written: dict[int, dict[str, str]] = {}  # The quotes of requirements by section and text.
        self._sentences = {
            section: [" ".join(split_words(self._write(section, one))) for one in found]
            for section, found in (sentences or {}).items()
        }
        """The texts of requirements by section."""
        self._cited = {
            section: {self._write(section, one) for one in found} for section, found in (cited or {}).items()
        }
        """The texts of cited requirements, by section."""
        self._words: dict[int, TextWords] = {}
        self._matchers: dict[int, QuoteMatcher] = {}

    def _write(self, section: int, text: str) -> str:
        plain = self.specification.sections[section].plain
        if plain is None or not plain.code:
            return text
        if section not in self._written:
            self._written[section] = {
                one.text: " ".join([one.lead, *(plain.quote(low, high) for low, high in one.ranges)]).strip()
                for one in plain.statements
            }
        return self._written[section].get(text, text)

    def section_name(self, section: int) -> str:
        return self.specification.sections[section].name

    @cached_property
    def _unspaced(self) -> tuple[list[str], str]:
        texts = [
            remove_spacing("".join(section.lines) + ("\n" + section.plain.text if section.plain else ""))
            for section in self.specification.sections
        ]
        return texts, "\n".join(texts)

    def find_containing_sections(self, quote: str) -> list[int]:
        if any(section.plain for section in self.specification.sections):
            from duvet.specs.markdown import remove_markup

            quote = remove_markup(quote) or quote
        unspaced = remove_spacing(quote)
        # Most quotes are in no section, and one search in all of them together is faster.
        texts, whole = self._unspaced
        if not unspaced or unspaced not in whole:
            return []
        candidates = [index for index, text in enumerate(texts) if unspaced in text]
        return [index for index in candidates if self.contains(index, quote)]

    def contains(self, section: int, quote: str) -> bool:
        found = QuoteMatcher(self.specification.sections[section]).find(quote)
        return found is not None and (found[1] in (Fit.EXACT, Fit.NORMALISED) or not quote)

    @cached_property
    def sections_by_title_id(self) -> dict[str, int]:
        return map_title_ids(self.specification.form, self.specification.sections)

    def contains_named(self, named: Iterable[NamedText], quote: str) -> bool:
        for one in named:
            matcher = self._matchers.get(one.section) or QuoteMatcher(self.specification.sections[one.section])
            self._matchers[one.section] = matcher
            found = matcher.restrict(one.text, one.name).find(quote)
            if found is not None and (found[1] in (Fit.EXACT, Fit.NORMALISED) or not quote):
                return True
        return False

    def find_near_named(self, named: NamedText, quote: str) -> TextStretch:
        words = split_words(named.text)
        found = TextWords(words).find_nearest(split_words(quote))
        return found if found is not None and found.is_clear else TextStretch(" ".join(words), 100.0)

    def find_near(self, section: int, quote: str) -> TextStretch | None:
        words, quoted = self._load_words(section), split_words(quote)
        found = words.find_nearest(quoted)
        if not quoted:
            return found
        cited = self._cited.get(section, ())
        uncited = [one for one in self._sentences.get(section, ()) if one not in cited]
        if self.specification.sections[section].plain is not None:
            return words.find_replacement(quoted, uncited, found)
        if found is None or not found.is_clear:
            return words.find_reworded(quoted, uncited) or found
        return found

    def count_covered_bytes(self, section: int, quote: str) -> int:
        matcher = QuoteMatcher(self.specification.sections[section])
        found = matcher.find(quote)
        stated = [matcher.find(one) for one in self._sentences.get(section, ())]
        required = {byte for one in stated if one for piece in one[0] for byte in range(piece.start, piece.end)}
        return sum(byte in required for piece in found[0] for byte in range(piece.start, piece.end)) if found else 0

    def find_anywhere(self, quote: str) -> tuple[int, TextStretch] | None:
        likely = [index for _, index in self.find_likely(quote)]
        near = [(one, index) for index in likely if (one := self.find_near(index, quote)) is not None]
        near.sort(key=lambda pair: -pair[0].score)
        if not near:
            return None
        best, index = near[0]
        others = [one.score for one, _ in near[1:] if one.text != best.text]
        return index, best._replace(second=max([best.second, *others]))

    def find_likely(self, quote: str) -> list[tuple[float, int]]:
        count = len(self.specification.sections)
        shares: dict[int, float] = {}
        for word in set(split_words(quote)) & self._sections_by_word.keys():
            having = self._sections_by_word[word]
            share = log(1 + count / len(having))
            for index in having:
                shares[index] = shares.get(index, 0.0) + share
        return nlargest(_TRIED_SECTIONS, ((share, index) for index, share in shares.items()))

    @cached_property
    def _sections_by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for index in range(len(self.specification.sections)):
            for word in set(self._load_words(index).words):
                found.setdefault(word, []).append(index)
        return found

    def _load_words(self, section: int) -> TextWords:
        if section not in self._words:
            one = self.specification.sections[section]
            words = split_words(one.plain.quote(0, len(one.plain.text)) if one.plain else " ".join(one.lines))
            self._words[section] = TextWords(words, self._sentences.get(section, ()), weighs=self.weighs)
        return self._words[section]


def make_word_diff(old: str, new: str) -> str:
    gone, come = split_words(old), split_words(new)
    found: list[str] = []
    for tag, low, high, first, last in compare_sequences(gone, come).get_opcodes():
        words, new_words = " ".join(gone[low:high]), " ".join(come[first:last])
        marked = (f"[-{words}-]" if words else "") + (f"{{+{new_words}+}}" if new_words else "")
        found.append(new_words if tag == "equal" else marked)
    return " ".join(found)


def describe_changed_meaning(old: str, new: str) -> str:
    changed = [name for name, words in _CHANGES.items() if sorted(words.findall(old)) != sorted(words.findall(new))]
    if "the keyword" in changed and len(changed) > 1:
        # `NOT` is both a part of a keyword and a negation.
        changed = [name for name in changed if name != "a negation"]
    verb = "differs" if len(changed) == 1 else "differ"
    return f"{' and '.join(changed)} {verb}; check the code" if changed else ""
