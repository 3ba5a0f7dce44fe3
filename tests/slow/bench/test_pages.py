"""What people wait for on the page, and the table of that."""

from __future__ import annotations

import pytest

from tests.bench.pages import Figure, render, wanted


@pytest.mark.parametrize(
    ("figure", "verdict", "passes"),
    [
        (Figure("x", "bytes", 7, None), "", True),
        (Figure("x", "paint", 300, 300), "good", True),
        (Figure("x", "paint", 599, 300), "busy?", True),
        (Figure("x", "paint", 601, 300), "TOO MUCH", False),
        (Figure("x", "elements", 20_001, 20_000), "TOO MUCH", False),
        (Figure("x", "heap", 5.1, 5), "TOO MUCH", False),
    ],
)
def test_times_may_double_and_counts_may_not(figure: Figure, verdict: str, passes: bool) -> None:
    assert (figure.verdict, figure.passes) == (verdict, passes)


def test_the_table() -> None:
    figures = [
        Figure("h3", "paint", 123.4, 300),
        Figure("h3", "heap", 0.73, 5),
        Figure("h3", "elements", 20_500, 20_000),
        Figure("h3", "gzip", 1_234_567, None),
    ]
    assert render(figures) == (
        "page of               measured  budget\n"
        "h3: first paint, ms        123     300  good\n"
        "h3: heap, MB               0.7       5  good\n"
        "h3: elements            20,500  20,000  TOO MUCH\n"
        "h3: bytes gzipped    1,234,567       -"
    )


def test_pages_are_chosen_by_name() -> None:
    assert wanted("page of *x 2000") == ["2000 x 2000", "10000 x 2000"]
    assert wanted("*cold") == []
