"""Views of text and of paths."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duvet.text import path_key, path_parts

RANKS = {"/": 0, ".": 1, "..": 2}
PATHS = st.lists(st.sampled_from(["/", "a", "b-", "b", ".", "..", ".c", "a.b"]), max_size=6).map("/".join)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("a/b.rs", ["a", "b.rs"]),
        ("/a//b/", ["/", "a", "b"]),
        ("./a/./b", [".", "a", "b"]),
        ("../a/../b", ["..", "a", "..", "b"]),
        (".", ["."]),
        ("/", ["/"]),
        ("", []),
    ],
)
def test_path_parts(path: str, parts: list[str]) -> None:
    assert path_parts(path) == parts


def test_paths_sort_part_by_part() -> None:
    paths = ["/z", "./z", "../z", "src/a/b.rs", "src/a-b.rs", "src/a.rs"]
    assert sorted(paths[1::2] + paths[::2], key=path_key) == paths


@given(PATHS.map(path_parts), PATHS.map(path_parts))
def test_the_key_orders_as_the_parts_do(one: list[str], two: list[str]) -> None:
    def by_parts(parts: list[str]) -> list[tuple[int, str]]:
        return [(RANKS.get(part, 3), part) for part in parts]

    def by_key(parts: list[str]) -> str:
        return path_key("/".join(parts).replace("//", "/", 1))

    assert (by_parts(one) < by_parts(two)) == (by_key(one) < by_key(two))
