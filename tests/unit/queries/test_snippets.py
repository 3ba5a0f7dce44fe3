"""Annotations as they are written, and the code around them"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from duvet import MemoryTree, Project
from duvet.queries.citations import CitationReader
from duvet.trace.locations import ProjectFiles, Snippet, make_snippet, read_comment, split_source_text
from tests.cli.made_tea import TEA_PROJECT

CATALOGUE = Project(tree=MemoryTree({path: text.encode() for path, text in TEA_PROJECT.items()})).catalogue
CARDS = {card.id: card for card in CATALOGUE.citations}
COMMENT = "//= tea.md#pot\n//# It SHOULD be round, and nobody MAY drop it."


@pytest.mark.parametrize(
    ("around", "start", "lines"),
    [
        (0, 5, ("//= tea.md#pot", "//# It SHOULD be round, and nobody MAY drop it.")),
        (1, 4, ("//# The pot MUST be warm.", *COMMENT.split("\n"), "fn warm(pot: &Pot) {")),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_lines_around(around: int, start: int, lines: tuple[str, ...], end: str) -> None:
    files = {**TEA_PROJECT, "src/pot.rs": TEA_PROJECT["src/pot.rs"].replace("\n", end)}
    catalogue = Project(tree=MemoryTree({path: text.encode() for path, text in files.items()})).catalogue
    (card,) = [card for card in catalogue.citations if card.id == "src/pot.rs:5"]
    assert make_snippet(split_source_text(files["src/pot.rs"]), card, around) == Snippet(COMMENT, 6, start, lines)


def test_the_ends_of_a_file() -> None:
    found = make_snippet(split_source_text(TEA_PROJECT["src/pot.rs"]), CARDS["src/pot.rs:3"], 1000)
    assert (found.start, found.lines) == (1, tuple(TEA_PROJECT["src/pot.rs"].splitlines()))


def test_an_entry_of_a_requirement_file() -> None:
    text = TEA_PROJECT[".duvet/exceptions/coffee.toml"]
    _, _, *entry = text.splitlines()
    found = make_snippet(split_source_text(text + "[[exception]]\n"), CARDS[".duvet/exceptions/coffee.toml:3"], 0)
    assert found == Snippet("\n".join(entry), 5, 3, tuple(entry))


def test_an_entry_with_a_blank_line_in_its_text() -> None:
    entry = ["[[spec]]", "quote = '''", "[One", "", "[two]]", "'''", 'level = "MUST"']
    text = "\n".join(['target = "tea.md#pot"', *entry, "", "[[spec]]"])
    assert read_comment(
        split_source_text(text), replace(CARDS[".duvet/exceptions/coffee.toml:3"], line=2)
    ) == "\n".join(entry)


def test_a_file_that_is_gone() -> None:
    detail = CitationReader(CATALOGUE, ProjectFiles(MemoryTree({}), ""), 2).detail(list(CARDS).index("src/pot.rs:5"))
    assert (detail.comment_text, detail.context_lines, detail.line_number) == ("", (), 5)
    assert [row.text for row in detail.requirements] == ["It SHOULD be round, and nobody MAY drop it."]
