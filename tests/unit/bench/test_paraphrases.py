import sqlite3
from contextlib import closing
from pathlib import Path

from duvet.words import STOP_WORDS, extract_words
from tests.bench.retrieval import read_paraphrases

LEFT_OUT = STOP_WORDS | {"another", "either", "every", "many", "may", "might", "must", "need", "one", "shall", "should"}


def stems_of(text: str) -> set[str]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
        db.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, row)")
        words = " ".join(word for word in extract_words(text) if word not in LEFT_OUT)
        db.execute("INSERT INTO words VALUES (?)", [words])
        return {stem for (stem,) in db.execute("SELECT term FROM stems")}


def test_the_questions_share_no_word_with_their_requirements(shared: Path) -> None:
    lines, questions = read_paraphrases(shared)
    texts = {line["id"]: line["text"] for line in lines}
    answers = {row["query"]: stems_of(texts[row["relevant"][0]]) for row in questions}
    assert all(answers.values())
    assert {query: common for query, stems in answers.items() if (common := stems & stems_of(query))} == {}
    assert len({row["relevant"][0] for row in questions}) == len(answers) == 30
