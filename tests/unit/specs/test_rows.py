"""Physical lines and their bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.specs.locator import PhysicalLines, split_rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", PhysicalLines([], [], [])),
        ("\n", PhysicalLines([""], [0], [0])),
        ("a\nb", PhysicalLines(["a", "b"], [0, 2], [1, 3])),
        ("é\r\n\r\nb\rc\r", PhysicalLines(["é", "", "b\rc\r"], [0, 4, 6], [2, 4, 10])),
        ("a\r\r\n", PhysicalLines(["a\r"], [0], [2])),
        ("\x0b\u2028\n", PhysicalLines(["\x0b\u2028"], [0], [4])),
    ],
)
def test_split(text: str, rows: PhysicalLines) -> None:
    assert split_rows(text) == rows


def test_forget() -> None:
    rows = split_rows("a\nb\nc\n")
    rows.forget(1)
    assert rows == PhysicalLines(["a", "c"], [0, 4], [1, 5])


@given(st.lists(st.sampled_from(["a", "é", "日", "\r", "\n", "\r\n"])).map("".join))
def test_rows_are_the_bytes_of_the_text(text: str) -> None:
    data = text.encode()
    rows = split_rows(text)
    assert [data[start:end].decode() for start, end in zip(rows.starts, rows.ends, strict=True)] == rows.texts
    between = [data[end:start] for end, start in zip(rows.ends, rows.starts[1:], strict=False)]
    assert set(between) <= {b"\n", b"\r\n"}
