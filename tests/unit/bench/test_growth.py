"""The check that nothing grows faster than its project."""

from __future__ import annotations

import pytest

from tests.bench.growth import BASE, COUNTS, Line, grown, render
from tests.bench.results import Figure
from tests.bench.samples import curve


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5])
def test_the_exponent_is_that_of_what_comes_on_top_of_the_start(power: float) -> None:
    assert [Line(curve(power=power), measure).exponent for measure in ("cu", "mb")] == pytest.approx([power, power])


def test_growth_that_is_lost_in_the_start_is_none() -> None:
    flat = curve()._replace(figures=(Figure(0.1, 18), Figure(0.1001, 18), Figure(0.104, 18)))
    assert Line(flat, "cu").exponent == 0


def test_table() -> None:
    assert render([curve(), curve("annotations", power=1.2)]) == (
        "                       start    x 1   x 10  x 100  exponent\n"
        "sources, cold, cu      0.100  0.120  0.300  2.100      1.00  good\n"
        "annotations, cold, cu  0.100  0.120  0.417  5.124      1.20  WORSE THAN LINEAR\n"
        "sources, cold, mb         18     19     24     78      1.00  good\n"
        "annotations, cold, mb     18     19     28    169      1.20  WORSE THAN LINEAR"
    )


def test_one_part_grows_at_a_time() -> None:
    changes = {
        name: {key: value for key, value in grown(name, 10)._asdict().items() if value != BASE._asdict()[key]}
        for name in COUNTS
    }
    assert changes == {
        "sources": {"sources": 1000},
        "annotations": {"citations": 50},
        "specifications": {"requirements": 1000},
    }
