"""The pages that may answer a question."""

from __future__ import annotations

import math
import re

from duvet.knowledge.pages.index import Index
from duvet.knowledge.pages.records import Page
from duvet.knowledge.pages.words import folded
from duvet.search.query import parsed

MOST = 5
_ROOM = 1_200
"""So many characters of a page are told."""
_MOST_TERMS = 40
_ENDING = re.compile(r"(?:ies|ing|ed|es|e|s|y)\Z")
_SHORTEST = 3
_ANYWHERE = 4
"""Shorter ones are parts of too many words."""
_IN_TITLE = 3.0
_MOST_PASSAGES = 2_000
_SPLIT = re.compile(r"[^\w]+")
_PARAGRAPH = re.compile(r"\n\s*\n")


def relevant(index: Index, question: str) -> list[Page]:
    """The pages that hold the most telling words of a question, the best first."""
    stems = stems_of(question)
    scores: dict[str, float] = {}
    total = len(index.notes.pages)
    for stem in stems:
        paths = index.holding(stem) if len(stem) >= _ANYWHERE else index.beginning(stem)
        # A word that every page has tells nothing, but in a small project that may be all there is.
        weight = math.log(1 + total / len(paths)) if paths else 0.0
        for path in paths:
            scores[path] = scores.get(path, 0.0) + weight
    pages = index.of(set(scores))
    return sorted(pages, key=lambda page: -_score(page, scores[page.path], stems))[:MOST]


def _score(page: Page, score: float, stems: tuple[str, ...]) -> float:
    words = folded(page.title).split()
    return score + _IN_TITLE * sum(any(word.startswith(stem) for word in words) for stem in stems)


def stems_of(question: str) -> tuple[str, ...]:
    """What the words of a question begin with that tell something."""
    query = parsed(question)
    found: dict[str, None] = {}
    for term in query.terms:
        for word in filter(None, _SPLIT.split(folded(term))):
            stem = _ENDING.sub("", word)
            found[stem if len(stem) >= _SHORTEST else word] = None
    return tuple(found)[:_MOST_TERMS]


def passage(text: str, stems: tuple[str, ...]) -> tuple[str, int]:
    """The part of a page that says the most about it, and how many lines stand before it."""
    best, best_at, most = "", 0, -1
    starts = [0, *(found.end() for found in _PARAGRAPH.finditer(text))]
    for start in starts[:_MOST_PASSAGES]:
        part = text[start : start + _ROOM]
        words = part.lower()
        count = sum(stem in words for stem in stems)
        if count > most:
            best, best_at, most = part, start, count
    return best, text.count("\n", 0, best_at)
