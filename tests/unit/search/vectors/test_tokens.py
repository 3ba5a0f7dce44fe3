"""From texts to the tokens of the model"""

from __future__ import annotations

import re

import pytest
from tokenizers import Tokenizer

from duvet.queries.embeddings import TOKENIZER_PATH, find_wordllama
from duvet.queries.vectors import TextTokenizer
from tests.conftest import ROOT

FOLDER = find_wordllama()
assert FOLDER is not None
THEIRS = Tokenizer.from_file(str(FOLDER / TOKENIZER_PATH))
OURS = TextTokenizer(FOLDER / TOKENIZER_PATH)


def theirs(word: str) -> tuple[int, ...]:
    return tuple(THEIRS.encode(word, add_special_tokens=False).ids)


def test_words_are_cut_as_their_own_program_cuts_them() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "man" / "spec").glob("*.md"))]
    words = sorted({*re.findall(r"\w+", " ".join(texts)), "naïve", "日本語", "🫖", "ꙮ", "e\N{COMBINING ACUTE ACCENT}"})
    assert len(words) > 1000
    assert {word: OURS.of_word(word) for word in words} == {word: theirs(word) for word in words}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Retry the TOKEN", "retry the token"),
        ("parseHTTPHeader", "parse http header"),
        ("max_idle_timeout = 30s", "max idle timeout 30 s"),
        ("RFC9000#4.1", "rfc 9000 4 1"),
        ("Größe, naïve", "gr öß e na ï ve"),
        ("x" * 200, "x" * 64),
        ("... --- ///", ""),
    ],
)
def test_names_are_taken_apart(text: str, words: str) -> None:
    assert OURS.of(text) == [number for word in words.split() for number in theirs(word)]
    assert OURS.of(text) == [number for word in words.split() for number in theirs(word)]
