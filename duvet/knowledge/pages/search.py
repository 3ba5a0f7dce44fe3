"""Searches pages by words and related words, with an index in memory and a BM25 ranking."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from math import log
from threading import Lock

from msgspec import Struct

from duvet import words as vocabulary
from duvet.knowledge.pages.catalogue import PageCollection
from duvet.knowledge.pages.page import Page, make_name

MAX_PAGE_HITS = 20
_MAX_TERMS = 64
# If more pages have changed, the index is rebuilt, because rows that no page uses still count as rare or common words.
_MAX_CHANGED, _PAGES_PER_CHANGE = 200, 20
_EXCERPT_BEFORE, _EXCERPT_LENGTH = 50, 150
_MAX_MATCHES = 500  # Maximum number of matches to compare for an excerpt.
_MAX_PASSAGES, _PASSAGE_LENGTH = 2_000, 1_200
_PARAGRAPH = re.compile(r"\n\s*\n")
_MIN_STEM = 3

PageReader = Callable[[Page], str | None]  # Returns the text of a page, or None if it is gone.

_NAME, _TITLE, _HEADING, _TAG = 20, 10, 3, 3  # How often a word there counts, compared with the text.
_SATURATION, _LENGTH_SHARE = 2.0, 0.75  # `k1` and `b` of BM25.
_COUNT_BITS = 8
_MAX_COUNT = (1 << _COUNT_BITS) - 1
# How much a related word counts, compared with the word of the query, and how much all of them count at most.
_RELATED_SHARE, _MOST_RELATED = 0.3, 0.9
_FIRST = 1_000.0  # More than any sum of words.
_SHORT_QUERY = 3  # For queries of up to this many words, pages with all of the words come first.
_MAX_FORMS = 50  # Maximum number of words that stand for an unknown word.
_MAX_UNKNOWN, _MAX_UNKNOWN_LENGTH = 4, 40  # Limits for unknown words that are replaced with similar words.

# Groups of words of computing and of notes that people use for one another.
_RELATED_GROUPS = """
    add insert append attach include; addon add-on plugin extension; app application program software; automatic
    automatically auto; back backup archive; begin start launch; bug issue problem error fault; build generate compile
    create produce; button click press; change edit modify update alter; check verify validate test; choose select pick;
    clean tidy; code source program script; collaborate collaboration together share team; colour color; combine merge
    join; command cli shell terminal console; compare comparison difference diff; config configuration setting settings
    option options preference preferences setup; connect connection link; convert conversion transform export import;
    copy duplicate; daily day today; date day time; delete remove erase; deploy publish host; diagram chart drawing
    flowchart graph; dictionary glossary; directory folder; disable off; display show view see; document doc file page
    note; download fetch; draw sketch drawing; embed include transclude; enable on; example sample; execute run; explain
    describe; fast quick speed performance; find search locate look query; fix repair correct; format style layout;
    forum community; graph network; guide tutorial manual howto; heading header title section; hidden hide invisible
    exclude ignore; history version revision; hotkey shortcut keybinding keyboard key; image picture photo screenshot;
    improve better; install setup; jump go navigate open; label tag category; language locale translation; latest new
    recent; latex math formula equation; list index overview; lock protect; login sign account; mail email; map
    visualise visualize visualization; member user people; metadata property properties frontmatter attribute field;
    mobile phone android iphone ios tablet; move rename; name title; object item element; offline local; online web
    internet; organise organize structure arrange; overview summary; parse read; password secret credential; paste
    clipboard; pay price cost billing subscription; pc computer desktop; plan roadmap; private privacy; print pdf paper;
    question faq; quote blockquote citation cite; reference refer mention; release version; remote server cloud; repeat
    recurring; replace substitute; repository repo git github; reset restore revert undo; safe secure security; save
    store keep; schedule calendar; script automation workflow; sidebar pane panel; size large big; snippet template
    boilerplate; sort order; split divide; spelling typo spell misspelling; stop cancel abort; style css theme
    appearance; sync synchronise synchronize; table grid column row; task todo checkbox checklist; text content; tool
    utility; typing write type; upgrade update migrate migration; upload; url link address; vault workspace; video media
    audio recording; website site webpage; word term
"""

# Words of wishes and questions, beyond the words that occur in almost every text.
_ASKING = """
    able already anything else find get gets got help instead let lets like make makes need needs please possible show
    somebody someone something still tell thing things use used using want wants way ways
"""
_ASKING_WORDS = frozenset(_ASKING.split())
_ASKING_PARTS = (
    "什么 怎么样 怎么 怎样 如何 为什么 为何 哪些 哪个 哪里 有没有 能不能 可以 是不是 会不会 我们 我的 的 了 吗 呢 和 是 在 "
    "というのは とは です ます ください について どう どの なぜ なに"
)
_MIN_ASKING_RUN = 5

_Rows = defaultdict[str, "array[int]"]  # Strings and arrays are of no concern to the garbage collector.


def _make_rows() -> _Rows:
    return defaultdict(partial(array, "I"))


class _WordRows(dict[str, "array[int]"]):
    def __init__(self) -> None:
        self.forms: dict[str, str] = {}  # The words with a stem, separated by blanks.

    def __missing__(self, word: str) -> array[int]:
        stem = vocabulary.stem_word(word)
        self.forms[stem] = f"{self.forms[stem]} {word}" if stem in self.forms else word
        found = self[word] = array("I")
        return found

    def find(self, stem: str) -> list[str]:
        return self.forms.get(stem, "").split()


class _WordTable:
    def __init__(self) -> None:
        self.lock = Lock()
        self._named = _make_rows()  # Rows by the words of a name, title, slug or alias.
        self._similar = _make_rows()  # Rows by the sorted stems of these words.
        self._titled = _make_rows()  # Rows by a stem in their name or title.
        self._rows = _WordRows()
        self.lengths: list[int] = []  # The number of words of each row.
        self._norms: list[float] = []

    def add(self, pages: Sequence[Page], read: PageReader) -> dict[int, Page]:
        with self.lock:
            start = len(self.lengths)
            for page in pages:
                self._add_page(page, read(page) or "")
            average = sum(self.lengths) / max(len(self.lengths), 1) or 1.0
            share = _SATURATION * _LENGTH_SHARE / average
            self._norms = [_SATURATION * (1 - _LENGTH_SHARE) + share * length for length in self.lengths]
            return dict(enumerate(pages, start))

    def _add_page(self, page: Page, text: str) -> None:
        content, number = page.content, len(self.lengths)
        words = vocabulary.split_words(text)
        counts = Counter(words)
        length = len(words)
        fields = (
            (_NAME, make_name(page.path)),
            (_TITLE, page.title),
            (_HEADING, "\n".join(content.headings)),
            (_TAG, "\n".join((*content.tags, *content.aliases))),
        )
        name, title, *_ = found = [vocabulary.split_words(field) for _, field in fields]
        for (weight, _), field_words in zip(fields, found, strict=True):
            length += len(field_words)
            for word in field_words:
                counts[word] += weight
        for stem in {*map(vocabulary.stem_word, name), *map(vocabulary.stem_word, title)}:
            self._titled[stem].append(number)
        others = (vocabulary.split_words(other) for other in (page.slug, *content.aliases))
        for own in {" ".join(words) for words in (name, title, *others)}:
            self._named[own].append(number)
            self._similar[_join_stems(own)].append(number)
        if max(counts.values(), default=0) > _MAX_COUNT:
            counts = Counter({word: min(count, _MAX_COUNT) for word, count in counts.items()})
        rows, entry = self._rows, number << _COUNT_BITS
        for word, count in counts.items():
            rows[word].append(entry + count)
        self.lengths.append(length)

    def score(self, query: str) -> list[float]:
        with self.lock:
            scores = [0.0] * len(self.lengths)
            forms = self._find_forms(extract_terms(query))
            for found in forms.values():
                self._add_scores(scores, found)
            # `back links` may be written `backlinks`, but `a long walk` is not about `along`.
            words = [word for word in dict.fromkeys(vocabulary.split_words(query)) if not vocabulary.is_unspaced(word)][
                :_MAX_TERMS
            ]
            pairs = [
                (
                    vocabulary.stem_word(first),
                    vocabulary.stem_word(second),
                    self._rows.find(vocabulary.stem_word(first + second)),
                )
                for first, second in pairwise(words)
                if first != "a"
            ]
            for _, _, found in pairs:
                self._add_scores(scores, found)
            for stem, found in forms.items():
                related = [
                    word
                    for other in _load_related().get(stem, ())
                    if other not in forms
                    for word in self._rows.find(other)
                ]
                self._add_related(scores, related, self._weigh(found))
            ##= man/spec/pages.md#search
            ##% `search` MUST first list the pages whose name, title or alias equals the query, then, if the query has
            ##% up to three words, the pages that contain all of them, and then the other pages with any word of the
            ##% query, best first.
            own = " ".join(vocabulary.split_words(query))
            first = [*self._named.get(own, ()), *self._similar.get(_join_stems(own), ())] * 2
            if forms and len(forms) <= _SHORT_QUERY:
                complete: list[set[int]] = []
                for stem, found in forms.items():
                    # A joined pair stands for both of its words.
                    joined = [word for one, other, both in pairs if stem in (one, other) for word in both]
                    complete.append({entry >> _COUNT_BITS for word in (*found, *joined) for entry in self._rows[word]})
                first += set[int].intersection(*complete)
                first += set[int].intersection(*(set(self._titled.get(stem, ())) for stem in forms))
            for row in first:
                scores[row] += _FIRST if scores[row] else 0
            return scores

    def _weigh(self, words: Sequence[str]) -> float:
        total = len(self.lengths)
        count = min(sum(len(self._rows[word]) for word in words), total)
        return log(1 + (total - count + 0.5) / (count + 0.5))

    def _add_scores(self, scores: list[float], words: Sequence[str]) -> None:
        norms, weight = self._norms, self._weigh(words)
        for word in words:
            for entry in self._rows[word]:
                row = entry >> _COUNT_BITS
                count = entry & _MAX_COUNT
                scores[row] += weight * count / (count + norms[row])

    def _add_related(self, scores: list[float], words: Sequence[str], weight: float) -> None:
        # All related words together count less than one word of the query.
        counts: defaultdict[int, int] = defaultdict(int)
        for word in words:
            for entry in self._rows[word]:
                # A related word alone is no match.
                if scores[entry >> _COUNT_BITS]:
                    counts[entry >> _COUNT_BITS] += entry & _MAX_COUNT
        for row, found in counts.items():
            count = min(found * _RELATED_SHARE, _MOST_RELATED)
            scores[row] += weight * count / (count + self._norms[row])

    def _find_forms(self, terms: Sequence[str]) -> dict[str, Sequence[str]]:
        forms: dict[str, Sequence[str]] = {}
        unknown = 0
        for term in terms:
            stem = vocabulary.stem_word(term)
            # A single character is no word of its own in text without spaces.
            forms[stem] = () if len(term) == 1 and vocabulary.is_unspaced(term) else self._rows.find(stem)
            if not forms[stem] and unknown < _MAX_UNKNOWN and len(term) <= _MAX_UNKNOWN_LENGTH:
                unknown += 1
                del forms[stem]
                forms |= self._find_other_forms(term, stem)
        return forms

    def _find_other_forms(self, term: str, stem: str) -> dict[str, Sequence[str]]:
        rows = self._rows
        if vocabulary.is_unspaced(term):
            return {stem: [word for word in rows if term in word] if len(term) == 1 else ()}
        if len(term) < _MIN_STEM:
            return {stem: ()}
        if longer := [word for word in rows if word.startswith(term)][:_MAX_FORMS]:
            return {stem: longer}
        for at in range(_MIN_STEM, len(term) - _MIN_STEM + 1):
            parts = vocabulary.stem_word(term[:at]), vocabulary.stem_word(term[at:])
            if all(part in rows.forms for part in parts):
                return {part: rows.find(part) for part in parts}
        if related := [word for other in _load_related().get(stem, ()) for word in rows.find(other)]:
            return {stem: related}
        from rapidfuzz import distance as distances, process

        # Short words are too similar to others.
        most = min((len(term) - 1) // 4, 2)
        near = process.extract(term, list(rows), scorer=distances.OSA.distance, score_cutoff=most, limit=_MAX_FORMS)
        return {stem: [word for word, distance, _ in near if distance == near[0][1]]}


class PageIndex:
    def __init__(self, collection: PageCollection, read: PageReader, earlier: PageIndex | None = None) -> None:
        self.collection = collection
        self.read = read
        known = {page.path: (row, page) for row, page in earlier.rows.items()} if earlier else {}
        kept: dict[int, Page] = {}
        changed: list[Page] = []
        for page in collection.pages:
            row, before = known.get(page.path, (0, None))
            if before is not None and before.content is page.content and before.title == page.title:
                kept[row] = page
            else:
                changed.append(page)
        # Rows that no page uses, also those of an index that was built from the same table and discarded.
        stale = len(earlier.table.lengths) - len(kept) if earlier else 0
        most = min(_MAX_CHANGED, len(collection.pages) // _PAGES_PER_CHANGE)
        is_usable = earlier is not None and len(changed) + stale <= most
        self.table: _WordTable = earlier.table if earlier and is_usable else _WordTable()
        added = self.table.add(changed if is_usable else collection.pages, read)
        self.rows: dict[int, Page] = {**kept, **added} if is_usable else added
        places = {page.path: place for place, page in enumerate(collection.pages)}
        self._newest = sorted(self.rows, key=lambda row: places[self.rows[row].path])

    def rank(self, query: str) -> list[Page]:
        query = query[: vocabulary.MAX_QUERY_CHARACTERS]
        scores = self.table.score(query)
        # Of equal pages, the newest is first.
        found = [row for row in self._newest if scores[row]]
        found.sort(key=scores.__getitem__, reverse=True)
        return [self.rows[row] for row in found]


def extract_terms(query: str) -> list[str]:
    words = [*dict.fromkeys(vocabulary.split_words(_remove_asking_words(query)))]
    for common in (vocabulary.STOP_WORDS | _ASKING_WORDS, vocabulary.STOP_WORDS):
        if rest := [word for word in words if word not in common]:
            return rest[:_MAX_TERMS]
    return words[:_MAX_TERMS]


def _remove_asking_words(query: str) -> str:
    if query.isascii():
        return query
    parts = "|".join(sorted(_ASKING_PARTS.split(), key=len, reverse=True))
    # In a short run they are probably parts of words.
    found = re.sub(rf"\w{{{_MIN_ASKING_RUN},}}", lambda run: re.sub(parts, " ", run[0]), query)
    return re.sub(rf"\b(?:{parts})\b", " ", found).strip() or query


@cache
def _load_related() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _RELATED_GROUPS.split(";"):
        stems = [vocabulary.stem_word(word.replace("-", "")) for word in group.split()]
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items()}


def _join_stems(words: str) -> str:
    return " ".join(sorted({vocabulary.stem_word(word) for word in words.split()}))


class PageHit(Struct, frozen=True):
    slug: str
    title: str
    excerpt: str


class PageHits(Struct, frozen=True):
    hits: tuple[PageHit, ...]
    total: int  # Number of matching pages, including those that are not shown.


def search_pages(index: PageIndex, query: str) -> PageHits:
    ranked = index.rank(query)
    stems = extract_stems(query)
    hits: list[PageHit] = []
    for page in ranked:
        ##= man/spec/pages.md#search
        ##% `search` MUST return the 20 best pages, each with an excerpt around its matches, and the total number of
        ##% matching pages.
        if len(hits) == MAX_PAGE_HITS:
            break
        text = index.read(page)
        if text is not None:
            hits.append(PageHit(page.slug, page.title, make_excerpt(text, stems)))
    return PageHits(tuple(hits), len(ranked))


class _BaseLetters(dict[int, int]):
    def __missing__(self, code: int) -> int:
        base = self[code] = ord(unicodedata.normalize("NFKD", chr(code))[0])
        return base


_BASE_LETTERS = _BaseLetters()


def _strip_accents(text: str) -> str:
    """The text must be in NFC; its length stays the same."""
    return text if text.isascii() else text.translate(_BASE_LETTERS)


def make_excerpt(text: str, stems: Sequence[str]) -> str:
    text = vocabulary.compose(text)
    pattern = "|".join(
        rf"(?:{re.escape(stem)})" if vocabulary.is_unspaced(stem) else rf"\b{re.escape(stem)}" for stem in stems
    )
    matches = re.finditer(pattern, _strip_accents(text), re.IGNORECASE)
    found = [match for _, match in zip(range(_MAX_MATCHES), matches, strict=False)]
    if not stems or not found:
        return text[:_EXCERPT_LENGTH] + ("..." if len(text) > _EXCERPT_LENGTH else "")
    best, most, end = found[0], 0, 0
    inside: Counter[str] = Counter()
    for match in found:
        while end < len(found) and found[end].end() <= match.start() + _EXCERPT_LENGTH - _EXCERPT_BEFORE:
            inside[found[end][0].lower()] += 1
            end += 1
        if len(inside) > most:
            best, most = match, len(inside)
        word = match[0].lower()
        if inside[word] > 1:
            inside[word] -= 1
        else:
            del inside[word]
    first = max(best.start() - _EXCERPT_BEFORE, 0)
    last = min(max(best.end(), best.start() + _EXCERPT_LENGTH - _EXCERPT_BEFORE), len(text))
    return f"{'...' if first else ''}{text[first:last]}{'...' if last < len(text) else ''}"


def extract_stems(query: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(map(vocabulary.stem_word, extract_terms(query[: vocabulary.MAX_QUERY_CHARACTERS]))))


def find_passage(text: str, stems: tuple[str, ...]) -> tuple[str, int]:
    best, best_at, most = "", 0, -1
    starts = [0, *(found.end() for found in _PARAGRAPH.finditer(text))]
    for start in starts[:_MAX_PASSAGES]:
        part = text[start : start + _PASSAGE_LENGTH]
        words = vocabulary.fold_text(part)
        count = sum(stem in words for stem in stems)
        if count > most:
            best, best_at, most = part, start, count
    return best, text.count("\n", 0, best_at)
