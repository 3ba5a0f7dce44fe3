"""Where sentences begin, and what is read to find it."""

from __future__ import annotations

import re
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.specs.extraction import SentenceOpenings
from tests.unit.specs.test_extract_properties import opening


class Counting(str):
    """Counts the characters that are looked at one by one, or passed by a search from the end."""

    read = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        self.read += 1
        return super().__getitem__(key)

    def rfind(self, part: str, start: SupportsIndex | None = None, end: SupportsIndex | None = None, /) -> int:
        found = super().rfind(part, start, end)
        assert isinstance(start, int) and isinstance(end, int)
        self.read += max(0, end - max(found, start))
        return found


def plain_opening(text: str, offset: int) -> int:
    """Where the sentence begins that the offset is in, line by line."""
    start = text.rfind("\n", 0, offset) + 1
    found = opening(text[start:offset])
    while found is None and start:
        end, start = start - 1, text.rfind("\n", 0, start - 1) + 1
        found = opening(text[start:end])
    return start + (found or 0)


@given(st.lists(st.sampled_from(["x", ".", "..", ". ", "\n", "a.b", " ", "!"])).map("".join))
def test_equals_the_rules_line_by_line(text: str) -> None:
    openings = SentenceOpenings(text)
    for offset in [found.start() for found in re.finditer("!", text)]:
        assert openings.before(offset, 0) == plain_opening(text, offset)


@pytest.mark.parametrize(
    "text",
    [
        "MUST " * 2000,
        "a.b MUST " * 2000,
        f"a{'.' * 2000}b {'MUST ' * 2000}",
        "a.b MUST\n" * 2000,
        "1.2 MUST\n3.4 x\n" * 2000,
        f"a.b\n{'MUST ' * 2000}\n" * 3,
    ],
)
def test_a_text_is_not_read_again_for_each_keyword(text: str) -> None:
    counted = Counting(text)
    openings = SentenceOpenings(counted)
    for found in re.finditer("MUST", text):
        openings.before(found.start(), 0)
    assert 0 < counted.read < 5 * len(text)
