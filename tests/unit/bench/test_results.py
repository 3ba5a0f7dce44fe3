"""What is kept of a run, and how the next one compares."""

from __future__ import annotations

import pytest

from tests.bench.results import Figure, Results, decode, encode, slips
from tests.bench.samples import ABOUT, curve, results


def test_kept_results_have_a_line_for_each_row_and_no_more_digits_than_mean_something() -> None:
    kept = Results(ABOUT, {"--version": Figure(0.10749, 15.26), "cold": Figure(2.5, 20)}, [curve()])
    assert encode(kept) == (
        "{\n"
        '  "commit": "abc1234",\n'
        '  "python": "3.11.7",\n'
        '  "machine": "Linux x86_64, 2 cores",\n'
        '  "cu_ms": 250,\n'
        '  "rows": [\n'
        '    {"name": "--version", "cu": 0.107, "mb": 15.3},\n'
        '    {"name": "cold", "cu": 2.5, "mb": 20}\n'
        "  ],\n"
        '  "growth": [\n'
        '    {"name": "sources", "state": "cold", "counts": [100, 1000, 10000], "start": [0.1, 18.0], '
        '"figures": [[0.12, 18.6], [0.3, 24.0], [2.1, 78.0]]}\n'
        "  ]\n"
        "}\n"
    )


def test_what_is_kept_is_read_again() -> None:
    assert encode(decode(encode(results()))) == encode(results())


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (Figure(0.219, 43.9), []),
        (Figure(0.23, 43.9), ["SLOWER"]),
        (Figure(0.219, 45.0), ["BIGGER"]),
        (Figure(0.30, 60.0), ["SLOWER", "BIGGER"]),
        (Figure(0.10, 20.0), []),
    ],
)
def test_more_than_a_tenth_on_top_is_a_slip(now: Figure, words: list[str]) -> None:
    assert slips(Figure(0.2, 40.0), now) == words


def test_what_is_new_has_not_slipped() -> None:
    assert slips(None, Figure(9.0, 900.0)) == []
