"""Texts as files."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from duvet.errors import QueryError
from duvet.knowledge.uploads import StoredText, make_file_slug
from tests.unit.knowledge.upkeep.made import CLOCK

WHOLE = StoredText(
    content="## Body\nDetails",
    title="Release Notes",
    subsystem="Deployment",
    tags=["release", "notes"],
    metadata={"author": "agent"},
)


def test_the_document() -> None:
    assert WHOLE.document() == (
        "---\ntitle: Release Notes\nsubsystem: Deployment\ntags: [release, notes]\nmetadata: {author: agent}\n---\n\n"
        "## Body\nDetails\n"
    )
    assert StoredText(content="Nothing else\n").document() == "Nothing else\n"
    assert StoredText(content="x", tags=["b"]).document() == "---\ntags: [b]\n---\n\nx\n"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Release Notes", "release-notes.md"),
        ("  Ünïcode / Straße?! ", "unicode-strasse.md"),
        ("U\u0308ber", "uber.md"),
        ("../../etc/passwd", "etc-passwd.md"),
        ("日本", "ri-ben.md"),
        ("Чай", "chai.md"),
        ("-", "note-20270115-080000.md"),
        (" \u3000\n", "note-20270115-080000.md"),
        ("CON", "con-note.md"),
        ("com1", "com1-note.md"),
        ("Con artists", "con-artists.md"),
        ("", "note-20270115-080000.md"),
        ("x" * 500, "x" * 100 + ".md"),
    ],
)
def test_names(title: str, name: str) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `km-storetext` MUST write at most 500,000 bytes, with title, subsystem, tags and metadata as YAML before them,
    ##% to a file named after the title or the time.
    assert StoredText(content="x", title=title).file_name(CLOCK) == name
    assert "/" not in make_file_slug(title)


TITLES = [
    "a: b",
    "#x",
    "- x",
    "yes",
    "null",
    "1e3",
    "'\"",
    "--- # x",
    "a\n---\nb: c",
    "&a *a",
    "!!python/x",
    "😀",
    "{x: y}",
]
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def parted(text: str) -> tuple[Any, str]:
    """What is said in front, and the text after it."""
    assert text.startswith("---\n")
    front, _, content = text[4:].partition("\n---\n\n")
    return yaml.safe_load(front), content


@pytest.mark.parametrize("title", TITLES)
def test_titles(title: str) -> None:
    ##= man/spec/gateway.md#uploads
    ##= type=test
    ##% `km-storetext` MUST write at most 500,000 bytes, with title, subsystem, tags and metadata as YAML before them,
    ##% to a file named after the title or the time.
    front, content = parted(
        StoredText(content="x", title=title, tags=[title], metadata={"b": title, title: 1}).document()
    )
    plain = " ".join(title.split())
    assert list(front) == ["title", "tags", "metadata"] and content == "x\n"
    assert front == {"title": plain, "tags": [plain], "metadata": {"b": title, title: 1}}


@given(metadata=st.dictionaries(WORDS, VALUES, min_size=1, max_size=4))
def test_whatever_is_said(metadata: dict[str, Any]) -> None:
    front, content = parted(StoredText(content="---\nno: front\n---\n", metadata=metadata).document())
    assert front == {"metadata": metadata} and content == "---\nno: front\n---\n"


def test_what_is_nested_too_deeply() -> None:
    metadata: dict[str, Any] = {}
    for _ in range(500):
        metadata = {"a": metadata}
    with pytest.raises(QueryError, match="nested too deeply"):
        StoredText(content="x", metadata=metadata).document()
