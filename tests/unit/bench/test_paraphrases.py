"""The questions in `tests/bench/paraphrases.json`, which share no word with their answers."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from duvet import MemoryTree, Options, Project

QUESTIONS = json.loads((Path(__file__).parents[2] / "bench/paraphrases.json").read_text(encoding="utf-8"))
STOP_WORDS = """
a about after again all also am an and another any are as at be because been before being both but by can could did
do does down during each either every for from further had has have having how i if in into is it its itself just ll
many may me might more most must my need no nor not of off on once one only onto or other our out over own per shall
should so some still such t than that the their them then there these they this those through to too under unless
until up upon us very was way we were what when where whether which while who whom whose why will with without would
you your
"""
CONFIG = b"'$schema' = 'duvet-cli/config/v1'\n[[specification]]\nsource = 'rfc9114.txt'\n"


def stems_of(text: str) -> set[str]:
    """Return the stems of meaningful words, as FTS5's Porter stemmer makes them."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
        db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, row)")
        stop_words = frozenset(STOP_WORDS.split())
        words = "".join(letter if letter.isalnum() else " " for letter in text.casefold()).split()
        db.execute("INSERT INTO words VALUES (?)", [" ".join(word for word in words if word not in stop_words)])
        return {stem for (stem,) in db.execute("SELECT term FROM stems")}


@pytest.fixture(scope="module")
def sentences(shared: Path) -> dict[tuple[str, str], str]:
    """Return the requirements of RFC 9114 by section and short id."""
    text = shared / "golden/h3-c6b92cb-integration/project/specs/www.rfc-editor.org/rfc/rfc9114.txt"
    files = {".duvet/config.toml": CONFIG, "rfc9114.txt": text.read_bytes()}
    catalogue = Project(options=Options(), tree=MemoryTree(files)).catalogue
    return {(card.section, card.id[:12]): card.text for card in catalogue.requirements}


def test_the_questions_share_no_word_with_their_requirements(sentences: dict[tuple[str, str], str]) -> None:
    shared_words = {}
    for row in QUESTIONS:
        sentence = sentences[row["section"], row["requirement"]]
        assert stems_of(sentence), row
        if common := stems_of(sentence) & stems_of(row["question"]):
            shared_words[row["question"]] = common
    assert shared_words == {}
    assert len({(row["section"], row["requirement"]) for row in QUESTIONS}) == 30
